"""Data with `on_delete: keep`: `pulumi destroy` refuses before it deletes anything; and the way to take them away."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.project import Project, Result, changes
from tests.support.cloud.journal import Journal

TENANT = """\
name: Umbrella
access:
  members: [bob]
  ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICl0dEmC8Isgd1FfHg3WL9lLcNgFgxyZStClWxh+zdH5 bob@umbrella.example
vpods:
  lab:
    machines: 1
    poplar: {servers: 1, flavor: poplar.quarter, volume: 10GiB}
buckets:
  results: {versioning: true}
"""
FILE = "lyon/tenants/umbrella.yaml"
STACK = "lyon-umbrella"
CONFIG = "config:\n  clusters:site: lyon\n  clusters:tenant: umbrella\n"
DATA = {"umbrella-lab-poplar-0-data", "umbrella-results"}


@pytest.fixture(scope="module")
def kept(world: Project) -> Iterator[Project]:
    """The world with a tenant that says nothing of `on_delete`, applied; gone again at the end."""
    stacks = world.folder / "stacks"
    (stacks / FILE).write_text(TENANT)
    (stacks / f"Pulumi.{STACK}.yaml").write_text(CONFIG)
    locked = world.must(world.interlock("lock", "umbrella"))
    assert "on_delete: keep" in locked.err
    world.init(STACK)
    world.must(world.up(STACK))
    yield world
    if world.objects(STACK):
        (stacks / FILE).write_text(TENANT.replace("access:", "on_delete: erase\naccess:"))
        world.must(world.interlock("lock", "umbrella"))
        world.must(world.plain_up(STACK))
        world.destroy(STACK)
    for name in (FILE, FILE.replace(".yaml", ".lock.json"), f"Pulumi.{STACK}.yaml"):
        (stacks / name).unlink()


def test_a_destroy_is_refused_before_anything_is_deleted(kept: Project, journal: Journal) -> None:
    """By its preview; whoever leaves that out, or asks for `--ignore-protect`, meets the provider at the data."""
    before, since = kept.objects(STACK), journal.now()
    foreseen = kept.interlock("plan", "umbrella", "--destroy", "--format", "json")
    assert foreseen.code == 1
    assert {item["name"] for item in json.loads(foreseen.out)["refused"]} == DATA
    for arguments in ((), ("--continue-on-error",)):
        refused = kept.pulumi("destroy", STACK, "--yes", *arguments)
        assert refused.code != 0
        assert "protected" in refused.text
        assert any(name in refused.text for name in DATA), refused.text
        assert since.ours() == []
    assert kept.objects(STACK) == before


def test_an_up_that_would_delete_them_is_refused_before_anything_is_deleted(kept: Project, journal: Journal) -> None:
    """The vPOD's volume and the bucket are no longer asked for, and the vPOD goes with its objects."""
    since = journal.now()
    kept.edit(FILE, "buckets:\n  results: {versioning: true}\n", "")
    try:
        kept.must(kept.interlock("lock", "umbrella"))
        refused = kept.plain_up(STACK)
    finally:
        (kept.folder / "stacks" / FILE).write_text(TENANT)
        kept.must(kept.interlock("lock", "umbrella"))
    assert refused.code != 0
    assert "umbrella-results" in refused.text
    assert since.ours() == []


def test_an_up_over_a_state_without_the_flag_changes_nothing_but_the_flag(kept: Project, journal: Journal) -> None:
    """As states of earlier versions are."""
    before = kept.objects(STACK)
    assert {name for name, item in before.items() if item.get("protect")} == DATA
    kept.must(kept.run("pulumi", "state", "unprotect", "--all", "--yes", "--stack", STACK))
    assert not any(item.get("protect") for item in kept.objects(STACK).values())
    since = journal.now()
    done = kept.must(kept.up(STACK, "--expect-no-changes"))
    assert since.ours() == []
    assert _changed(done) == {}
    after = kept.objects(STACK)
    assert {name for name, item in after.items() if item.get("protect")} == DATA
    assert {name: item["id"] for name, item in after.items()} == {name: item["id"] for name, item in before.items()}


def test_they_go_once_the_request_says_erase_and_that_is_applied(kept: Project, journal: Journal) -> None:
    before = {name: item["id"] for name, item in kept.objects(STACK).items()}
    kept.edit(FILE, "access:", "on_delete: erase\naccess:")
    kept.must(kept.interlock("lock", "umbrella"))
    kept.must(kept.plain_up(STACK))
    after = kept.objects(STACK)
    assert {name: item["id"] for name, item in after.items()} == before
    assert not any(item.get("protect") for item in after.values())
    steps = json.loads(kept.must(kept.interlock("plan", "umbrella", "--destroy", "--format", "json")).out)["steps"]
    assert {item["name"] for step in steps for item in step} == before.keys() - {"umbrella-claims"}
    _in_order(kept, [[item["name"] for item in step] for step in steps])
    kept.must(kept.pulumi("destroy", STACK, "--yes"))
    assert kept.objects(STACK) == {}


def _in_order(world: Project, steps: list[list[str]]) -> None:
    """The steps keep to what the engine goes by: whatever depends on an object, in the state, is in an earlier step."""
    step = {name: number for number, names in enumerate(steps) for name in names}
    name_of = {item["urn"]: item["urn"].rsplit("::", 1)[1] for item in world.state(STACK)["resources"]}
    pairs = [
        (name_of[item["urn"]], name_of[used])
        for item in world.state(STACK)["resources"]
        for used in item.get("dependencies") or ()
    ]
    known = [(user, used) for user, used in pairs if user in step and used in step]
    assert known
    assert [pair for pair in known if step[pair[0]] >= step[pair[1]]] == []


def _changed(done: Result) -> dict[str, int]:
    return {what: count for what, count in changes(done).items() if what != "unchanged"}
