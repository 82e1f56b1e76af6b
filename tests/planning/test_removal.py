"""The end of a stack: its steps, what is in the way, and what is nobody's afterwards."""

from __future__ import annotations

import re

import pytest

from infra.reports.plan_removal import removal_text
from interlock.planning import Plan
from interlock.planning.removal import Ending, removal_of
from tests.planning.golden import plans

PLANS = plans()


def endings(plan: Plan) -> dict[str, Ending]:
    removal = removal_of(plan)
    return {item.name: item.ending for step in (*removal.steps, removal.left) for item in step}


@pytest.mark.parametrize("name", PLANS)
def test_every_resource_ends_once_and_after_all_that_use_it(name: str) -> None:
    plan = PLANS[name]
    removal = removal_of(plan)
    step = {item.name: number for number, items in enumerate(removal.steps) for item in items}
    assert sorted([*step, *(item.name for item in removal.left)]) == sorted(plan.by_name)
    for item in plan.resources:
        for used in (*(reference for _, reference in item.resource.references()), *item.after):
            if item.name in step and used in step:
                assert step[item.name] < step[used], f"{item.name} uses {used}"


def test_what_is_kept_refuses_with_the_line_that_says_so() -> None:
    plan = PLANS["data"]
    kept = {item.name for item in plan.resources if item.resource.is_kept}
    removal = removal_of(plan)
    assert kept
    assert {item.name for item in removal.refused} >= kept - {item.name for item in removal.left}
    assert all(item.where.endswith("on_delete") for item in removal.refused)
    assert f"refused before anything is deleted, by {len(removal.refused)} of" in removal_text(removal)


@pytest.mark.parametrize(
    ("on_delete", "volume", "bucket"),
    [("keep", "refused", "refused"), ("erase", "emptied", "emptied"), ("snapshot", "backed up", "refused")],
)
def test_data_end_as_on_delete_says(on_delete: str, volume: Ending, bucket: Ending) -> None:
    plan = PLANS["data"]
    changed = tuple(
        item.model_copy(update={"resource": item.resource.model_copy(update={"on_delete": on_delete})})
        if item.resource.HOLDS_DATA
        else item
        for item in plan.resources
    )
    found = endings(plan.model_copy(update={"resources": changed}))
    kinds = {item.name: item.resource.KIND for item in plan.resources if item.resource.is_declared}
    assert {found[name] for name, kind in kinds.items() if kind == "Volume"} == {volume}
    assert {found[name] for name, kind in kinds.items() if kind == "Bucket"} == {bucket}


def test_machines_and_whole_hosts_are_named_and_the_project_goes_last() -> None:
    acme = removal_of(PLANS["acme"])
    assert acme.released == PLANS["acme"].machines("acme-train")
    assert [item.kind for item in acme.steps[-1]] == ["Project"]
    whole = next(name for name, plan in PLANS.items() if "BareMetalServer" in {x.resource.KIND for x in plan.resources})
    nodes = {getattr(item.resource, "node", None) for item in PLANS[whole].resources} - {None}
    assert nodes <= set(removal_of(PLANS[whole]).released)


def test_what_nobody_here_made_is_left_and_told() -> None:
    plan = next(plan for plan in PLANS.values() if removal_of(plan).left)
    text = removal_text(removal_of(plan))
    assert "not made by this stack, so not deleted by it" in text
    for item in removal_of(plan).left:
        assert not re.search(rf"- {re.escape(item.name)}\b(?!-)", text)


def test_a_tenant_that_is_gone_has_nothing_to_delete() -> None:
    assert removal_of(PLANS["gone"]).steps == ()
    assert "nothing to delete" in removal_text(removal_of(PLANS["gone"]))
