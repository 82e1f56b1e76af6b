"""Rooms, physical racks and units: places that exist, each unit taken once, PDUs on feeds of their rack."""

from __future__ import annotations

from interlock.model.text.errors import Code

from .physical import Placement, Rack
from .places import Path
from .view import SiteView


def check_stand(view: SiteView) -> None:
    """Adds faults of rooms, racks, placements and PDUs."""
    _check_rooms(view)
    _check_pdus(view)
    _check_placements(view)
    _check_units(view)


def _check_rooms(view: SiteView) -> None:
    racks = {rack.name for rack in view.site.physical_racks}
    rooms = {room.name for room in view.site.rooms}
    for rack in view.site.physical_racks:
        if rack.room is not None:
            view.faults.need((*view.physical_rack_paths[rack.name], "room"), "a room", rack.room, rooms)
    for logical in view.site.logical_racks:
        if logical.rack is not None:
            path = view.logical_rack_paths[logical.name]
            below = (*path, "rack") if path[0] == "logical_racks" else (*path[:2], "rack")
            view.faults.need(below, "a physical rack", logical.rack, racks)


def _check_pdus(view: SiteView) -> None:
    pdus = {name for name, role in view.device_roles.items() if role == "pdu"}
    racks = dict[str, str]()
    for rack in view.site.physical_racks:
        path = (*view.physical_rack_paths[rack.name], "pdus")
        feeds = {feed.name for feed in rack.feeds}
        for pdu, feed in rack.pdus.items():
            view.faults.need((*path, pdu), "a PDU", pdu, pdus)
            view.faults.need_name((*path, pdu), feed, feeds, f"`{feed}` is no feed of the rack `{rack.name}`")
            if racks.setdefault(pdu, rack.name) != rack.name:
                view.faults.add(Code.TWICE, (*path, pdu), f"`{pdu}` is in the rack `{racks[pdu]}` already")


def _check_placements(view: SiteView) -> None:
    racks = {rack.name for rack in view.site.physical_racks}
    elsewhere = {item.device for item in view.site.placements[: len(view.site.placements) - len(view.file.placements)]}
    for device, placement in view.file.placements.items():
        path = ("placements", device)
        view.faults.need(path, "a device", device, view.devices)
        view.faults.need((*path, "rack"), "a physical rack", placement.rack, racks)
        if device in elsewhere:
            hint = "its entry under `racks:` or `halls:` says where it stands: take one of the two out"
            view.faults.add(Code.TWICE, path, f"`{device}` stands somewhere already", hint)


def _check_units(view: SiteView) -> None:
    racks = {rack.name: rack for rack in view.site.physical_racks}
    taken = dict[tuple[str, int], str]()
    for placement in view.site.placements:
        if placement.unit is None or placement.rack not in racks:
            continue
        _check_height(view, placement, racks[placement.rack])
        units = range(placement.unit, min(placement.unit + placement.height_u, racks[placement.rack].units + 1))
        others = {taken.setdefault((placement.rack, unit), placement.device) for unit in units}
        for other in sorted(others - {placement.device}):
            message = f"`{placement.device}` is in a unit of `{placement.rack}` where `{other}` stands"
            hint = "`unit` is the lowest one that a device takes, counted from below"
            view.faults.add(Code.TWICE, (*_path(view, placement), "unit"), message, hint)


def _check_height(view: SiteView, placement: Placement, rack: Rack) -> None:
    assert placement.unit is not None
    top = placement.unit + placement.height_u - 1
    if top > rack.units:
        message = f"`{placement.device}` would reach unit {top}: `{rack.name}` has {rack.units}"
        view.faults.add(Code.VALUE, (*_path(view, placement), "unit"), message)


def _path(view: SiteView, placement: Placement) -> Path:
    if placement.device in view.file.placements:
        return "placements", placement.device
    if placement.device in view.hall_node_paths:
        return view.hall_node_paths[placement.device]
    return view.physical_rack_paths.get(placement.rack, ("racks",))
