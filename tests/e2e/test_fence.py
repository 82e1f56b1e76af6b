"""Ways around the proof, each tried on a tenant that is not applied: no service is asked to change a thing."""

from __future__ import annotations

from pathlib import Path

import pytest
from openstack.connection import Connection

from tests.e2e.project import ROOT, Project
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Journal

PROGRAMS = ROOT / "tests" / "e2e" / "programs"

#: Program -> what the refusal says.
SABOTAGE = {
    "beside": "the proof holds no Network named beside",
    "altered": "segmentation_id is not what was proved",
    "swapped": "an id was exchanged",
}


@pytest.fixture
def sabotaged(
    victim: Project, applied: Project, cloud: Connection, tmp_path: Path, request: pytest.FixtureRequest
) -> Project:
    """The victim's stacks and cloud, with another program; `applied` brings a network of globex's."""
    project = Project.make(tmp_path / "project", victim.clouds_yaml, program=PROGRAMS / request.param)
    project.copy_stacks(victim)
    project.init(STACK)
    network = cloud.network.find_network("globex-research-ipu-data", ignore_missing=False)
    return project.with_environment(SWAPPED_NETWORK=network.id)


@pytest.mark.parametrize("options", [(), ("--skip-preview",)], ids=["preview", "skip-preview"])
@pytest.mark.parametrize("sabotaged", sorted(SABOTAGE), indirect=True)
def test_nothing_gets_past_the_proof(
    sabotaged: Project, journal: Journal, options: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["sabotaged"]
    since = journal.now()
    refused = sabotaged.pulumi("up", STACK, "--yes", *options)
    assert refused.code != 0
    assert (SABOTAGE[name] in refused.text) or (options and "--skip-preview" in refused.text), refused.text
    assert since.ours() == []


def test_without_a_preview_nothing_is_applied(victim: Project, journal: Journal) -> None:
    since = journal.now()
    refused = victim.pulumi("up", STACK, "--yes", "--skip-preview")
    assert refused.code != 0
    assert "leave out --skip-preview" in refused.text
    assert since.ours() == []
