"""What to say when nodes do not suffice for a cluster: how many there are, how many are free, what would free more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from ipaddress import IPv4Network

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.gpu import GpuHost
from interlock.model.site.inventory import Host, PartitionKeyPool, Site
from interlock.model.site.leaf_groups import BEYOND_A_LEAF_GROUP, ethernet_rails, leaf_groups, rails_on
from interlock.model.tenant.request import Cluster

from .addresses import most_nodes
from .allocation_state import AllocationState
from .claims import PARTITION_KEYS, Claim
from .errors import AllocationError, PlanningError
from .node_groups import NodeGroup, keyed_subnets, leaf_groups_of, networks_of, subnets_of
from .obstacles import settling
from .out_of_service import BRING_BACK, counted
from .roce_draft import ITS_ROCE_NETWORK

ALL_NODES = "all its nodes, and with them what is on their own disks"
#: What another node in one's place costs.
ITS_NODE = "the server on it, and what is on its own disks"
#: What another VLAN of its in-band network costs.
ITS_NETWORK = "its network, and with that its nodes' ports"


def recreated_of_cluster(before: ClusterAllocation, after: ClusterAllocation) -> tuple[str, ...]:
    """What on the cloud is recreated where the claims of a cluster change; what is only added or given up is not."""
    now = after.numbered
    moved = [f"{old} (now {now[number]})" for number, old in before.numbered.items() if now.get(number, old) != old]
    segment = (before.cluster_network, before.cluster_vlan) != (after.cluster_network, after.cluster_vlan)
    heads = [f"{old} (now {new})" for old, new in zip(before.heads, after.heads, strict=False) if old != new]
    keys = [name for name, key in before.partition_keys.items() if after.partition_keys.get(name, key) != key]
    roce = [(part.roce_network, part.roce_vlan, part.roce_subnet) for part in (before, after)]
    is_other = before.roce_network is not None and roce[0] != roce[1]
    return (
        *([f"nodes {', '.join(moved)}, and what is on their own disks"] if moved else []),
        *([f"heads on {', '.join(heads)}, and what is on their disks"] if heads else []),
        *([ITS_NETWORK] if segment or before.cluster_subnet != after.cluster_subnet else []),
        *([ITS_ROCE_NETWORK] if is_other else []),
        *(f"its partition on {name}" for name in sorted(keys)),
    )


def no_nodes(
    allocated: AllocationState, cluster: Cluster, groups: Sequence[NodeGroup], own: Iterable[str]
) -> PlanningError:
    """The error of a cluster for which no group has enough nodes. `own`: those that it has already; one of these that
    it is not to have any more counts as anybody's."""
    site, mine = allocated.site, {name for name in own if name not in cluster.without}
    of_type = [node for node in site.gpu_nodes if node.node_type == cluster.node_type]
    if not of_type:
        return no_such_nodes(site, cluster)
    if not groups:
        return _unusable(site, cluster)
    best = max(groups, key=lambda group: len(free_nodes(allocated, group, cluster.without)) + len(mine & _names(group)))
    free, there = len(free_nodes(allocated, best, cluster.without)), len(best.spots)
    held = len(mine & _names(best))
    so_far = f" besides the {held} that it has" if held else ""
    together = "of one hall" if best.leaf_group is None else "behind one leaf group"
    what = f"cluster {cluster.name} needs {cluster.nodes} {cluster.node_type} nodes {together}"
    where = best.hall if best.leaf_group is None else f"{best.leaf_group} in {best.hall}"
    closest = f"closest is {where}, with {there} of them, of which {free} are free{so_far}"
    closest += _taken(allocated, best, mine, cluster)
    return AllocationError(what, closest, _freeing(allocated, best, free + held), _asked(cluster, "nodes"))


def no_such_nodes(site: Site, cluster: Cluster) -> PlanningError:
    """The error of a type that the site has none of."""
    counts = Counter(node.node_type for node in site.gpu_nodes)
    has = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    hint = f"ask for what it has: {has}" if has else "ask at a site that has GPU nodes, or for a vPOD"
    what = f"cluster {cluster.name}: this site has no node of the type {cluster.node_type}"
    return PlanningError(what, hint, _asked(cluster, "type"))


def _asked(cluster: Cluster, key: str) -> tuple[str, ...]:
    """The key of the request that asks for what cannot be had."""
    return "clusters", cluster.name, key


def no_key(allocated: AllocationState, cluster: str, subnet: str) -> AllocationError:
    """The error of an InfiniBand subnet without a P_Key to give."""
    pool = next((item for item in allocated.site.pools.partition_keys if item.infiniband == subnet), None)
    what = f"cluster {cluster}: no free P_Key on InfiniBand subnet {subnet}"
    if pool is None:
        return AllocationError(what, hint=f"add `{subnet}` to `pools.partition_keys` of the site file")
    settle = settling(allocated, PARTITION_KEYS, subnet)
    hint = "widen the pool in the site file" + (f", or {settle}" if settle else "")
    return AllocationError(what, f"all of {_keys(pool)} are claimed, reserved or released and not settled", hint)


def no_addresses(cluster: Cluster, subnet: str, *, is_new: bool) -> PlanningError:
    """The error of a cluster with more nodes than its in-band subnet has addresses for."""
    most = most_nodes(IPv4Network(subnet).prefixlen)
    what = f"cluster {cluster.name}: its in-band subnet {subnet} has addresses for {_nodes(most)}, not {cluster.nodes}"
    hints = [f"ask for {most} at most, or for another cluster beside it"] if most else []
    if is_new:
        # One that a cluster has it keeps: its nodes know each other by these addresses.
        wide = next(length for length in range(32, 0, -1) if most_nodes(length) >= cluster.nodes)
        hints.append(f"let the site's pool `cluster` cut larger subnets, /{wide} for so many")
    return PlanningError(what, "; or ".join(hints or ["ask for another cluster"]), _asked(cluster, "nodes"))


def no_guid(cluster: Cluster, node: GpuHost) -> PlanningError:
    """The error of a node whose ports a partition cannot name."""
    of_compute = cluster.fabric == "infiniband" and subnets_of(node) is None
    use, instead = ("compute", ", or ask for `fabric: none`") if of_compute else ("storage", "")
    what = f"cluster {cluster.name}: not every {use} port of {node.name} is stated with its GUID"
    return PlanningError(what, f"state them in the site file{instead}", _asked(cluster, "fabric") if of_compute else ())


def free_nodes(allocated: AllocationState, group: NodeGroup, without: Collection[str] = ()) -> tuple[str, ...]:
    """Those of a group that are in service, given to nobody, and not among those that nobody wants (`without`)."""
    site = allocated.site
    return tuple(
        spot.name
        for spot in group.spots
        if site.host[spot.name].in_service and not allocated.hosts.servers.get(spot.name) and spot.name not in without
    )


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _keys(pool: PartitionKeyPool) -> str:
    return ", ".join(f"{first:#06x}-{last:#06x}" for first, last in pool.keys)


def _names(group: NodeGroup) -> set[str]:
    return {spot.name for spot in group.spots}


def _hosts(allocated: AllocationState, group: NodeGroup) -> list[Host]:
    return [allocated.site.host[spot.name] for spot in group.spots]


def _taken(allocated: AllocationState, group: NodeGroup, mine: set[str], cluster: Cluster) -> str:
    """Who has the others, and which of those that nobody has are out of service."""
    others = [host for host in _hosts(allocated, group) if host.name not in mine]
    given = sum(bool(allocated.hosts.servers.get(host.name)) for host in others)
    idle = counted(host for host in others if not allocated.hosts.servers.get(host.name))
    unwanted = [host.name for host in others if host.in_service and host.name in cluster.without]
    shunned = [name for name in unwanted if not allocated.hosts.servers.get(name)]
    parts = [f"{given} are given out or released" if given else "", idle, _shunned(shunned)]
    told = ", ".join(part for part in parts if part)
    return f" ({told})" if told else ""


def _shunned(names: Sequence[str]) -> str:
    return f"{len(names)} under `without` ({', '.join(names)})" if names else ""


def _freeing(allocated: AllocationState, group: NodeGroup, most: int) -> str:
    hosts = _hosts(allocated, group)
    released = sorted({claim.holder.tenant for host in hosts for claim in _releases(allocated, host)})
    parts = [f"ask for {most} at most" if most else "ask when some are free again"]
    parts += [f"settle what {', '.join(released)} released"] if released else []
    parts += [BRING_BACK] if any(not host.in_service for host in hosts) else []
    hint = "; or ".join(parts)
    return hint if group.leaf_group is None else f"{hint}; {BEYOND_A_LEAF_GROUP}"


def _releases(allocated: AllocationState, host: Host) -> Iterable[Claim]:
    return (claim for claim in allocated.hosts.servers.get(host.name, ()) if claim.holder.released)


def _unusable(site: Site, cluster: Cluster) -> PlanningError:
    """Nodes of the type that are on no network for clusters, or without GUIDs."""
    nodes = [node for node in site.gpu_nodes if node.node_type == cluster.node_type]
    what = f"cluster {cluster.name}: no {cluster.node_type} node of this site can be in a cluster"
    given = {site.host[node.name].provisioning for node in nodes if node.name in site.host}
    if given and cluster.provisioning not in given:
        return PlanningError(
            f"{what} of the kind {cluster.kind}: they are given out as {' and '.join(sorted(given))}",
            f"say `kind: {'bare-metal' if cluster.kind == 'vm' else 'vm'}`, or ask the operator for such nodes",
            _asked(cluster, "kind"),
        )
    if cluster.fabric == "infiniband" and all(subnets_of(node) is None for node in nodes):
        railed = any(rails_on(site, node, network) for node in nodes for network in leaf_groups(site))
        other = "`fabric: roce`" if railed else "`fabric: none`"
        return PlanningError(
            f"{what} with InfiniBand: their compute ports, or GUIDs of them, are not stated",
            f"state the GUID of every compute port in the site file, or ask for {other}",
            _asked(cluster, "fabric"),
        )
    if cluster.fabric == "roce" and not any(leaf_groups_of(site, node, cluster) for node in nodes):
        rails, pool = ethernet_rails(cluster.node_type), ", ".join(leaf_groups(site)) or "none"
        return PlanningError(
            f"{what} with RoCE: none has its {rails} Ethernet compute ports on one network of the pool `roce` "
            f"({pool}), each with MAC address and cable",
            "state them under `interfaces` and `macs` of the nodes in the site file, by rail",
            _asked(cluster, "fabric"),
        )
    if all(keyed_subnets(site, node, cluster) is None for node in nodes):
        return PlanningError(
            f"{what}: the GUIDs of their storage ports are not stated, and so they are in no partition for storage",
            "state the GUID of every storage port in the site file",
        )
    if site.pools.cluster is None:
        return PlanningError(f"{what}: the site has no VLANs for them", "add the pool `cluster` to the site file")
    pool = ", ".join(site.pools.cluster.physical_networks)
    reached = [node for node in nodes if node.name in site.host and networks_of(site, site.host[node.name])]
    lacking = "has an interface on a network of the pool `cluster`" if not reached else "has both network and GUIDs"
    return PlanningError(f"{what}: none {lacking} ({pool})", "state the `interfaces` of the nodes in the site file")
