"""A site file, what it expands to, and where in the file things stand: what the checks of a site look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from interlock.model.hall.names import appliance_name, layout_of, node_name, rack_name, switch_name
from interlock.model.rack.names import logical_names, own_management, physical_names
from interlock.model.text.faults import Faults

from .file import SiteFile
from .gpu import FabricSwitch
from .inventory import Site
from .places import Path, places


@dataclass(frozen=True)
class SiteView:
    """One site under check; faults are added to `faults`."""

    file: SiteFile
    site: Site
    faults: Faults

    def need(self, path: Path, what: str, name: str, known: Iterable[str], section: str) -> None:
        """A fault if `name` is not among `known`, the keys of a section, unless that has lost an entry."""
        message = f"`{name}` is not {what} of this site"
        self.faults.need_name(path, name, known, message, of=(section,))

    @cached_property
    def devices(self) -> frozenset[str]:
        """Names of everything that a cable can end at."""
        site = self.site
        others = (device.name for device in site.devices)
        return frozenset({*site.machine, *site.host, *site.switch, *self.fabric_switch, *others})

    @cached_property
    def fabric_switch(self) -> dict[str, FabricSwitch]:
        """InfiniBand switches by name."""
        return {switch.name: switch for switch in self.site.fabric_switches}

    @cached_property
    def device_roles(self) -> dict[str, str]:
        """Role of each device that is no machine, host or switch."""
        return {device.name: device.role for device in self.site.devices}

    @cached_property
    def device_paths(self) -> dict[str, Path]:
        """Device -> where it was written, or the rack that it comes with."""
        found: dict[str, Path] = {}
        for name, path in self.named():
            found.setdefault(name, path)
        return found

    def named(self) -> Iterator[tuple[str, Path]]:
        """(name, where it stands) of every device, as often as it is written."""
        yield from self._own_management()
        for place in places(self.file):
            yield place.name, place.name_path
        for index, rack in enumerate(self.file.racks):
            if rack.pdu_serials is None:
                yield from ((name, ("racks", index, "pdus")) for name in rack.pdus)
        for name, hall in self.file.halls.items():
            layout = layout_of(hall)
            yield from ((switch_name(name, item), ("halls", name)) for item in layout.switches_without_serial(hall))
            yield from ((appliance_name(name, item), ("halls", name)) for item in layout.hall.managers)
        for name, switch in self.file.fabric_switches.items():
            if switch.serial is None:
                yield name, ("fabric_switches", name)
        for name, device in self.file.devices.items():
            if device.serial is None:
                yield name, ("devices", name)

    def _own_management(self) -> Iterator[tuple[str, Path]]:
        """ToRs' own management ports, which the file does not name: they are called after their ToR."""
        stated = set(self.file.devices)
        switches = (place for place in places(self.file) if place.section == "switches")
        known = {own_management(place.name): place.name_path for place in switches}
        for device in self.site.devices[: len(self.site.devices) - len(stated)]:
            if device.role == "switch-management":
                yield device.name, known.get(device.name, ("racks",))

    @cached_property
    def logical_rack_paths(self) -> dict[str, Path]:
        """Logical rack -> where it was written."""
        found: dict[str, Path] = {}
        for index, rack in enumerate(self.file.racks):
            found.update((name, ("racks", index, "name")) for name in logical_names(rack))
        return found | {name: ("logical_racks", name) for name in self.file.logical_racks}

    @cached_property
    def physical_rack_paths(self) -> dict[str, Path]:
        """Physical rack -> where it was written."""
        found: dict[str, Path] = {}
        for index, rack in enumerate(self.file.racks):
            found.update((name, ("racks", index, "rack")) for name in physical_names(rack))
        for name, hall in self.file.halls.items():
            if hall.racks is not None:
                made = (rack_name(name, rack) for rack in layout_of(hall).hall.racks)
                found.update(dict.fromkeys(made, ("halls", name, "racks")))
        return found | {name: ("physical_racks", name) for name in self.file.physical_racks}

    @cached_property
    def hall_node_paths(self) -> dict[str, Path]:
        """Node of a hall -> where it was written."""
        return {
            node_name(name, place, node): ("halls", name, "nodes", place)
            for name, hall in self.file.halls.items()
            for place, node in hall.nodes.items()
        }
