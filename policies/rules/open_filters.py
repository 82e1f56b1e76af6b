"""Filters that let in every address together, though none of them does alone: `0.0.0.0/1` beside `128.0.0.0/1`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

from interlock.resources import SecurityGroupRule as Filter
from policies.facts.kinds import PlanFacts

_VERSION = {"IPv4": 4, "IPv6": 6}


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
        for _, anchor in found:
            # Where prefixes cover most, some filter's range of ports begins.
            meeting = [(name, rule) for name, rule in found if _lets_in_at(rule, anchor)]
            if _is_everything(meeting):
                yield Opening(_thinned(meeting))


def _is_part(rule: Filter) -> bool:
    """True for a filter of some addresses, and not of all by itself."""
    if rule.direction != "ingress" or rule.remote_prefix is None:
        return False
    prefix = ip_network(rule.remote_prefix, strict=False)
    return prefix.version == _VERSION[rule.ethertype] and prefix.prefixlen > 0


def _lets_in_at(rule: Filter, anchor: Filter) -> bool:
    """True if a filter lets in at the protocol of another and at the first of its ports."""
    if rule.ethertype != anchor.ethertype or rule.protocol not in (None, anchor.protocol):
        return False
    if rule.port_min is None or rule.port_max is None:
        return True
    return anchor.port_min is not None and rule.port_min <= anchor.port_min <= rule.port_max


def _thinned(meeting: list[tuple[str, Filter]]) -> tuple[tuple[str, Filter], ...]:
    """Those without which something would be left out."""
    kept = meeting
    for item in meeting:
        rest = [other for other in kept if other != item]
        kept = rest if _is_everything(rest) else kept
    return tuple(kept)


def _is_everything(filters: Sequence[tuple[str, Filter]]) -> bool:
    prefixes = [ip_network(rule.remote_prefix, strict=False) for _, rule in filters if rule.remote_prefix is not None]
    of_four = collapse_addresses(prefix for prefix in prefixes if isinstance(prefix, IPv4Network))
    of_six = collapse_addresses(prefix for prefix in prefixes if isinstance(prefix, IPv6Network))
    return any(prefix.prefixlen == 0 for prefix in of_four) or any(prefix.prefixlen == 0 for prefix in of_six)
