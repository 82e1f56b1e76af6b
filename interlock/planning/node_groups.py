"""Nodes that can be one cluster: of one hall, type and kind, on one in-band network, and on the same InfiniBand subnets
or, with RoCE, behind one leaf group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.inventory import Host, Site
from interlock.model.site.leaf_groups import leaf_groups, rails_on
from interlock.model.tenant.request import Cluster

from .node_choice import NodeSpot

#: Hall, in-band network, InfiniBand subnets, leaf group.
_Key = tuple[str, str, tuple[str, ...], str | None]


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that a cluster could consist of, given out or not."""

    hall: str
    #: Physical network of the in-band network.
    network: str
    #: InfiniBand subnets on which each of them needs a P_Key of the cluster's: of compute ports, unless it is without a
    #: fabric, and of storage ports where clusters reach the appliance by keys of their own.
    subnets: tuple[str, ...]
    spots: tuple[NodeSpot, ...]
    #: Physical network of the RoCE network: a leaf group; None: the cluster asks for none.
    leaf_group: str | None = None


def node_groups(site: Site, cluster: Cluster) -> tuple[NodeGroup, ...]:
    """In the order of the site's halls, then of the networks of the pool."""
    found: dict[_Key, list[NodeSpot]] = {}
    for node, host in _of_kind(site, cluster):
        subnets = keyed_subnets(site, node, cluster)
        if subnets is None:
            continue
        for network, leaf_group in product(networks_of(site, host), leaf_groups_of(site, node, cluster)):
            found.setdefault((node.hall, network, subnets, leaf_group), []).append(spot_of(site, node.name))
    order = {hall: number for number, hall in enumerate(dict.fromkeys(node.hall for node in site.gpu_nodes))}
    pool = site.pools.cluster.physical_networks if site.pools.cluster else ()
    leaves = (None, *leaf_groups(site))
    keys = sorted(found, key=lambda key: (order[key[0]], pool.index(key[1]), key[2], leaves.index(key[3])))
    return tuple(NodeGroup(*key[:3], tuple(found[key]), key[3]) for key in keys)


def leaf_groups_of(site: Site, node: GpuHost, cluster: Cluster) -> tuple[str | None, ...]:
    """Leaf groups that a node of the cluster can be in: those on which it has all its rails. None stands for none asked
    for."""
    if cluster.fabric != "roce":
        return (None,)
    return tuple(name for name in leaf_groups(site) if rails_on(site, node, name))


def networks_of(site: Site, host: Host) -> tuple[str, ...]:
    """Networks of the pool that a node has interfaces on, in the order of the pool."""
    pool = site.pools.cluster
    return tuple(name for name in (pool.physical_networks if pool else ()) if host.interfaces.get(name))


def subnets_of(node: GpuHost) -> tuple[str, ...] | None:
    """InfiniBand subnets that a node's compute ports are on; None if it has none, or a GUID is not stated: such a port
    could be in no partition, and what runs on all ports of a cluster would wait for it for ever."""
    ports = node.ports_for("compute")
    if not ports or any(port.guid is None for port in ports):
        return None
    return tuple(sorted({port.infiniband for port in ports}))


def storage_ports(site: Site, node: GpuHost) -> tuple[HcaPort, ...]:
    """A node's storage ports on subnets where clusters have partitions for storage, by rail.

    Below a hypervisor there are none to give: they stay the operator's.
    """
    known, host = site.infiniband_subnet, site.host.get(node.name)
    if host is not None and host.is_passed_on:
        return ()
    return tuple(
        port
        for port in node.ports_for("storage")
        if port.infiniband in known and known[port.infiniband].storage is not None
    )


def keyed_subnets(site: Site, node: GpuHost, cluster: Cluster) -> tuple[str, ...] | None:
    """InfiniBand subnets on which a cluster with this node needs a P_Key; None if a GUID that it needs is not stated:
    such a node would reach no storage, or none of its peers."""
    subnets, stored = subnets_of(node) if cluster.fabric == "infiniband" else (), storage_ports(site, node)
    if subnets is None or any(port.guid is None for port in stored):
        return None
    on = {port.infiniband: site.infiniband_subnet[port.infiniband].storage for port in stored}
    own = {name for name, storage in on.items() if storage is not None and storage.access == "per-tenant"}
    return tuple(sorted({*subnets, *own}))


def spots_of(site: Site, names: Iterable[str]) -> tuple[NodeSpot, ...]:
    """Where these nodes stand; those that the site does not list stand nowhere."""
    return tuple(spot_of(site, name) for name in names if name in site.gpu_node)


def spot_of(site: Site, name: str) -> NodeSpot:
    """Where a node stands. Of one that nobody placed in a rack the rack is its own: it is in none with another."""
    placement = site.placement.get(name)
    rack = name if placement is None else placement.rack
    return NodeSpot(name, site.gpu_node[name].unit, rack, site.gpu_order[name])


def _of_kind(site: Site, cluster: Cluster) -> Iterator[tuple[GpuHost, Host]]:
    """Nodes of the type, given out as the cluster asks for."""
    for node in site.gpu_nodes:
        host = site.host.get(node.name)
        if node.node_type == cluster.node_type and host is not None and host.provisioning == cluster.provisioning:
            yield node, host
