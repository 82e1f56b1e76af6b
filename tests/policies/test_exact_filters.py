"""L3-11 and L3-12: what a filter is, which of them let the world in, and all that is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.planning.plan import Plan
from interlock.resources import FloatingIp, SecurityGroup, SecurityGroupRule
from policies.rules.filters import L3_11, L3_12
from tests.policies.asking import answered, messages, told
from tests.policies.test_authority import declared
from tests.policies.test_rules_l3_ports import (
    GROUP,
    HIGH,
    LOW,
    PORT,
    SITE,
    by_group,
    clean,
    filtered,
    ingress,
    ssh_from,
    with_friends,
)
from tests.policies.workspace import added, edited

OTHER = "acme-train-poplar-1-control"
WORLD = f"V security group {GROUP} lets the whole world in"


def said(*rules: SecurityGroupRule) -> list[str]:
    """Of L3-11 without the name of the group."""
    found = messages(answered(L3_11, SITE, filtered(*rules)))
    return [line.removeprefix(f"V security group {GROUP}") for line in found]


# What is well formed.


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (ingress(protocol="tcp", port_min=1, port_max=65535), []),
        (ingress(protocol="udp", port_min=7, port_max=7), []),
        (ingress(protocol="tcp"), []),
        (ingress(protocol="icmp"), []),
        (ingress(remote_prefix="203.0.113.9/24"), []),
        (ingress(remote_prefix="2001:db8::9/64", ethertype="IPv6"), []),
        (ingress(protocol="tcp", port_min=0, port_max=5), [": tcp 0-5 from 203.0.113.0/24: 0-5 is no range of ports"]),
        (
            ingress(protocol="tcp", port_min=5, port_max=65536),
            [": tcp 5-65536 from 203.0.113.0/24: 5-65536 is no range of ports"],
        ),
        (
            ingress(protocol="tcp", port_min=5, port_max=4),
            [": tcp 5-4 from 203.0.113.0/24: 5-4 is no range of ports"],
        ),
        (
            ingress(protocol="tcp", port_min=22),
            [": tcp 22-None from 203.0.113.0/24: one end of the range of ports is missing"],
        ),
        (
            ingress(protocol="tcp", port_max=22),
            [": tcp from 203.0.113.0/24: one end of the range of ports is missing"],
        ),
        (ingress(port_min=3, port_max=3), [": everything 3-3 from 203.0.113.0/24: every protocol has no ports"]),
        (ingress(protocol="icmp", port_min=3, port_max=3), [": icmp 3-3 from 203.0.113.0/24: icmp has no ports"]),
        (
            ingress(ethertype="IPv6"),
            [": everything from 203.0.113.0/24: 203.0.113.0/24 is no IPv6 prefix"],
        ),
    ],
)
def test_what_a_filter_is(rule: SecurityGroupRule, expected: list[str]) -> None:
    assert said(rule) == expected


def test_all_that_is_said_of_a_filter_that_is_none() -> None:
    rule = ingress(protocol="tcp", port_min=22)
    why = "one end of the range of ports is missing"
    assert told(answered(L3_11, SITE, filtered(rule))) == [
        f"V 36: security group {GROUP}: tcp 22-None from 203.0.113.0/24: {why}",
        f"  witness: security group {GROUP} / ingress tcp 22-None from 203.0.113.0/24 / {why}",
        f"  about: {GROUP}",
    ]


# Who is let in.


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (ingress(remote_prefix="203.0.113.9/0"), "everything from 203.0.113.9/0"),
        (ingress(remote_prefix=None), "everything from any IPv4 address"),
        (ingress(remote_prefix=None, ethertype="IPv6"), "everything from any IPv6 address"),
    ],
)
def test_every_address_there_is(rule: SecurityGroupRule, shown: str) -> None:
    assert told(answered(L3_11, SITE, filtered(rule))) == [
        f"V 35: security group {GROUP} lets the whole world in: {shown}",
        f"  witness: outside / security group {GROUP} / {shown}",
        f"  about: {GROUP}",
    ]


def test_what_is_sent_to_everybody_lets_nobody_in() -> None:
    assert said(ingress(direction="egress", remote_prefix=None)) == []


def public(*rules: SecurityGroupRule, ports: Sequence[str] = (PORT,), is_declared: bool = True) -> Plan:
    """A group of these rules on these ports; the first server is public if its address is declared so."""
    group = SecurityGroup(name="acme-web", project="acme-project", rules=rules)
    outside = FloatingIp(
        project="acme-project", external_network="site:Network/external", address="192.0.2.77", port=PORT
    )
    plan = added(added(clean()[0].plan, "acme-web", "acme", group), "acme-public", "acme", outside)
    for name in ports:
        plan = edited(plan, name, security_groups=("acme-web",))
    return declared(plan, *(["acme-public"] if is_declared else []))


def web(first: int, last: int, protocol: str = "tcp") -> SecurityGroupRule:
    return ingress(remote_prefix=None, protocol=protocol, port_min=first, port_max=last)


@pytest.mark.parametrize(
    ("rule", "is_fine"),
    [
        (web(80, 80), True),
        (web(443, 443), True),
        (web(443, 443, "udp"), False),
        (web(80, 81), False),
        (web(22, 22), False),
        (web(79, 80), False),
        (ingress(remote_prefix=None, protocol="tcp"), False),
    ],
)
def test_a_public_server_is_open_at_the_ports_of_the_web(rule: SecurityGroupRule, is_fine: bool) -> None:
    assert (messages(answered(L3_11, SITE, public(rule))) == []) is is_fine


ALL = (web(443, 443),)
HALVES = tuple(ssh_from(item, port_min=443, port_max=443) for item in (LOW, HIGH))


@pytest.mark.parametrize(
    ("ports", "is_declared"), [((PORT,), False), ((PORT, OTHER), True), ((OTHER,), True), ((), True)]
)
@pytest.mark.parametrize(
    "rules", [(web(443, 443),), tuple(ssh_from(item, port_min=443, port_max=443) for item in (LOW, HIGH))]
)
def test_a_group_is_public_with_all_its_ports(
    rules: tuple[SecurityGroupRule, ...], ports: tuple[str, ...], is_declared: bool
) -> None:
    """Undeclared, shared with a server that is not public, that server's alone, or nobody's yet."""
    found = messages(answered(L3_11, SITE, public(*rules, ports=ports, is_declared=is_declared)))
    assert [line.partition(" in")[0] for line in found] == ["V security group acme-web lets the whole world"]


# By several filters together.


@pytest.mark.parametrize(("others", "is_fine"), [((), True), ((OTHER,), False)])
def test_two_groups_that_meet_are_both_public(others: tuple[str, ...], is_fine: bool) -> None:
    """Each lets half of the world in, and the public server is in both: in the second with another, or alone."""
    low, high = HALVES
    second = SecurityGroup(name="acme-more", project="acme-project", rules=(high,))
    plan = added(public(low), "acme-more", "acme", second)
    plan = edited(plan, PORT, security_groups=("acme-web", "acme-more"))
    for name in others:
        plan = edited(plan, name, security_groups=("acme-more",))
    told_of = ["V security group acme-web and acme-more lets the whole world in by 2 filters"]
    assert messages(answered(L3_11, SITE, plan)) == ([] if is_fine else told_of)


def halves(low: SecurityGroupRule, high: SecurityGroupRule) -> list[str]:
    return messages(answered(L3_11, SITE, public(low, high)))


@pytest.mark.parametrize(
    ("low", "high", "is_fine"),
    [
        (ssh_from(LOW, port_min=1, port_max=443), ssh_from(HIGH, port_min=443, port_max=999), True),
        (ssh_from(LOW, port_min=80, port_max=999), ssh_from(HIGH, port_min=1, port_max=80), True),
        (ssh_from(LOW, protocol=None, port_min=None, port_max=None), ssh_from(HIGH, port_min=80, port_max=80), True),
        (ssh_from(LOW, port_min=None, port_max=None), ssh_from(HIGH, port_min=80, port_max=80), True),
        (ssh_from(LOW, port_min=1, port_max=443), ssh_from(HIGH, port_min=442, port_max=999), False),
        (ssh_from(LOW, port_min=80, port_max=443), ssh_from(HIGH, port_min=80, port_max=443), False),
        (ssh_from(LOW, port_min=22), ssh_from(HIGH, port_min=22), False),
        (
            ssh_from(LOW, protocol="udp", port_min=443, port_max=443),
            ssh_from(HIGH, protocol="udp", port_min=443, port_max=443),
            False,
        ),
        (
            ssh_from(LOW, protocol=None, port_min=None, port_max=None),
            ssh_from(HIGH, protocol=None, port_min=None, port_max=None),
            False,
        ),
    ],
)
def test_where_two_filters_meet(low: SecurityGroupRule, high: SecurityGroupRule, is_fine: bool) -> None:
    """The ports at which both let in are those that count."""
    assert (halves(low, high) == []) is is_fine
    assert (halves(high, low) == []) is is_fine


def test_all_that_is_said_of_two_halves() -> None:
    """What adds nothing is not told: a private prefix, and one that lies in a half."""
    rules = (ssh_from(LOW), ssh_from("198.51.100.0/24"), ssh_from(HIGH))
    shown = [f"security group {GROUP}: tcp 22-22 from {prefix}" for prefix in (LOW, HIGH)]
    assert told(answered(L3_11, SITE, filtered(*rules))) == [
        f"V 35: security group {GROUP} lets the whole world in by 2 filters",
        f"  witness: outside / {shown[0]} / {shown[1]}",
        f"  about: {GROUP}",
    ]


def test_all_that_is_said_of_one_filter_that_is_nearly_everything() -> None:
    rule = ssh_from("2000::/3", ethertype="IPv6")
    shown = f"security group {GROUP}: tcp 22-22 from 2000::/3"
    assert told(answered(L3_11, SITE, filtered(rule))) == [
        f"V 35: security group {GROUP} lets the whole world in: {shown}",
        f"  witness: outside / {shown}",
        f"  about: {GROUP}",
    ]


# By group.


@pytest.mark.parametrize(
    ("group", "letter", "told_of", "why", "missing"),
    [
        (
            "cloud:SecurityGroup/4711", "V", "lets foreign in by group",
            "cloud:SecurityGroup/4711 is no group of this plan, so others put their ports into it", [],
        ),
        (
            "site:SecurityGroup/bastions", "N", "may let others in by group",
            "nobody states who has a port in site:SecurityGroup/bastions",
            ["  missing: members of site:SecurityGroup/bastions"],
        ),
    ],
)  # fmt: skip
def test_all_that_is_said_of_anothers_group(
    group: str, letter: str, told_of: str, why: str, missing: list[str]
) -> None:
    shown = f"tcp 9000-9009 from group {group}"
    assert told(answered(L3_11, SITE, filtered(by_group(group)))) == [
        f"{letter} 36: security group {GROUP} {told_of}: {shown}",
        f"  witness: {why} / security group {group} / security group {GROUP} / {shown}",
        *missing,
        f"  about: {GROUP}, {group}",
    ]


def test_a_group_with_an_open_door_besides_says_both() -> None:
    rules = (by_group("site:SecurityGroup/bastions"), ingress(remote_prefix=None), ingress(ethertype="IPv6"))
    assert [line[0] for line in messages(answered(L3_11, SITE, filtered(*rules)))] == ["V", "V", "N"]


def test_a_cause_is_said_once() -> None:
    """Twice the same filter is one fault; in two groups it is two."""
    once = answered(L3_11, SITE, filtered(ingress(remote_prefix=None), ingress(remote_prefix=None)))
    assert len(once.violated) == 1
    plan = with_friends("acme-project")
    many = edited(plan, "friends", rules=(ingress(remote_prefix=None),))
    assert messages(answered(L3_11, SITE, many)) == [
        "V security group friends lets the whole world in: everything from any IPv4 address"
    ]


# L3-12.


def egress(ethertype: str, prefix: str | None = None, **fields: object) -> SecurityGroupRule:
    return ingress(
        **{"direction": "egress", "ethertype": ethertype, "protocol": "udp", "remote_prefix": prefix} | fields
    )


NARROW = "192.0.2.0/24"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((egress("IPv4", NARROW), egress("IPv6")), ("IPv4", "IPv6", f"egress udp from {NARROW}")),
        ((egress("IPv4"), egress("IPv6", "2001:db8::/32")), ("IPv6", "IPv4", "egress udp from 2001:db8::/32")),
        (
            (egress("IPv4", NARROW), egress("IPv4", "198.51.100.0/24"), egress("IPv6", "::/0")),
            ("IPv4", "IPv6", f"egress udp from {NARROW}"),
        ),
    ],
)
def test_one_ethertype_is_restricted(rules: tuple[SecurityGroupRule, ...], expected: tuple[str, str, str]) -> None:
    """Of several restrictions the first is shown."""
    narrow, wide, shown = expected
    assert told(answered(L3_12, SITE, filtered(*rules))) == [
        f"V 22: security group {GROUP} restricts {narrow} and lets every {wide} address through",
        f"  witness: security group {GROUP} / {shown} / {wide}: any address",
        f"  about: {GROUP}",
    ]


@pytest.mark.parametrize(
    "rules",
    [
        (egress("IPv4", NARROW), egress("IPv6", "2001:db8::/32")),
        (egress("IPv4"), egress("IPv6")),
        (egress("IPv4", NARROW), egress("IPv4"), egress("IPv6")),
        (egress("IPv4", NARROW), egress("IPv6", direction="ingress")),
        (egress("IPv4", NARROW), egress("IPv6", protocol="tcp")),
        (egress("IPv4", NARROW, port_min=53), egress("IPv6")),
        (egress("IPv4", NARROW, port_max=53), egress("IPv6")),
    ],
    ids=["both", "neither", "not restricted", "direction", "protocol", "first port", "last port"],
)
def test_what_is_no_restriction_of_one_ethertype(rules: tuple[SecurityGroupRule, ...]) -> None:
    answer = answered(L3_12, SITE, filtered(*rules))
    assert messages(answer) == []
    assert answer.count == len([item for item in clean()[0].plan.resources if item.resource.KIND == "SecurityGroup"])
