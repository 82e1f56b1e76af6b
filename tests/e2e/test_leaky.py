"""The shipped leaky examples: `pulumi up` names the rule and the witness, and no service is asked to change a thing.

A counter that always says nothing proves nothing: with the one bad line mended, the same command changes much.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.builders.leaky import LEAKS, mended
from tests.conftest import ROOT, Sandbox
from tests.e2e.project import Project
from tests.support.cloud.journal import Journal

ENOUGH = 10


@dataclass(frozen=True)
class Case:
    """A leaky example: its folder, its site's name, the stack to apply, and the rule that finds it first."""

    folder: str
    site: str
    tenant: str
    rule: str

    @property
    def stack(self) -> str:
        return f"{self.site}-{self.tenant}"


CASES = (
    Case("vlan-of-another", "leakyvlan", "globex", "ISO-01"),
    Case("one-vlan-two-names", "leakynames", "globex", "ISO-11"),
    Case("poplar-on-management", "leakymgmt", "acme", "ISO-05"),
    Case("overlapping-subnets", "leakysubnets", "acme", "L3-04"),
    Case("machines-with-a-hole", "leakyhole", "acme", "TOP-03"),
    Case("gateway-without-scope", "leakyscope", "globex", "ISO-02"),
)


@pytest.fixture(scope="module")
def other_cloud() -> Iterator[Sandbox]:
    """A cloud without any other site: a mended example takes ids and names that `lyon` has on the tests' cloud."""
    instance = Sandbox(ROOT / ".interlock" / "test-sandbox-leaky")
    instance.supervise("reset")
    yield instance
    instance.supervise("down")


@pytest.fixture
def project(other_cloud: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.make(tmp_path_factory.mktemp("leaky") / "project", other_cloud.clouds_yaml)


def expected(case: Case) -> str:
    """The finding that comes first, with its whole witness; read and approved by people."""
    return unindented((ROOT / "tests/e2e/witnesses" / f"{case.folder}.txt").read_text())


def unindented(text: str) -> str:
    """The engine indents what a program says by as much as it likes."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_a_leaky_example_is_refused_before_anything_is_touched(
    case: Case, project: Project, other_cloud: Sandbox
) -> None:
    journal = Journal(other_cloud.dir).now()
    project.init(case.stack)
    for options in ((), ("--skip-preview",)):
        refused = project.up(case.stack, *options)
        assert refused.code != 0
        assert expected(case) in unindented(refused.text), refused.text
        assert "Traceback" not in refused.text
    assert journal.ours() == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_a_leaky_example_is_judged_alike_without_cloud(case: Case, project: Project) -> None:
    judged = project.interlock("check", "--site", f"leaky/{case.folder}", "--tenant", case.tenant, "--format", "json")
    assert judged.code == 1
    assert f'"rule": "{case.rule}"' in judged.out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_mended_in_one_line_it_is_applied(case: Case, project: Project, other_cloud: Sandbox) -> None:
    _mend(project, case)
    project.must(project.interlock("lock", "--site", f"leaky/{case.folder}"))
    operator = f"{case.site}-site"
    project.init(operator, case.stack)
    project.must(project.up(operator))
    journal = Journal(other_cloud.dir).now()
    _up_until_enough(project, case.stack, journal)
    assert len(journal.mutations()) >= ENOUGH
    project.must(project.interlock("unlock", case.stack))
    for stack in (case.stack, operator):
        project.must(project.pulumi("destroy", stack, "--yes"))


def _mend(project: Project, case: Case) -> None:
    leak = next(item for item in LEAKS if item.case == case.folder)
    file = project.folder / "stacks/leaky" / leak.case / leak.file
    file.write_text(mended(file.read_text()))
    # A lock keeps what it gave, and what is given up counts until it is settled. Nothing of this tenant was ever
    # applied, so its lock can be thrown away and recreated.
    (project.folder / "stacks/leaky" / leak.case / "tenants" / f"{leak.tenant}.lock.json").unlink()


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
