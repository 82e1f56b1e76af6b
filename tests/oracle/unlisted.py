"""What no record tells of: it may be there wherever nobody says that a table is complete, and leads to strangers."""

from __future__ import annotations

from collections.abc import Iterator

from .hardware import bmc_of, part_of, whole_of
from .readings import SPARE, Facts, Plug, listed
from .segments import Segments
from .servers import Servers
from .switches import Switches
from .terrain import Place, Terrain
from .world import FOREIGN

#: What an unlisted record may lead to.
STRANGERS: Place = ("strangers",)
#: Devices of which one attachment is all that they have.
ONE_PLUG = ("pdu", "switch-management")


class Unlisted:
    """Puts what may be there besides into the terrain."""

    def __init__(
        self, facts: Facts, terrain: Terrain, switches: Switches, segments: Segments, servers: Servers
    ) -> None:
        self.facts, self.terrain, self.switches = facts, terrain, switches
        self.segments, self.servers = segments, servers

    def walk(self) -> None:
        """All hops and marks."""
        self.terrain.mark(STRANGERS, FOREIGN)
        for switch in self.facts.site.switches:
            for vlan in self.facts.ids:
                for place in (self.switches.bridge(switch.name, vlan), *self.switches.members(switch.name, vlan)):
                    for table in ("cables", "routing"):
                        self._to_strangers(place, table, switch.name)
                    outside = self.segments.outside_of_site
                    self._hop(place, outside, self.facts.more("external_attachments", switch.name), "E12")
        self._spare_ports()
        self._hosts()
        for machine in self.facts.site.machines:
            for part in ("rnic", "gw", "bmc"):
                self._to_strangers(part_of(machine, part), "attachments", machine.name)
        self._devices()
        self._in_cloud()
        self._on_filled_trunks()

    def _to_strangers(self, place: Place, table: str, device: str) -> None:
        self._hop(place, STRANGERS, self.facts.more(table, device), "E20")

    def _hop(self, a: Place, b: Place, more: bool | None, row: str) -> None:
        if more is not False:
            self.terrain.hop(a, b, row, certain=more is True)

    def _spare_ports(self) -> None:
        """Something is plugged into a port that is open and has no cable, else nobody would have opened it."""
        for switch, number in self.facts.spare_ports:
            more = True if (SPARE, f"{switch}:{number}") in self.facts.world.unlisted else None
            for place, certain in self.switches.heard((switch, number)):
                self._hop(place, STRANGERS, more if certain else None, "E20")

    def _hosts(self) -> None:
        by_name = self.facts.site.host
        for name, interface, tag in sorted(self.segments.used):
            if not self.facts.is_whole(by_name[name]):
                self._to_strangers(self.segments.nic(by_name[name], interface, tag), "attachments", name)
        for host in self.facts.site.hosts:
            if self.facts.is_whole(host):
                for place in (whole_of(host), bmc_of(host)):
                    self._to_strangers(place, "attachments", host.name)
        for guest, name in self.servers.handed_out:
            self._to_strangers(guest, "attachments", name)

    def _devices(self) -> None:
        roles = {device.name: device.role for device in self.facts.site.devices}
        for device, interface in self.facts.behind:
            plug = Plug(device, interface, *self.facts.behind[device, interface])
            if roles.get(device, ONE_PLUG[0]) not in ONE_PLUG and not self.facts.is_terminal(plug):
                self._to_strangers(("device", device), "attachments", device)

    def _on_filled_trunks(self) -> None:
        """A network that nobody tells of is there as well, with any id: on the switch, and beyond its cable."""
        behind = {at: plug for plug, at in self.facts.behind.items()}
        for at, networks in self.facts.filled.items():
            places = [place for vlan in self.facts.ids for place in self._everything_in(at[0], vlan)]
            for a, b in self.facts.ends[0]:
                far = b if a == at else a if b == at else None
                places += [place for place, _ in self.switches.any_tag(far)] if far else []
            plug = behind.get(at)
            places += self._behind(*plug) if plug else []
            for place in dict.fromkeys(places):
                for name in networks:
                    self._to_strangers(place, "networks", name)

    def _everything_in(self, switch: str, vlan: int) -> list[Place]:
        return [self.switches.bridge(switch, vlan), *self.switches.members(switch, vlan)]

    def _behind(self, device: str, interface: str) -> list[Place]:
        """What sends any frame into a port: a host's adapter, for each tag that is used there, or a device."""
        site = self.facts.site
        if device in site.machine:
            parts = ("rnic",) if interface == "rnic" else ("gw", "bmc")
            return [part_of(site.machine[device], part) for part in parts]
        if device not in site.host:
            return [] if self.facts.declared(device) else [("device", device)]
        host = site.host[device]
        used = [
            ("nic", host.serial, name, tag)
            for who, name, tag in self.segments.used
            if (who, name) == (device, interface)
        ]
        guests = [guest for guest, name in self.servers.handed_out if name == device]
        if self.facts.is_whole(host):
            return [*guests, bmc_of(host) if interface == host.bmc else whole_of(host)]
        own = {host.bmc: bmc_of(host)}.get(interface, ("hypervisor's own", host.serial))
        return [*used, *guests] if used or interface in listed(host) else [*guests, own]

    def _in_cloud(self) -> None:
        """Whoever has a right to a network, a network on its wire or a role in a project, and is in no plan."""
        site = self.facts.site
        reaching: dict[str, list[str]] = {}
        for item in site.physical_networks:
            for name in item.switches:
                reaching.setdefault(self.facts.site.switch[name].serial, []).append(item.name)
        for place in self._claimed():
            self._to_strangers(place, "rights", "Network")
            # A place of a switch is a VLAN of it, whatever physical network it is reached by.
            for name in ["vxlan"] if place[0] == "tunnel" else reaching.get(str(place[1]), []):
                self._to_strangers(place, "networks", name)
        for tenant in self.facts.world.plans:
            self._to_strangers(("may plug in", tenant), "members", site.domain)

    def _claimed(self) -> Iterator[Place]:
        found = [place for item in self.segments.of_plans() for place in item.places]
        yield from dict.fromkeys([*found, *self.segments.released_places])
