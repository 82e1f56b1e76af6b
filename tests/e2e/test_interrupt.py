"""Ctrl-C: once, what is under way ends and nothing begins; twice, it stops at once. The next `up` mends both."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from openstack.connection import Connection

from tests.e2e.listing import listing
from tests.e2e.project import Project, Result
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Trap

QUOTA, SERVER = "/os-quota-sets", "/servers"
AFTER_THE_QUOTA = ("-ipu-data", "-storage", "-control", "-router", "-poplar-0", "-results", "-data")


@pytest.fixture
def leaving(victim: Project, trap: Trap) -> Iterator[Project]:
    """The small tenant, not applied, and gone afterwards."""
    yield victim
    trap.release()
    victim.interlock("unlock", STACK)
    victim.destroy(STACK)


def _held(project: Project, trap: Trap, path: str) -> subprocess.Popen[str]:
    """An `up` of which one request is held by its service."""
    trap.arm(1, "before", path)
    running = project.start("pulumi", "up", "--yes", "--non-interactive", "--color", "never", "--stack", STACK)
    held = trap.wait(400, lambda: running.poll() is None)
    assert held is not None, f"no request to {path} came"
    return running


def _interrupt(running: subprocess.Popen[str], says: str) -> str:
    """What a terminal does on Ctrl-C: the signal goes to the whole group. Returns when the engine has said so."""
    os.killpg(running.pid, signal.SIGINT)
    assert running.stdout is not None
    said = ""
    for line in running.stdout:
        said += line
        if says in line:
            return said
    raise AssertionError(f"the engine never said {says!r}:\n{said}")


def _ended(running: subprocess.Popen[str], said: str) -> Result:
    out, err = running.communicate(timeout=180)
    return Result(running.returncode, said + out, err)


@pytest.mark.timeout(1800)
def test_cancel_lets_running_calls_finish_and_twice_stops_at_once(
    leaving: Project, cloud: Connection, trap: Trap
) -> None:
    # Everything of the tenant waits for its quota: while that is held, nothing that comes after it has begun.
    running = _held(leaving, trap, QUOTA)
    said = _interrupt(running, "^C received; cancelling")
    trap.release()
    once = _ended(running, said)
    assert once.code != 0
    assert "Traceback" not in once.text, once.text
    made = leaving.objects(STACK).keys()
    assert "initech-quota" in made, once.text
    assert not [name for name in made if name.endswith(AFTER_THE_QUOTA)], once.text
    assert not [name for what in ("routers", "servers", "volumes") for name in listing(cloud, "initech")[what]]
    assert "nothing to unlock" in leaving.must(leaving.interlock("unlock", STACK)).err

    running = _held(leaving, trap, SERVER)
    said = _interrupt(running, "^C received; cancelling")
    said += _interrupt(running, "^C received; terminating")
    twice = _ended(running, said)  # while the request is still held
    trap.release()
    assert twice.code != 0
    assert "Traceback" not in twice.text, twice.text
    leaving.must(leaving.interlock("unlock", STACK))

    whole = leaving.must(leaving.pulumi("up", STACK, "--yes"))
    assert "warning" not in whole.text.lower(), whole.text
    assert {count for names in listing(cloud, "initech").values() for count in names.values()} == {1}
    leaving.unchanged(STACK, "--refresh")
