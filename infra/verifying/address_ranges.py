"""Prefixes as ranges of numbers, joined where they touch: whether one lies within several together."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Network, ip_network

#: IP version, first and last address as numbers.
Range = tuple[int, int, int]


def ip_ranges(prefixes: Iterable[str]) -> list[Range]:
    """In ascending order, none of which touches another."""
    joined: list[Range] = []
    for version, first, last in sorted(_range_of(text) for text in prefixes):
        if joined and joined[-1][0] == version and first <= joined[-1][2] + 1:
            _, begin, end = joined[-1]
            joined[-1] = (version, begin, max(end, last))
        else:
            joined.append((version, first, last))
    return joined


def inside(prefix: str, ranges: Iterable[Range]) -> bool:
    """True if every address of the prefix is in one of the ranges."""
    version, first, last = _range_of(prefix)
    return any(version == kind and low <= first and last <= high for kind, low, high in ranges)


def _range_of(text: str) -> Range:
    """An IPv4 prefix written as IPv6 is the one that it maps."""
    network = ip_network(text, strict=False)
    if isinstance(network, IPv6Network) and (mapped := network.network_address.ipv4_mapped) and network.prefixlen >= 96:
        return (4, int(mapped), int(mapped) + (1 << (128 - network.prefixlen)) - 1)
    return (network.version, int(network[0]), int(network[-1]))
