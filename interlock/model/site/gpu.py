"""GPU nodes, and the InfiniBand fabrics that their compute and storage ports hang on.

A GPU node is a host of role `gpu` besides: Ironic deploys it, and its Ethernet interfaces stand there. Here is what
only a GPU node has. The subnet manager knows ports by their GUID and by nothing else: a node description is set by
whoever has root on the node.
"""

from __future__ import annotations

from typing import Literal

from interlock.resources import Frozen

#: What the ports of a node are for, as far as they are InfiniBand ports.
HcaUse = Literal["compute", "storage"]
FabricTier = Literal["leaf", "spine", "core"]


class HcaPort(Frozen):
    """A port of a GPU node on an InfiniBand subnet, as cables name it: `compute1`, `storage1`."""

    name: str
    use: HcaUse
    #: Name of the subnet among `infiniband:` of the site.
    infiniband: str
    #: Rail, from 1: port n of every node of a scalable unit hangs on leaf n of that unit.
    rail: int
    #: Port GUID as 16 hexadecimal digits; None: not stated, and then no partition can have it.
    guid: str | None = None


class GpuHost(Frozen):
    """What a host of role `gpu` has besides."""

    #: That of the host.
    name: str
    #: In the catalogue (`interlock.hardware.gpu.NODE_TYPES`).
    node_type: str
    hall: str
    #: Scalable unit of the hall, from 1.
    unit: int
    ports: tuple[HcaPort, ...] = ()

    def ports_for(self, use: HcaUse) -> tuple[HcaPort, ...]:
        """Its ports of one use, by rail."""
        return tuple(sorted((port for port in self.ports if port.use == use), key=lambda port: port.rail))


class FabricSwitch(Frozen):
    """A switch of an InfiniBand subnet. It has no VLANs: P_Keys alone keep apart what hangs on it."""

    name: str
    infiniband: str
    tier: FabricTier
    #: How many ports it has, numbered from 1.
    ports: int
    #: Of a leaf the scalable unit and the rail that it serves, from 1.
    unit: int | None = None
    rail: int | None = None
    #: Node GUID as 16 hexadecimal digits; None: not stated.
    guid: str | None = None
    serial: str | None = None
