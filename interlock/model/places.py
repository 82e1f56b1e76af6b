"""Where in `site.yaml` a thing of the full form was written, since racks are written short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.hardware import DESIGNS

from .site_file import RackFile, SiteFile
from .source import Step
from .switch_ports import ports_of

Path = tuple[Step, ...]


@dataclass(frozen=True)
class Place:
    """A device, and where its name, its serial and all else about it stand."""

    #: Section of the full form: machines, hosts or switches.
    section: str
    name: str
    serial: str
    name_path: Path
    serial_path: Path
    path: Path


def places(file: SiteFile) -> Iterator[Place]:
    """Every device with a serial, in file order."""
    for index, rack in enumerate(file.racks):
        yield from _of_rack(rack, ("racks", index))
    for name, host in file.hosts.items():
        yield _beside_racks("hosts", name, host.serial)
    for name, switch in file.switches.items():
        yield _beside_racks("switches", name, switch.serial)


def switch_names(rack: RackFile) -> tuple[str, str]:
    """Names of the ToR and of the management switch."""
    return rack.tor.name or "tor-1", rack.management.name or "mgmt-1"


def host_names(rack: RackFile) -> list[str]:
    """Names of the Poplar hosts, in the order of their serials."""
    return rack.poplar.names or [f"poplar-{number}" for number in range(1, len(rack.poplar.serials) + 1)]


def fact_path(file: SiteFile, fact: str) -> Path:
    """Path of a fact of the full form: `sharing.external.no_tenant_ports`, `switches.tor-1.ip_routing` …

    If the file does not state the fact, the path leads nowhere: `Source.position` takes the nearest above.
    """
    section, _, rest = fact.partition(".")
    if section == "sharing":
        name, _, guard = rest.rpartition(".")
        return section, name, "guards", guard
    if section in ("machines", "hosts", "switches"):
        for place in places(file):
            if place.section == section and f"{rest}.".startswith(f"{place.name}."):
                return _inside(file, place, tuple(rest.removeprefix(place.name).strip(".").split(".")))
    return section, *rest.split(".")


def _of_rack(rack: RackFile, path: Path) -> Iterator[Place]:
    machines, poplar = (*path, "machines"), (*path, "poplar")
    for name, serial in zip(rack.machines.names, rack.machines.serials, strict=False):
        yield Place("machines", name, serial, (*machines, "names"), (*machines, "serials"), machines)
    for name, serial in zip(host_names(rack), rack.poplar.serials, strict=False):
        yield Place("hosts", name, serial, (*poplar, "names"), (*poplar, "serials"), poplar)
    for key, name, switch in zip(
        ("tor", "management"), switch_names(rack), (rack.tor, rack.management), strict=True
    ):
        below = (*path, key)
        yield Place("switches", name, switch.serial, (*below, "name"), (*below, "serial"), below)


def _beside_racks(section: str, name: str, serial: str) -> Place:
    path = (section, name)
    return Place(section, name, serial, path, (*path, "serial"), path)


def _inside(file: SiteFile, place: Place, steps: tuple[str, ...]) -> Path:
    """The path below a device; a port's number is written as its role or a range in a rack."""
    if place.section == "switches" and len(steps) > 1 and steps[0] == "ports":
        return (*place.path, "ports", _port_key(file, place, int(steps[1])))
    return (*place.path, *steps)


def _port_key(file: SiteFile, place: Place, port: int) -> str:
    """The key of the port table that covers a port, numbers before roles; the number itself if none does."""
    table, roles = {}, dict[str, tuple[int, int]]()
    if place.path[0] == "racks":
        rack = file.racks[int(place.path[1])]
        design, at_tor = DESIGNS[rack.design], place.path[2] == "tor"
        table = rack.tor.ports if at_tor else rack.management.ports
        roles = (design.tor_ports if at_tor else design.management_ports).value
    else:
        table = file.switches[place.name].ports
    keys = sorted(table, key=lambda key: key in roles)
    return next((key for key in keys if port in ports_of(key, roles)), str(port))
