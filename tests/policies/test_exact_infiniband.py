"""ISO-19 to ISO-23: which keys a plan answers for, which are shared, and all that is said of them."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet, PartitionKeyPool
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey
from policies.rules.infiniband import ISO_19, ISO_20, ISO_21, ISO_23
from policies.rules.rule import Rule, RuleAnswer
from tests.builders.pod64 import pools, site_locked
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_iso_fabrics import ACME, GLOBEX, STORAGE, key
from tests.policies.workspace import Made, added, assumptions, full_site, pair, with_footprint

PORT = {name: f"InfiniBand port {guid}" for name, guid in (("acme", ACME), ("globex", GLOBEX), ("op", STORAGE))}


@cache
def site_of(*, pooled: bool = True, **stated: bool | None) -> Site:
    """Two subnets; the second has a reserved key that the first has in its range."""
    subnets = tuple(
        InfinibandSubnet(name=name, prefix=f"fe8000000000000{number}") for number, name in enumerate(("ib-1", "ib-2"))
    )
    made_of = (
        PartitionKeyPool(infiniband="ib-1", keys=((0x0010, 0x00FF), (0x0300, 0x0300)), reserved=(0x8200,)),
        PartitionKeyPool(infiniband="ib-2", keys=((0x0010, 0x00FF),), reserved=(0x0020,)),
    )
    held = pools(partition_keys=made_of if pooled else ())
    return full_site(infiniband=subnets, pools=held, assumptions=assumptions(**stated))


@cache
def clean() -> tuple[Made, Made]:
    return pair(site_of())


def keys(plan: Plan, owner: str, component: str, found: tuple[PartitionKey, ...]) -> Plan:
    for index, item in enumerate(found):
        plan = added(plan, f"{owner}-key-{index}", component, item)
    return plan


def asked(
    rule: Rule, site: Site, *, acme: tuple[PartitionKey, ...] = (), globex: tuple[PartitionKey, ...] = ()
) -> RuleAnswer:
    """acme's plan with keys, beside globex's."""
    one, two = (
        keys(item.plan, item.lock.id, f"{item.lock.id}-train", found)
        for item, found in zip(clean(), (acme, globex), strict=True)
    )
    return answered(rule, site, one, with_footprint(site, two, clean()[1].lock))


def of_operator(rule: Rule, own: tuple[PartitionKey, ...], acme: tuple[PartitionKey, ...] = ()) -> RuleAnswer:
    site, tenant = site_of(), clean()[0]
    plan = plan_site(site, site_locked(site))
    theirs = with_footprint(site, keys(tenant.plan, "acme", "acme-train", acme), tenant.lock)
    return answered(rule, site, keys(plan, "op", plan.components[0].name, own), theirs)


def elsewhere(found: PartitionKey) -> PartitionKey:
    return found.model_copy(update={"infiniband": "ib-2"})


# ISO-19.


def test_all_that_is_said_of_a_full_member_of_the_default_partition() -> None:
    found = asked(ISO_19, site_of(), acme=(key(0xFFFF, **{ACME: "full", GLOBEX: "limited"}),))
    what = f"{PORT['acme']} of acme is a full member of the default partition and hears all of it"
    assert told(found) == [
        f"V 93: {what}",
        f"  witness: P_Key 0x7fff on ib-1 across its P_Keys / {PORT['acme']} [acme], full",
        "  about: acme",
    ]


def test_the_operators_own_port_is_full_there() -> None:
    default = key(0x7FFF, **{STORAGE: "full"})
    assert messages(of_operator(ISO_19, (default,))) == []
    assert len(messages(of_operator(ISO_19, (default,), (key(0x7FFF, **{ACME: "full"}),)))) == 1


def test_of_another_subnet_a_tenant_answers_for_nothing() -> None:
    """Who is full there is not on the plan's wire; the operator answers for all subnets."""
    mine, theirs = key(0x0010, **{ACME: "full"}), key(0x7FFF, **{GLOBEX: "full"})
    assert messages(asked(ISO_19, site_of(), acme=(mine,), globex=(elsewhere(theirs),))) == []
    assert len(messages(asked(ISO_19, site_of(), acme=(mine,), globex=(theirs,)))) == 1
    assert len(messages(of_operator(ISO_19, (), (elsewhere(key(0x7FFF, **{ACME: "full"})),)))) == 1


@pytest.mark.parametrize(
    ("rule", "guard", "words"),
    [
        (ISO_19, "default_partition_limited", "ports are full members of the default partition unless told otherwise"),
        (
            ISO_23,
            "subnet_manager_keys_set",
            "anybody may play the subnet manager, or members are told apart by adapters",
        ),
    ],
)
def test_all_that_is_said_of_a_subnet_without_a_guard(rule: Rule, guard: str, words: str) -> None:
    subnet, fact = "ib-1 across its P_Keys", f"assumptions.A6.{guard}"
    mine = (key(0x0010, **{ACME: "limited"}),)
    for value, expected in (
        (True, []),
        (False, [f"V 62: {subnet}: {words}", f"  witness: {subnet} / {fact}"]),
        (
            None,
            [f"N 62: {subnet}: nobody states whether {words}", f"  witness: {subnet} / {fact}", f"  missing: {fact}"],
        ),
    ):
        answer = asked(rule, site_of(**{guard: value}), acme=mine)
        assert (told(answer), answer.count) == (expected, 1)


# ISO-20.


def in_pool(bits: int, *, pooled: bool = True) -> list[str]:
    return messages(asked(ISO_20, site_of(pooled=pooled), acme=(key(bits, **{ACME: "limited"}),)))


@pytest.mark.parametrize(
    ("bits", "is_listed"),
    [
        (0x000F, False),
        (0x0010, True),
        (0x0011, True),
        (0x00FF, True),
        (0x0100, False),
        (0x0300, True),
        (0x8010, True),
        (0x80FF, True),
        (0x8100, False),
        (0x0200, True),
        (0x8200, True),
        (0x7FFF, True),
        (0xFFFF, True),
    ],
)
def test_keys_of_the_pool(bits: int, is_listed: bool) -> None:
    """By their 15 bits; the reserved and the default one are of no pool. Without a pool none is missing from it."""
    short = bits & 0x7FFF
    assert in_pool(bits) == [f"V acme-key-0: {short:#06x} is not in the pool of ib-1"] * (not is_listed)
    assert in_pool(bits, pooled=False) == []


def test_all_that_is_said_of_a_key_of_no_pool() -> None:
    what = "acme-key-0: 0x0100 is not in the pool of ib-1"
    assert told(asked(ISO_20, site_of(), acme=(key(0x0100, **{ACME: "limited"}),))) == [
        f"V 93: {what}",
        f"  witness: acme-key-0 / {what}",
        "  about: acme-key-0",
    ]


def test_every_key_of_a_plan_is_looked_at() -> None:
    """Whatever comes before it."""
    found = (key(bits, **{ACME: "limited"}) for bits in (0x0200, 0x0100, 0x0010, 0x0101))
    assert messages(asked(ISO_20, site_of(), acme=tuple(found))) == [
        "V acme-key-1: 0x0100 is not in the pool of ib-1",
        "V acme-key-3: 0x0101 is not in the pool of ib-1",
    ]


@pytest.mark.parametrize("bits", [0x0000, 0x8000])
@pytest.mark.parametrize("pooled", [True, False])
def test_nothing_is_no_key(bits: int, pooled: bool) -> None:
    """Once: that it is in no pool says no more."""
    assert in_pool(bits, pooled=pooled) == ["V P_Key 0x0000 is no key"]


@pytest.mark.parametrize(
    ("bits", "mine", "theirs", "is_told"),
    [
        (0x0010, "full", "limited", True),
        (0x0010, "limited", "full", True),
        (0x0010, "full", "full", True),
        (0x0010, "limited", "limited", False),
        # Held back for sharing; on the other subnet another key is.
        (0x0200, "full", "limited", False),
        (0x0020, "full", "limited", True),
        (0x7FFF, "full", "limited", False),
    ],
)
def test_one_key_of_two_tenants(bits: int, mine: str, theirs: str, is_told: bool) -> None:
    found = asked(
        ISO_20, site_of(), acme=(key(bits, **{ACME: mine}),), globex=(key(bits | 0x8000, **{GLOBEX: theirs}),)
    )
    what = f"P_Key {bits:#06x} is that of acme and globex: the same 15 bits"
    steps = f"{PORT['acme']} [acme], {mine} / {PORT['globex']} [globex], {theirs}"
    expected = [
        f"V 93: {what}",
        f"  witness: P_Key {bits:#06x} on ib-1 across its P_Keys / {steps}",
        "  about: acme, globex",
    ]
    assert told(found) == (expected if is_told else [])
    assert found.count == (bits != 0x7FFF)


def test_a_port_of_two_has_two_holders() -> None:
    found = asked(
        ISO_20, site_of(), acme=(key(0x0010, **{ACME: "limited"}),), globex=(key(0x0011, **{ACME: "limited"}),)
    )
    assert sorted(messages(found)) == [f"V {PORT['acme']} is that of acme and globex"] * 2


# ISO-21.


def test_all_that_is_said_of_a_full_client() -> None:
    """Also of the only one; on the other subnet that key is shared and this one not."""
    what = f"{PORT['acme']} of acme is a full member of P_Key 0x0200, which is shared"
    found = asked(ISO_21, site_of(), acme=(key(0x0200, **{ACME: "full"}), key(0x0020, **{GLOBEX: "full"})))
    assert told(found) == [
        f"V 93: {what}",
        f"  witness: P_Key 0x0200 on ib-1 across its P_Keys / {PORT['acme']} [acme], full",
        "  about: acme",
    ]
    assert found.count == 1


def test_the_default_partition_is_for_another_rule() -> None:
    """With a port of the operator's it is shared as well."""
    default = key(0x7FFF, **{STORAGE: "full"})
    theirs = (key(0x7FFF, **{ACME: "full"}),)
    answer = of_operator(ISO_21, (default,), theirs)
    assert (messages(answer), answer.count) == ([], 0)
    shared = of_operator(ISO_21, (key(0x0030, **{STORAGE: "full"}),), (key(0x0030, **{ACME: "full"}),))
    assert messages(shared) == [f"V {PORT['acme']} of acme is a full member of P_Key 0x0030, which is shared"]
