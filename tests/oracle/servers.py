"""Servers: where their ports are heard, who controls them, and what stands between their guests and the host."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from interlock.model.site.inventory import Host
from interlock.resources import (
    BareMetalServer,
    FloatingIp,
    Image,
    Keypair,
    Port,
    RoleAssignment,
    Server,
    Trunk,
    VipuAllocation,
    Volume,
    VolumeAttachment,
)

from .filters import only_stated
from .hardware import whole_of
from .readings import Facts
from .segments import NO_VLAN, Segment, Segments
from .switches import Switches
from .terrain import Door, Place, Terrain
from .world import FOREIGN, OP, OUTSIDE, Stack

#: The user who runs the apply; the only one whose role in a project lets nobody in.
OPERATOR = "cloud:User/@operator"


class Servers:
    """Puts the servers of all plans into the terrain."""

    def __init__(self, facts: Facts, terrain: Terrain, switches: Switches, segments: Segments) -> None:
        self.facts, self.terrain, self.switches, self.segments = facts, terrain, switches, segments
        self.attached: set[tuple[str, str]] = set()
        self.on_host: dict[str, list[Place]] = {}
        #: (server, host) where a flavour hands out a device that may be a network function.
        self.handed_out: list[tuple[Place, str]] = []

    def walk(self) -> None:
        """All hops and marks."""
        for stack in self.facts.world.stacks:
            for name, server in stack.all(Server):
                self._server(stack, name, server)
            for name, whole in stack.all(BareMetalServer):
                self._bare_metal(stack, name, whole)
            self._volumes(stack)
            self._logins(stack)
            for name, port in stack.all(Port):
                if (stack.owner, name) not in self.attached:
                    self._spare_port(stack, name, port)
        self._hypervisors()

    def _logins(self, stack: Stack) -> None:
        """Whoever has a key logs in wherever it was put: it is what its second word says, and one owner's.

        So does whoever has the key of an authority, with a certificate of his own.
        """
        lines = [pair.public_key for _, pair in stack.all(Keypair)]
        lines += [line for _, server in stack.all(Server) for line in _authorities(server)]
        # Servers that were made with it are there, though no plan says so.
        lines += self.facts.world.former_keys.get(stack.owner, ())
        for line in lines:
            words = line.split()
            if len(words) > 1:
                self.terrain.alone(("ssh key", words[1]), stack.owner, "Excl")
                more = self.facts.more("logins", self.facts.site.domain)
                if more is not False:
                    self.terrain.alone(("ssh key", words[1]), FOREIGN, "Excl", certain=more is True)

    def _server(self, stack: Stack, name: str, server: Server) -> None:
        guest: Place = ("server", stack.owner, name)
        owners = controlled_by(stack, server)
        for owner in owners:
            self.terrain.mark(guest, owner)
        self.on_host.setdefault(server.host, []).append(guest)
        if owners == {OP} and _is_controller(stack, name):
            self._split(stack, guest, server)
            return
        for port_name, port, row in ports_of(stack, server.ports):
            self.attached.add((stack.owner, port_name))
            self._attach(stack, guest, port, server.host, row)
        self._devices(guest, server)

    def _devices(self, guest: Place, server: Server) -> None:
        """A network function that the flavour hands out is on every VLAN of some port of the host."""
        flavor = self.facts.site.flavor.get(server.flavor.removeprefix("site:Flavor/"))
        if flavor is None or flavor.devices == "other" or not any(map(hands_out, flavor.extra_specs)):
            return
        for (device, _), at in self.facts.behind.items():
            for place, certain in self.switches.any_tag(at) if device == server.host else ():
                self.terrain.hop(guest, place, "device", certain and flavor.devices == "network")
        self.handed_out.append((guest, server.host))

    def _split(self, stack: Stack, guest: Place, server: Server) -> None:
        """A controller passes nothing on from one network to the other, while all it rests on holds."""
        declared, held = self.facts.shared("vipu-controller")
        for name, port, row in ports_of(stack, server.ports):
            self.attached.add((stack.owner, name))
            copy: Place = ("door", *guest, name)
            self._attach(stack, copy, port, server.host, row)
            self.terrain.unless(held, copy, guest, "terminal")
            # Whoever has the port takes it to another server.
            if (holder := stack.owner_of(port.project)) != OP:
                self.terrain.mark(copy, holder)
            if declared is not None and "*" not in declared.audience:
                self.terrain.doors.append(Door(copy, declared.audience))

    def _bare_metal(self, stack: Stack, name: str, server: BareMetalServer) -> None:
        """Root on it sends any frame: what it hangs on is where the host hangs."""
        known = self.facts.site.host.get(server.node)
        whole: Place = whole_of(known) if known else ("server", stack.owner, name)
        for owner in controlled_by(stack, server):
            self.terrain.mark(whole, owner)
        for port_name, port, _ in ports_of(stack, server.ports):
            self.attached.add((stack.owner, port_name))
            segment = self.segments.find(stack, port.network)
            for place in segment.places:
                self.terrain.hop(whole, place, "E7", certain=False)

    def _attach(self, stack: Stack, guest: Place, port: Port, host: str, row: str) -> None:
        """A port of a server on a known host; a sub-port of a trunk by the row that names it."""
        segment = self.segments.find(stack, port.network)
        if segment.external:
            self.terrain.hop(guest, segment.outside, row or "E12")
        elif segment.kind in ("vxlan", "stray"):
            for place in segment.places:
                self.terrain.hop(guest, place, row or "E7")
        else:
            self._attach_to_wire(guest, port, segment, host, row)

    def _attach_to_wire(self, guest: Place, port: Port, segment: Segment, name: str, row: str) -> None:
        host = self.facts.site.host.get(name)
        interfaces = self.facts.interfaces(name, segment.physical_network)
        if host is None or not interfaces or self.facts.is_whole(host):
            self._attach_anywhere(guest, segment, name)
        if host is None:
            return
        for interface in interfaces:
            loose = port.vnic_type == "direct" and (not port.port_security or segment.kind == "flat")
            if loose or (segment.kind == "vlan" and segment.vlan in NO_VLAN):
                self._attach_to_all(guest, host, interface)
            if segment.vlan != NO_VLAN[-1]:
                nic = self.segments.nic(host, interface, segment.vlan or 0)
                self.terrain.hop(guest, nic, row or ("E5" if loose else "E6"))

    def _attach_to_all(self, guest: Place, host: Host, interface: str) -> None:
        """A function that nothing holds to one VLAN."""
        at = self.facts.behind.get((host.name, interface))
        for place, certain in self.switches.any_tag(at) if at else ():
            self.terrain.hop(guest, place, "E5", certain)
        for tag in (0, *self.facts.ids):
            self.terrain.hop(guest, self.segments.nic(host, interface, tag), "E5", certain=False)

    def _attach_anywhere(self, guest: Place, segment: Segment, host: str) -> None:
        """Nobody knows where the network meets this host."""
        physical = self.facts.site.physical_network.get(segment.physical_network or "")
        switches = set(physical.switches if physical else ())
        switches |= {at[0] for (device, _), at in self.facts.behind.items() if device == host}
        for switch in switches:
            for vlan in self.facts.ids:
                self.terrain.hop(guest, self.switches.bridge(switch, vlan), "E7", certain=False)

    def _spare_port(self, stack: Stack, name: str, port: Port) -> None:
        """A port that no server has yet: it may be plugged in on any switch of its network."""
        place: Place = ("port", stack.owner, name)
        self.terrain.mark(place, stack.owner_of(port.project))
        segment = self.segments.find(stack, port.network)
        for other in (segment.outside,) if segment.external else segment.places:
            self.terrain.hop(place, other, "E7")

    def _volumes(self, stack: Stack) -> None:
        for name, volume in stack.all(Volume):
            self.terrain.mark(("volume", stack.owner, name), stack.owner_of(volume.project))
        for _, item in stack.all(VolumeAttachment):
            self.terrain.hop(("server", stack.owner, item.server), ("volume", stack.owner, item.volume), "E9")

    def _hypervisors(self) -> None:
        held = self.facts.holds("A5", "iommu", "no_host_network", "pages_zeroed")
        apart = self.facts.holds("A5", "mitigations")
        for host, guests in self.on_host.items():
            if held is not True:
                self.terrain.mark(("hypervisor", host), OP)
            for guest in guests:
                self.terrain.unless(held, guest, ("hypervisor", host), "E18")
                self.terrain.unless(apart, guest, ("cores of", host), "E18")

    def entries(self) -> None:
        """An entry from outside is declared, leads to the tenant's own servers, never to one of the operator's, and
        lets in nobody but whom the request names."""
        for stack in self.facts.world.stacks:
            behind = {
                port: controlled_by(stack, server) for _, server in stack.all(Server) for port in server.ports
            } | {port: controlled_by(stack, whole) for _, whole in stack.all(BareMetalServer) for port in whole.ports}
            for name, item in stack.all(FloatingIp):
                port = stack.find(Port, item.port)
                pools = self.facts.site.pools
                as_said = name in stack.plan.public and (port is None or only_stated(stack, name, port[2], pools))
                meant = {stack.owner} if as_said else set()
                for owner in behind.get(item.port, {stack.owner}) - meant:
                    self.terrain.alone(("entry", stack.owner, name), owner, "Expo")
                    self.terrain.alone(("entry", stack.owner, name), OUTSIDE, "Expo")


def hands_out(specification: str) -> bool:
    """An extra specification by which a server gets a device of its host, other than processors and memory."""
    kind = specification.removeprefix("resources").partition(":")[2]
    if specification.startswith("resources"):
        return kind.startswith("CUSTOM_") or kind in ("VGPU", "PGPU", "FPGA", "PCI_DEVICE")
    return specification in ("pci_passthrough:alias", "accel:device_profile")


def ports_of(stack: Stack, references: tuple[str, ...]) -> Iterator[tuple[str, Port, str]]:
    """(name, port, row) of a server, with the sub-ports of trunks on them: the guest's own tag does not matter."""
    trunks = {trunk.port: trunk for _, trunk in stack.all(Trunk)}
    for reference in references:
        subs = [item.port for item in trunks[reference].sub_ports] if reference in trunks else []
        for name in (reference, *subs):
            found = stack.find(Port, name)
            if found is not None:
                yield name, found[2], "E8" if name in subs else ""


def controlled_by(stack: Stack, server: Server | BareMetalServer) -> set[str]:
    """Who controls a server: its project's owner, whoever's key, role or writable image it has."""
    owners = {stack.owner_of(server.project)}
    if server.keypair is not None and stack.find(Keypair, server.keypair):
        owners.add(_home(stack, server.keypair))
    owners |= {stack.owner for _, role in stack.all(RoleAssignment) if _lets_in(role, server.project)}
    if stack.find(Image, server.image) and not server.image.startswith("site:"):
        owners.add(stack.owner)
    elif server.image.startswith("cloud:"):
        owners.add(FOREIGN)
    return owners


def _lets_in(role: RoleAssignment, project: str) -> bool:
    return role.project == project and role.user != OPERATOR


def _authorities(server: Server) -> list[str]:
    """Lines of the files that its sshd takes authorities from."""
    if "TrustedUserCAKeys" not in server.user_data:
        return []
    files = {item["path"]: item["content"] for item in yaml.safe_load(server.user_data)["write_files"]}
    named = [line.split()[1] for text in files.values() for line in text.splitlines() if line.startswith("TrustedUser")]
    return [line for path in named for line in files[path].splitlines()]


def _home(stack: Stack, reference: str) -> str:
    return OP if reference.startswith("site:") else stack.owner


def _is_controller(stack: Stack, name: str) -> bool:
    """It is declared as one: by its component, or by the allocation that stands on it."""
    component = stack.plan.component.get(stack.plan.by_name[name].component)
    if component is not None and component.type == "VipuController":
        return True
    return any(allocation.controller == name for _, allocation in stack.all(VipuAllocation))
