"""Switches: a frame enters a port, lies in a VLAN of the bridge, leaves by every other port of it."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Switch

from .frames import UNTAGGED, Setting, carried, received, sent
from .readings import Declared, Facts, PortId
from .shared import put
from .terrain import Place, Terrain


class Switches:
    """Puts the hops of all switches and of the cables between them into the terrain."""

    def __init__(self, facts: Facts, terrain: Terrain) -> None:
        self.facts, self.terrain = facts, terrain
        self.serial = {switch.name: switch.serial for switch in facts.site.switches}
        self.enforced = facts.holds("A7", "private_vlan_enforced", "single_trunk")
        self.with_roles = self._with_roles()

    def bridge(self, switch: str, vlan: int) -> Place:
        """A VLAN inside a switch."""
        return ("bridge", self.serial[switch], vlan)

    def entry(self, at: PortId, vlan: int, setting: Setting) -> Place:
        """Where a frame is that came in by this port: with private VLANs it matters by which."""
        switch, port = at
        if setting.role is None or "private" in self.terrain.without:
            return self.bridge(switch, vlan)
        return ("behind", self.serial[switch], vlan, port)

    def walk(self) -> None:
        """All hops."""
        for a, b in self.facts.ends[0]:
            self._cable(a, b)
            self._cable(b, a)
            self._second_tags(a, b)
            self._second_tags(b, a)
        for switch in self.facts.site.switches:
            self._private_vlans(switch)
            self._overlays(switch)
            self._routes(switch)
            held = self.facts.holds("A1", "vlan_lists_enforced", "configuration_matches")
            for vlan in self.facts.ids if held is not True else ():
                self.terrain.unless(held, self.bridge(switch.name, vlan), ("every vlan", switch.serial), "A1")

    def _cable(self, a: PortId, b: PortId) -> None:
        """Frames from a to b."""
        ids = self.facts.ids
        for here in self.facts.of_port(*a):
            for there in self.facts.of_port(*b):
                for vlan in ids:
                    for tag, leaves in sent(here, vlan, ids):
                        for inner, enters in received(there, tag, ids):
                            row = "E2" if tag == UNTAGGED else "E1"
                            ends = self.entry(a, vlan, here), self.entry(b, inner, there)
                            self.terrain.hop(*ends, row, certain=leaves and enters)

    def _second_tags(self, a: PortId, b: PortId) -> None:
        """What a sends without its tag, b reads by the tag behind it."""
        taken = list(self.by_a_tag(b))
        for place in self.without_a_tag(a):
            for there in taken:
                self.terrain.way(place, there, "E21")

    def without_a_tag(self, at: PortId) -> Iterator[Place]:
        """Where frames are that leave a port without a tag, or may."""
        for setting in self.facts.of_port(*at):
            for vlan in self.facts.ids:
                if UNTAGGED in (tag for tag, _ in sent(setting, vlan, self.facts.ids)):
                    yield self.entry(at, vlan, setting)

    def by_a_tag(self, at: PortId) -> Iterator[Place]:
        """Where frames get to that come into a port with some tag."""
        for setting in self.facts.of_port(*at):
            found = {vlan for tag in self.facts.ids for vlan, _ in received(setting, tag, self.facts.ids)}
            yield from (self.entry(at, vlan, setting) for vlan in sorted(found))

    def tagged_as(self, at: PortId, tag: int) -> Iterator[tuple[Place, bool]]:
        """Where frames with this tag get to that a hypervisor sends into the port, or come from.

        Whether a port takes the VLAN that it sends untagged with its tag as well, nobody says.
        """
        ids = self.facts.ids
        for setting in self.facts.of_port(*at):
            if tag == setting.untagged and setting.mode != "disabled":
                yield self.entry(at, tag, setting), False
            for vlan, certain in received(setting, tag, ids):
                yield self.entry(at, vlan, setting), certain
            for vlan in ids:
                for out, certain in sent(setting, vlan, ids):
                    if out == tag:
                        yield self.entry(at, vlan, setting), certain

    def any_tag(self, at: PortId) -> Iterator[tuple[Place, bool]]:
        """Where whoever sends any frame into the port is heard."""
        for setting in self.facts.of_port(*at):
            for vlan, certain in carried(setting, self.facts.ids):
                yield self.entry(at, vlan, setting), certain

    def heard(self, at: PortId) -> Iterator[tuple[Place, bool]]:
        """The same, and each member of a private VLAN by itself: a declared device answers each of them."""
        for setting in self.facts.of_port(*at):
            for vlan, certain in carried(setting, self.facts.ids):
                yield self.entry(at, vlan, setting), certain
                if setting.role is None:
                    yield from ((place, certain) for place in self.members(at[0], vlan))

    def members(self, switch: str, vlan: int) -> list[Place]:
        """Where the ports with a role in a private VLAN are heard."""
        ports = self.with_roles.get((switch, vlan), ())
        return [self.entry((switch, port), vlan, setting) for port, setting in ports]

    def _with_roles(self) -> dict[tuple[str, int], list[tuple[int, Setting]]]:
        """(switch, VLAN) -> its ports with a role."""
        found: dict[tuple[str, int], list[tuple[int, Setting]]] = {}
        for (switch, port), settings in self.facts.settings.items():
            for item in settings:
                for vlan, _ in carried(item, self.facts.ids) if item.role is not None else ():
                    found.setdefault((switch, vlan), []).append((port, item))
        return found

    def _private_vlans(self, switch: Switch) -> None:
        for (name, vlan), members in self.with_roles.items():
            if name != switch.name:
                continue
            promiscuous = set(self._promiscuous(switch, vlan))
            for port, setting in members:
                place = self.entry((name, port), vlan, setting)
                if setting.role != "isolated":
                    self.terrain.hop(place, ("community", switch.serial, vlan, setting.role or ""), "private")
                for certain in promiscuous:
                    self.terrain.hop(place, self.bridge(name, vlan), "private", certain)
                self.terrain.unless(self.enforced, place, self.bridge(name, vlan), "A7")
                # A switch that does not forward as it is configured does not keep to roles either.
                held = self.facts.holds("A1", "vlan_lists_enforced", "configuration_matches")
                self.terrain.unless(held, place, self.bridge(name, vlan), "A1")

    def _promiscuous(self, switch: Switch, vlan: int) -> Iterator[bool]:
        """Whether it is certain, for each in the VLAN whom all members may talk to: an ordinary port with a cable, or
        the switch itself."""
        between, plugs = self.facts.ends
        others = {(plug.switch, plug.port) for plug in plugs if not self.facts.is_terminal(plug)}
        cabled = {at for pair in between for at in pair} | others
        for at in cabled:
            for setting in self.facts.of_port(*at) if at[0] == switch.name else ():
                met = carried(setting, self.facts.ids) if setting.role is None else ()
                yield from (certain for found, certain in met if found == vlan)
        yield from [True] if vlan in {item.vlan for item in switch.vteps} else []
        for node, _, vlans, certain in self._instances(switch):
            yield from [certain] if vlan in vlans and self.facts.declared(node) is None else []

    def _overlays(self, switch: Switch) -> None:
        for item in switch.vteps:
            ways = (item.encapsulation,) if item.encapsulation else ("vxlan", "geneve")
            for way in ways:
                tunnel = ("tunnel", item.underlay, way, item.vni)
                self.terrain.hop(self.bridge(switch.name, item.vlan), tunnel, "E3", certain=len(ways) == 1)

    def _routes(self, switch: Switch) -> None:
        """Everything that a routing instance has an address in, it forwards into everything else.

        The instance is the operator's, also where it serves one tenant, unless it is declared (example 49).
        """
        for node, place, vlans, certain in self._instances(switch):
            declared = self.facts.declared(node)
            for vlan in vlans:
                put(
                    self.terrain,
                    place,
                    declared,
                    ((item, certain) for item in self._met(switch, vlan, declared)),
                    "E10",
                )
        if switch.ip_routing is not True:
            self._addresses(switch)

    def _addresses(self, switch: Switch) -> None:
        """Without forwarding the switch has its addresses all the same, each on its own."""
        declared, known = self.facts.declared(switch.name), switch.routed_vlans is not None
        for vlan in switch.routed_vlans if switch.routed_vlans is not None else self.facts.ids:
            for place in (self.bridge(switch.name, vlan), *self.members(switch.name, vlan)):
                # It answers every member of a private VLAN, and passes nothing on from one to the other.
                address: Place = ("address of the switch", switch.serial, vlan, *place)
                put(self.terrain, address, declared, [(place, known)], "address")

    def _met(self, switch: Switch, vlan: int, declared: Declared | None) -> list[Place]:
        return [self.bridge(switch.name, vlan), *(self.members(switch.name, vlan) if declared else ())]

    def _instances(self, switch: Switch) -> Iterator[tuple[str, Place, tuple[int, ...], bool]]:
        """(what it is declared by, place, VLANs, whether that is certain) of each routing instance."""
        for vrf in switch.vrfs:
            yield f"{switch.name}/{vrf.name}", ("vrf", switch.serial, vrf.name), vrf.vlans, True
        if switch.ip_routing is not False:
            known = switch.routed_vlans is not None
            vlans = switch.routed_vlans if switch.routed_vlans is not None else self.facts.ids
            yield switch.name, ("vrf", switch.serial, ""), vlans, known and switch.ip_routing is True
