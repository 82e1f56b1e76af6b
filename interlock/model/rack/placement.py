"""Where the devices of a pod stand: physical racks, and a unit for each device, from below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from interlock.hardware import Fact, MachineModel, ServerModel, SwitchModel
from interlock.hardware.designs import Shelf
from interlock.model.site.physical import Feed, Placement, Rack

from .file import KitFile, PhysicalRackFile, RackFile
from .names import LogicalPart, design_of, gw_switch_names, logical_parts, physical_names
from .power import feeds_of

T = TypeVar("T")


@dataclass(frozen=True)
class Kit:
    """What one device of a part takes up. None: neither the file nor a document says it."""

    height_u: int | None
    nameplate_w: int | None
    weight_kg: float | None


def kits(rack: RackFile) -> dict[Shelf, Kit]:
    """Every part of the pod. The file's word goes before the catalogue's; what is only remembered is neither."""
    pod = design_of(rack)
    design = pod.rack
    found: dict[Shelf, Kit] = {
        "machines": _kit(rack.machines, design.machine),
        "servers": _kit(rack.poplar, design.server),
        "management": _kit(rack.management, design.management),
        "tor": _kit(rack.tor, design.tor),
    }
    if rack.gw_switches is not None and pod.gw_switches is not None:
        found["gw-switches"] = _kit(rack.gw_switches, pod.gw_switches.model)
    return found


def _kit(file: KitFile, model: MachineModel | ServerModel | SwitchModel) -> Kit:
    weight = _known(model.weight)
    return Kit(
        height_u=file.height or _known(model.height),
        nameplate_w=file.nameplate or _known(model.nameplate),
        weight_kg=file.weight or (None if weight is None else float(weight)),
    )


def _known(fact: Fact[T] | None) -> T | None:
    return None if fact is None else fact.known


def standing(rack: RackFile) -> Iterator[tuple[str, list[LogicalPart], list[tuple[Shelf, str]]]]:
    """Each physical rack of the pod: its name, its logical racks, and (part, device) from below."""
    names, parts, switches = physical_names(rack), logical_parts(rack), gw_switch_names(rack)
    each = len(parts) // max(1, len(names))
    for index, name in enumerate(names):
        here = list(parts[index * each : (index + 1) * each])
        shelves = [shelf for part in here for shelf in _shelves(rack, part)]
        # GW switches are the pod's, not a logical rack's: they are shared out over its physical racks.
        yield name, here, [*shelves, *(("gw-switches", item) for item in switches[index :: len(names)])]


def _shelves(rack: RackFile, part: LogicalPart) -> Iterator[tuple[Shelf, str]]:
    devices: dict[Shelf, tuple[str, ...]] = {
        "machines": part.machines,
        "servers": part.hosts,
        "management": (part.management,),
        "tor": (part.tor,),
    }
    for shelf in design_of(rack).rack.order.value:
        yield from ((shelf, device) for device in devices.get(shelf, ()))


def physical_racks(rack: RackFile) -> Iterator[Rack]:
    """The physical racks that the entry describes; one that it only names is described elsewhere."""
    file = rack.rack
    if file is None or file.units is None:
        return
    for name, parts, _ in standing(rack):
        yield Rack(
            name=name,
            room=file.room,
            units=file.units,
            max_weight_kg=file.max_weight,
            cooling=file.cooling,
            cooling_limit_w=file.cooling_limit,
            feeds=tuple(_feeds(file)),
            pdus={pdu: feed for part in parts for pdu, feed in feeds_of(rack, part).items()},
        )


def _feeds(file: PhysicalRackFile) -> Iterator[Feed]:
    for name, capacity in file.feeds.items():
        feed = Feed(name=name, capacity_w=capacity)
        yield feed if file.derate is None else replace(feed, derate=file.derate)


def placements(rack: RackFile) -> Iterator[Placement]:
    """A unit for each device, bottom-up without gaps in the order of the design; PDUs stand upright in none."""
    if rack.rack is None:
        return
    found = kits(rack)
    for name, parts, shelves in standing(rack):
        unit = rack.rack.first_unit
        for shelf, device in shelves:
            kit = found[shelf]
            height = kit.height_u or 1
            yield _placement(device, name, unit, height, kit)
            unit += height
        for pdu in (item for part in parts for item in part.pdus):
            yield Placement(device=pdu, rack=name, unit=None, height_u=0)


def _placement(device: str, rack: str, unit: int, height: int, kit: Kit) -> Placement:
    return Placement(
        device=device,
        rack=rack,
        unit=unit,
        height_u=height,
        nameplate_w=kit.nameplate_w,
        weight_kg=kit.weight_kg,
    )
