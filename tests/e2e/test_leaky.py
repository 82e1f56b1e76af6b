"""The shipped leaky examples: `pulumi up` names the rule and the witness, and no service is asked to change a thing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, Sandbox
from tests.e2e.project import Project
from tests.support.cloud.journal import Journal


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


@pytest.fixture
def project(sandbox: Sandbox, tmp_path: Path) -> Project:
    """Whatever stands on the cloud, nothing of it is asked for: the refusal comes before."""
    return Project.make(tmp_path / "project", sandbox.clouds_yaml)


def expected(case: Case) -> str:
    """The finding that comes first, with its whole witness; read and approved by people."""
    return unindented((ROOT / "tests/e2e/witnesses" / f"{case.folder}.txt").read_text())


def unindented(text: str) -> str:
    """The engine indents what a program says by as much as it likes."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_a_leaky_example_is_refused_before_anything_is_touched(case: Case, project: Project, sandbox: Sandbox) -> None:
    journal = Journal(sandbox.dir).now()
    project.init(case.stack)
    for options in ((), ("--skip-preview",)):
        refused = project.plain_up(case.stack, *options)
        assert refused.code != 0
        assert expected(case) in unindented(refused.text), refused.text
        assert "Traceback" not in refused.text
    assert journal.ours() == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_a_leaky_example_is_judged_alike_without_cloud(case: Case, tmp_path: Path) -> None:
    project = Project.make(tmp_path / "project", tmp_path / "no-clouds.yaml")
    judged = project.interlock("check", case.tenant, "--site", f"leaky/{case.folder}", "--format", "json")
    assert judged.code == 1
    assert f'"rule": "{case.rule}"' in judged.out
