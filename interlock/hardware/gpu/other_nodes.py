"""Nodes of other makers: those that Gcore offers, and accelerators of which no cluster is offered here."""

from __future__ import annotations

from decimal import Decimal

from interlock.hardware.facts import Fact, derived, practice

from .nodes import NodeBuild, NodeHost, NodePorts, NodeType, NotOffered, PortRole
from .nvlink import AMPERE_NVLINK, HOPPER_NVLINK, NvlinkTable
from .processors import A100, GAUDI_2, GAUDI_3, H100, H200, L40S, MAX_1550, MI300X, GpuModel

_GCORE = "Gcore, AI infrastructure documentation"
_CLOUD = "Gcore, product documentation, GPU clusters"
_EIGHT = practice(8, "", _GCORE)


def _rails(total: str, source: str) -> NodePorts:
    """Eight NDR ports, one for each GPU."""
    return NodePorts(
        PortRole.COMPUTE,
        adapter=None,
        medium=practice("infiniband", "", source),
        count=derived(8, "", f"{total} of 400 Gb/s, one for each GPU ({source})"),
        speed=practice(400, "Gb/s", source),
    )


def _ethernet(count: int, speed: int, source: str) -> NodePorts:
    """Ports for everything else; what is storage and what management on them, nobody says."""
    return NodePorts(
        PortRole.IN_BAND,
        adapter=None,
        medium=practice("ethernet", "", source),
        count=practice(count, "", source),
        speed=practice(speed, "Gb/s", source),
    )


def _host(cpu: str | None, ram: int, disks: tuple[int, str] | None, source: str) -> NodeHost:
    """A host of two CPUs; `ram` in TB, `disks` as (how many, TB of each)."""
    nvme: Fact[Decimal] | None = None
    if disks is not None:
        count, each = disks
        nvme = practice(count * Decimal(each), "TB", f"{source}: {count} × {each} TB, raw")
    return NodeHost(
        cpu=None if cpu is None else practice(cpu, "", source),
        cpus=None if cpu is None else practice(2, "", source),
        ram=practice(ram, "TB", source),
        local_nvme=nvme,
    )


def _gcore(
    name: str, gpu: GpuModel, nvlink: NvlinkTable | None, ports: tuple[NodePorts, ...], host: NodeHost
) -> NodeType:
    return NodeType(
        name=name,
        maker="Gcore",
        gpu=gpu,
        gpus=_EIGHT,
        nvswitches=None,
        nvlink=nvlink,
        ports=ports,
        host=host,
        build=NodeBuild(),
    )


#: Nodes that Gcore offers: built like an HGX of the same GPUs. What they draw and weigh, its pages do not say.
GCORE_NODES = {
    node.name: node
    for node in (
        _gcore(
            "gcore-h100-ib",
            H100,
            HOPPER_NVLINK,
            (_rails("3.2 Tb/s", _GCORE), _ethernet(2, 100, _GCORE)),
            _host("Intel Xeon 8480+", 2, (8, "3.84"), _GCORE),
        ),
        _gcore(
            "gcore-h200-ib",
            H200,
            HOPPER_NVLINK,
            (_rails("3.2 Tb/s", _CLOUD), _ethernet(2, 200, _CLOUD)),
            _host(None, 2, (6, "3.84"), _CLOUD),
        ),
        _gcore(
            "gcore-a100-ib",
            A100,
            AMPERE_NVLINK,
            (
                NodePorts(
                    PortRole.COMPUTE,
                    adapter=None,
                    medium=practice("infiniband", "", _GCORE),
                    count=None,
                    speed=None,
                    total=practice(800, "Gb/s", f"{_GCORE}: of how many ports, it does not say"),
                ),
            ),
            _host("Intel Xeon 8468", 2, None, _GCORE),
        ),
        _gcore(
            "gcore-a100",
            A100,
            AMPERE_NVLINK,
            (_ethernet(2, 100, _GCORE),),
            _host("Intel Xeon 8468", 2, None, _GCORE),
        ),
        _gcore("gcore-l40s", L40S, None, (_ethernet(2, 25, _GCORE),), _host("Intel Xeon 8468", 2, (4, "7.68"), _GCORE)),
    )
}


def _known_only(gpu: GpuModel, why: str, instead: str) -> NodeType:
    return NodeType(
        name=gpu.name,
        maker=gpu.maker,
        gpu=gpu,
        gpus=None,
        nvswitches=None,
        nvlink=None,
        ports=(),
        host=NodeHost(),
        build=NodeBuild(),
        not_offered=NotOffered(why, instead),
    )


_NOT_NVIDIA = (
    "drivers, partitions and acceptance are planned for NVIDIA's GPUs only, and how these are joined inside a node is "
    "in no document that was read"
)

#: Accelerators of other makers, as they are asked for by name.
OTHER_ACCELERATORS = {
    node.name: node
    for node in (
        _known_only(MI300X, _NOT_NVIDIA, "dgx-b200"),
        _known_only(GAUDI_3, _NOT_NVIDIA, "dgx-h100"),
        _known_only(GAUDI_2, _NOT_NVIDIA, "dgx-a100"),
        _known_only(MAX_1550, _NOT_NVIDIA, "dgx-a100"),
    )
}
