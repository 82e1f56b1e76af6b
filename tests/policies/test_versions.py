"""Versions of boundary nodes, and judging beside the locks that a plan can meet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import digest_of
from policies.facts.identities import is_boundary
from policies.footprints.neighbours import Neighbours
from policies.footprints.versions import UNMENTIONED, boundary_digest, boundary_versions
from policies.judging import judge, model_of, seen_by
from tests.builders.pod64 import tenant
from tests.policies.test_properties import FEW, Defect, clean, defects, sites, workspace
from tests.policies.workspace import Made, changed, edited, full_site, made, with_footprint

SITE = full_site()


@cache
def three() -> dict[str, Made]:
    return clean()


def versions(plan_of: str, locks: dict[str, Lock]) -> dict[str, str]:
    others = [lock for name, lock in locks.items() if name != plan_of]
    return boundary_versions(model_of(SITE, three()[plan_of].plan, others), others)


def locks() -> dict[str, Lock]:
    return {name: item.lock for name, item in three().items()}


def test_every_boundary_node_met_has_a_version() -> None:
    found = versions("acme", locks())
    model = model_of(SITE, three()["acme"].plan, [three()["globex"].lock])
    assert set(found) == {node for node in model.may if is_boundary(node)}
    assert list(found) == sorted(found)


def test_a_version_is_that_of_the_locks_that_mention_the_node() -> None:
    globex = three()["globex"].lock
    node = f"L:{SITE.switch['tor-1'].serial}:{globex.allocation.vpods['train'].ipu_data_vlan}"
    moved = with_footprint(SITE, on_vlan_of("globex"), three()["acme"].lock)
    others = [globex, three()["carol"].lock]
    found = boundary_versions(model_of(SITE, moved.plan, others), others)
    assert found[node] == digest_of([["globex", globex.hash]])
    assert UNMENTIONED in found.values()


def on_vlan_of(name: str) -> Plan:
    vlan = three()[name].lock.allocation.vpods["train"].ipu_data_vlan
    return edited(three()["acme"].plan, "acme-train-ipu-data", segmentation_id=vlan)


def test_somebody_elsewhere_changes_no_version() -> None:
    before = versions("acme", locks())
    carol = three()["carol"]
    port = next(item.name for item in carol.plan.resources if item.name.endswith("-0-storage"))
    other = with_footprint(SITE, edited(carol.plan, port, port_security=False), carol.lock)
    elsewhere = with_footprint(SITE, carol.plan, carol.lock.model_copy(update={"serial": 9}))
    assert versions("acme", locks() | {"carol": elsewhere.lock}) == before
    assert versions("acme", locks() | {"carol": other.lock}) != before


def test_a_judgement_carries_one_digest_over_them() -> None:
    others = [three()["globex"].lock, three()["carol"].lock]
    judgement = judge(SITE, three()["acme"].plan, others)
    assert judgement.boundary == boundary_digest(versions("acme", locks()))


def test_only_those_who_can_be_met_are_looked_at() -> None:
    near = Neighbours.of(SITE, locks().values())
    seen = seen_by(SITE, three()["acme"].plan, near)
    assert [lock.id for lock in seen.locks] == []
    assert judge(SITE, three()["acme"].plan, near) == judge(SITE, three()["acme"].plan, list(locks().values()))


def test_a_plan_that_the_locks_do_not_know_is_judged_beside_all() -> None:
    near = Neighbours.of(SITE, [three()["globex"].lock, three()["carol"].lock])
    seen = seen_by(SITE, three()["acme"].plan, near)
    assert [lock.id for lock in seen.locks] == ["carol", "globex"]


def test_neighbours_of_another_site_are_refused() -> None:
    near = Neighbours.of(SITE, locks().values())
    with pytest.raises(ValueError, match="another site"):
        judge(changed(SITE), three()["acme"].plan, near)


def test_what_is_loaded_is_what_is_met() -> None:
    asked: list[str] = []
    every = Neighbours.of(SITE, locks().values())

    def load(names: Sequence[str]) -> list[Lock]:
        asked.extend(names)
        return [locks()[name] for name in names]

    near = Neighbours(every.site, every.classes, every.hashes, load)
    judge(SITE, three()["acme"].plan, near)
    assert asked == ["acme"]


@FEW
@given(site=sites(), wrong=defects)
def test_neighbours_suffice(site: Site, wrong: list[Defect]) -> None:
    """Beside its neighbours a plan's judgement is that beside everybody, for every tenant in turn."""
    made_of = workspace(site, wrong)
    every = [item.lock for item in made_of.values()]
    near = Neighbours.of(site, every)
    for name, item in made_of.items():
        assert judge(site, item.plan, near) == judge(site, item.plan, every)
        old = clean()[name].lock.footprint
        assert judge(site, item.plan, near, applied=old) == judge(site, item.plan, every, applied=old)


@FEW
@given(site=sites(), wrong=defects)
def test_neighbours_suffice_for_a_changed_plan(site: Site, wrong: list[Defect]) -> None:
    """The locks are those of before; the plan is new."""
    every = [item.lock for item in workspace(site, []).values()]
    near = Neighbours.of(site, every)
    for item in workspace(site, wrong).values():
        assert judge(site, item.plan, near) == judge(site, item.plan, every)


def test_a_fourth_on_its_own_is_not_met() -> None:
    dave = made(SITE, tenant("dave", machines=1, servers=1), list(locks().values()))
    near = Neighbours.of(SITE, [*locks().values(), dave.lock])
    for name, item in three().items():
        assert seen_by(SITE, item.plan, near).locks == (), name
