"""Where in `site.yaml` a thing of the full form was written, since racks are written short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.hardware.designs import PortMap
from interlock.model.hall.file import HallFile
from interlock.model.hall.names import node_name, switch_name
from interlock.model.rack.file import RackFile, RackSwitchFile
from interlock.model.rack.names import (
    gw_roles,
    gw_switch_names,
    host_names,
    machine_names,
    management_names,
    management_roles,
    switch_serials,
    tor_names,
    tor_roles,
)
from interlock.model.text.source import Step

from .file import SiteFile
from .service_states import key_of
from .switch_ports import PortTable, ports_of

Path = tuple[Step, ...]


@dataclass(frozen=True)
class DevicePlace:
    """A device, and where its name, its serial and all else about it stand."""

    #: Section of the full form: machines, hosts or switches.
    section: str
    name: str
    serial: str
    name_path: Path
    serial_path: Path
    path: Path


def places(file: SiteFile) -> Iterator[DevicePlace]:
    """Every device with a serial, in file order."""
    for index, rack in enumerate(file.racks):
        yield from _of_rack(rack, ("racks", index))
    for name, hall in file.halls.items():
        yield from _of_hall(name, hall)
    for name, machine in file.machines.items():
        yield _beside_racks("machines", name, machine.serial)
    for name, host in file.hosts.items():
        yield _beside_racks("hosts", name, host.serial)
    for name, switch in file.switches.items():
        yield _beside_racks("switches", name, switch.serial)
    for name, of_fabric in file.fabric_switches.items():
        if of_fabric.serial is not None:
            yield _beside_racks("fabric_switches", name, of_fabric.serial)
    for name, device in file.devices.items():
        if device.serial is not None:
            yield _beside_racks("devices", name, device.serial)


def fact_path(file: SiteFile, fact: str) -> Path:
    """Path of a fact of the full form: `sharing.external.guards.no_tenant_ports`, `switches.tor-1.ip_routing` …

    If the file does not state the fact, the path leads nowhere: `Source.position` takes the nearest above.
    """
    section, _, rest = fact.partition(".")
    if section == "sharing":
        name, guards, guard = rest.rpartition(".guards.")
        return (section, name, "guards", guard) if guards else (section, *filter(None, rest.rsplit(".", 1)))
    if section in ("machines", "hosts", "switches"):
        # Names may hold dots: of `tor-1` and `tor-1.lab` the longer one is meant.
        named = [one for one in places(file) if one.section == section and f"{rest}.".startswith(f"{one.name}.")]
        if named:
            place = max(named, key=lambda one: len(one.name))
            return _inside(file, place, tuple(rest.removeprefix(place.name).strip(".").split(".")))
    if section == "fabric_switches":
        return _of_fabric_switch(file, rest)
    return section, *rest.split(".")


def _of_fabric_switch(file: SiteFile, rest: str) -> Path:
    """Where an InfiniBand switch stands: under its own name, or in the hall whose design has it."""
    name, _, key = rest.rpartition(".") if rest not in file.fabric_switches else (rest, "", "")
    for hall in file.halls:
        if rest.startswith(f"{hall}-"):
            return "halls", hall, "switches", rest.removeprefix(f"{hall}-")
    return ("fabric_switches", name, key) if name in file.fabric_switches and key else ("fabric_switches", rest)


def _of_rack(rack: RackFile, path: Path) -> Iterator[DevicePlace]:
    yield from _row("machines", (*path, "machines"), machine_names(rack), rack.machines.serials)
    yield from _row("hosts", (*path, "poplar"), host_names(rack), rack.poplar.serials)
    yield from _of_switches((*path, "tor"), rack.tor, tor_names(rack))
    yield from _of_switches((*path, "management"), rack.management, management_names(rack))
    if rack.gw_switches is not None:
        path_of_gw = (*path, "gw_switches")
        yield from _row("switches", path_of_gw, gw_switch_names(rack), rack.gw_switches.serials)
    if rack.pdu_serials is not None:
        for name, serial in zip(rack.pdus, rack.pdu_serials, strict=False):
            yield DevicePlace("devices", name, serial, (*path, "pdus"), (*path, "pdu_serials"), (*path, "pdus"))


def _of_hall(name: str, hall: HallFile) -> Iterator[DevicePlace]:
    for place, node in hall.nodes.items():
        path: Path = ("halls", name, "nodes", place)
        where = path if node.name is None else (*path, "name")
        yield DevicePlace("hosts", node_name(name, place, node), node.serial, where, (*path, "serial"), path)
    for switch, stated in hall.switches.items():
        if stated.serial is not None:
            path = ("halls", name, "switches", switch)
            called = switch_name(name, switch)
            yield DevicePlace("fabric_switches", called, stated.serial, path, (*path, "serial"), path)


def _of_switches(path: Path, file: RackSwitchFile, names: list[str]) -> Iterator[DevicePlace]:
    """One switch is written `name` and `serial`, several `names` and `serials`."""
    words = ("name", "serial") if file.serials is None else ("names", "serials")
    yield from _row("switches", path, names, switch_serials(file), words)


def _row(
    section: str, path: Path, names: list[str], serials: list[str], words: tuple[str, str] = ("names", "serials")
) -> Iterator[DevicePlace]:
    for name, serial in zip(names, serials, strict=False):
        yield DevicePlace(section, name, serial, (*path, words[0]), (*path, words[1]), path)


def _beside_racks(section: str, name: str, serial: str) -> DevicePlace:
    path = (section, name)
    return DevicePlace(section, name, serial, path, (*path, "serial"), path)


def _inside(file: SiteFile, place: DevicePlace, steps: tuple[str, ...]) -> Path:
    """The path below a device; a port's number is written as its role or a range in a rack."""
    if place.section == "switches" and len(steps) > 1 and steps[0] == "ports":
        return (*place.path, "ports", _port_key(file, place, int(steps[1])), *steps[2:])
    if steps == ("state",) and place.path[0] == "racks":
        rack = file.racks[int(place.path[1])]
        table = rack.machines.states if place.section == "machines" else rack.poplar.states
        return (*place.path, "states", key_of(table, place.name) or place.name)
    return (*place.path, *steps)


def _port_key(file: SiteFile, place: DevicePlace, port: int) -> str:
    """The key of the port table that covers a port, numbers before roles; the number itself if none does."""
    table, roles = _table(file, place)
    keys = sorted(table, key=lambda key: key in roles)
    return next((key for key in keys if port in ports_of(key, roles)), str(port))


def _table(file: SiteFile, place: DevicePlace) -> tuple[PortTable, PortMap]:
    """The port table that a switch is set by, and the blocks that its keys may name."""
    if place.path[0] != "racks":
        return file.switches[place.name].ports, {}
    rack = file.racks[int(place.path[1])]
    if place.path[2] == "tor":
        return rack.tor.ports, tor_roles(rack)
    if place.path[2] == "management":
        return rack.management.ports, management_roles(rack)
    return (rack.gw_switches.ports or {}) if rack.gw_switches else {}, gw_roles(rack)
