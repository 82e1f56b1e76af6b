"""Pods as they are sold, and what so many machines compute and remember."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .designs import GatewayMode
from .facts import Fact, derived, primary
from .machines import BOW_2000, IPU_M2000, MachineModel


@dataclass(frozen=True)
class PodModel:
    """A pod of the maker's list. No logical racks: machines on one server, without a ToR (direct attach)."""

    name: str
    machine: MachineModel
    machines: Fact[int]
    logical_racks: Fact[int]
    fp16: Fact[Decimal]
    #: The most that the datasheet gives; None where it gives nothing.
    memory: Fact[Decimal] | None
    #: Fewest and most Poplar servers.
    hosts: Fact[tuple[int, int]]
    gateway: Fact[GatewayMode]

    @property
    def ipus(self) -> int:
        """IPUs of all its machines."""
        return self.machines.value * self.machine.ipus.value


_M16 = "Graphcore, IPU-POD16 datasheet"
_M64 = "Graphcore, IPU-POD64 datasheet"
_M128 = "Graphcore, IPU-POD128 datasheet"
_B16 = "Graphcore, Bow Pod16 datasheet"
_B64 = "Graphcore, Bow Pod64 build and test guide"
_B256 = "Graphcore, Bow Pod256 datasheet"
_B2000 = "Graphcore, Bow-2000 datasheet"
_DIRECT = "direct attach, one server and no ToR"
_NO_PEER = "one logical rack has no peer"
_PER_RACK = "1 to 4 servers for each logical rack"

#: Every pod of the maker's list.
PODS = {
    pod.name: pod
    for pod in (
        PodModel(
            name="ipu-pod16",
            machine=IPU_M2000,
            machines=primary(4, "", _M16),
            logical_racks=primary(0, "", f"{_M16}: {_DIRECT}"),
            fp16=primary(Decimal("4"), "PFLOP/s", f"{_M16}: about"),
            memory=None,
            hosts=primary((1, 1), "", f"{_M16}: {_DIRECT}"),
            gateway=primary("none", "", f"{_M16}: {_DIRECT}"),
        ),
        PodModel(
            name="ipu-pod64",
            machine=IPU_M2000,
            machines=primary(16, "", _M64),
            logical_racks=primary(1, "", _M64),
            fp16=primary(Decimal("15.978"), "PFLOP/s", _M64),
            memory=primary(Decimal("4.2"), "TB", f"{_M64}: up to"),
            hosts=primary((1, 4), "", f"{_M64}: 1 to 4"),
            gateway=derived("none", "", _NO_PEER),
        ),
        PodModel(
            name="ipu-pod128",
            machine=IPU_M2000,
            machines=primary(32, "", _M128),
            logical_racks=primary(2, "", _M128),
            fp16=primary(Decimal("31.955"), "PFLOP/s", _M128),
            memory=primary(Decimal("8.4"), "TB", f"{_M128}: up to"),
            hosts=derived((2, 8), "", f"{_PER_RACK} ({_M64})"),
            gateway=primary(
                "direct-pair", "", "Graphcore, IPU-POD128 build and test guide: GW-Links cabled rack to rack"
            ),
        ),
        PodModel(
            name="bow-pod16",
            machine=BOW_2000,
            machines=primary(4, "", _B16),
            logical_racks=primary(0, "", f"{_B16}: {_DIRECT}"),
            fp16=primary(Decimal("5.6"), "PFLOP/s", _B16),
            memory=None,
            hosts=primary((1, 1), "", f"{_B16}: {_DIRECT}"),
            gateway=primary("none", "", f"{_B16}: {_DIRECT}"),
        ),
        PodModel(
            name="bow-pod64",
            machine=BOW_2000,
            machines=primary(16, "", _B64),
            logical_racks=primary(1, "", _B64),
            fp16=derived(Decimal("22.304"), "PFLOP/s", f"16 × 1.394; {_B64} says more than 22"),
            memory=derived(Decimal("4.1536"), "TB", "16 × (256 + 3.6) GB"),
            hosts=primary((1, 4), "", f"{_B64}: 1 to 4"),
            gateway=derived("none", "", _NO_PEER),
        ),
        PodModel(
            name="bow-pod256",
            machine=BOW_2000,
            machines=primary(64, "", _B256),
            logical_racks=primary(4, "", _B256),
            fp16=primary(Decimal("89.23"), "PFLOP/s", _B256),
            memory=primary(Decimal("16.6"), "TB", f"{_B256}: up to"),
            hosts=primary((4, 16), "", _B256),
            gateway=primary("switched", "", f"{_B256}: Arista DCS-7060PX4-32-F"),
        ),
        PodModel(
            name="bow-pod1024",
            machine=BOW_2000,
            machines=derived(256, "", f"1024 IPUs by 4 ({_B2000}: early access)"),
            logical_racks=derived(16, "", "256 machines by 16"),
            fp16=derived(Decimal("356.864"), "PFLOP/s", "256 × 1.394"),
            memory=None,
            hosts=derived((16, 64), "", _PER_RACK),
            gateway=primary("switched", "", f"{_B2000}: larger systems have GW-Link switches"),
        ),
    )
}


def compute_pflops(machine: MachineModel, machines: int) -> Decimal:
    """FP16 of so many machines, in PFLOP/s: a sum of peaks, from the machine's datasheet."""
    return machine.fp16.value * machines


def memory_gb(machine: MachineModel, machines: int, streaming_gb: int) -> Decimal:
    """In-processor and streaming memory of so many machines, in GB, with `streaming_gb` in each.

    ValueError if the machine is not sold with that much.
    """
    if streaming_gb not in machine.streaming_memory.value:
        sold = ", ".join(str(size) for size in machine.streaming_memory.value)
        raise ValueError(f"{machine.generation} with {streaming_gb} GB: there are {sold} GB")
    return (machine.in_processor_memory.value + streaming_gb) * machines


def tiles(machine: MachineModel, machines: int) -> int:
    """Tiles (cores) of so many machines."""
    return machine.tiles.value * machines
