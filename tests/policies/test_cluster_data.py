"""Shares and buckets of GPU clusters: who mounts, who may read, and what an appliance joins, with defects and twins.

hall-1: acme has su01-n01, n02 (train) and su01-n03, n04 (serve); globex has su02-n01, n02.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import BucketRequest, ShareRequest, Tenant
from interlock.planning.plan import Plan
from policies import Judgement
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_tenant, storing_gpu_site
from tests.policies.test_data_rules import appliance
from tests.policies.workspace import Made, N, P, V, assumptions, edited, judged, sharing, verdicts, with_footprint

TRAIN, SERVE = "acme-datasets-access-train", "acme-datasets-access-serve"
APART = "no_routing_between_vips"


@cache
def site(guard: str = "", value: bool | None = True) -> Site:
    """A hall whose appliance is apart, but for one guard."""
    stated = appliance(**({guard: value} if guard else {}))
    return declared_complete(storing_gpu_site(sharing=(*sharing(), stated), assumptions=assumptions()))


def request(name: str, *parts: str, **overrides: Any) -> Tenant:
    """Clusters that mount one share, and a bucket of the first that the last may read."""
    share = ShareRequest(
        name="datasets", size_gib=100, share_type="nfs", vpods=(), clusters=parts, access="rw", on_delete="erase"
    )
    readers = parts[1:]
    bucket = BucketRequest(name="weights", versioning=True, on_delete="erase", readers=readers)
    fields: dict[str, Any] = {"shares": (share,), "buckets": (bucket,)}
    return gpu_tenant(name, *(cluster(part) for part in parts), **(fields | overrides))


@cache
def acme(**overrides: Any) -> Plan:
    given = [
        claims(1, (1, 1), (1, 2), storage_vip="10.60.1.2"), claims(3, (1, 3), (1, 4), storage_vip="10.60.3.2")
    ]  # fmt: skip
    return clusters_planned(request("acme", "train", "serve", **overrides), given, site())


@cache
def globex() -> Made:
    asked, given = request("globex", "train"), claims(4, (2, 1), (2, 2), storage_vip="10.60.4.2")
    return with_footprint(site(), clusters_planned(asked, [given], site()), clusters_locked(asked, given))


def of(plan: Plan, on: Site | None = None) -> Judgement:
    return judged(on or site(), plan, globex())


def test_two_clusters_with_a_share_and_a_bucket_are_proved_and_apart() -> None:
    found = of(acme())
    assert not found.findings, [item.message for item in found.findings]
    assert {
        rule: verdicts(found)[rule] for rule in ("SEC-14", "SEC-11", "ISO-30", "ISO-02", "AUTH-01")
    } == dict.fromkeys(("SEC-14", "SEC-11", "ISO-30", "ISO-02", "AUTH-01"), P)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prefix": "10.60.0.0/16"}, "10.60.0.0/16"),
        ({"network": "globex-train-cluster"}, "no in-band network of a cluster"),
        ({"vip": "10.60.9.2"}, "not in"),
        ({"vip": "10.60.1.10"}, "is that of acme-train-node-0-cluster"),
        ({"vip": "10.60.1.1"}, "gateway of acme-train-cluster-subnet"),
        ({"root_squash": False}, "root_squash"),
    ],
)
def test_a_grant_to_a_cluster_that_is_not_exact(change: dict[str, object], words: str) -> None:
    found = of(edited(acme(), TRAIN, **change))
    told = [item for item in found.findings if item.rule == "SEC-14"]
    assert [item.verdict for item in told] == [V]
    assert words in told[0].message


@pytest.mark.parametrize("guard", ["vips_per_owner", "vlan_per_owner", APART])
@pytest.mark.parametrize(("value", "verdict"), [(None, N), (False, V)])
def test_clusters_of_one_tenant_meet_in_an_appliance_that_is_not_apart(
    guard: str, value: bool | None, verdict: str
) -> None:
    found = of(acme(), site(guard, value))
    assert {rule: verdicts(found)[rule] for rule in ("ISO-30", "ISO-02")} == {"ISO-30": verdict, "ISO-02": verdict}
    joined = next(item for item in found.findings if item.rule == "ISO-30")
    assert "acme-serve and acme-train" in joined.message


def test_one_address_of_the_appliance_for_two_clusters() -> None:
    found = of(edited(acme(), SERVE, vip="10.60.1.2"))
    assert {item.rule for item in found.findings} >= {"SEC-14", "ISO-30"}
    assert "stands on acme-serve-cluster too" in " ".join(item.message for item in found.findings)
