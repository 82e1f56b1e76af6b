"""GPU nodes that are left, by hall and type, and the largest cluster that there is room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.model.site.gpu import GpuHost
from interlock.model.site.leaf_groups import ethernet_rails
from interlock.model.site.physical import Provisioning
from interlock.model.tenant.request import Cluster, ClusterFabric, ServerKind
from interlock.vocabulary import CLAIMS_OF, NetworkRole

from .addresses import most_nodes, most_railed_nodes
from .allocation_state import AllocationState
from .cleaning import Cleaning, counted
from .cluster_errors import free_nodes
from .identifiers import free_vlans
from .node_groups import NodeGroup, node_groups


@dataclass(frozen=True)
class NodeRoom:
    """GPU nodes of one type in one hall: how many are free, and the largest cluster, also within one scalable unit."""

    hall: str
    node_type: str
    of: int
    free: int
    #: Nodes of the largest cluster with what joins GPUs of the type: as far as nodes, ids, keys and addresses go.
    largest: int
    largest_in_unit: int
    failed: int = 0
    maintenance: int = 0
    #: Released, and not seen clean.
    cleaning: int = 0
    #: How they are given out.
    provisioning: Provisioning = "bare-metal"
    #: Nodes of the largest cluster with RoCE, which is in one leaf group; None: no node has all its rails in one.
    largest_roce: int | None = None


def node_rooms(allocated: AllocationState, unclean: tuple[Cleaning, ...]) -> Iterator[NodeRoom]:
    """In the order of the site."""
    site, most = allocated.site, _addresses(allocated)
    kinds: dict[tuple[str, str, Provisioning], list[GpuHost]] = {}
    for node in site.gpu_nodes:
        host = site.host.get(node.name)
        given = "bare-metal" if host is None else host.provisioning
        kinds.setdefault((node.hall, node.node_type, given), []).append(node)
    for (hall, node_type, given), nodes in kinds.items():
        names = [node.name for node in nodes if node.name in site.host]
        states = Counter(site.host[name].state for name in names)
        free = {name for name in names if site.host[name].in_service and not allocated.hosts.servers.get(name)}
        # With InfiniBand where a node of the type has such ports here.
        has_ports = any(node.ports_for("compute") for node in nodes)
        joined = _wish(node_type, given, "infiniband" if has_ports else "none")
        groups = [group for group in node_groups(site, joined) if group.hall == hall and _is_usable(allocated, group)]
        fitting = [[name for name in free_nodes(allocated, group) if name in free] for group in groups]
        yield NodeRoom(
            hall=hall,
            node_type=node_type,
            of=len(nodes),
            free=len(free),
            largest=min(most, max(map(len, fitting), default=0)),
            largest_in_unit=min(most, max((_in_unit(allocated, names) for names in fitting), default=0)),
            failed=states["failed"],
            maintenance=states["maintenance"],
            cleaning=counted(unclean, "host", names),
            provisioning=given,
            largest_roce=_largest_roce(allocated, hall, _wish(node_type, given, "roce"), free, most),
        )


def _addresses(allocated: AllocationState) -> int:
    """Nodes that the subnet of the next cluster has addresses for; 0 where no subnet is left."""
    pool = allocated.site.pools.cluster_subnets
    if pool is None or allocated.subnets(*pool).lowest() is None:
        return 0
    return most_nodes(pool[1])


def _largest_roce(allocated: AllocationState, hall: str, wish: Cluster, free: set[str], most: int) -> int | None:
    """`most`: nodes that its in-band subnet has addresses for."""
    groups = [group for group in node_groups(allocated.site, wish) if group.hall == hall]
    if not groups:
        return None
    most = min(most, _railed_addresses(allocated, wish.node_type))
    usable = (group for group in groups if _is_usable(allocated, group))
    return min(most, max((len(free.intersection(free_nodes(allocated, group))) for group in usable), default=0))


def _railed_addresses(allocated: AllocationState, node_type: str) -> int:
    """The same of the subnet of the next RoCE network, where a node has an address for each of its rails."""
    pool = allocated.site.pools.roce_subnets
    if pool is None or allocated.subnets(*pool).lowest() is None:
        return 0
    return most_railed_nodes(pool[1], ethernet_rails(node_type))


def _wish(node_type: str, given: Provisioning, fabric: ClusterFabric) -> Cluster:
    """A cluster of such nodes."""
    kind: ServerKind = "vm" if given == "hypervisor" else "bare-metal"
    return Cluster(name="", nodes=1, node_type=node_type, image="", fabric=fabric, kind=kind)


def _is_usable(allocated: AllocationState, group: NodeGroup) -> bool:
    """True if there is a VLAN and a P_Key left, and with RoCE a VLAN of the leaf group, too."""
    pools = [allocated.partition_keys.get(subnet) for subnet in group.subnets]
    has_keys = all(pool is not None and pool.lowest() is not None for pool in pools)
    has_rails = group.leaf_group is None or free_vlans(allocated, CLAIMS_OF[NetworkRole.ROCE].vlan, group.leaf_group)
    return has_keys and bool(has_rails and free_vlans(allocated, CLAIMS_OF[NetworkRole.CLUSTER].vlan, group.network))


def _in_unit(allocated: AllocationState, names: Iterable[str]) -> int:
    units = Counter(allocated.site.gpu_node[name].unit for name in names)
    return max(units.values(), default=0)
