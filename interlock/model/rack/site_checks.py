"""What must hold among the racks of a whole site, short forms and full ones alike: numbers, addresses, MACs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from interlock.model.site.file import SiteFile
from interlock.model.site.inventory import Site
from interlock.model.site.physical import Host, LogicalRack, Machine
from interlock.model.site.places import Path, places
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults

from .names import logical_names


def check_racks_of_site(file: SiteFile, site: Site, faults: Faults) -> None:
    """Adds the faults that only show between one rack and another, or between racks and networks."""
    paths = logical_rack_paths(file)
    _check_numbers(site, paths, faults)
    _check_address_plans(site, paths, faults)
    _check_macs(file, site, faults)


def logical_rack_paths(file: SiteFile) -> dict[str, Path]:
    """Logical rack -> where it was written."""
    found: dict[str, Path] = {name: ("logical_racks", name) for name in file.logical_racks}
    for index, rack in enumerate(file.racks):
        found |= dict.fromkeys(logical_names(rack), ("racks", index))
    return found


def _check_numbers(site: Site, paths: dict[str, Path], faults: Faults) -> None:
    taken = dict[int, str]()
    for rack in site.logical_racks:
        if rack.number is None:
            if rack.address_plan == "pod":
                message = f"`{rack.name}` has no number: `address_plan: pod` is 10.x.y.z, y the number"
                hint = "write the y of its machines' addresses as `number:`, 1 to 254"
                faults.add(Code.MISSING_KEY, (*paths[rack.name], "number"), message, hint)
        elif taken.setdefault(rack.number, rack.name) != rack.name:
            message = f"`{rack.name}` has the number {rack.number} of `{taken[rack.number]}`"
            hint = "the number is the y of 10.x.y.z: write another `number:`"
            faults.add(Code.TWICE, (*paths[rack.name], "number"), message, hint)


def _check_address_plans(site: Site, paths: dict[str, Path], faults: Faults) -> None:
    """The factory's addresses fit one logical rack alone: beside any other, two machines would share one.

    10.1.1.3 is machine 3 of a factory rack, and machine 3 of logical rack 1 in a pod.
    """
    for network, racks in _management_groups(site):
        stated = [rack for rack in racks if rack.address_plan is not None]
        for before, rack in pairwise(sorted(stated, key=lambda item: item.address_plan == "factory")):
            if rack.address_plan == "factory":
                message = f"`{rack.name}` has the factory's addresses beside those of `{before.name}` on `{network}`"
                hint = "give every machine of one management network 10.x.y.z, and write `address_plan: pod`"
                faults.add(Code.CONTRADICTION, (*paths[rack.name], "address_plan"), message, hint)


def _management_groups(site: Site) -> Iterator[tuple[str, list[LogicalRack]]]:
    """(physical network, logical racks whose machines have their management port at one of its switches)."""
    rack_of = {machine.name: machine.logical_rack for machine in site.machines}
    at = dict[str, set[str]]()
    for machine in site.machines:
        switch = site.far_end(machine.name, "mgmt")
        if switch is not None:
            at.setdefault(switch.device, set()).add(rack_of[machine.name])
    for network in site.physical_networks:
        names = {name for switch in network.switches for name in at.get(switch, ())}
        yield network.name, [rack for rack in site.logical_racks if rack.name in names]


def _check_macs(file: SiteFile, site: Site, faults: Faults) -> None:
    """A MAC address is one device: two of them in one VLAN would take each other's frames."""
    where = {place.name: place.path for place in places(file) if place.section != "devices"}
    taken = dict[str, str]()
    for switch in site.switches:
        if switch.mac is not None and taken.setdefault(switch.mac, f"`{switch.name}`") != f"`{switch.name}`":
            message = f"`{switch.name}` has the MAC address {switch.mac} of {taken[switch.mac]}"
            path = where.get(switch.name, ("switches",))
            faults.add(Code.TWICE, path, message, "read it again: `show version` of the switch says it")
    devices: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
    for device in devices:
        for part, mac in device.macs.items():
            owner = f"{part} of `{device.name}`"
            if taken.setdefault(mac, owner) != owner:
                message = f"{owner} has the MAC address {mac} of {taken[mac]}"
                path = (*where.get(device.name, ()), "macs", part)
                kind = "machine" if isinstance(device, Machine) else "host"
                faults.add(Code.TWICE, path, message, f"read the label of each {kind} again")
