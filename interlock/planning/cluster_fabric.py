"""The InfiniBand partitions of a GPU cluster: on each subnet one P_Key, and in it every port of its nodes there.

Compute ports are full members: NCCL uses the key at index 0, and where that is a limited one jobs hang. Storage ports
are limited: they hear the appliance, which alone is full, and no other client. A port of the appliance is in many
partitions and has one index 0, so no partition for storage is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.networks import InfinibandSubnet
from interlock.model.site.storage_fabric import StorageFabric
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember

from .errors import PlanningError
from .node_groups import storage_ports
from .plan_builder import PlanBuilder
from .scope import ClusterScope


def write_partitions(scope: ClusterScope, builder: PlanBuilder) -> tuple[str, ...]:
    """Write down one partition for each InfiniBand subnet of the cluster; returns their references."""
    members, clients = _members(scope), _clients(scope)
    own = [name for name, found in clients.items() if _storage(scope, name).access == "per-tenant"]
    keys = _keys(scope, {*members, *own})
    partitions = {
        name: PartitionKey(infiniband=name, key=keys[name], members=found) for name, found in members.items()
    } | {name: _for_storage(scope, name, keys, found) for name, found in clients.items()}
    return tuple(builder.add(partition_name(scope, name), partitions[name]) for name in sorted(partitions))


def shared_partition(subnet: InfinibandSubnet) -> PartitionKey | None:
    """The operator's part of a partition that all clusters share: the appliance; None where there is none."""
    storage = subnet.storage
    if storage is None or storage.key is None:
        return None
    servers = tuple(sorted(storage.appliance))
    members = tuple(PartitionMember(guid=guid, membership="full") for guid in servers)
    return PartitionKey(
        infiniband=subnet.name, key=storage.key, members=members, index0=False, shared=True, servers=servers
    )


def partition_name(scope: ClusterScope, subnet: str) -> str:
    """Plan name of a cluster's partition on one InfiniBand subnet."""
    return scope.name("partition", subnet)


def _members(scope: ClusterScope) -> dict[str, tuple[PartitionMember, ...]]:
    """Subnet -> the compute ports that the cluster's nodes have there, by node and rail."""
    found: defaultdict[str, list[PartitionMember]] = defaultdict(list)
    for node in scope.nodes() if scope.cluster.fabric == "infiniband" else ():
        ports = node.ports_for("compute")
        if not ports:
            raise PlanningError(
                f"node {node.name} of cluster {scope.cluster.name} has no compute port on an InfiniBand subnet",
                "state its `ports` in the site file, take nodes that have them, or say `fabric: none`",
                ("clusters", scope.cluster.name, "fabric"),
            )
        for port in ports:
            found[port.infiniband].append(PartitionMember(guid=_guid(scope, node, port), membership="full"))
    return {subnet: tuple(members) for subnet, members in found.items()}


def _clients(scope: ClusterScope) -> dict[str, tuple[PartitionMember, ...]]:
    """Subnet of an appliance -> the storage ports that the cluster's nodes have there, by node and rail."""
    found: defaultdict[str, list[PartitionMember]] = defaultdict(list)
    for node in scope.nodes():
        for port in storage_ports(scope.site, node):
            found[port.infiniband].append(PartitionMember(guid=_guid(scope, node, port), membership="limited"))
    return {subnet: tuple(members) for subnet, members in found.items()}


def _storage(scope: ClusterScope, subnet: str) -> StorageFabric:
    found = scope.site.infiniband_subnet[subnet].storage
    assert found is not None  # `storage_ports` has those of such subnets alone
    return found


def _for_storage(
    scope: ClusterScope, subnet: str, keys: Mapping[str, int], clients: tuple[PartitionMember, ...]
) -> PartitionKey:
    """With the appliance in a key of the cluster's own; in the one that is shared the operator's stack has it."""
    shared = shared_partition(scope.site.infiniband_subnet[subnet])
    if shared is not None:
        return shared.model_copy(update={"members": clients})
    servers = (PartitionMember(guid=guid, membership="full") for guid in sorted(_storage(scope, subnet).appliance))
    return PartitionKey(infiniband=subnet, key=keys[subnet], members=(*servers, *clients), index0=False)


def _guid(scope: ClusterScope, node: GpuHost, port: HcaPort) -> str:
    if port.guid is None:
        raise PlanningError(
            f"nobody states the GUID of {port.name} of node {node.name}, and cluster {scope.cluster.name} needs it in "
            f"its partition on {port.infiniband}",
            "state `guid` of the port in the site file: the subnet manager knows ports by nothing else",
        )
    return port.guid


def _keys(scope: ClusterScope, subnets: set[str]) -> dict[str, int]:
    """The P_Keys that the lock gives. PlanningError unless they are for exactly these subnets, where it has ports."""
    if scope.cluster.state == "released":
        # A partition goes with its last member; the key stays the cluster's, by its lock.
        return {}
    keys = scope.claims.partition_keys
    for subnet in sorted(subnets ^ keys.keys()):
        lacks, idle = "no P_Key on {}, where its nodes have ports", "a P_Key on {}, where it asks for no port"
        what = (lacks if subnet in subnets else idle).format(subnet)
        raise PlanningError(
            f"the lock of {scope.tenant.id} gives cluster {scope.cluster.name} {what}",
            f"run `interlock lock {scope.tenant.id}`",
        )
    return keys
