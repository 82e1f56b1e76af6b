"""A hall in full: racks, nodes, HCAs, switches and each cable with both ends, frozen; and what is counted from them.

Counts come from these values and never from the design, so that a count that agrees with a maker's table says something
about the cables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from interlock.hardware.power import Load, load_of

from .nodes import NodeType, PortRole

SwitchTier = Literal["leaf", "spine", "core"]
CableTier = Literal["node-leaf", "leaf-spine", "spine-core"]


@dataclass(frozen=True, slots=True)
class HallNode:
    """A node: its place in the hall. `lowest_unit` of the rack counts from 1; None: its height is unknown."""

    name: str
    unit: int
    rack: str
    lowest_unit: int | None


@dataclass(frozen=True, slots=True)
class HallHca:
    """What a node has on rail n of a fabric, with one port for each plane. Of out-of-band it is the BMC's port."""

    node: str
    name: str
    fabric: PortRole
    rail: int
    ports: int


@dataclass(frozen=True, slots=True)
class HallSwitch:
    """A switch of one fabric and plane. Leaves belong to a rail of a unit; spines and cores to none."""

    name: str
    fabric: PortRole
    tier: SwitchTier
    plane: int
    unit: int | None = None
    rail: int | None = None


@dataclass(frozen=True, slots=True)
class HallEnd:
    """An end of a cable: a node, switch or appliance of the hall, and its port as written on it."""

    device: str
    port: str


@dataclass(frozen=True, slots=True)
class HallCable:
    """One link. `lower` is nearer to the nodes."""

    fabric: PortRole
    tier: CableTier
    lower: HallEnd
    upper: HallEnd


@dataclass(frozen=True)
class GpuHall:
    """A hall of one design, expanded."""

    design: str
    units: int
    node_type: NodeType
    racks: tuple[str, ...]
    nodes: tuple[HallNode, ...]
    hcas: tuple[HallHca, ...]
    #: Appliances of the subnet manager.
    managers: tuple[str, ...]
    switches: tuple[HallSwitch, ...]
    cables: tuple[HallCable, ...]

    @property
    def gpus(self) -> int | None:
        """GPUs of all nodes; None: unknown."""
        return None if self.node_type.gpus is None else len(self.nodes) * self.node_type.gpus.value

    def cables_of(self, role: PortRole) -> tuple[HallCable, ...]:
        """The cables of one fabric."""
        return tuple(cable for cable in self.cables if cable.fabric is role)

    def switches_of(self, role: PortRole) -> tuple[HallSwitch, ...]:
        """The switches of one fabric."""
        return tuple(switch for switch in self.switches if switch.fabric is role)


@dataclass(frozen=True)
class FabricCounts:
    """Switches and links of one fabric, counted."""

    leaves: int
    spines: int
    cores: int
    node_links: int
    leaf_spine_links: int
    spine_core_links: int


def counts(hall: GpuHall, role: PortRole) -> FabricCounts:
    """Switches and links of one fabric, counted from the expanded hall."""
    switches = Counter(switch.tier for switch in hall.switches_of(role))
    links = Counter(cable.tier for cable in hall.cables_of(role))
    return FabricCounts(
        leaves=switches["leaf"],
        spines=switches["spine"],
        cores=switches["core"],
        node_links=links["node-leaf"],
        leaf_spine_links=links["leaf-spine"],
        spine_core_links=links["spine-core"],
    )


def oversubscribed(hall: GpuHall, role: PortRole) -> tuple[str, ...]:
    """Switches of a fabric with more links down than up: empty for a fabric that does not block.

    Spines of two tiers and cores are the top and have nothing above them.
    """
    cables = hall.cables_of(role)
    down = Counter(cable.upper.device for cable in cables)
    up = Counter(cable.lower.device for cable in cables)
    top = "core" if any(switch.tier == "core" for switch in hall.switches_of(role)) else "spine"
    below = [switch.name for switch in hall.switches_of(role) if switch.tier != top]
    return tuple(name for name in below if down[name] > up[name])


def rack_loads(hall: GpuHall) -> dict[str, Load]:
    """Rack -> W that its nodes draw at most; nodes without a stated nameplate are named in the load."""
    nameplate = hall.node_type.build.nameplate
    watts = None if nameplate is None else nameplate.known
    in_rack: dict[str, list[str]] = {rack: [] for rack in hall.racks}
    for node in hall.nodes:
        in_rack[node.rack].append(node.name)
    return {rack: load_of((name, watts) for name in names) for rack, names in in_rack.items()}
