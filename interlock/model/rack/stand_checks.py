"""Physical racks, feeds, cords and nameplates of a pod: what must be stated, and what must fit."""

from __future__ import annotations

from interlock.hardware.designs import Shelf
from interlock.model.site.places import Path
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.validation import nearest

from .file import PhysicalRackFile, RackFile
from .names import design_of, logical_names, physical_names
from .placement import kits, standing
from .power import INPUTS

#: Part of a rack -> key of the site file.
KEYS: dict[Shelf, str] = {
    "machines": "machines",
    "servers": "poplar",
    "management": "management",
    "tor": "tor",
    "gw-switches": "gw_switches",
}

#: A PDU for each input of a device.
CORDS = len(INPUTS)


def check_stand(rack: RackFile, path: Path, faults: Faults, *, fits: bool) -> None:
    """Adds the faults of `rack:`, `power:` and nameplates; `fits` if counts are right, so that units are known."""
    _check_cords(rack, path, faults)
    if rack.rack is None:
        _check_nameplates(rack, path, faults)
        return
    before = len(faults.found)
    below = (*path, "rack")
    _check_names(rack, rack.rack, below, faults)
    _check_description(rack.rack, below, faults)
    _check_pdus(rack, rack.rack, below, faults)
    _check_heights(rack, path, faults)
    if fits and len(faults.found) == before:
        _check_units(rack, rack.rack, below, faults)


def _check_cords(rack: RackFile, path: Path, faults: Faults) -> None:
    logical = design_of(rack).logical_racks.value
    if rack.power == "both-pdus" and len(rack.pdus) != CORDS * logical:
        message = f"{len(rack.pdus)} PDUs: the {CORDS} inputs of each device need {CORDS} in each logical rack"
        hint = f"write {CORDS * logical} names under `pdus:`, or leave `power:` out"
        faults.add(Code.CONTRADICTION, (*path, "power"), message, hint)


def _check_nameplates(rack: RackFile, path: Path, faults: Faults) -> None:
    """What a device draws, weighs and takes up counts in a rack, so without one it would be lost in silence."""
    parts = (rack.machines, rack.poplar, rack.management, rack.tor, rack.gw_switches)
    for key, kit in zip(KEYS.values(), parts, strict=True):
        for word in ("nameplate", "weight", "height"):
            if kit is not None and getattr(kit, word) is not None:
                message = f"a {word} counts in a physical rack, and none is stated"
                faults.add(Code.CONTRADICTION, (*path, key, word), message, "add `rack:` to this entry")


def _check_names(rack: RackFile, file: PhysicalRackFile, path: Path, faults: Faults) -> None:
    names, logical = physical_names(rack), len(logical_names(rack))
    most = design_of(rack).rack.logical_racks_per_rack.value
    if (file.name is None) == (file.names is None):
        hint = "write `name:` for one physical rack, `names:` for several"
        faults.add(Code.CONTRADICTION, path, "a physical rack has either `name` or `names`", hint)
    elif logical % len(names) or logical // len(names) > most:
        message = f"{len(names)} physical racks: {logical} logical racks stand in them equally, at most {most} in each"
        faults.add(Code.VALUE, (*path, "name" if file.names is None else "names"), message)
    elif len(set(names)) < len(names):
        faults.add(Code.TWICE, (*path, "names"), "one physical rack stands in the list twice")


def _check_description(file: PhysicalRackFile, path: Path, faults: Faults) -> None:
    if file.units is not None:
        return
    for key in ("room", "max_weight", "cooling", "cooling_limit", "feeds", "derate", "pdus"):
        if getattr(file, key):
            message = f"`{key}` of a rack that has no `units:` here"
            hint = "without `units:` the rack is one of `physical_racks:`: say it there, or add `units:`"
            faults.add(Code.CONTRADICTION, (*path, key), message, hint)


def _check_pdus(rack: RackFile, file: PhysicalRackFile, path: Path, faults: Faults) -> None:
    for pdu, feed in file.pdus.items():
        if pdu not in rack.pdus:
            message = f"`{pdu}` is no PDU of this pod"
            faults.add(Code.NO_SUCH, (*path, "pdus", pdu), message, nearest(pdu, rack.pdus))
        if feed not in file.feeds:
            message = f"`{feed}` is no feed of this rack"
            faults.add(Code.NO_SUCH, (*path, "pdus", pdu), message, nearest(feed, file.feeds))


def _check_heights(rack: RackFile, path: Path, faults: Faults) -> None:
    for shelf, kit in kits(rack).items():
        if kit.height_u is None:
            message = f"how high `{KEYS[shelf]}` are stands in no document that could be read"
            hint = "look at the device and write `height: 1U`, or what it is, beside its serials"
            faults.add(Code.MISSING_KEY, (*path, KEYS[shelf], "height"), message, hint)


def _check_units(rack: RackFile, file: PhysicalRackFile, path: Path, faults: Faults) -> None:
    """A rack that is described here holds all that stands in it."""
    if file.units is None:
        return
    found = kits(rack)
    for name, _, shelves in standing(rack):
        last = file.first_unit - 1 + sum(found[shelf].height_u or 1 for shelf, _ in shelves)
        if last > file.units:
            message = f"`{name}` has {file.units} units: its devices take {file.first_unit} to {last}"
            hint = "give the pod more racks with `names:`, or fewer servers"
            faults.add(Code.CONTRADICTION, (*path, "units"), message, hint)
