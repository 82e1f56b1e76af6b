"""What the parts of a hall are called, and what its design has: asked by checks and expansion alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from interlock.hardware.gpu import HALL_DESIGNS, NODE_TYPES, GpuHall, HallDesign, HallNode, NodeType, PortRole, expand
from interlock.model.site.gpu import HcaUse

from .file import HallFile, HallNodeFile

#: Fabrics of a hall that may be InfiniBand, and what a node's ports on them are for.
USES: dict[PortRole, HcaUse] = {PortRole.COMPUTE: "compute", PortRole.STORAGE: "storage"}


def infiniband_fabrics(hall: HallFile) -> dict[PortRole, str]:
    """The fabrics of a hall that are InfiniBand, and the subnet of each."""
    stated = {PortRole.COMPUTE: hall.compute, PortRole.STORAGE: hall.storage}
    return {role: subnet for role, subnet in stated.items() if subnet is not None}


@dataclass(frozen=True)
class Layout:
    """A hall as its design has it, and the type of what stands in it."""

    design: HallDesign
    node_type: NodeType
    hall: GpuHall

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Every place for a node, unit by unit."""
        return tuple(node.name for node in self.hall.nodes)

    @cached_property
    def hcas(self) -> dict[PortRole, tuple[tuple[int, str], ...]]:
        """Fabric -> (rail, name) of the ports that every node has there."""
        first = self.places[0]
        own = [hca for hca in self.hall.hcas if hca.node == first]
        return {role: tuple((hca.rail, hca.name) for hca in own if hca.fabric is role) for role in USES}

    def switches_without_serial(self, hall: HallFile) -> Iterator[str]:
        """InfiniBand switches that the hall has, and of which nobody states a serial."""
        roles = infiniband_fabrics(hall)
        for switch in self.hall.switches:
            stated = hall.switches.get(switch.name)
            if switch.fabric in roles and (stated is None or stated.serial is None):
                yield switch.name

    def unit_of(self, place: HallNode) -> int | None:
        """The lowest unit of a node in its rack, from below; None: its height is in no document."""
        height = self.node_type.build.height
        if height is None or height.known is None:
            return None
        return self._levels[place.name] * height.known + 1

    @cached_property
    def _levels(self) -> dict[str, int]:
        """Place -> how many nodes the design has below it in its rack."""
        found, filled = dict[str, int](), Counter[str]()
        for node in self.hall.nodes:
            found[node.name] = filled[node.rack]
            filled[node.rack] += 1
        return found


@lru_cache(maxsize=16)
def _expanded(design: str, units: int) -> GpuHall:
    """The catalogue's hall: the same for every site, and asked for several times while one is loaded."""
    return expand(HALL_DESIGNS[design], units)


def layout_of(hall: HallFile) -> Layout:
    """What an entry stands for. LookupError or ValueError where the catalogue has no such thing (`form_checks`)."""
    design = HALL_DESIGNS[hall.design]
    return Layout(design, NODE_TYPES[type_name(hall)], _expanded(hall.design, hall.units))


def type_name(hall: HallFile) -> str:
    """The node type that stands in it."""
    return hall.node_type or HALL_DESIGNS[hall.design].node.name


def node_name(hall: str, place: str, node: HallNodeFile) -> str:
    """The node at a place."""
    return node.name or f"{hall}-{place}"


def switch_name(hall: str, switch: str) -> str:
    """An InfiniBand switch of the design."""
    return f"{hall}-{switch}"


def appliance_name(hall: str, appliance: str) -> str:
    """An appliance of the subnet manager."""
    return f"{hall}-{appliance}"


def rack_name(hall: str, rack: str) -> str:
    """A rack of the design."""
    return f"{hall}-{rack}"
