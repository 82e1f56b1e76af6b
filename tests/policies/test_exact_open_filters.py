"""L3-11: which filters together are all addresses there are, and at which ports they meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, collapse_addresses, summarize_address_range

import pytest

from interlock.resources import SecurityGroupRule
from policies.facts.kinds import PlanFacts
from policies.facts.rights import SecurityGroupFact
from policies.judging import model_of
from policies.rules.open_filters import Opening, openings
from tests.policies.test_rules_l3_ports import HIGH, LOW, SITE, clean, ssh_from


@cache
def plan_facts() -> PlanFacts:
    return model_of(SITE, clean()[0].plan, []).plan


def found(*rules: SecurityGroupRule, more: tuple[SecurityGroupRule, ...] = (), used: str = "one") -> list[Opening]:
    """In the groups `one` and, if there are rules for it, `two`; `used` are those of the first port."""
    groups = [SecurityGroupFact("one", "acme", rules)] + [SecurityGroupFact("two", "acme", more)] * bool(more)
    plan = plan_facts()
    port, *rest = (replace(item, security_groups=()) for item in plan.ports)
    port = replace(port, security_groups=tuple(used.split()))
    return list(openings(replace(plan, security_groups=tuple(groups), ports=(port, *rest))))


def shown(opening: Opening) -> list[str]:
    return [f"{group} {rule.remote_prefix}" for group, rule in opening.filters]


# What an opening is.

ANY = ssh_from(LOW, protocol=None, port_min=None, port_max=None)


@pytest.mark.parametrize(
    ("filters", "protocol", "ports"),
    [
        ((ssh_from(LOW), ssh_from(HIGH)), "tcp", (22, 22)),
        ((ANY, ssh_from(HIGH)), "tcp", (22, 22)),
        ((ssh_from(HIGH), ANY), "tcp", (22, 22)),
        ((ANY, ANY), None, None),
        ((ssh_from(LOW, port_min=1), ssh_from(HIGH, port_min=7, port_max=99)), "tcp", (7, 22)),
        ((ssh_from(LOW, port_min=None), ssh_from(HIGH)), "tcp", (22, 22)),
        ((ssh_from(LOW, port_min=30, port_max=None), ssh_from(HIGH)), "tcp", (22, 22)),
        ((ssh_from(LOW, port_min=None, port_max=7), ssh_from(HIGH)), "tcp", (22, 22)),
    ],
)
def test_where_an_opening_is(
    filters: tuple[SecurityGroupRule, ...], protocol: str | None, ports: tuple[int, int] | None
) -> None:
    """A filter with one end of a range alone limits nothing: nobody knows what is meant."""
    opening = Opening(tuple(("one", rule) for rule in filters))
    assert (opening.protocol, opening.ports, opening.groups) == (protocol, ports, ("one",))


# Which filters are together.


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((ssh_from(LOW), ssh_from(HIGH)), [[LOW, HIGH]]),
        ((ssh_from(LOW), ssh_from("128.0.0.9/1")), [[LOW, "128.0.0.9/1"]]),
        ((ssh_from(LOW, port_min=None, port_max=None), ssh_from(HIGH)), [[LOW, HIGH]]),
        ((ssh_from(LOW, port_min=None), ssh_from(HIGH)), [[LOW, HIGH]]),
        ((ssh_from(LOW), ssh_from(HIGH, port_max=None)), [[LOW, HIGH]]),
        ((ssh_from(LOW), ssh_from("198.51.100.0/24"), ssh_from(HIGH), ssh_from(LOW)), [[LOW, HIGH]]),
        ((ssh_from(LOW, port_max=30), ssh_from(HIGH, port_min=30, port_max=40)), [[LOW, HIGH]]),
        ((ssh_from(LOW, port_max=29), ssh_from(HIGH, port_min=30, port_max=40)), []),
        ((ssh_from(LOW, protocol="udp"), ssh_from(HIGH)), []),
        ((ANY, ssh_from(HIGH)), [[LOW, HIGH]]),
        ((ssh_from(LOW), ssh_from(HIGH, direction="egress")), []),
        ((ssh_from(LOW), ssh_from(HIGH, remote_prefix=None)), []),
        ((ssh_from(LOW, ethertype="IPv6"), ssh_from(HIGH, ethertype="IPv6")), []),
        ((ssh_from("::/1", ethertype="IPv6"), ssh_from("8000::/1", ethertype="IPv6")), [["::/1", "8000::/1"]]),
        ((ssh_from("::/0", ethertype="IPv6"),), []),
        ((ssh_from("0.0.0.0/0"),), []),
        (
            (ssh_from(LOW), ssh_from(HIGH), ssh_from(LOW, protocol="udp"), ssh_from(HIGH, protocol="udp")),
            [[LOW, HIGH], [LOW, HIGH]],
        ),
    ],
)
def test_filters_of_a_group(rules: tuple[SecurityGroupRule, ...], expected: list[list[str]]) -> None:
    assert [shown(item) for item in found(*rules)] == [[f"one {text}" for text in texts] for texts in expected]


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ("one two", [[f"one {LOW}", f"two {HIGH}"]]),
        ("two one", [[f"two {HIGH}", f"one {LOW}"]]),
        ("one nobody two", [[f"one {LOW}", f"two {HIGH}"]]),
        ("one", []),
        ("nobody", []),
    ],
)
def test_groups_of_a_port(used: str, expected: list[list[str]]) -> None:
    opened = found(ssh_from(LOW), more=(ssh_from(HIGH),), used=used)
    assert [shown(item) for item in opened] == expected
    assert [item.groups for item in opened] == [tuple(step.split()[0] for step in steps) for steps in expected]


def test_a_group_that_nobody_uses_is_looked_at() -> None:
    assert len(found(ssh_from(LOW), ssh_from(HIGH), used="")) == 1


# What is everybody: 15 of 16 addresses that somebody outside can have.

#: RFC 6890 and the registry of special purposes, multicast, and what is reserved.
SPECIAL = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
    "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3"
)


def outside() -> Iterator[tuple[int, int]]:
    """First and last address of each range of IPv4 between special ones."""
    begin = 0
    for special in map(IPv4Network, SPECIAL.split()):
        if begin < int(special.network_address):
            yield begin, int(special.network_address) - 1
        begin = int(special.broadcast_address) + 1


def first_of(count: int) -> list[IPv4Network]:
    """Prefixes of the first addresses that somebody outside can have."""
    prefixes: list[IPv4Network] = []
    for low, high in outside():
        last = min(high, low + count - 1)
        if low <= last:
            prefixes += summarize_address_range(IPv4Address(low), IPv4Address(last))
            count -= last - low + 1
    return prefixes


def is_everybody(prefixes: Iterable[IPv4Network | IPv6Network]) -> bool:
    rules = (ssh_from(str(item), ethertype=f"IPv{item.version}") for item in prefixes)
    return bool(found(*rules))


@pytest.mark.parametrize(("less", "is_open"), [(0, True), (1, False)])
def test_who_leaves_out_a_sixteenth_of_ipv4_leaves_nobody_out(less: int, is_open: bool) -> None:
    """What nobody outside can have counts neither way."""
    enough = Fraction(15, 16) * sum(high - low + 1 for low, high in outside())
    assert enough.denominator == 1
    prefixes = first_of(enough.numerator - less)
    assert is_everybody(prefixes) is is_open
    private = map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "224.0.0.0/3"))
    assert is_everybody(collapse_addresses([*prefixes, *private])) is is_open


@pytest.mark.parametrize(("count", "is_open"), [(16, True), (15, True), (14, False)])
def test_who_leaves_out_a_sixteenth_of_ipv6_leaves_nobody_out(count: int, is_open: bool) -> None:
    """All that is given out lies in 2000::/3."""
    parts = list(IPv6Network("2000::/3").subnets(new_prefix=7))[:count]
    assert is_everybody(parts) is is_open
    assert is_everybody([*parts, IPv6Network("fc00::/7"), IPv6Network("4000::/2")]) is is_open
