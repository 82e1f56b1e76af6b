"""A design and a number of scalable units -> the hall in full. Pure: the same hall each time, names included.

node su01-n01 ── compute1 ─▶ port 1 of compute-su01-leaf1   (rail 1: NIC 1 of every node of the unit)
              ── compute2 ─▶ port 1 of compute-su01-leaf2
              ── …           each leaf ─▶ every spine, equally many links; with three tiers ─▶ those of its group
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .fat_tree import FatTree, fat_tree
from .hall_designs import FabricDesign, HallDesign
from .halls import CableTier, GpuHall, HallCable, HallEnd, HallHca, HallNode, HallSwitch, SwitchTier
from .nodes import PortRole

#: Appliances of UFM have two ports each.
_PORTS_PER_MANAGER = 2


@dataclass(frozen=True)
class _Plane:
    """One plane of one fabric, with its switches in the order in which they are cabled."""

    design: HallDesign
    fabric: FabricDesign
    units: int
    number: int

    @cached_property
    def tree(self) -> FatTree | None:
        """Its fat tree; None for leaves alone."""
        if self.fabric.shape.value == "leaves":
            return None
        return fat_tree(self.units * self.leaves_per_unit * self.fabric.down, self.fabric.radix.value)

    @property
    def parts(self) -> int:
        """Leaves that a rail has in a unit: more than one where a leaf has too few ports for all its nodes."""
        return -(-self.design.nodes_per_unit.value // self.fabric.down)

    @property
    def leaves_per_unit(self) -> int:
        """Leaves of this plane in one unit."""
        return self.fabric.rails.value * self.parts

    @cached_property
    def leaves(self) -> tuple[HallSwitch, ...]:
        """Unit by unit, and in a unit rail by rail."""
        return tuple(
            HallSwitch(self._leaf_name(unit, rail, part), self.fabric.role, "leaf", self.number, unit, rail)
            for unit in range(1, self.units + 1)
            for rail in range(1, self.fabric.rails.value + 1)
            for part in range(self.parts)
        )

    def leaf_of(self, unit: int, rail: int, place: int) -> HallEnd:
        """The leaf port of a place (from 1) in a unit."""
        part, port = divmod(place - 1, self.fabric.down)
        return HallEnd(self._leaf_name(unit, rail, part), str(port + 1))

    def spines(self) -> tuple[HallSwitch, ...]:
        """Those of the tree, group by group with three tiers."""
        return self._above("spine", 0 if self.tree is None else self.tree.spines)

    def cores(self) -> tuple[HallSwitch, ...]:
        """Those of the tree; none with two tiers."""
        return self._above("core", 0 if self.tree is None else self.tree.cores)

    def _above(self, tier: SwitchTier, count: int) -> tuple[HallSwitch, ...]:
        return tuple(
            HallSwitch(f"{self._prefix}-{tier}{number:03}", self.fabric.role, tier, self.number)
            for number in range(1, count + 1)
        )

    def above_leaves(self) -> Iterator[HallCable]:
        """Every cable between switches."""
        if self.tree is None:
            return
        spines = self.spines()
        yield from self._leaf_to_spine(self.tree, spines)
        if self.tree.cores:
            yield from self._spine_to_core(self.tree, spines, self.cores())

    def _leaf_to_spine(self, tree: FatTree, spines: tuple[HallSwitch, ...]) -> Iterator[HallCable]:
        # With three tiers a leaf reaches the spines of its group only; with two there is one group.
        size = tree.down if tree.cores else tree.leaves
        reached = tree.down if tree.cores else tree.spines
        for index, leaf in enumerate(self.leaves):
            group, place = divmod(index, size)
            for number, spine in enumerate(spines[group * reached : (group + 1) * reached]):
                for link in range(tree.leaf_spine_bundle):
                    up = tree.down + number * tree.leaf_spine_bundle + link + 1
                    down = place * tree.leaf_spine_bundle + link + 1
                    yield self._cable("leaf-spine", HallEnd(leaf.name, str(up)), HallEnd(spine.name, str(down)))

    def _spine_to_core(
        self, tree: FatTree, spines: tuple[HallSwitch, ...], cores: tuple[HallSwitch, ...]
    ) -> Iterator[HallCable]:
        # The n-th spines of all groups share cores of their own: each core reaches every group.
        shared = tree.cores // tree.down
        for index, spine in enumerate(spines):
            group, place = divmod(index, tree.down)
            for number, core in enumerate(cores[place * shared : (place + 1) * shared]):
                for link in range(tree.spine_core_bundle):
                    up = tree.down + number * tree.spine_core_bundle + link + 1
                    down = group * tree.spine_core_bundle + link + 1
                    yield self._cable("spine-core", HallEnd(spine.name, str(up)), HallEnd(core.name, str(down)))

    def _cable(self, tier: CableTier, lower: HallEnd, upper: HallEnd) -> HallCable:
        return HallCable(self.fabric.role, tier, lower, upper)

    @property
    def _prefix(self) -> str:
        plane = f"-plane{self.number}" if self.fabric.planes.value > 1 else ""
        return f"{self.fabric.role}{plane}"

    def _leaf_name(self, unit: int, rail: int, part: int) -> str:
        return f"{self._prefix}-su{unit:02}-leaf{(rail - 1) * self.parts + part + 1}"


def hall_fault(design: HallDesign, units: int) -> str | None:
    """Why a hall of so many scalable units cannot be built, and which numbers near it can; None if it can."""
    reason = _reason(design, units)
    if reason is None:
        return None
    most = _most(design)
    counted = (range(min(units - 1, most), 0, -1), range(max(units + 1, 1), most + 1))
    near = [next((count for count in some if _reason(design, count) is None), None) for some in counted]
    found = ", ".join(str(count) for count in near if count is not None)
    return f"{design.name} cannot have {units} units: {reason}; the nearest that can be built: {found}"


def expand(design: HallDesign, units: int) -> GpuHall:
    """The hall of a design with so many scalable units. ValueError, with the nearest that works, where there is none.

    Units are filled in order; only the last one has places without a node, where the subnet manager takes ports. All
    leaves and their cables upwards are there in any case, as the makers build them.
    """
    fault = hall_fault(design, units)
    if fault is not None:
        raise ValueError(fault)
    places = tuple(_places(design, units))
    planes = [_Plane(design, fabric, units, number) for fabric in design.fabrics for number in _planes(fabric)]
    managers = -(-design.manager_cables.value // _PORTS_PER_MANAGER)
    cables = (*_to_nodes(places, planes), *_to_managers(design, units, planes))
    return GpuHall(
        design=design.name,
        units=units,
        node_type=design.node,
        racks=tuple(dict.fromkeys(node.rack for node, _ in places)),
        nodes=tuple(node for node, _ in places),
        hcas=tuple(_hcas(design, places)),
        managers=tuple(f"ufm-{number}" for number in range(1, managers + 1)),
        switches=tuple(switch for plane in planes for switch in (*plane.leaves, *plane.spines(), *plane.cores())),
        cables=(*cables, *(cable for plane in planes for cable in plane.above_leaves())),
    )


def _planes(fabric: FabricDesign) -> range:
    return range(1, fabric.planes.value + 1)


def _reason(design: HallDesign, units: int) -> str | None:
    """Why no fabric of so many units can be built; None if each can."""
    if units < 1:
        return "a hall has one unit at least"
    for fabric in design.fabrics:
        try:
            _ = _Plane(design, fabric, units, 1).tree
        except ValueError as wrong:
            return f"{fabric.role} fabric: {wrong}"
    return None


def _most(design: HallDesign) -> int:
    """Units that the compute fabric carries at most, with three tiers."""
    fabric = design.fabric(PortRole.COMPUTE)
    plane = _Plane(design, fabric, 1, 1)
    return fabric.radix.value * fabric.down * fabric.down // (plane.leaves_per_unit * fabric.down)


def _places(design: HallDesign, units: int) -> Iterator[tuple[HallNode, int]]:
    """Every node, with its place in its unit from 1."""
    per_unit, per_rack = design.nodes_per_unit.value, design.nodes_per_rack.value
    height = design.node.build.height
    for unit in range(1, units + 1):
        free = design.manager_places.value if unit == units else 0
        for place in range(1, per_unit - free + 1):
            rack, level = divmod(place - 1, per_rack)
            lowest = None if height is None else level * height.value + 1
            name = f"su{unit:02}-n{place:02}"
            yield HallNode(name, unit, f"su{unit:02}-rack{rack + 1:02}", lowest), place


def _hcas(design: HallDesign, places: tuple[tuple[HallNode, int], ...]) -> Iterator[HallHca]:
    for node, _ in places:
        for fabric in design.fabrics:
            for rail in range(1, fabric.rails.value + 1):
                yield HallHca(node.name, _hca_name(fabric, rail), fabric.role, rail, fabric.planes.value)


def _to_nodes(places: tuple[tuple[HallNode, int], ...], planes: list[_Plane]) -> Iterator[HallCable]:
    for node, place in places:
        for plane in planes:
            fabric = plane.fabric
            for rail in range(1, fabric.rails.value + 1):
                name = _hca_name(fabric, rail)
                port = name if fabric.planes.value == 1 else f"{name}-{plane.number}"
                yield HallCable(
                    fabric.role, "node-leaf", HallEnd(node.name, port), plane.leaf_of(node.unit, rail, place)
                )


def _to_managers(design: HallDesign, units: int, planes: list[_Plane]) -> Iterator[HallCable]:
    """Cables of the subnet manager: in the last unit, at the place that no node has, on the first rails."""
    compute = next(plane for plane in planes if plane.fabric.role is PortRole.COMPUTE)
    for index in range(design.manager_cables.value):
        appliance, port = divmod(index, _PORTS_PER_MANAGER)
        leaf = compute.leaf_of(units, index + 1, design.nodes_per_unit.value)
        yield HallCable(PortRole.COMPUTE, "node-leaf", HallEnd(f"ufm-{appliance + 1}", str(port + 1)), leaf)


def _hca_name(fabric: FabricDesign, rail: int) -> str:
    return f"{fabric.role}{rail}"
