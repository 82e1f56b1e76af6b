"""Leaf groups: the physical networks of the pool `roce`, and which GPU nodes have their Ethernet compute ports on one.

Each is one broadcast domain, so that a cluster on it needs a VLAN there and nothing else. Beyond it a routed fabric
would have to keep tenants apart, with a VRF of each on every leaf.
"""

from __future__ import annotations

from collections import Counter

from interlock.hardware.gpu import NODE_TYPES

from .gpu import GpuHost
from .inventory import Site

#: Why no cluster is larger.
BEYOND_A_LEAF_GROUP = "more than one leaf group takes routes and a VRF for each tenant, which cannot be made yet"


def leaf_groups(site: Site) -> tuple[str, ...]:
    """Physical networks of the pool, in its order."""
    return site.pools.roce.physical_networks if site.pools.roce is not None else ()


def ethernet_rails(node_type: str) -> int:
    """Ethernet compute ports of a node of this type; 0: it has none, or nobody knows the type."""
    found = NODE_TYPES.get(node_type)
    return found.ethernet_rails if found is not None else 0


def rails_on(site: Site, node: GpuHost, network: str) -> tuple[str, ...]:
    """Interfaces of a node on a leaf group, by rail; empty unless it has every rail there, each with MAC and cable.

    By a MAC address Ironic knows a port, and by the cable it is known which switch port to set.
    """
    host = site.host.get(node.name)
    found = host.interfaces.get(network, ()) if host is not None else ()
    is_whole = bool(found) and len(found) == ethernet_rails(node.node_type)
    is_known = host is not None and all(name in host.macs and (node.name, name) in site.cable_at for name in found)
    return found if is_whole and is_known else ()


def largest_leaf_groups(site: Site) -> dict[str, int]:
    """Node type -> nodes of the type, given out whole, that the leaf group with most of them has; none: left out."""
    found: Counter[tuple[str, str]] = Counter()
    for node in site.gpu_nodes:
        host = site.host.get(node.name)
        if host is not None and host.provisioning == "bare-metal":
            found.update((node.node_type, network) for network in leaf_groups(site) if rails_on(site, node, network))
    most: dict[str, int] = {}
    for (node_type, _), count in found.items():
        most[node_type] = max(most.get(node_type, 0), count)
    return most
