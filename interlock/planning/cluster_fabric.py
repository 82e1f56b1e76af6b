"""The InfiniBand partitions of a GPU cluster: on each subnet one P_Key, and in it every compute port of its nodes.

All are full members: NCCL uses the key at index 0, and where that is a limited one jobs hang.
"""

from __future__ import annotations

from collections import defaultdict

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember

from .errors import PlanningError
from .plan_builder import PlanBuilder
from .scope import ClusterScope


def write_partitions(scope: ClusterScope, builder: PlanBuilder) -> tuple[str, ...]:
    """Write down one partition for each InfiniBand subnet of the cluster; returns their references."""
    members = _members(scope)
    return tuple(
        builder.add(partition_name(scope, subnet), PartitionKey(infiniband=subnet, key=key, members=members[subnet]))
        for subnet, key in _keys(scope, members).items()
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
            )
        for port in ports:
            found[port.infiniband].append(PartitionMember(guid=_guid(scope, node, port), membership="full"))
    return {subnet: tuple(members) for subnet, members in found.items()}


def _guid(scope: ClusterScope, node: GpuHost, port: HcaPort) -> str:
    if port.guid is None:
        raise PlanningError(
            f"nobody states the GUID of {port.name} of node {node.name}, and cluster {scope.cluster.name} needs it in "
            f"its partition on {port.infiniband}",
            "state `guid` of the port in the site file: the subnet manager knows ports by nothing else",
        )
    return port.guid


def _keys(scope: ClusterScope, members: dict[str, tuple[PartitionMember, ...]]) -> dict[str, int]:
    """The P_Keys that the lock gives. PlanningError unless they are for exactly the subnets of the cluster's ports."""
    if scope.cluster.state == "released":
        # A partition goes with its last member; the key stays the cluster's, by its lock.
        return {}
    keys = scope.claims.partition_keys
    for subnet in sorted(members.keys() ^ keys.keys()):
        lacks, idle = "no P_Key on {}, where its nodes have ports", "a P_Key on {}, where it asks for no port"
        what = (lacks if subnet in members else idle).format(subnet)
        raise PlanningError(
            f"the lock of {scope.tenant.id} gives cluster {scope.cluster.name} {what}",
            f"run `interlock lock {scope.tenant.id}`",
        )
    return {subnet: keys[subnet] for subnet in sorted(keys)}
