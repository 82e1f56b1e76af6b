"""Prefixes as rules compare them: an IPv4 prefix written as IPv6 is the IPv4 prefix that it maps."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

Prefix = IPv4Network | IPv6Network

#: Addresses of IPv4 as programs with one socket for both families see them (RFC 4291 §2.5.5.2).
_MAPPED = IPv6Network("::ffff:0:0/96")


def prefix_of(text: str) -> Prefix:
    """A prefix, without the bits of a host; `::ffff:10.0.0.0/104` is 10.0.0.0/8. Raises ValueError."""
    found = ip_network(text, strict=False)
    if isinstance(found, IPv4Network) or not found.subnet_of(_MAPPED):
        return found
    return IPv4Network((int(found.network_address) & 0xFFFFFFFF, found.prefixlen - _MAPPED.prefixlen))
