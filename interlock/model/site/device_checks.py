"""Names and identities of devices: each name and each serial once, logical racks that exist."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from interlock.model.rack.names import host_names
from interlock.model.text.errors import Code

from .places import Path, places
from .view import SiteView


def check_devices(view: SiteView) -> None:
    """Adds faults of names, serials, logical racks and positions."""
    _check_names(view)
    _check_serials(view)
    _check_logical_racks(view)
    _check_positions(view)
    _check_interfaces(view)
    _check_macs(view)


def _check_names(view: SiteView) -> None:
    seen = set[str]()
    for name, path in view.named():
        if name in seen:
            hint = "a rack's names can be set: `names:` of machines and poplar, `name:` of a switch"
            view.faults.add(Code.TWICE, path, f"two devices are called `{name}`", hint)
        seen.add(name)
    _check_rack_names(view)


def _check_rack_names(view: SiteView) -> None:
    """A logical rack stands in `racks:` or in `logical_racks:`, a physical one likewise."""
    for what, found, paths in (
        ("logical", view.site.logical_racks, view.logical_rack_paths),
        ("physical", view.site.physical_racks, view.physical_rack_paths),
    ):
        seen = set[str]()
        for rack in found:
            if rack.name in seen:
                view.faults.add(Code.TWICE, paths[rack.name], f"two {what} racks are called `{rack.name}`")
            seen.add(rack.name)


def _check_serials(view: SiteView) -> None:
    """Labels are read by people and scanners: serials that differ in case alone are of one device."""
    owners = dict[str, str]()
    for place in places(view.file):
        serial = place.serial.casefold()
        # Two entries of one name are one fault, told above.
        if owners.get(serial, place.name) != place.name:
            message = f"`{place.name}` has the serial `{place.serial}` of `{owners[serial]}`"
            view.faults.add(Code.TWICE, place.serial_path, message, "a serial is one device, in capitals or not")
        owners.setdefault(serial, place.name)


def _check_logical_racks(view: SiteView) -> None:
    known = view.site.logical_rack
    for name, machine in view.file.machines.items():
        path = ("machines", name, "logical_rack")
        view.faults.need(path, "a logical rack", machine.logical_rack, known)
    for name, host in view.file.hosts.items():
        if host.logical_rack is not None:
            view.faults.need(("hosts", name, "logical_rack"), "a logical rack", host.logical_rack, known)


def _check_positions(view: SiteView) -> None:
    taken = {(item.logical_rack, item.position): item.name for item in reversed(view.site.machines)}
    for name, machine in view.file.machines.items():
        first = taken[machine.logical_rack, machine.position]
        if first != name:
            message = f"`{name}` is at position {machine.position} of `{machine.logical_rack}`, as `{first}` is"
            hint = "the position is the place in the chain of IPU-Links: each once"
            view.faults.add(Code.TWICE, ("machines", name, "position"), message, hint)


def _check_interfaces(view: SiteView) -> None:
    """An interface of a host is on one physical network."""
    for name, host in view.file.hosts.items():
        seen = dict[str, str]()
        for network, interfaces in host.interfaces.items():
            for interface in interfaces:
                first = seen.setdefault(interface, network)
                if first != network:
                    message = f"`{interface}` is on `{first}` already"
                    hint = "one interface is one port of one switch, whose VLANs are those of one network"
                    view.faults.add(Code.TWICE, ("hosts", name, "interfaces", network), message, hint)


def _check_macs(view: SiteView) -> None:
    """MAC addresses are of interfaces that the site knows: a slip in the name would leave one without."""
    listed = [(("hosts", name, "macs"), name, host.macs) for name, host in view.file.hosts.items()]
    of_racks = (
        (("racks", index, "poplar", "macs"), name, rack.poplar.macs)
        for index, rack in enumerate(view.file.racks)
        for name in host_names(rack)[:1]
    )
    cabled = defaultdict[str, set[str]](set)
    for device, interface in view.site.cable_at:
        cabled[device].add(interface)
    stated: list[tuple[Path, str, Mapping[str, object]]] = [*listed, *of_racks]
    for path, name, macs in stated:
        host = view.site.host.get(name)
        if host is None or not macs:
            continue
        known = {interface for found in host.interfaces.values() for interface in found} | {host.bmc}
        known |= cabled[name]
        for interface in macs:
            message = f"`{interface}` is no interface of `{name}` that has a cable or a network"
            view.faults.need_name((*path, interface), interface, {*filter(None, known)}, message, of=("cables",))
