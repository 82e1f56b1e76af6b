"""What nothing can make: all of it, in the tenant's words, and nothing that is only reserved."""

from __future__ import annotations

import pytest

from interlock.planning import not_makeable
from interlock.planning.makeable import NO_IRONIC, NO_POLICIES, WHY, WHY_NO_COPY
from interlock.planning.origins import ORIGINS, request_path
from interlock.planning.plan import Planned
from interlock.resources import KINDS
from tests.planning.golden import plans

ASKED = {
    "bare-metal": [
        ("BareMetalServer", "acme-train-poplar-0", "vpods.train.poplar.kind"),
        ("BareMetalServer", "acme-train-poplar-1", "vpods.train.poplar.kind"),
    ],
    "data": [
        ("BucketPolicy", "acme-models-policy", "buckets.models"),
    ],
    "cluster-data": [("BucketPolicy", "acme-weights-policy", "buckets.weights")],
    "partitions": [
        ("VipuPartition", "acme-train-partition-big", "vpods.train.partitions.big"),
        ("VipuPartition", "acme-train-partition-jobs", "vpods.train.partitions.jobs"),
    ],
}


@pytest.mark.parametrize("name", plans())
def test_all_of_it_is_listed_with_its_place(name: str) -> None:
    found = [(item.kind, item.name, item.where) for item in not_makeable(plans()[name])]
    assert found == ASKED.get(name, [])


@pytest.mark.parametrize("name", ["acme", "globex"])
def test_what_is_reserved_or_offered_is_not_in_the_way(name: str) -> None:
    plan = plans()[name]
    assert plan.without_actuator()
    assert not_makeable(plan) == ()


def test_every_kind_without_an_actuator_has_a_reason_of_its_own() -> None:
    assert {kind for kind, cls in KINDS.items() if not cls.HAS_ACTUATOR and not cls.RESERVED} == set(WHY)


def test_a_whole_host_is_refused_by_the_reason_that_is_its_own() -> None:
    why = {name: {str(item.why) for item in not_makeable(plans()[name])} for name in ("bare-metal", "ironic")}
    assert why == {"bare-metal": {NO_IRONIC}, "ironic": set()}
    first = not_makeable(plans()["bare-metal"])[0]
    assert str(first) == (
        "vpods.train.poplar.kind: BareMetalServer acme-train-poplar-0: "
        "the site file has no `ironic`, so nothing deploys hosts"
    )


def test_one_line_says_where_what_and_why() -> None:
    first = not_makeable(plans()["data"])[0]
    assert str(first) == f"buckets.models: BucketPolicy acme-models-policy: {NO_POLICIES}"


def test_a_bucket_policy_is_made_where_the_object_storage_enforces_it() -> None:
    plan = plans()["data"]
    told = [
        replaced(item, enforced_by="versity") if item.resource.KIND == "BucketPolicy" else item
        for item in plan.resources
    ]
    assert not_makeable(plan.model_copy(update={"resources": tuple(told)})) == ()


def test_of_what_no_copy_can_be_kept_the_promise_is_refused() -> None:
    plan = plans()["data"]
    asked = [replaced(item, on_delete="snapshot") if item.resource.HOLDS_DATA else item for item in plan.resources]
    found = not_makeable(plan.model_copy(update={"resources": tuple(asked)}))
    promises = {item.kind: item.why for item in found if item.where.endswith("on_delete")}
    assert promises == WHY_NO_COPY
    assert "say `keep` or `erase`" in promises["Bucket"]


def replaced(item: Planned, **fields: object) -> Planned:
    """The same entry of a plan with other values in its resource."""
    return item.model_copy(update={"resource": item.resource.model_copy(update=fields)})


def test_origins_name_fields_of_their_kinds() -> None:
    for origin in ORIGINS:
        assert set(origin.keys) <= set(KINDS[origin.kind].model_fields), origin


def test_a_value_leads_back_to_its_line() -> None:
    plan = plans()["acme"]
    item = plan.by_name["acme-train-poplar-1"]
    assert request_path(plan, item, "flavor") == "vpods.train.poplar.flavor"
    assert request_path(plan, item, "host") is None
    assert request_path(plan, plan.by_name["acme-train-poplar-0-data"], "size_gib") == "vpods.train.poplar.volume.size"
    assert request_path(plan, plan.by_name["acme-data"], "versioning") == "buckets.data.versioning"
    assert request_path(plan, plan.by_name["acme-project"], "description") == "name"
