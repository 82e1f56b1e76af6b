"""What a GPU node is described by: its GPUs, NVSwitches, host, ports by role, power and size.

A port has one role. That an adapter is a ConnectX-7 does not make it one for compute: on HGX B200 the NVSwitches
themselves stand behind one, and a partition or a rail that counts its functions is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from interlock.hardware.facts import Fact, practice, primary

from .nvlink import NvlinkTable
from .processors import GpuModel


class PortRole(StrEnum):
    """What a port of a node is for. The first four are fabrics of a hall, each by itself."""

    COMPUTE = "compute"
    STORAGE = "storage"
    IN_BAND = "in-band"
    OUT_OF_BAND = "out-of-band"
    #: Leads to the NVSwitches of the same node, and to no cable.
    NVLINK_BRIDGE = "nvlink-bridge"


#: Rate of a 4x InfiniBand port, in Gb/s. NDR200 is half of an NDR port.
INFINIBAND_RATES = {
    "HDR": practice(200, "Gb/s", "press reports of May 2020 on the DGX A100: HDR cards of 200 Gb/s"),
    "NDR": primary(400, "Gb/s", "NVIDIA, DGX SuperPOD GB200 reference architecture: NDR (400 Gbps)"),
    "XDR": primary(800, "Gb/s", "NVIDIA, DGX SuperPOD B300 reference architecture: XDR (800 Gbps)"),
}


@dataclass(frozen=True)
class NodePorts:
    """Ports of one role. `count` and `speed` (Gb/s) of each; `total` where only the sum in Gb/s is stated."""

    role: PortRole
    adapter: Fact[str] | None
    #: `infiniband`, `ethernet`, or both with a slash where a port can be either.
    medium: Fact[str] | None
    count: Fact[int] | None
    speed: Fact[int] | None
    total: Fact[int] | None = None

    @property
    def bandwidth(self) -> int | None:
        """All of them together, in Gb/s; None: unknown."""
        if self.total is not None:
            return self.total.value
        if self.count is None or self.speed is None:
            return None
        return self.count.value * self.speed.value


@dataclass(frozen=True)
class PowerSupplies:
    """Power supplies of a node: how many there are, how many of them it needs, and the W of each."""

    count: Fact[int]
    needed: Fact[int]
    capacity: Fact[int]


@dataclass(frozen=True)
class NodeHost:
    """What carries the GPUs. `ram` and `local_nvme` (raw) in TB; None: unknown."""

    cpu: Fact[str] | None = None
    cpus: Fact[int] | None = None
    ram: Fact[int] | None = None
    local_nvme: Fact[Decimal] | None = None


@dataclass(frozen=True)
class NodeBuild:
    """What a node is for the rack: W at most, units, kg, and how it is cooled; None: unknown."""

    nameplate: Fact[int] | None = None
    height: Fact[int] | None = None
    weight: Fact[Decimal] | None = None
    cooling: Fact[str] | None = None
    supplies: PowerSupplies | None = None


@dataclass(frozen=True)
class NotOffered:
    """Why no cluster of a node type can be asked for, and the nearest type of which one can."""

    why: str
    instead: str


@dataclass(frozen=True)
class NodeType:
    """A GPU node, or for `gb200-nvl72` a rack that is one NVLink domain."""

    name: str
    maker: str
    gpu: GpuModel
    gpus: Fact[int] | None
    nvswitches: Fact[int] | None
    #: Groups of GPUs that can be isolated from each other; None: unknown, or there are no NVSwitches.
    nvlink: NvlinkTable | None
    ports: tuple[NodePorts, ...]
    host: NodeHost
    build: NodeBuild
    #: None: clusters of it are meant to be offered.
    not_offered: NotOffered | None = None

    @property
    def memory_gb(self) -> int | None:
        """Memory of all GPUs, in GB; None: unknown."""
        if self.gpus is None or self.gpu.memory is None:
            return None
        return self.gpus.value * self.gpu.memory.value

    def ports_for(self, role: PortRole) -> NodePorts | None:
        """The ports of one role; None where no source says that it has any."""
        return next((ports for ports in self.ports if ports.role is role), None)

    @property
    def has_rdma_fabric(self) -> bool:
        """True if it has ports for compute: without them GPUs of two nodes do not reach each other by RDMA."""
        return self.ports_for(PortRole.COMPUTE) is not None

    @property
    def ethernet_rails(self) -> int:
        """How many ports for compute it has that can be Ethernet; 0: none, or nobody states it."""
        ports = self.ports_for(PortRole.COMPUTE)
        if ports is None or ports.medium is None or ports.count is None or "ethernet" not in ports.medium.value:
            return 0
        return ports.count.value
