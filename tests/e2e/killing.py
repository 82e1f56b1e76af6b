"""SIGKILL of an `up` at one of its requests."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

from tests.e2e.project import Project
from tests.support.cloud.journal import Trap

#: Seconds in which a request has to come, on a machine that does much else.
PATIENCE = 400


def up_and_kill(project: Project, trap: Trap, stack: str, number: int, when: str) -> None:
    """An `up` that is killed `before` or `after` its changing request `number` is carried out."""
    trap.arm(number, when)
    running = project.start("pulumi", "up", "--yes", "--non-interactive", "--stack", stack)
    held = trap.wait(PATIENCE, lambda: running.poll() is None)
    said = "" if held else kill(running)
    assert held is not None, f"request {number} never came:\n{said}"
    kill(running)
    trap.release()


def kill(process: subprocess.Popen[str]) -> str:
    """Engine, language host and program at once; the provider goes with its engine. Returns what it had said."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return "".join(process.communicate(timeout=30))
