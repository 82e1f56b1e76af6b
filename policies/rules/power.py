"""What racks carry: PWR-01 cooling, PWR-02 feeds, PWR-03 two cords, PWR-04 units and weight, PWR-06 nameplates.

A figure that nobody stated leaves these rules not provable with severity W: it keeps no tenants apart. What is
known to be too much is an error whatever else is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from interlock.hardware import (
    Load,
    PlacementVerdict,
    cooling_verdict,
    feed_verdict,
    load_of,
    unit_faults,
    weight_verdict,
)
from interlock.model.site.inventory import Placement, Rack
from policies.about import Alike, Fact, SaidFact, SiteFact, devices
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer


def _standing(model: Model, rack: Rack) -> list[Placement]:
    return list(model.site.hall.standing_in.get(rack.name, ()))


def drawing(model: Model, rack: Rack) -> list[Placement]:
    """What draws power; PDUs only pass it on."""
    pdus = {device.name for device in model.site.site.devices if device.role == "pdu"} | set(rack.pdus)
    return [item for item in _standing(model, rack) if item.device not in pdus]


def _power(model: Model, rack: Rack) -> Load:
    return load_of((item.device, item.nameplate_w) for item in drawing(model, rack))


def _each_rack(
    model: Model, verdict: Callable[[Rack], tuple[PlacementVerdict, tuple[Fact, ...]]], hint: str
) -> RuleAnswer:
    """Asks for each rack; `verdict` gives the facts that are missing, too."""
    violated, unknown = [], []
    for rack in model.site.site.physical_racks:
        found, missing = verdict(rack)
        if found.outcome == "unknown":
            unknown.append(_cause(rack, found.reason, "state it in the site file", missing, Severity.WARN))
        elif found.reason:
            violated.append(_cause(rack, found.reason, hint, (), None if found.outcome == "error" else Severity.WARN))
    return RuleAnswer(len(model.site.site.physical_racks), tuple(violated), tuple(unknown))


def _cause(rack: Rack, why: str, hint: str, missing: tuple[Fact, ...], severity: Severity | None, *named: str) -> Cause:
    """`named`: the devices that the reason names."""
    place = f"rack {rack.name}" + (f" in {rack.room}" if rack.room else "")
    return Cause(
        key=(rack.name, why),
        message=f"{place}: {why}",
        witness=(place,),
        hint=hint,
        missing=missing,
        specificity=28,
        severity=severity,
        about=devices(*named),
        alike=Alike(why, place),
    )


def _silent(load: Load, field: str) -> tuple[Fact, ...]:
    """The first of the figures that are missing, as a place; PWR-06 lists all devices."""
    return tuple(SiteFact(f"placements.{device}.{field}") for device in load.silent[:1])


def _cooled(model: Model, _: Names) -> RuleAnswer:
    def verdict(rack: Rack) -> tuple[PlacementVerdict, tuple[Fact, ...]]:
        load = _power(model, rack)
        stated = rack.cooling is not None or rack.cooling_limit_w is not None
        missing = () if stated else (SiteFact(f"physical_racks.{rack.name}.cooling"),)
        return cooling_verdict(load, rack.cooling, rack.cooling_limit_w), missing + _silent(load, "nameplate_w")

    return _each_rack(model, verdict, "move devices to another rack, or state what this rack's cooling really takes")


def _fed(model: Model, _: Names) -> RuleAnswer:
    def verdict(rack: Rack) -> tuple[PlacementVerdict, tuple[Fact, ...]]:
        load = _power(model, rack)
        missing = () if rack.feeds else (SiteFact(f"physical_racks.{rack.name}.feeds"),)
        return feed_verdict(load, rack.feeds), missing + _silent(load, "nameplate_w")

    return _each_rack(model, verdict, "move devices to another rack: each feed alone must carry all of it")


def _weighs(model: Model, _: Names) -> RuleAnswer:
    def verdict(rack: Rack) -> tuple[PlacementVerdict, tuple[Fact, ...]]:
        load = load_of((item.device, item.weight_kg) for item in _standing(model, rack))
        missing = () if rack.max_weight_kg is not None else (SiteFact(f"physical_racks.{rack.name}.max_weight_kg"),)
        return weight_verdict(load, rack.max_weight_kg), missing + _silent(load, "weight_kg")

    answer = _each_rack(model, verdict, "move devices to another rack")
    return RuleAnswer(
        answer.count, answer.violated + tuple(_misplaced(model)), answer.unknown + tuple(_unplaced(model))
    )


def _misplaced(model: Model) -> Iterator[Cause]:
    for rack in model.site.site.physical_racks:
        placed = [(item.device, item.unit, item.height_u) for item in _standing(model, rack) if item.unit is not None]
        for fault in unit_faults(rack.units, placed):
            yield _cause(rack, str(fault), "correct the unit, or move the device", (), None, *fault.devices)


def _unplaced(model: Model) -> Iterator[Cause]:
    for rack in model.site.site.physical_racks:
        floating = [item.device for item in _standing(model, rack) if item.unit is None and item.height_u > 0]
        if floating:
            why = f"nobody states the unit of {', '.join(floating)}"
            missing = tuple(SiteFact(f"placements.{name}.unit") for name in floating)
            yield _cause(rack, why, "state `unit`, the lowest one it takes", missing, Severity.WARN)


# PWR-03


def _two_cords(model: Model, _: Names) -> RuleAnswer:
    feeds = _feeds_of_cords(model)
    names = (*(item.name for item in model.site.site.machines), *(item.name for item in model.site.site.hosts))
    devices = [name for name in names if name in model.site.hall.rack_of]
    # Where one cord of a rack is listed, the others that are not listed are not there.
    listed = {model.site.hall.rack_of[name] for name in feeds if name in model.site.hall.rack_of}
    violated, unknown = [], []
    for name in devices:
        rack = model.site.hall.rack_of[name]
        if rack not in listed:
            unknown.append(rack)
        elif len(feeds.get(name, ())) < 2:
            violated.append(_cord_cause(name, sorted(feeds.get(name, ()))))
    silent = tuple(_no_cords_cause(rack) for rack in dict.fromkeys(unknown))
    return RuleAnswer(len(devices), tuple(violated), silent)


def _feeds_of_cords(model: Model) -> dict[str, set[str]]:
    """Device -> what its cords lead to: the feed of each PDU, the PDU itself where its feed is not stated."""
    feed_of = {pdu: feed for rack in model.site.site.physical_racks for pdu, feed in rack.pdus.items()}
    pdus = {device.name for device in model.site.site.devices if device.role == "pdu"} | set(feed_of)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for cable in model.site.site.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if cable.kind == "power" and far.device in pdus:
                found[near.device].add(feed_of.get(far.device, far.device))
    return dict(found)


def _cord_cause(name: str, feeds: list[str]) -> Cause:
    what = f"hangs on {', '.join(feeds)} alone" if feeds else "has no power cord"
    return Cause(
        key=name,
        message=f"{name} {what}",
        witness=(name, *feeds),
        hint="plug its two power inputs into PDUs of two feeds",
        specificity=29,
        about=devices(name),
    )


def _no_cords_cause(rack: str) -> Cause:
    return Cause(
        key=rack,
        message=f"nobody states the power cords in rack {rack}",
        witness=(f"rack {rack}",),
        hint="state the power cables, or `power: both-pdus` of the rack",
        missing=(SaidFact(f"cables of kind power in {rack}"),),
        specificity=4,
        severity=Severity.WARN,
        alike=Alike("nobody states the power cords", f"rack {rack}"),
    )


# PWR-06


def _nameplates(model: Model, _: Names) -> RuleAnswer:
    causes, count = [], 0
    for rack in model.site.site.physical_racks:
        load = _power(model, rack)
        count += len(drawing(model, rack))
        if load.silent:
            why = f"nobody states the nameplate of {', '.join(load.silent)}"
            missing = tuple(SiteFact(f"placements.{device}.nameplate_w") for device in load.silent)
            causes.append(_cause(rack, why, "read it off the device and state `nameplate`", missing, None))
    return RuleAnswer(count, unknown=tuple(causes))


_NEEDS = ("physical_racks", "placements")
PWR_01 = Rule(
    id="PWR-01",
    title="a rack draws no more power than its cooling can remove",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="machines throttle, then switch off",
    source="operators' rules of thumb for each cooling method; the room's own figure goes first",
    needs=_NEEDS,
    ask=_cooled,
    of=Of.SITE,
)
PWR_02 = Rule(
    id="PWR-02",
    title="each power feed of a rack can carry the whole load",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="the second feed is there for the day when the first one fails",
    source="IPU-POD direct-attach guide, kit: two power inputs, one to each PDU",
    needs=(*_NEEDS, "physical_racks.feeds"),
    ask=_fed,
    of=Of.SITE,
)
PWR_03 = Rule(
    id="PWR-03",
    title="machines and servers are connected to two power feeds",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="a device with both cords in one PDU goes dark with it",
    source="IPU-POD direct-attach guide, kit: two power inputs, one to each PDU",
    needs=("power cables", "physical_racks.pdus", "placements"),
    ask=_two_cords,
    of=Of.SITE,
)
PWR_04 = Rule(
    id="PWR-04",
    title="devices fit into their racks",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="two devices in one unit, or a rack too heavy, are found when somebody carries them in",
    source="makers' data sheets: height and weight of each device",
    needs=(*_NEEDS, "placements.unit", "placements.weight_kg"),
    ask=_weighs,
    of=Of.SITE,
)
PWR_06 = Rule(
    id="PWR-06",
    title="the nameplate power of every device is stated",
    severity=Severity.WARN,
    polarity=Polarity.PRESENCE,
    why="what is only remembered of a machine's draw carries no power plan",
    source="no data sheet that could be read states the draw of an IPU-Machine",
    needs=("placements.nameplate_w",),
    ask=_nameplates,
    of=Of.SITE,
)
