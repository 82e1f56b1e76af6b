"""Fences: one store of claims behind several checkouts and backends, with the real engine and the real cloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from openstack.connection import Connection

from tests.e2e.listing import listing
from tests.e2e.project import Project, changes
from tests.e2e.victim import STACK, request_of
from tests.support.cloud.journal import Journal


@pytest.fixture
def clone(victim: Project, tmp_path: Path) -> Project:
    """The same commit checked out elsewhere, with a backend of its own."""
    project = Project.make(tmp_path / "clone", victim.clouds_yaml)
    project.copy_stacks(victim)
    project.init(STACK)
    return project


@pytest.fixture
def stranger(world: Project, tmp_path: Path) -> Project:
    """A checkout that has not pulled: it gives another tenant what the victim has, and knows nothing of it."""
    project = Project.make(tmp_path / "stranger", world.clouds_yaml)
    tenants = project.folder / "stacks" / "lyon" / "tenants"
    (tenants / "hooli.yaml").write_text(request_of("hooli"))
    config = "config:\n  clusters:site: lyon\n  clusters:tenant: hooli\n"
    (project.folder / "stacks" / "Pulumi.lyon-hooli.yaml").write_text(config)
    project.must(project.interlock("lock", "hooli"))
    project.init("lyon-hooli")
    return project


@pytest.mark.timeout(1800)
def test_one_stack_has_one_state_and_its_claims_one_holder(
    victim: Project, clone: Project, stranger: Project, cloud: Connection, journal: Journal
) -> None:
    victim.must(victim.plain_up(STACK))
    before, since = listing(cloud, "initech"), journal.now()

    second = clone.plain_up(STACK)
    assert second.code != 0
    assert "applied from another state" in second.text
    assert "interlock recover initech" in second.text

    unaware = stranger.plain_up("lyon-hooli")
    assert unaware.code != 0
    assert "hooli takes what initech holds" in unaware.text, unaware.text
    assert since.ours() == []

    asked = clone.interlock("recover", "initech")
    assert asked.code == 1
    assert "use --yes" in asked.err
    clone.must(clone.interlock("recover", "initech", "--yes"))
    # The key of the S3 user is recreated, because a secret is shown once; everything else was found and adopted.
    assert listing(cloud, "initech") == before
    assert set(changes(clone.must(clone.plain_up(STACK)))) == {"unchanged"}
    late = victim.plain_up(STACK)
    assert late.code != 0
    assert "applied from another state" in late.text

    clone.destroy(STACK)
    assert not any(listing(cloud, "initech").values())
    # The other state still lists what is gone; it is the backend's file, and nobody's any more.
    victim.must(victim.run("pulumi", "stack", "rm", STACK, "--yes", "--force", "--preserve-config"))
    victim.init(STACK)
