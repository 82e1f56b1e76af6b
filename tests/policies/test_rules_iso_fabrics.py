"""Rules about InfiniBand partitions and NVLink partitions: ISO-19 to ISO-23. No request can ask for one yet.

ib-1: a0… of acme, b0… of globex, c0… of the operator's storage
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet, PartitionKeyPool
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import NvlinkPartition, PartitionKey
from interlock.resources.fabric import PartitionMember
from policies import Judgement, Verdict
from tests.builders.pod64 import pools, site_locked
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    first,
    full_site,
    judged,
    pair,
    text,
    verdicts,
    with_footprint,
)

ACME, GLOBEX, STORAGE = "a0a0a0a0a0a0a0a0", "b0b0b0b0b0b0b0b0", "c0c0c0c0c0c0c0c0"
RESERVED = 0x0100


def site_of(**stated: bool | None) -> Site:
    pool = PartitionKeyPool(infiniband="ib-1", keys=((0x0001, 0x00FF),), reserved=(RESERVED,))
    return full_site(
        infiniband=(InfinibandSubnet(name="ib-1", prefix="fe80000000000000"),),
        pools=pools(partition_keys=(pool,)),
        assumptions=assumptions(**stated),
    )


@cache
def clean() -> tuple[Made, Made]:
    return pair(site_of())


def key(bits: int, **members: str) -> PartitionKey:
    """A partition; members as GUID and membership."""
    listed = tuple(PartitionMember.model_validate({"guid": guid, "membership": how}) for guid, how in members.items())
    return PartitionKey(infiniband="ib-1", key=bits, members=listed)


def with_keys(number: int, *keys: PartitionKey) -> Plan:
    made_of = clean()[number]
    plan, owner = made_of.plan, made_of.lock.id
    for index, item in enumerate(keys):
        plan = added(plan, f"{owner}-key-{index}", f"{owner}-train", item)
    return plan


def beside(mine: tuple[PartitionKey, ...], theirs: tuple[PartitionKey, ...], **stated: bool | None) -> Judgement:
    """acme's judgement, its keys beside globex's."""
    site, globex = site_of(**stated), clean()[1]
    return judged(site, with_keys(0, *mine), with_footprint(site, with_keys(1, *theirs), globex.lock))


OWN = (key(0x0005, **{ACME: "full"}),)
OTHER = (key(0x0006, **{GLOBEX: "full"}),)


def test_keys_of_their_own() -> None:
    judgement = beside(OWN, OTHER)
    assert judgement.exit_code == 0
    found = verdicts(judgement)
    assert [found[f"ISO-{number}"] for number in (19, 20, 21, 22, 23)] == [P, P, NA, NA, P]


def test_example_24_the_same_15_bits() -> None:
    judgement = beside(OWN, (key(0x8005, **{GLOBEX: "limited"}),))
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-20", V)
    assert "P_Key 0x0005 is that of acme and globex: the same 15 bits" in first(judgement).message
    assert {f"InfiniBand port {ACME} [acme], full", f"InfiniBand port {GLOBEX} [globex], limited"} <= set(
        first(judgement).witness
    )


@pytest.mark.parametrize("bits", [0x0000, 0x8000, 0x0200, 0x8200])
def test_keys_that_are_none_or_in_no_pool(bits: int) -> None:
    judgement = beside((key(bits, **{ACME: "full"}),), ())
    assert (first(judgement).rule, verdicts(judgement)["ISO-20"]) == ("ISO-20", V)


def test_a_port_in_the_keys_of_two() -> None:
    judgement = beside(OWN, (key(0x0006, **{ACME: "full"}),))
    assert first(judgement).rule == "ISO-20"
    assert f"InfiniBand port {ACME} is that of acme and globex" in first(judgement).message


# ISO-19


def test_example_25_a_tenant_full_in_the_default_partition() -> None:
    default = key(0x7FFF, **{ACME: "full"})
    judgement = beside((default,), ())
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-19", V)
    assert f"InfiniBand port {ACME} of acme is a full member of the default partition" in first(judgement).message
    seen_by_globex = judged(
        site_of(), with_keys(1, *OTHER), with_footprint(site_of(), with_keys(0, default), clean()[0].lock)
    )
    assert verdicts(seen_by_globex)["ISO-19"] == V


def test_example_25_limited_in_the_default_partition() -> None:
    limited = beside((*OWN, key(0xFFFF, **{ACME: "limited"})), OTHER)
    assert verdicts(limited)["ISO-19"] == P


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_the_default_partition_of_a_subnet(value: bool | None, verdict: Verdict) -> None:
    judgement = beside(OWN, (), default_partition_limited=value)
    assert verdicts(judgement)["ISO-19"] == verdict
    found = [item for item in judgement.findings if item.rule == "ISO-19"]
    assert [item.missing for item in found] == (
        [("assumptions.A6.default_partition_limited",)] if value is None else [()] * (value is False)
    )


# ISO-21


def of_site(*keys: PartitionKey, tenants: tuple[PartitionKey, ...] = OWN) -> Judgement:
    """The operator's own plan with these keys, beside acme's."""
    site = site_of()
    plan = plan_site(site, site_locked(site))
    for index, item in enumerate(keys):
        plan = added(plan, f"key-{index}", plan.components[0].name, item)
    return judged(site, plan, with_footprint(site, with_keys(0, *tenants), clean()[0].lock))


def test_example_26_a_full_client_of_the_storage_partition() -> None:
    judgement = beside((key(RESERVED, **{ACME: "full"}),), ())
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-21", V)
    assert (
        f"InfiniBand port {ACME} of acme is a full member of P_Key 0x0100, which is shared"
        in text(first(judgement)) + first(judgement).message
    )
    operators = of_site(key(0x0050, **{STORAGE: "full", ACME: "full"}))
    assert verdicts(operators)["ISO-21"] == V


def test_example_26_limited_clients() -> None:
    judgement = beside((key(RESERVED, **{ACME: "limited"}),), ())
    assert (verdicts(judgement)["ISO-20"], verdicts(judgement)["ISO-21"]) == (P, P)
    operators = of_site(key(RESERVED, **{STORAGE: "full", ACME: "limited"}))
    assert verdicts(operators)["ISO-21"] == P


# ISO-23


@pytest.mark.parametrize("guard", ["subnet_manager_keys_set", "keys_enforced_at_switch"])
@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_27_the_subnet_managers_keys(guard: str, value: bool | None, verdict: Verdict) -> None:
    """One owner on the subnet: nobody is joined, and the rule still speaks."""
    judgement = beside(OWN, (), **{guard: value})
    assert verdicts(judgement)["ISO-23"] == verdict
    if value is not True:
        assert first(judgement).rule == "ISO-23"
        assert first(judgement).missing == ((f"assumptions.A6.{guard}",) if value is None else ())


def test_the_site_answers_for_its_subnets() -> None:
    site = site_of(subnet_manager_keys_set=None)
    assert verdicts(judged(site, plan_site(site, site_locked(site))))["ISO-23"] == N
    assert verdicts(judged(full_site(), plan_site(full_site(), site_locked(full_site()))))["ISO-23"] == NA


# ISO-22


def gpus(partition: int, *names: str) -> NvlinkPartition:
    return NvlinkPartition(name=f"p{partition}", domain="rack-1", partition=partition, gpus=names)


def racked(number: int, *partitions: NvlinkPartition) -> Plan:
    made_of = clean()[number]
    plan, owner = made_of.plan, made_of.lock.id
    for index, item in enumerate(partitions):
        plan = added(plan, f"{owner}-nvlink-{index}", f"{owner}-train", item)
    return plan


def shared_rack(
    mine: tuple[NvlinkPartition, ...], theirs: tuple[NvlinkPartition, ...], **stated: bool | None
) -> Judgement:
    site = site_of(**stated)
    return judged(site, racked(0, *mine), with_footprint(site, racked(1, *theirs), clean()[1].lock))


def test_partitions_of_their_own() -> None:
    judgement = shared_rack((gpus(1, "gpu-1", "gpu-2"),), (gpus(2, "gpu-3"),))
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-22"] == P


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (gpus(1, "gpu-3"), "NVLink partition 1 is that of acme and globex"),
        (gpus(2, "gpu-2"), "is that of acme and globex"),
    ],
)
def test_example_29_one_partition_for_two(theirs: NvlinkPartition, words: str) -> None:
    judgement = shared_rack((gpus(1, "gpu-1", "gpu-2"),), (theirs,))
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-22", V)
    assert words in first(judgement).message


@pytest.mark.parametrize("guard", ["partitions_applied", "default_partition_empty"])
@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_29_partitions_that_nobody_applies(guard: str, value: bool | None, verdict: Verdict) -> None:
    judgement = shared_rack((gpus(1, "gpu-1"),), (gpus(2, "gpu-2"),), **{guard: value})
    assert verdicts(judgement)["ISO-22"] == verdict
    assert value is True or first(judgement).rule == "ISO-22"
    alone = shared_rack((gpus(1, "gpu-1"),), (), **{guard: value})
    assert verdicts(alone)["ISO-22"] == P


@pytest.mark.parametrize("partitions", [(gpus(1, "gpu-1"), gpus(2, "gpu-1")), (gpus(1),)])
def test_a_gpu_in_two_partitions_or_none_in_one(partitions: tuple[NvlinkPartition, ...]) -> None:
    assert first(shared_rack(partitions, ())).rule == "ISO-22"
