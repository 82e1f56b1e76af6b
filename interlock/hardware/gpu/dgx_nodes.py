"""NVIDIA's own systems, DGX: those of which clusters are to be offered, and those that are only known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from interlock.hardware.facts import Fact, derived, practice, primary

from .nodes import NodeBuild, NodeHost, NodePorts, NodeType, NotOffered, PortRole, PowerSupplies
from .nvlink import AMPERE_NVLINK, BLACKWELL_NVLINK, HOPPER_NVLINK
from .processors import A100, B200, B300, GB200, H100, H200

_MANAGER = "NVIDIA, Fabric Manager user guide"
_BASEPOD = "NVIDIA, DGX BasePOD reference architecture, core components"
_H100_FABRIC = "NVIDIA, DGX SuperPOD H100 reference architecture, network fabrics"
_B200_GUIDE = "NVIDIA, DGX B200 user guide, introduction"
_VPI = "NVIDIA, XLIO documentation, type management: each port of a ConnectX-7 is set as InfiniBand or as Ethernet"
_B300_HALL = "NVIDIA, DGX SuperPOD B300 reference architecture, architecture"
_B300_FABRIC = "NVIDIA, DGX SuperPOD B300 reference architecture, network fabrics"
_B300_XDR = "NVIDIA, DGX SuperPOD B300 XDR reference architecture, architecture"
_GB200_GUIDE = "NVIDIA, DGX GB200 user guide, hardware"
_PRESS = "press reports of May 2020 on NVIDIA's documentation of the DGX A100"
_THIRD = "third parties that cite NVIDIA's datasheet"
_GBE = primary(1, "Gb/s", f"{_B200_GUIDE}: 1 GbE")
_ALIKE = derived(1, "Gb/s", f"an RJ45, as the BMC of a DGX B200 has ({_B200_GUIDE})")
_EIGHT: Fact[int] = primary(8, "", f"{_MANAGER}, NVSwitch-based systems: every DGX of these generations has 8")


def _bmc(source: str, speed: Fact[int]) -> NodePorts:
    """The port of the BMC, which every node has once."""
    return NodePorts(
        PortRole.OUT_OF_BAND,
        adapter=primary("BMC", "", source),
        medium=primary("ethernet", "", source),
        count=primary(1, "", source),
        speed=speed,
    )


def _pair(role: PortRole, adapter: str, medium: str, source: str) -> NodePorts:
    """Two ports, one on each of two dual-port cards: paths beside each other."""
    return NodePorts(
        role,
        adapter=primary(adapter, "", source),
        medium=derived(medium, "", f"{_H100_FABRIC}; {source}"),
        count=primary(2, "", f"{_H100_FABRIC}: each pair of in-band and storage ports gives two paths"),
        speed=primary(400, "Gb/s", f"{source}: up to 400 Gb/s; a hall may run them slower"),
    )


DGX_A100 = NodeType(
    name="dgx-a100",
    maker="NVIDIA",
    gpu=A100,
    gpus=_EIGHT,
    nvswitches=primary(6, "", f"{_MANAGER}, NVSwitch-based systems"),
    nvlink=AMPERE_NVLINK,
    ports=(
        NodePorts(
            PortRole.COMPUTE,
            adapter=None,
            medium=practice("infiniband", "", _PRESS),
            count=practice(8, "", f"{_PRESS}: eight network cards"),
            speed=practice(200, "Gb/s", f"{_PRESS}: HDR"),
        ),
    ),
    host=NodeHost(
        cpu=practice("AMD EPYC 7742", "", _PRESS),
        cpus=practice(2, "", _PRESS),
        ram=practice(1, "TB", f"{_PRESS}: can be raised to 2 TB"),
    ),
    build=NodeBuild(
        nameplate=practice(6500, "W", f"{_PRESS}: at most"),
        height=derived(6, "U", f"264 mm by 44.45 mm ({_PRESS})"),
        weight=practice(Decimal(123), "kg", _PRESS),
        supplies=PowerSupplies(
            count=practice(6, "", _PRESS),
            needed=practice(3, "", f"{_PRESS}: half of them are spare"),
            capacity=practice(3000, "W", _PRESS),
        ),
    ),
)

DGX_H100 = NodeType(
    name="dgx-h100",
    maker="NVIDIA",
    gpu=H100,
    gpus=_EIGHT,
    nvswitches=primary(4, "", _BASEPOD),
    nvlink=HOPPER_NVLINK,
    ports=(
        NodePorts(
            PortRole.COMPUTE,
            adapter=primary("ConnectX-7", "", f"{_BASEPOD}: four OSFP ports serve eight single-port cards"),
            medium=derived("ethernet/infiniband", "", f"{_H100_FABRIC}: InfiniBand; {_VPI}"),
            count=primary(8, "", _BASEPOD),
            speed=primary(400, "Gb/s", f"{_BASEPOD}: NDR, over transceivers of two ports"),
        ),
        _pair(PortRole.STORAGE, "ConnectX-7", "infiniband", _BASEPOD),
        _pair(PortRole.IN_BAND, "ConnectX-7", "ethernet", _BASEPOD),
        _bmc(f"{_H100_FABRIC}: the LAN port beside it is not used", _ALIKE),
    ),
    host=NodeHost(
        cpu=primary("Intel Xeon Platinum 8480C", "", _BASEPOD),
        cpus=primary(2, "", _BASEPOD),
        ram=primary(2, "TB", _BASEPOD),
        local_nvme=primary(Decimal("30.72"), "TB", f"{_BASEPOD}: 8 × 3.84 TB, raw"),
    ),
    build=NodeBuild(
        nameplate=practice(10200, "W", f"{_THIRD}: at most, of the whole system, which is cooled by air"),
        height=practice(8, "U", _THIRD),
        cooling=practice("air", "", _THIRD),
        supplies=PowerSupplies(
            count=practice(6, "", f"{_THIRD}: 4 + 2"),
            needed=practice(4, "", f"{_THIRD}: 4 + 2"),
            capacity=practice(3300, "W", _THIRD),
        ),
    ),
)

DGX_H200 = replace(DGX_H100, name="dgx-h200", gpu=H200)

DGX_B200 = NodeType(
    name="dgx-b200",
    maker="NVIDIA",
    gpu=B200,
    gpus=primary(8, "", _B200_GUIDE),
    nvswitches=primary(2, "", f"{_B200_GUIDE}: 14.4 TB/s together"),
    nvlink=BLACKWELL_NVLINK,
    ports=(
        NodePorts(
            PortRole.COMPUTE,
            adapter=primary("ConnectX-7", "", f"{_B200_GUIDE}: four OSFP ports for eight single-port cards"),
            medium=derived("ethernet/infiniband", "", f"{_B200_GUIDE}: InfiniBand by default; {_VPI}"),
            count=primary(8, "", _B200_GUIDE),
            speed=primary(400, "Gb/s", _B200_GUIDE),
        ),
        _pair(PortRole.STORAGE, "BlueField-3", "infiniband", _B200_GUIDE),
        _pair(PortRole.IN_BAND, "BlueField-3", "ethernet", _B200_GUIDE),
        _bmc(_B200_GUIDE, _GBE),
        NodePorts(
            PortRole.NVLINK_BRIDGE,
            adapter=primary("ConnectX-7", "", f"{_MANAGER}: the NVSwitches are no PCIe devices, they are behind it"),
            medium=None,
            count=primary(4, "", f"{_MANAGER}: physical functions of the bridge"),
            speed=None,
        ),
    ),
    host=NodeHost(
        cpu=primary("Intel Xeon 8570", "", _B200_GUIDE),
        cpus=primary(2, "", _B200_GUIDE),
        ram=primary(2, "TB", f"{_B200_GUIDE}: can be raised to 4 TB"),
        local_nvme=primary(Decimal("30.72"), "TB", f"{_B200_GUIDE}: 8 × 3.84 TB, raw"),
    ),
    build=NodeBuild(
        nameplate=primary(14300, "W", f"{_B200_GUIDE}: at most"),
        height=primary(10, "U", _B200_GUIDE),
        weight=primary(Decimal("142.4"), "kg", f"{_B200_GUIDE}: at most"),
        cooling=primary("air", "", _B200_GUIDE),
        supplies=PowerSupplies(
            count=primary(6, "", f"{_B200_GUIDE}: 5 + 1"),
            needed=primary(5, "", f"{_B200_GUIDE}: 5 + 1"),
            capacity=primary(3300, "W", _B200_GUIDE),
        ),
    ),
)

DGX_B300 = NodeType(
    name="dgx-b300",
    maker="NVIDIA",
    gpu=B300,
    gpus=primary(8, "", f"{_B300_FABRIC}: all eight GPUs"),
    nvswitches=None,
    nvlink=BLACKWELL_NVLINK,
    ports=(
        NodePorts(
            PortRole.COMPUTE,
            adapter=None,
            medium=primary("ethernet/infiniband", "", f"{_B300_FABRIC}: Spectrum-X; {_B300_XDR}: InfiniBand"),
            count=primary(8, "", f"{_B300_XDR}: 576 cables of 72 nodes"),
            speed=primary(800, "Gb/s", f"{_B300_XDR}: XDR; {_B300_FABRIC}: 2 × 400 Gb/s on two planes"),
        ),
        NodePorts(
            PortRole.STORAGE,
            adapter=None,
            medium=None,
            count=primary(2, "", f"{_B300_FABRIC}: a pair"),
            speed=None,
        ),
        NodePorts(
            PortRole.IN_BAND,
            adapter=None,
            medium=primary("ethernet", "", f"{_B300_FABRIC}: in-band is a segment of the Ethernet fabric"),
            count=primary(2, "", f"{_B300_FABRIC}: a pair"),
            speed=None,
        ),
        _bmc(_B300_FABRIC, _ALIKE),
        NodePorts(
            PortRole.NVLINK_BRIDGE,
            adapter=primary("ConnectX-7", "", f"{_MANAGER}: the NVSwitches are no PCIe devices, they are behind it"),
            medium=None,
            count=primary(4, "", f"{_MANAGER}: physical functions of the bridge"),
            speed=None,
        ),
    ),
    host=NodeHost(),
    build=NodeBuild(nameplate=derived(14000, "W", f"about 56 kW of a rack by its four systems ({_B300_XDR})")),
    not_offered=NotOffered(
        "its compute fabric has two planes or XDR, and its memory, size and supplies are in no document that was read",
        "dgx-b200",
    ),
)

GB200_NVL72 = NodeType(
    name="gb200-nvl72",
    maker="NVIDIA",
    gpu=GB200,
    gpus=primary(72, "", f"{_GB200_GUIDE}: 18 trays of 4"),
    nvswitches=primary(18, "", "NVIDIA, DGX SuperPOD GB200 reference architecture, network fabrics: 9 trays of 2"),
    nvlink=None,
    ports=(
        NodePorts(
            PortRole.COMPUTE,
            adapter=primary("ConnectX-7", "", _GB200_GUIDE),
            medium=primary("infiniband", "", "NVIDIA, DGX SuperPOD GB200 reference architecture, network fabrics"),
            count=derived(72, "", f"4 of each of 18 trays ({_GB200_GUIDE})"),
            speed=primary(400, "Gb/s", _GB200_GUIDE),
        ),
    ),
    host=NodeHost(
        cpu=primary("NVIDIA Grace", "", _GB200_GUIDE), cpus=primary(36, "", f"{_GB200_GUIDE}: 18 trays of 2")
    ),
    build=NodeBuild(
        nameplate=derived(
            150000,
            "W",
            "1.2 MW of a scalable unit by its 8 racks (NVIDIA, DGX SuperPOD GB200 reference architecture); racks "
            "of 120 kW are said, too",
        ),
        cooling=primary("liquid and air", "", _GB200_GUIDE),
    ),
    not_offered=NotOffered(
        "one NVLink domain spans the rack, its trays are no whole nodes, and isolation inside it is not modelled",
        "dgx-b200",
    ),
)

#: Systems of NVIDIA's own, by name.
DGX_NODES = {node.name: node for node in (DGX_A100, DGX_H100, DGX_H200, DGX_B200, DGX_B300, GB200_NVL72)}
