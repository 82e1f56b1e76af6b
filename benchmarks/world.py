"""What measurements of the cloud run on: an empty sandbox of their own, and a project with the site applied."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import BenchmarkFailed, Measured, processor_seconds
from tests.e2e.project import ROOT, Project

INSTANCE = ROOT / ".interlock" / "bench-sandbox"
SITE, SITE_STACK, TENANT, TENANT_STACK = "lyon", "lyon-site", "acme", "lyon-acme"


def say(line: str) -> None:
    """One line for people; stdout is kept for the results."""
    print(line, file=sys.stderr, flush=True)


def require_prepared() -> None:
    """Raises `BenchmarkFailed` outside a prepared shell."""
    if shutil.which("pulumi") is None or not os.environ.get("PULUMI_HOME"):
        raise BenchmarkFailed('this shell is not prepared: run eval "$(./run env)" in the root of the project')


@contextmanager
def empty_cloud() -> Iterator[None]:
    """A fresh cloud, which clients of this process find; it goes down after."""
    _supervise("reset")
    before = os.environ.get("OS_CLIENT_CONFIG_FILE")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(INSTANCE / "clouds.yaml")
    try:
        yield
    finally:
        os.environ.pop("OS_CLIENT_CONFIG_FILE")
        if before is not None:
            os.environ["OS_CLIENT_CONFIG_FILE"] = before
        _supervise("down")


def as_shipped(_: Project) -> None:
    """Changes nothing of a project."""


@contextmanager
def world(change: Callable[[Project], None] = as_shipped) -> Iterator[Project]:
    """The project, on a fresh cloud with the site applied and the tenant's stack made; the cloud goes down after.

    `change` may change the project's files before.
    """
    require_prepared()
    _supervise("reset")
    try:
        with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
            project = Project.make(Path(folder) / "project", INSTANCE / "clouds.yaml")
            change(project)
            project.init(SITE_STACK, TENANT_STACK)
            say(f"applying {SITE_STACK}")
            done = project.up(SITE_STACK)
            if done.code:
                raise BenchmarkFailed(f"pulumi up of {SITE_STACK} failed:\n{done.text[-3000:]}")
            yield project
    finally:
        _supervise("down")


def beside_services(command: Callable[[], Measured]) -> Measured:
    """What `command` measured, with the processor time that the sandbox's services took meanwhile."""
    before = _services_cpu()
    done = command()
    return replace(done, service_seconds=_services_cpu() - before)


def _services_cpu() -> float:
    pids = [int(file.read_text().split()[0]) for file in (INSTANCE / "run").glob("*.pid")]
    return sum(processor_seconds(pid) for pid in pids)


def _supervise(command: str) -> None:
    say(f"sandbox {command}")
    begun = time.monotonic()
    program = ROOT / "sandbox" / "supervisor.py"
    done = subprocess.run(
        [sys.executable, program, command, "--dir", INSTANCE], check=False, text=True, capture_output=True
    )
    if done.returncode:
        raise BenchmarkFailed(f"sandbox {command} failed:\n{done.stderr[-3000:]}")
    say(f"sandbox {command}: {time.monotonic() - begun:.1f} s")
