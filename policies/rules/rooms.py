"""What rooms carry: PWR-05 the power of each room, PWR-07 the floor under each rack.

Figures that nobody stated are not provable with severity W, as in `power`: they keep no tenants apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware import RACK_AREA, RACK_WEIGHT, Load, floor_verdict, load_of, room_verdict
from interlock.model.site.inventory import Rack
from interlock.model.site.physical import Room
from policies.about import Alike, Fact, SiteFact, devices
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .power import drawing
from .rule import Cause, Of, Polarity, Rule, RuleAnswer


def _powered(model: Model, _: Names) -> RuleAnswer:
    site = model.site.site
    violated, unknown = [], []
    nowhere = [rack.name for rack in site.physical_racks if rack.room is None]
    for room in site.rooms:
        racks = [rack for rack in site.physical_racks if rack.room == room.name]
        load = load_of((item.device, item.nameplate_w) for rack in racks for item in drawing(model, rack))
        found = room_verdict(load, room.power_w)
        if found.outcome == "error":
            violated.append(_room_cause(room, found.reason, (), [rack.name for rack in racks]))
        elif missing := tuple(_missing_power(room, load, nowhere)):
            why = found.reason or f"nobody states in which room {', '.join(nowhere)} stands"
            unknown.append(_room_cause(room, why, missing, []))
    return RuleAnswer(len(site.rooms), tuple(violated), tuple(unknown))


def _missing_power(room: Room, load: Load, nowhere: list[str]) -> Iterator[Fact]:
    if room.power_w is None:
        yield SiteFact(f"rooms.{room.name}.power")
    yield from (SiteFact(f"placements.{device}.nameplate_w") for device in load.silent[:1])
    yield from (SiteFact(f"physical_racks.{name}.room") for name in nowhere)


def _room_cause(room: Room, why: str, missing: tuple[Fact, ...], racks: list[str]) -> Cause:
    return Cause(
        key=(room.name, why),
        message=f"room {room.name}: {why}",
        witness=(f"room {room.name}", *(f"rack {name}" for name in racks)),
        hint="state it in the site file" if missing else "move racks to another room, or state what this room gives",
        missing=missing,
        specificity=27,
        severity=Severity.WARN if missing else None,
    )


def _carried(model: Model, _: Names) -> RuleAnswer:
    rooms: dict[str | None, Room] = {room.name: room for room in model.site.site.rooms}
    answers = [(rack, *_on_floor(model, rack, rooms.get(rack.room))) for rack in model.site.site.physical_racks]
    return RuleAnswer(
        len(answers),
        tuple(_rack_cause(rack, why, ()) for rack, why, missing in answers if why and not missing),
        tuple(_rack_cause(rack, why, missing) for rack, why, missing in answers if missing),
    )


def _on_floor(model: Model, rack: Rack, room: Room | None) -> tuple[str, tuple[Fact, ...]]:
    """What is wrong, and what is not known; both empty where the floor carries the rack."""
    standing = model.site.hall.standing_in.get(rack.name, ())
    itself = (rack.name, RACK_WEIGHT.value)
    load = load_of([itself, *((item.device, item.weight_kg) for item in standing)])
    if room is None:
        return "nobody states in which room it stands", (SiteFact(f"physical_racks.{rack.name}.room"),)
    found = floor_verdict(load, RACK_AREA.value, room.floor_kg_m2)
    if found.outcome != "unknown":
        return found.reason, ()
    floor = () if room.floor_kg_m2 is not None else (SiteFact(f"rooms.{room.name}.floor_kg_m2"),)
    return found.reason, (*floor, *(SiteFact(f"placements.{device}.weight_kg") for device in load.silent[:1]))


def _rack_cause(rack: Rack, why: str, missing: tuple[Fact, ...]) -> Cause:
    place = f"rack {rack.name}" + (f" in {rack.room}" if rack.room else "")
    return Cause(
        key=(rack.name, why),
        message=f"{place}: {why}",
        witness=(place,),
        hint="state it in the site file" if missing else "spread the load, or move devices to another rack",
        missing=missing,
        specificity=26,
        severity=Severity.WARN if missing else None,
        about=devices(rack.name),
        alike=Alike(why, place),
    )


PWR_05 = Rule(
    id="PWR-05",
    title="a room gives all its racks the power that they draw",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="racks that are each within their own limits can be too many for the room's supply and its cooling",
    source="operators' planning of rooms: nameplates of everything in it, against what can be drawn and cooled",
    needs=("rooms.power", "physical_racks", "placements"),
    ask=_powered,
    of=Of.SITE,
)
PWR_07 = Rule(
    id="PWR-07",
    title="the floor carries each rack",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="a floor that gives way takes the racks beside it along",
    source=f"{RACK_AREA.source}; {RACK_WEIGHT.source}",
    needs=("rooms.floor_kg_m2", "physical_racks", "placements.weight_kg"),
    ask=_carried,
    of=Of.SITE,
)
