"""A GPU cluster: its nodes, its in-band network, and its P_Key on each InfiniBand subnet."""

from __future__ import annotations

from typing import Any, ClassVar

from interlock.resources import BareMetalServer, Network, PartitionKey, Port, Server

from .base import PlannedComponent


class GpuClusterNode(PlannedComponent):
    """A node: a whole host, or the virtual server that has all devices of one. Outputs: `host`, `address`."""

    TYPE: ClassVar[str] = "ClusterNode"

    @property
    def host(self) -> str:
        """Name of the host, and of Ironic's node or Nova's hypervisor."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        servers = (item for item in planned if isinstance(item, BareMetalServer | Server))
        return next(item.node if isinstance(item, BareMetalServer) else item.host for item in servers)

    @property
    def address(self) -> str:
        """Address in band, known before anything is made."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return next(item.address for item in planned if isinstance(item, Port))

    def outputs(self) -> dict[str, Any]:
        """Host and address."""
        return {"host": self.host, "address": self.address}


class GpuCluster(PlannedComponent):
    """One GPU cluster. Outputs: `nodes`, `network`, `partition_keys`."""

    TYPE: ClassVar[str] = "GpuCluster"

    @property
    def nodes(self) -> list[GpuClusterNode]:
        """The nodes, by index."""
        return [item for item in self.below if isinstance(item, GpuClusterNode)]

    @property
    def network(self) -> str:
        """Name of the in-band network."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return next(item.name for item in planned if isinstance(item, Network))

    @property
    def partition_keys(self) -> dict[str, str]:
        """InfiniBand subnet -> the 15 bits of the P_Key there, as hexadecimal digits; empty without InfiniBand."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return {item.infiniband: f"{item.key:#06x}" for item in planned if isinstance(item, PartitionKey)}

    def outputs(self) -> dict[str, Any]:
        """What the tenant's people need to begin."""
        return {
            "nodes": {node.name: node.outputs() for node in self.nodes},
            "network": self.network,
            "partition_keys": self.partition_keys,
        }
