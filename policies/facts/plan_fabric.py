"""Switch ports, what V-IPU controllers are told, partition keys and NVLink partitions as facts."""

from __future__ import annotations

from interlock.planning.plan import Planned
from interlock.resources import (
    NvlinkPartition,
    PartitionKey,
    SwitchPort,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
)

from .fabric import AllocationFact, NvlinkFact, PartitionFact, PartitionKeyFact, SwitchPortFact
from .reader import PlanReader
from .vipu import AgentClusterFact, AgentFact, VipuUserFact


def switch_port(reader: PlanReader, item: Planned, spec: SwitchPort) -> SwitchPortFact:
    """A switch port in access mode."""
    return SwitchPortFact(
        name=item.name,
        switch=spec.switch,
        port=spec.port,
        device=spec.device,
        interface=spec.interface,
        vlan=spec.vlan,
        vpod=item.vpod,
        by_neutron=spec.is_declared,
        owner=reader.owner_of(spec.project),
        network=spec.network,
        subnet=spec.subnet,
        addresses=spec.addresses,
    )


def allocation(reader: PlanReader, item: Planned, spec: VipuAllocation) -> AllocationFact:
    """Whose it is follows from the stack: the controller lies in the operator's project."""
    return AllocationFact(
        name=item.name,
        owner=reader.owner,
        vpod=item.vpod,
        controller=spec.controller,
        machines=spec.machines,
        topology=spec.topology,
        cluster=spec.cluster,
    )


def agent(_: PlanReader, item: Planned, spec: VipuAgent) -> AgentFact:
    """The agent of a machine."""
    return AgentFact(item.name, item.vpod, spec.controller, spec.machine, spec.serial, spec.host)


def agent_cluster(_: PlanReader, item: Planned, spec: VipuCluster) -> AgentClusterFact:
    """A V-IPU cluster."""
    return AgentClusterFact(
        item.name, item.vpod, spec.controller, spec.agents, spec.topology, spec.link_domains, spec.cluster_topology
    )


def vipu_user(reader: PlanReader, item: Planned, spec: VipuUser) -> VipuUserFact:
    """Whose it is follows from the stack, as with allocations."""
    return VipuUserFact(item.name, reader.owner, item.vpod, spec.controller, spec.allocations)


def partition(_: PlanReader, item: Planned, spec: VipuPartition) -> PartitionFact:
    """A partition of an allocation."""
    return PartitionFact(
        name=item.name,
        vpod=item.vpod,
        allocation=spec.allocation,
        ipus=spec.ipus,
        gcds=spec.gcds,
        replicas=spec.replicas,
        reconfigurable=spec.reconfigurable,
        sync_type=spec.sync_type,
        routing=spec.routing,
        controller=spec.controller,
    )


def partition_key(_: PlanReader, item: Planned, spec: PartitionKey) -> PartitionKeyFact:
    """An InfiniBand partition."""
    members = tuple((member.guid, member.membership) for member in spec.members)
    return PartitionKeyFact(
        item.name, spec.infiniband, spec.key, members, item.vpod, spec.index0, spec.shared, spec.servers
    )


def nvlink(_: PlanReader, item: Planned, spec: NvlinkPartition) -> NvlinkFact:
    """A group of GPUs."""
    return NvlinkFact(item.name, spec.domain, spec.partition, spec.gpus)
