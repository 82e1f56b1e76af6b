"""Filters that let in every address together, though none of them does alone: `0.0.0.0/1` beside `128.0.0.0/1`.

What counts is who could be there: to leave out multicast, private networks or a few addresses is no filter, nor is it
to name `2000::/3`, in which all of today's IPv6 lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Network, IPv6Network, collapse_addresses
from typing import TypeVar

from interlock.resources import SecurityGroupRule as Filter
from policies.facts.kinds import PlanFacts
from policies.facts.prefixes import prefix_of

_VERSION = {"IPv4": 4, "IPv6": 6}
_Network = TypeVar("_Network", IPv4Network, IPv6Network)
#: Addresses that nobody outside has: RFC 6890 and the registry of special purposes, multicast and what is reserved.
_NOBODYS = [
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    )
]  # fmt: skip
#: Where all unicast of IPv6 lies (IANA, IPv6 global unicast address assignments).
_GLOBAL = IPv6Network("2000::/3")
#: The part of them that is everybody: who leaves out less than this keeps nobody in particular out.
_ENOUGH = Fraction(15, 16)


@dataclass(frozen=True)
class Opening:
    """Ingress filters, each with its group, whose prefixes are all addresses there are at some port of a protocol."""

    filters: tuple[tuple[str, Filter], ...]

    @property
    def protocol(self) -> str | None:
        """The protocol at which they meet; None: every one."""
        return next((rule.protocol for _, rule in self.filters if rule.protocol is not None), None)

    @property
    def ports(self) -> tuple[int, int] | None:
        """The ports at which they meet; None: every one."""
        limited = [(rule.port_min, rule.port_max) for _, rule in self.filters]
        ends = [(first, last) for first, last in limited if first is not None and last is not None]
        return (max(first for first, _ in ends), min(last for _, last in ends)) if ends else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the filters are in."""
        return tuple(dict.fromkeys(name for name, _ in self.filters))


def openings(plan: PlanFacts) -> Iterator[Opening]:
    """In each group by itself, and in all groups of each port, since a port lets in what any of its groups does."""
    rules = {group.name: group.rules for group in plan.security_groups}
    together = {tuple(name for name in port.security_groups if name in rules) for port in plan.ports}
    for names in sorted({(name,) for name in rules} | together):
        found = [(name, rule) for name in names for rule in rules[name] if _is_part(rule)]
        # Where prefixes cover most, some filter's range of ports begins.
        meetings = (tuple(item for item in found if _lets_in_at(item[1], anchor)) for anchor in _beginnings(found))
        for meeting in dict.fromkeys(meetings):
            if _is_everything(meeting):
                yield Opening(_thinned(meeting))


def _beginnings(found: Sequence[tuple[str, Filter]]) -> Iterator[Filter]:
    """One filter for each protocol and port at which some filter begins."""
    places = {(rule.ethertype, rule.protocol, rule.port_min): rule for _, rule in found}
    yield from places.values()


def _is_part(rule: Filter) -> bool:
    """True for a filter of some addresses, and not of all by itself."""
    if rule.direction != "ingress" or rule.remote_prefix is None:
        return False
    prefix = prefix_of(rule.remote_prefix)
    return prefix.version == _VERSION[rule.ethertype] and prefix.prefixlen > 0


def _lets_in_at(rule: Filter, anchor: Filter) -> bool:
    """True if a filter lets in at the protocol of another and at the first of its ports."""
    if rule.ethertype != anchor.ethertype or rule.protocol not in (None, anchor.protocol):
        return False
    if rule.port_min is None or rule.port_max is None:
        return True
    return anchor.port_min is not None and rule.port_min <= anchor.port_min <= rule.port_max


def _thinned(meeting: Sequence[tuple[str, Filter]]) -> tuple[tuple[str, Filter], ...]:
    """Those without which something would be left out."""
    kept, whole = list(dict.fromkeys(meeting)), _prefixes(meeting)
    for item in tuple(kept):
        rest = [other for other in kept if other != item]
        kept = rest if _prefixes(rest) == whole else kept
    return tuple(kept)


def _prefixes(filters: Sequence[tuple[str, Filter]]) -> tuple[list[IPv4Network], list[IPv6Network]]:
    """What filters let in, in as few prefixes as that takes."""
    found = [prefix_of(rule.remote_prefix) for _, rule in filters if rule.remote_prefix is not None]
    of_four = collapse_addresses(prefix for prefix in found if isinstance(prefix, IPv4Network))
    of_six = collapse_addresses(prefix for prefix in found if isinstance(prefix, IPv6Network))
    return list(of_four), list(of_six)


def _is_everything(filters: Sequence[tuple[str, Filter]]) -> bool:
    of_four, of_six = _prefixes(filters)
    in_four = _size(of_four) - _common(of_four, _NOBODYS)
    in_six = _common(of_six, [_GLOBAL])
    return in_four >= _ENOUGH * (2**32 - _size(_NOBODYS)) or in_six >= _ENOUGH * _GLOBAL.num_addresses


def _size(disjoint: Sequence[_Network]) -> int:
    return sum(network.num_addresses for network in disjoint)


def _common(some: Sequence[_Network], others: Sequence[_Network]) -> int:
    """How many addresses are in both; of two prefixes that meet, one lies in the other."""
    meeting = ((a, b) for a in some for b in others if a.overlaps(b))
    return sum(min(a.num_addresses, b.num_addresses) for a, b in meeting)
