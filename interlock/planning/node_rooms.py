"""GPU nodes that are left, by hall and type, and the largest cluster that there is room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.model.site.gpu import GpuHost
from interlock.model.site.physical import Provisioning
from interlock.model.tenant.request import Cluster
from interlock.vocabulary import CLAIMS_OF, NetworkRole

from .addresses import most_nodes
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
        groups = [group for group in _usable(allocated, node_type, given, nodes) if group.hall == hall]
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
        )


def _addresses(allocated: AllocationState) -> int:
    """Nodes that the subnet of the next cluster has addresses for; 0 where no subnet is left."""
    pool = allocated.site.pools.cluster_subnets
    if pool is None or allocated.subnets(*pool).lowest() is None:
        return 0
    return most_nodes(pool[1])


def _usable(
    allocated: AllocationState, node_type: str, given: Provisioning, nodes: Iterable[GpuHost]
) -> Iterator[NodeGroup]:
    """Groups of nodes with a VLAN and a P_Key left; with InfiniBand where a node of the type has such ports here."""
    has_ports = any(node.ports_for("compute") for node in nodes)
    wish = Cluster(
        name="", nodes=1, node_type=node_type, image="", fabric="infiniband" if has_ports else "none",
        kind="vm" if given == "hypervisor" else "bare-metal",
    )  # fmt: skip
    for group in node_groups(allocated.site, wish):
        pools = [allocated.partition_keys.get(subnet) for subnet in group.subnets]
        has_keys = all(pool is not None and pool.lowest() is not None for pool in pools)
        if has_keys and free_vlans(allocated, CLAIMS_OF[NetworkRole.CLUSTER].vlan, group.network):
            yield group


def _in_unit(allocated: AllocationState, names: Iterable[str]) -> int:
    units = Counter(allocated.site.gpu_node[name].unit for name in names)
    return max(units.values(), default=0)
