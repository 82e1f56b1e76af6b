"""Halls as NVIDIA builds them from scalable units, DGX SuperPODs: what `design: h100-superpod` stands for.

Only the compute fabric is in tables that could be read. How many ports a node has for storage and management is read,
too; switches for these are a consistent placeholder, and each such figure says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from interlock.hardware.facts import Fact, derived, practice, primary

from .dgx_nodes import DGX_B200, DGX_B300, DGX_H100, DGX_H200
from .nodes import NodeType, PortRole

#: `tree`: a fat tree of its own; `leaves`: leaves alone, whose uplinks are not modelled.
Shape = Literal["tree", "leaves"]


@dataclass(frozen=True)
class FabricDesign:
    """One fabric of a hall. Rail n is port n of every node, and has leaves of its own in each unit."""

    role: PortRole
    medium: Fact[str]
    #: Gb/s of each link; None: unknown.
    speed: Fact[int] | None
    #: Ports of a switch at the speed used.
    radix: Fact[int]
    rails: Fact[int]
    #: Trees beside each other, of which every rail has a link to each.
    planes: Fact[int]
    shape: Fact[Shape]

    @property
    def down(self) -> int:
        """Ports of a leaf for nodes: half of them in a tree, all of them in leaves alone."""
        return self.radix.value // 2 if self.shape.value == "tree" else self.radix.value


@dataclass(frozen=True)
class HallRow:
    """A row of a maker's table: a hall of so many units has these switches and cables in its compute fabric."""

    units: int
    nodes: int
    gpus: int
    leaves: int
    spines: int
    cores: int
    node_cables: int
    leaf_spine_cables: int
    spine_core_cables: int


@dataclass(frozen=True)
class HallDesign:
    """A hall of scalable units, each with `nodes_per_unit` places for nodes."""

    name: str
    node: NodeType
    nodes_per_unit: Fact[int]
    nodes_per_rack: Fact[int]
    #: Places of the last unit that no node has, since the subnet manager takes leaf ports there.
    manager_places: Fact[int]
    #: Cables of the subnet manager's appliances (UFM) to leaves of the compute fabric.
    manager_cables: Fact[int]
    fabrics: tuple[FabricDesign, ...]
    #: Links of the compute fabric that the maker's table counts as one cable.
    links_per_cable: Fact[int]
    #: The maker's own table; None: there is none that was read.
    rows: Fact[tuple[HallRow, ...]] | None

    def fabric(self, role: PortRole) -> FabricDesign:
        """One fabric. LookupError for a role that is none of a hall's."""
        for fabric in self.fabrics:
            if fabric.role is role:
                return fabric
        raise LookupError(f"{self.name} has no {role} fabric")


_H100 = "NVIDIA, DGX SuperPOD H100 reference architecture, network fabrics"
_H100_PARTS = "copies of NVIDIA's DGX SuperPOD H100 reference architecture, major components"
_B200 = "NVIDIA, DGX SuperPOD B200 reference architecture, architecture"
_B300 = "NVIDIA, DGX SuperPOD B300 reference architecture, architecture"
_B300_FABRIC = "NVIDIA, DGX SuperPOD B300 reference architecture, network fabrics"
_XDR = "NVIDIA, DGX SuperPOD B300 XDR reference architecture, architecture"
_PLACEHOLDER = (
    "a consistent placeholder: how many switches this fabric has is in no document that was read, so check it against "
    "the hall"
)
_TREE: Fact[Shape] = derived("tree", "", "the counts of the maker's table are those of a fat tree")
_ONE_PLANE = derived(1, "", "one plane gives the counts of the maker's table")
_ONE = derived(1, "", "cables of the maker's table by links of the fabric")
_NO_PLACE = derived(0, "", "every place of a unit has a node in the maker's table, which counts no subnet manager")
_NO_CABLE = derived(0, "", "every leaf port of the maker's table has a node")


def _side(role: PortRole, medium: str, speed: Fact[int] | None, radix: int, shape: Shape = "tree") -> FabricDesign:
    """Storage, in-band or out-of-band: rails as the node has ports, switches as a placeholder."""
    rails = 1 if role is PortRole.OUT_OF_BAND else 2
    return FabricDesign(
        role=role,
        medium=derived(medium, "", _PLACEHOLDER),
        speed=speed,
        radix=derived(radix, "", _PLACEHOLDER),
        rails=primary(rails, "", f"{_H100}; {_B300_FABRIC}: a pair for storage, a pair for in-band, one BMC"),
        planes=derived(1, "", _PLACEHOLDER),
        shape=derived(shape, "", _PLACEHOLDER),
    )


def _sides(storage: str, radix: int) -> tuple[FabricDesign, ...]:
    """The three fabrics beside compute."""
    return (
        _side(PortRole.STORAGE, storage, None, radix),
        _side(PortRole.IN_BAND, "ethernet", None, radix),
        _side(PortRole.OUT_OF_BAND, "ethernet", derived(1, "Gb/s", "ports of BMCs"), 48, "leaves"),
    )


def _ndr(source: str) -> FabricDesign:
    """Eight rails of NDR, on switches of 64 ports."""
    return FabricDesign(
        role=PortRole.COMPUTE,
        medium=primary("infiniband", "", source),
        speed=primary(400, "Gb/s", f"{source}: NDR"),
        radix=derived(64, "", "32 ports down and 32 up in each leaf give the counts of the maker's table"),
        rails=primary(8, "", f"{_H100}: each group of 32 nodes is aligned by rails, 8 leaves for 32 nodes"),
        planes=_ONE_PLANE,
        shape=_TREE,
    )


def _rows(*rows: tuple[int, ...]) -> tuple[HallRow, ...]:
    return tuple(HallRow(*row) for row in rows)


H100_SUPERPOD = HallDesign(
    name="h100-superpod",
    node=DGX_H100,
    nodes_per_unit=primary(32, "", _H100),
    nodes_per_rack=derived(
        4, "", f"38 racks of 127 nodes ({_H100_PARTS}): 32 with four nodes, 6 for switches, storage and management"
    ),
    manager_places=primary(1, "", f"{_H100}, table 4: UFM takes leaf ports in place of one node"),
    manager_cables=derived(4, "", f"252 cables of 31 nodes and UFM, 8 of each node ({_H100}, table 4)"),
    fabrics=(_ndr(_H100), *_sides("infiniband", 64)),
    links_per_cable=_ONE,
    rows=primary(
        _rows(
            (1, 31, 248, 8, 4, 0, 252, 256, 0),
            (2, 63, 504, 16, 8, 0, 508, 512, 0),
            (3, 95, 760, 24, 16, 0, 764, 768, 0),
            (4, 127, 1016, 32, 16, 0, 1020, 1024, 0),
        ),
        "",
        f"{_H100}, table 4",
    ),
)

H200_SUPERPOD = replace(
    H100_SUPERPOD,
    name="h200-superpod",
    node=DGX_H200,
    nodes_per_unit=derived(32, "", f"the ports of a DGX H200 are those of a DGX H100, and so the fabric ({_H100})"),
    rows=None,
)

B200_SUPERPOD = HallDesign(
    name="b200-superpod",
    node=DGX_B200,
    nodes_per_unit=primary(32, "", f"{_B200}: 64 nodes of 2 units"),
    nodes_per_rack=derived(2, "", f"more than 25 kW in a rack ({_B200}), 14.3 kW of each node"),
    manager_places=_NO_PLACE,
    manager_cables=_NO_CABLE,
    fabrics=(_ndr(_B200), *_sides("infiniband", 64)),
    links_per_cable=_ONE,
    rows=primary(
        _rows(
            (2, 64, 512, 16, 8, 0, 512, 512, 0),
            (4, 128, 1024, 32, 16, 0, 1024, 1024, 0),
            (8, 256, 2048, 64, 32, 0, 2048, 2048, 0),
            (16, 512, 4096, 128, 128, 64, 4096, 4096, 4096),
            (32, 1024, 8192, 256, 256, 128, 8192, 8192, 8192),
            (64, 2048, 16384, 512, 512, 256, 16384, 16384, 16384),
        ),
        "",
        _B200,
    ),
)

B300_SUPERPOD = HallDesign(
    name="b300-superpod",
    node=DGX_B300,
    nodes_per_unit=primary(64, "", _B300),
    nodes_per_rack=primary(4, "", f"{_XDR}: four fit in a rack; {_B300}: more than 50 kW"),
    manager_places=_NO_PLACE,
    manager_cables=_NO_CABLE,
    fabrics=(
        FabricDesign(
            role=PortRole.COMPUTE,
            medium=primary("ethernet", "", f"{_B300_FABRIC}: Spectrum-X"),
            speed=primary(400, "Gb/s", f"{_B300_FABRIC}: 2 × 400GbE of each GPU"),
            radix=derived(128, "", "64 ports down and 64 up in each leaf give the counts of the maker's table"),
            rails=primary(8, "", f"{_B300_FABRIC}: each group of 64 nodes is aligned by rails"),
            planes=primary(2, "", f"{_B300_FABRIC}: a twin-planar design"),
            shape=_TREE,
        ),
        *_sides("ethernet", 128),
    ),
    links_per_cable=derived(2, "", f"512 cables of 64 nodes with 8 × 2 links ({_B300}): both planes in one cable"),
    rows=primary(
        _rows(
            (1, 64, 512, 16, 8, 0, 512, 512, 0),
            (2, 128, 1024, 32, 16, 0, 1024, 1024, 0),
            (4, 256, 2048, 64, 32, 0, 2048, 2048, 0),
            (8, 512, 4096, 128, 64, 0, 4096, 4096, 0),
            (16, 1024, 8192, 256, 128, 0, 8192, 8192, 0),
        ),
        "",
        f"{_B300}, table 3",
    ),
)

B300_XDR_SUPERPOD = HallDesign(
    name="b300-xdr-superpod",
    node=DGX_B300,
    nodes_per_unit=primary(72, "", _XDR),
    nodes_per_rack=primary(4, "", f"{_XDR}: about 56 kW"),
    manager_places=_NO_PLACE,
    manager_cables=_NO_CABLE,
    fabrics=(
        FabricDesign(
            role=PortRole.COMPUTE,
            medium=primary("infiniband", "", _XDR),
            speed=primary(800, "Gb/s", f"{_XDR}: XDR"),
            radix=derived(144, "", "72 ports down and 72 up in each leaf give the counts of the maker's table"),
            rails=derived(8, "", f"8 leaves for 72 nodes with 576 cables ({_XDR}, table 3)"),
            planes=_ONE_PLANE,
            shape=_TREE,
        ),
        *_sides("ethernet", 128),
    ),
    links_per_cable=_ONE,
    rows=primary(
        _rows(
            (1, 72, 576, 8, 4, 0, 576, 576, 0),
            (2, 144, 1152, 16, 8, 0, 1152, 1152, 0),
            (4, 288, 2304, 32, 18, 0, 2304, 2304, 0),
            (8, 576, 4608, 64, 36, 0, 4608, 4608, 0),
            (18, 1296, 10368, 144, 72, 0, 10368, 10368, 0),
        ),
        "",
        f"{_XDR}, table 3; it prints 9216 GPUs for 1296 nodes with 10368 cables, a slip: eight of each are 10368",
    ),
)

#: Every hall that can be expanded, by name.
HALL_DESIGNS = {
    design.name: design for design in (H100_SUPERPOD, H200_SUPERPOD, B200_SUPERPOD, B300_SUPERPOD, B300_XDR_SUPERPOD)
}

#: Racks of the hall of 127 nodes, those for switches, storage and management included.
H100_RACKS = practice(38, "", _H100_PARTS)
