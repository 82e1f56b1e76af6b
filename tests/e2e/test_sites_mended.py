"""With the one bad line mended, a leaky example is applied, and the journal sees it.

A counter that always says nothing proves nothing: see `test_leaky.py`.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.builders.leaky import LEAKS, Leak, mended
from tests.conftest import Sandbox
from tests.e2e.project import Project
from tests.support.cloud.journal import Journal

ENOUGH = 10


@pytest.fixture
def project(sandbox: Sandbox, empty_cloud: None, tmp_path: Path) -> Project:
    """On a cloud without any other site: these take ids that `lyon` has."""
    return Project.make(tmp_path / "project", sandbox.clouds_yaml)


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.case)
def test_it_is_proved(leak: Leak, tmp_path: Path) -> None:
    project = Project.make(tmp_path / "project", tmp_path / "no-clouds.yaml")
    _mend(project, leak)
    judged = project.interlock("check", "--site", f"leaky/{leak.case}", "--tenant", leak.tenant)
    assert judged.code == 0, judged.text


@pytest.mark.timeout(1800)
def test_it_is_applied(project: Project, sandbox: Sandbox, long: bool) -> None:
    """One of them, another in each run; with --long all. What is applied is printed."""
    for leak in LEAKS if long else random.sample(LEAKS, 1):
        print(leak.case)
        _mend(project, leak)
        operator = f"{leak.site}-site"
        project.init(operator, leak.stack)
        project.must(project.plain_up(operator))
        journal = Journal(sandbox.dir).now()
        _up_until_enough(project, leak.stack, journal)
        assert len(journal.mutations()) >= ENOUGH
        project.must(project.interlock("unlock", leak.stack))
        for stack in (leak.stack, operator):
            project.destroy(stack)


def _mend(project: Project, leak: Leak) -> None:
    folder = project.folder / "stacks" / "leaky" / leak.case
    file = folder / leak.file
    file.write_text(mended(file.read_text()))
    # A lock keeps what it gave, and what is given up counts until it is settled. Nothing of this tenant was ever
    # applied, so its lock can be thrown away and recreated.
    (folder / "tenants" / f"{leak.tenant}.lock.json").unlink()
    project.must(project.interlock("lock", "--site", f"leaky/{leak.case}"))


def _up_until_enough(project: Project, stack: str, journal: Journal) -> None:
    """Apply, and interrupt once as a person would when enough was seen; what was made is kept in the state."""
    running = project.start("pulumi", "up", "--yes", "--non-interactive", "--stack", stack)
    deadline = time.monotonic() + 120
    while len(journal.mutations()) < ENOUGH and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
    try:
        running.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        running.kill()
        raise
