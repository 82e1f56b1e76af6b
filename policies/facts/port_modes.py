"""What one switch port carries, by its record in the site file; without one, by what is declared of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from interlock.model.site.inventory import Site, Switch, SwitchPortConfig
from interlock.vocabulary.digits import is_number


@dataclass(frozen=True)
class PortMode:
    """What a switch port carries. `tagged` None: no list, so 1-4094."""

    known: bool
    untagged: frozenset[int] = frozenset()
    tagged: tuple[tuple[int, int], ...] | None = ()
    #: Whether frames of the native VLAN may bear its tag; None: not stated.
    tag_native: bool | None = None
    #: Native VLANs of a trunk of which nobody states that: whether their frames are without a tag is unknown as well.
    perhaps_tagged: frozenset[int] = frozenset()
    #: (id on the wire, VLAN inside the switch) where they differ.
    translations: tuple[tuple[int, int], ...] = ()
    #: `isolated` or a community of a private VLAN; None: promiscuous.
    private: str | None = None
    #: True for modes that this proof does not follow: the port may join anything.
    unmodelled: bool = False
    #: True for a port with an address instead of VLANs.
    routed: bool = False
    #: The switches on whose trunks a driver puts the VLANs of all networks there, if this port is such a trunk.
    filled: frozenset[str] = frozenset()
    #: Of a bundle whose members are set differently: how each is set.
    members: tuple[PortMode, ...] = ()

    def inside(self, tag: int) -> frozenset[int]:
        """The VLANs inside the switch that frames with this tag on the wire belong to; `tagged` lists VLANs inside."""
        if self.members:
            return frozenset().union(*(member.inside(tag) for member in self.members))
        if not self.translations:
            return frozenset({tag} if self.carries(tag) else ())
        mapped = {vlan for wire, vlan in self.translations if wire == tag and self.carries(vlan)}
        return frozenset(mapped | (set() if self._is_taken(tag) else self._plain(tag)))

    def perhaps_inside(self, tag: int) -> frozenset[int]:
        """Those that it may belong to besides: where the list names a translated VLAN as it is on the wire only, and
        where another VLAN goes by the id of a listed one: the make of the switch decides which has it."""
        if self.members:
            return frozenset().union(*(member.perhaps_inside(tag) for member in self.members)) - self.inside(tag)
        listed = self.carries(tag)
        found = {vlan for wire, vlan in self.translations if wire == tag and listed and not self.carries(vlan)}
        return frozenset(found | (self._plain(tag) if self._is_taken(tag) else set()))

    def filled_with(self, vlans: Mapping[str, frozenset[int]]) -> PortMode:
        """The same with what a driver put there: VLANs by switch. Whoever has no list carries all anyway."""
        members = tuple(member.filled_with(vlans) for member in self.members)
        if not self.filled or self.tagged is None:
            return replace(self, members=members) if members else self
        more = sorted(frozenset().union(*(vlans.get(switch, frozenset()) for switch in self.filled)))
        return replace(self, tagged=(*self.tagged, *((vlan, vlan) for vlan in more)), members=members)

    def natives_of(self, tag: int) -> frozenset[int]:
        """The VLANs of frames without a tag that frames with this one may belong to as well, listed or not: makes of
        switches differ in that, and most take them. A mode that nobody knows joins all of them anyway."""
        if not (self.known and self.untagged):
            return frozenset()
        return frozenset(vlan for vlan in self.untagged if tag == vlan or tag in self.tags_of(vlan))

    def _plain(self, tag: int) -> set[int]:
        """The VLAN of this id, if it passes and goes by its own id."""
        return {tag} - {vlan for _, vlan in self.translations} if self.carries(tag) else set()

    def _is_taken(self, tag: int) -> bool:
        """Another VLAN goes by this id on the wire."""
        return any(wire == tag for wire, _ in self.translations)

    def tags_of(self, vlan: int) -> frozenset[int]:
        """By which ids a VLAN goes on the wire if it goes tagged."""
        if self.members:
            return frozenset().union(*(member.tags_of(vlan) for member in self.members))
        return frozenset(wire for wire, inner in self.translations if inner == vlan) or frozenset({vlan})

    def carries(self, vlan: int) -> bool:
        """True if frames with this tag pass."""
        ranges = ((1, 4094),) if self.tagged is None else self.tagged
        return any(low <= vlan <= high for low, high in ranges)


#: Of an interface that is no number, which no record of a switch is about.
NO_PORT = 0


@dataclass(frozen=True)
class SwitchEnd:
    """One end of a cable at a switch."""

    switch: str
    port: int

    @classmethod
    def at(cls, switch: str, interface: str) -> SwitchEnd:
        """The end at an interface as a cable or a bundle names it."""
        return cls(switch, int(interface) if is_number(interface) else NO_PORT)


def is_disabled(site: Site, end: SwitchEnd) -> bool:
    """True if it is stated so, or there is no record of it and the table of ports is complete."""
    record = site.switch[end.switch].by_port.get(end.port)
    if record is None:
        return end.port != NO_PORT and site.is_complete("switch_ports", end.switch)
    return record.mode == "disabled"


def recorded_mode(site: Site, end: SwitchEnd) -> PortMode:
    """What the site file says of a port."""
    record = site.switch[end.switch].by_port.get(end.port)
    if record is None or record.mode == "disabled":
        return PortMode(known=is_disabled(site, end))
    if record.mode == "routed":
        return PortMode(known=True, routed=True)
    if record.mode == "dot1q-tunnel":
        return PortMode(known=False, unmodelled=True)
    return _modelled(end.switch, record)


def _modelled(switch: str, record: SwitchPortConfig) -> PortMode:
    """An access port or a trunk. `tag native` makes the native VLAN one of the tagged ones."""
    trunk = record.mode == "trunk"
    tagged = record.tagged if trunk else ()
    untagged = frozenset() if record.untagged is None else frozenset({record.untagged})
    if trunk and record.tag_native:
        tagged = tagged if tagged is None else (*tagged, *((vlan, vlan) for vlan in untagged))
        untagged = frozenset()
    return PortMode(
        known=True,
        untagged=untagged,
        tagged=tagged,
        tag_native=record.tag_native,
        perhaps_tagged=untagged if trunk and record.tag_native is None else frozenset(),
        translations=record.translations if trunk else (),
        private=record.private_vlan,
        filled=frozenset({switch} if trunk and tagged is not None and record.filled_by else ()),
    )


def configured_vlans(switches: Iterable[Switch]) -> frozenset[int]:
    """The VLAN ids that the site file itself puts to use on switches."""
    found: set[int] = set()
    for switch in switches:
        found.update(switch.routed_vlans or (), *(item.vlans for item in switch.vrfs))
        found.update(item.vlan for item in switch.vteps)
        for port in switch.ports:
            found.update(() if port.untagged is None else (port.untagged,), *port.translations)
    return frozenset(found)
