"""Shares and buckets: who may read and write, seeded with one defect each."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from interlock.model.site.inventory import Sharing, Site
from interlock.model.tenant.request import BucketRequest, ShareRequest, Tenant
from interlock.planning.plan import Plan
from interlock.resources import BucketPolicy, BucketStatement
from policies.facts import identities as ids
from policies.judging import model_of
from policies.statement import statement
from tests.builders.pod64 import given, locked, site_locked, storing_pod64, tenant, vpod
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    changed,
    edited,
    first,
    judged,
    made,
    sharing,
    text,
    verdicts,
    with_footprint,
)

ACCESS = "acme-models-access-train"


def appliance(**guards: bool | None) -> Sharing:
    known = ("vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client")
    stated = dict.fromkeys(known, True) | guards
    return Sharing(name="files", kind="storage-appliance", node="files", audience=("*",), guards=stated, rule="SEC-14")


def site_of(*declared: Sharing, **stated: bool | None) -> Site:
    return storing_pod64(sharing=(*sharing(), *(declared or (appliance(),))), assumptions=assumptions(**stated))


def wish(name: str, **overrides: Any) -> Tenant:
    share = ShareRequest(name="models", size_gib=100, share_type="nfs", vpods=("train",), on_delete="erase")
    return tenant(name, **{"shares": (share,), **overrides})


@cache
def both() -> tuple[Made, Made]:
    acme = made(site_of(), wish("acme"))
    return acme, made(site_of(), wish("globex"), [acme.lock])


def test_shares_of_two_tenants() -> None:
    acme, globex = both()
    judgement = judged(site_of(), acme.plan, globex)
    assert judgement.exit_code == 0
    assert verdicts(judgement)["SEC-14"] == P


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prefix": "10.21.0.0/16"}, "10.21.0.0/16"),
        ({"prefix": "0.0.0.0/0"}, "0.0.0.0/0"),
        ({"network": "acme-train-control"}, "no storage network"),
        ({"network": "globex-train-storage"}, "no storage network"),
        ({"vip": "10.99.0.1"}, "not in"),
        ({"root_squash": False}, "root_squash"),
        ({"share": "globex-models"}, "no share of acme"),
    ],
)
def test_a_grant_that_is_not_exact(change: dict[str, object], words: str) -> None:
    acme, globex = both()
    judgement = judged(site_of(), edited(acme.plan, ACCESS, **change), globex)
    found = next(item for item in judgement.findings if item.rule == "SEC-14")
    assert (found.verdict, words in found.message) == (V, True)
    assert judgement.exit_code == 1


def test_the_appliance_at_a_servers_address() -> None:
    acme, _ = both()
    port = acme.plan.by_name["acme-train-poplar-0-storage"].resource
    plan = edited(acme.plan, ACCESS, vip=getattr(port, "address", ""))
    assert "is that of acme-train-poplar-0-storage" in first(judged(site_of(), plan)).message


def test_one_address_of_the_appliance_for_two() -> None:
    acme, globex = both()
    vip = getattr(acme.plan.by_name[ACCESS].resource, "vip", "")
    plan = edited(globex.plan, "globex-models-access-train", vip=vip)
    judgement = judged(site_of(), plan, acme)
    assert verdicts(judgement)["TOP-06"] == V
    assert f"storage address {vip}" in next(item for item in judgement.findings if item.rule == "TOP-06").message


@pytest.mark.parametrize(
    "guard", ["vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client"]
)
def test_the_appliance_is_apart_by_its_guards(guard: str) -> None:
    acme, globex = both()
    unknown = judged(site_of(appliance(**{guard: None})), acme.plan, globex)
    assert unknown.exit_code == 3
    assert {fact for item in unknown.findings for fact in item.missing} == {f"sharing.files.guards.{guard}"}
    broken = judged(site_of(appliance(**{guard: False})), acme.plan, globex)
    assert verdicts(broken)["ISO-02"] == V
    assert "the storage appliance" in text(next(item for item in broken.findings if item.rule == "ISO-02"))


def test_an_appliance_that_nobody_declares() -> None:
    acme, _ = both()
    assert judged(changed(site_of(), sharing=sharing()), acme.plan).exit_code == 1


@pytest.mark.parametrize(("value", "code"), [(None, 3), (False, 1)])
def test_grants_rest_on_the_service(value: bool | None, code: int) -> None:
    acme, _ = both()
    assert judged(site_of(storage_rules_enforced=value), acme.plan).exit_code == code


# Buckets.


@cache
def with_policy() -> Plan:
    request = BucketRequest(name="data", versioning=True, on_delete="erase", readers=("serve",), public=True)
    pods = (vpod("train", machines=4, servers=1), vpod("serve", machines=4, servers=1))
    return made(site_of(), tenant("acme", vpods=pods, buckets=(request,))).plan


def stated(*statements: BucketStatement) -> Plan:
    return edited(with_policy(), "acme-data-policy", statements=statements)


def test_a_public_bucket_is_an_exposure_and_no_fault() -> None:
    assert isinstance(with_policy().by_name["acme-data-policy"].resource, BucketPolicy)
    judgement = judged(site_of(), with_policy())
    assert verdicts(judgement)["SEC-11"] == P
    lock = locked(site_of(), tenant("acme"))
    mark = with_footprint(site_of(), with_policy(), lock).lock.footprint
    assert mark.exposures == ("bucket acme-data: everybody may read",)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (BucketStatement(principals=("*",), actions=("read", "write")), "everybody"),
        (BucketStatement(principals=("globex-train-s3",), actions=("read",)), "globex-train-s3"),
        (BucketStatement(principals=("cloud:User/alice",), actions=("read",)), "cloud:User/alice"),
    ],
)
def test_a_policy_for_others(statement: BucketStatement, words: str) -> None:
    found = first(judged(site_of(), stated(statement)))
    assert (found.rule, found.verdict, words in found.message) == ("SEC-11", V, True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("acme-data", {"credential": "globex-train-s3-key"}),
        ("acme-data", {"project": "site:Project/controllers"}),
        ("acme-data-policy", {"bucket": "globex-data"}),
        ("acme-train-s3", {"project": "site:Project/controllers"}),
        # The user is acme's; the key counts in the project in which it lies.
        ("acme-train-s3-key", {"project": "site:Project/controllers"}),
    ],
)
def test_a_bucket_of_anothers_key(name: str, change: dict[str, object]) -> None:
    assert first(judged(site_of(), edited(with_policy(), name, **change))).rule == "SEC-11"


def test_policies_rest_on_the_service() -> None:
    unknown = judged(site_of(bucket_rules_enforced=None), with_policy())
    assert (unknown.exit_code, verdicts(unknown)["SEC-11"]) == (3, N)
    without = made(site_of(), tenant("acme")).plan
    assert judged(site_of(), without).exit_code == 0
    assert first(judged(site_of(bucket_rules_enforced=None), without)).missing == (
        "assumptions.A11.bucket_rules_enforced",
    )
    assert verdicts(judged(site_of(bucket_rules_enforced=False), without))["AUTH-01"] == V


# Volumes.


@pytest.mark.parametrize(
    "change", [{"volume": "globex-train-poplar-0-data"}, {"server": "acme-train-controller"}, {"server": "elsewhere"}]
)
def test_a_volume_on_a_server_of_another(change: dict[str, object]) -> None:
    acme, globex = both()
    plan = edited(acme.plan, "acme-train-poplar-0-attachment", **change)
    assert verdicts(judged(site_of(), plan, globex))["ISO-02"] == V


@pytest.mark.parametrize(
    ("server", "holders"),
    [
        ("acme-train-poplar-1", ("acme",)),
        ("acme-train-controller", ("acme", "op")),
        ("elsewhere", ("acme", "foreign")),
    ],
)
def test_example_43_a_volume_at_two_servers(server: str, holders: tuple[str, ...]) -> None:
    """Excl names volume attachments: the rule about holders says whose servers they are, and so does the statement."""
    acme, globex = both()
    one = acme.plan.by_name["acme-train-poplar-0-attachment"].resource
    second = one.model_copy(update={"server": server})
    plan = added(acme.plan, "second", "acme-train", second)
    judgement = judged(site_of(), plan, globex)
    found = [item.message for item in judgement.findings if item.rule == "TOP-06"]
    volume = "acme-train-poplar-0-data"
    assert found == ([f"volume {volume} is attached for {' and '.join(holders)}"] if len(holders) > 1 else [])
    identity = ids.volume("acme", volume)
    assert statement(model_of(site_of(), plan, [globex.lock])).exclusive[identity] == holders


def test_a_lock_keeps_its_address_of_the_appliance() -> None:
    acme, _ = both()
    vip = acme.lock.allocation.vpods["train"].storage_vip
    assert vip is not None
    assert f"vip:sandbox:{vip}" in acme.lock.footprint.exclusive
    assert given(acme.lock, storage_vip=vip).allocation == acme.lock.allocation
    assert site_locked(site_of()).site
