"""A GPU cluster: heads, nodes, its in-band and RoCE network, its P_Key on each InfiniBand subnet, and its S3 key."""

from __future__ import annotations

from typing import Any, ClassVar

import pulumi

from interlock.resources import BareMetalServer, Network, PartitionKey, Port, Server
from interlock.vocabulary import NetworkRole

from .base import PlannedComponent
from .entries import public_address
from .s3_keys import s3_key_in_use

_ROCE = NetworkRole.ROCE


class GpuClusterNode(PlannedComponent):
    """A node: a whole host, or the virtual server that has all devices of one. Outputs: `host`, `address`, with RoCE
    `rails`.
    """

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

    @property
    def rails(self) -> list[str]:
        """Addresses on the RoCE network, by rail; empty without RoCE."""
        plan = self.declaration.proof.plan
        ports = (item.resource for item in plan.of(self.name))
        return [item.address for item in ports if isinstance(item, Port) and plan.role_of(item.network) is _ROCE]

    def outputs(self) -> dict[str, Any]:
        """Host and addresses."""
        return {"host": self.host, "address": self.address, **({"rails": self.rails} if self.rails else {})}


class GpuClusterHead(PlannedComponent):
    """A head: a virtual server in band. Outputs: `server_id`, `address`, and `public_address` if it has one."""

    TYPE: ClassVar[str] = "ClusterHead"

    @property
    def server_id(self) -> pulumi.Output[str]:
        """Nova's id of the server."""
        return self.objects[self.name].id

    @property
    def address(self) -> str:
        """Address in band, known before anything is made."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return next(item.address for item in planned if isinstance(item, Port))

    def outputs(self) -> dict[str, Any]:
        """Id and addresses."""
        public = public_address(self)
        found = {"server_id": self.server_id, "address": self.address}
        return found | ({} if public is None else {"public_address": public})


class GpuCluster(PlannedComponent):
    """One GPU cluster. Outputs: `heads`, `nodes`, `network`, `partition_keys`, and `roce_network` where it has one;
    where its tenant has buckets, `s3_access_key` and `s3_secret_key` (a secret).
    """

    TYPE: ClassVar[str] = "GpuCluster"

    @property
    def heads(self) -> list[GpuClusterHead]:
        """The heads, by index."""
        return [item for item in self.below if isinstance(item, GpuClusterHead)]

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
    def roce_network(self) -> str | None:
        """Name of the network that the rails of its nodes are on; None without RoCE."""
        planned = self.declaration.proof.plan.of(self.name)
        return next((item.name for item in planned if item.role is _ROCE), None)

    @property
    def partition_keys(self) -> dict[str, str]:
        """InfiniBand subnet -> the 15 bits of the P_Key there, as hexadecimal digits; empty without InfiniBand."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return {item.infiniband: f"{item.key:#06x}" for item in planned if isinstance(item, PartitionKey)}

    def outputs(self) -> dict[str, Any]:
        """What the tenant's people need to begin."""
        return {
            "heads": {head.name: head.outputs() for head in self.heads},
            "nodes": {node.name: node.outputs() for node in self.nodes},
            "network": self.network,
            "partition_keys": self.partition_keys,
            **({} if self.roce_network is None else {"roce_network": self.roce_network}),
            **self._s3_key(),
        }

    def _s3_key(self) -> dict[str, pulumi.Output[str]]:
        """Its people take it from here where nothing hands it to its servers."""
        key = s3_key_in_use(self)
        if key is None:
            return {}
        secret = pulumi.Output.secret(key.computed("secret_key"))
        return {"s3_access_key": key.computed("access_key"), "s3_secret_key": secret}
