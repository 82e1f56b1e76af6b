"""What a tunnel takes from a frame, and whether a path carries what its ends send. All sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping

from .facts import primary
from .verdicts import OK, PlacementVerdict, fault, unknown

#: What Neutron subtracts for VXLAN over IPv4.
VXLAN_OVERHEAD = primary(50, "bytes", "OpenStack, Neutron administrator guide, MTU considerations: VXLAN over IPv4")


def tunnel_mtu(physical: int) -> int:
    """Largest frame in a VXLAN network over an IPv4 underlay of this MTU. ValueError if nothing is left."""
    if physical <= VXLAN_OVERHEAD.value:
        raise ValueError(f"MTU {physical}: VXLAN alone takes {VXLAN_OVERHEAD.value} bytes")
    return physical - VXLAN_OVERHEAD.value


def path_verdict(host: int, path: Mapping[str, int | None]) -> PlacementVerdict:
    """Whether every part of a path (name -> MTU, None: not stated) takes what a host of this MTU sends."""
    small = sorted(name for name, mtu in path.items() if mtu is not None and mtu < host)
    if small:
        return fault(f"the host sends {host} bytes, {small[0]} takes {path[small[0]]}")
    silent = sorted(name for name, mtu in path.items() if mtu is None)
    if silent:
        return unknown(f"the MTU of {', '.join(silent)} is not stated")
    return OK
