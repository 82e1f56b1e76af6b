"""How switch ports are set, as the site's full form says and as plans ask for: which VLANs may pass, and how.

Where a fact is not stated, what may be is here: a port without a record may carry everything. The ports of a LAG, and
those that its cables lead to, are one logical port: each carries what any of them does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from . import references
from .ground import Json

#: (switch, number).
End = tuple[str, int]
_EVERY = ((1, 4094),)


@dataclass(frozen=True)
class Setting:
    """One port as its record has it; `known` False: nobody knows what it carries."""

    known: bool = True
    untagged: frozenset[int] = frozenset()
    #: VLAN ids inside the switch that pass with a tag.
    ranges: tuple[tuple[int, int], ...] = ()
    #: (id on the wire, VLAN inside the switch).
    translations: tuple[tuple[int, int], ...] = ()
    private: str | None = None
    routed: bool = False
    #: The switch whose networks a driver puts there besides, and their VLANs.
    filled: str = ""
    put: frozenset[int] = frozenset()

    def lists(self, vlan: int) -> bool:
        """True if its list names this id, or a driver put it there."""
        return vlan in self.put or any(low <= vlan <= high for low, high in self.ranges)

    def inside(self, tag: int) -> set[int]:
        """The VLANs that frames with this tag may belong to: also where makes of switches differ in that."""
        mapped = {vlan for wire, vlan in self.translations if wire == tag and (self.lists(vlan) or self.lists(wire))}
        away = {vlan for _, vlan in self.translations}
        return mapped | ({tag} - away if self.lists(tag) else set())

    def tags_of(self, vlan: int) -> set[int]:
        """By which ids a VLAN goes on the wire if it goes tagged."""
        return {wire for wire, inner in self.translations if inner == vlan} or {vlan}


@dataclass(frozen=True)
class LogicalPort:
    """A port with all others of its bundle, and the access VLANs that plans ask for."""

    members: tuple[Setting, ...]
    asked: frozenset[int]

    @cached_property
    def known(self) -> bool:
        """False if some member may carry anything."""
        return all(item.known for item in self.members)

    @cached_property
    def untagged(self) -> frozenset[int]:
        """The VLANs that frames without a tag may belong to."""
        return self.asked.union(*(item.untagged for item in self.members))

    @cached_property
    def private(self) -> str | None:
        """Its role in a private VLAN, if all members have the one."""
        found = {item.private for item in self.members}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def filled(self) -> set[str]:
        """The switches whose networks' VLANs a driver puts there."""
        return {item.filled for item in self.members} - {""}

    @cached_property
    def routed(self) -> bool:
        """True for a port with an address of the switch's own."""
        return any(item.routed for item in self.members)

    def inside(self, tag: int) -> set[int]:
        """The VLANs that frames with this tag may belong to: those of frames without one too, listed or not."""
        natives = {vlan for vlan in self.untagged if tag in {vlan} | self.tags_of(vlan)} if self.known else set[int]()
        return natives.union(*(item.inside(tag) for item in self.members))

    def tags_of(self, vlan: int) -> set[int]:
        """By which ids a VLAN may go on the wire."""
        return set().union(*(item.tags_of(vlan) for item in self.members))

    def carried(self, vlans: Iterable[int]) -> list[int]:
        """Those VLANs that a device behind it may reach, by some of these tags or with none."""
        return sorted(self.untagged.union(*(self.inside(tag) for tag in vlans)))


@dataclass
class Ports:
    """All switch ports of a site. `asked`: switch port -> the access VLANs that plans ask for.

    `claimed`: (physical network, VLAN) of every network of a plan, and of what is released and not settled.
    """

    site: Json
    asked: dict[End, set[int]]
    claimed: set[tuple[str, int]] = field(default_factory=set)
    _known: dict[End, LogicalPort] = field(default_factory=dict)

    @cached_property
    def records(self) -> dict[End, Json]:
        """Switch port -> its record."""
        return {(switch["name"], item["port"]): item for switch in self.site["switches"] for item in switch["ports"]}

    @cached_property
    def complete(self) -> set[tuple[str, str]]:
        """(table, device) of every table that somebody saw to be complete of a device."""
        return {(item["table"], name) for item in self.site["complete"] for name in item["devices"]}

    def port(self, end: End) -> LogicalPort:
        """How a port is set with all of its bundle."""
        if end not in self._known:
            bundle = [end] if self._is_disabled(end) else self._bundles.get(end, [end])
            members = [self._setting(item) for item in bundle if item == end or not self._is_disabled(item)]
            asked = frozenset[int]().union(*(self.asked.get(item, ()) for item in bundle))
            self._known[end] = LogicalPort(tuple(dict.fromkeys(members)), asked)
        return self._known[end]

    @cached_property
    def stretches(self) -> list[tuple[int, int]]:
        """(first, last) of the ids that some port's list has, and that no port's list divides."""
        lists = {pair for end in self.records for pair in self._lists(self.port(end))}
        cuts = sorted({cut for low, high in lists for cut in (low, high + 1)})
        found = [(low, after - 1) for low, after in pairwise(cuts)]
        return [(first, last) for first, last in found if any(low <= first and last <= high for low, high in lists)]

    def _lists(self, port: LogicalPort) -> set[tuple[int, int]]:
        """The list of a logical port: none where one member has none."""
        found = {pair for item in port.members for pair in item.ranges}
        return {*_EVERY} if found.issuperset(_EVERY) else found

    def _is_disabled(self, end: End) -> bool:
        record = self.records.get(end)
        if record is None:
            return end[1] > 0 and ("switch_ports", end[0]) in self.complete
        return bool(record["mode"] == "disabled")

    def _setting(self, end: End) -> Setting:
        record = self.records.get(end)
        if record is None or record["mode"] == "disabled":
            return Setting(known=self._is_disabled(end))
        if record["mode"] == "routed":
            return Setting(routed=True)
        if record["mode"] not in ("access", "trunk"):
            return Setting(known=False)
        is_trunk, native = record["mode"] == "trunk", record["untagged"]
        listed = tuple((low, high) for low, high in (_EVERY if record["tagged"] is None else record["tagged"]))
        is_tagged = is_trunk and record["tag_native"] is True
        both = ((native, native),) if is_tagged and native is not None and record["tagged"] is not None else ()
        is_filled = is_trunk and record["filled_by"] is not None and record["tagged"] is not None
        return Setting(
            filled=end[0] if is_filled else "",
            put=frozenset(self._put.get(end[0], ()) if is_filled else ()),
            untagged=frozenset() if native is None or is_tagged else frozenset({native}),
            ranges=(*listed, *both) if is_trunk else (),
            translations=tuple((wire, vlan) for wire, vlan in record["translations"]) if is_trunk else (),
            private=record["private_vlan"],
        )

    @cached_property
    def _put(self) -> dict[str, set[int]]:
        """Switch -> the VLANs of networks on its physical networks."""
        found: dict[str, set[int]] = {}
        for network in self.site["physical_networks"]:
            vlans = {vlan for name, vlan in self.claimed if name == network["name"]}
            for switch in network["switches"]:
                found.setdefault(switch, set()).update(vlans)
        return found

    @cached_property
    def _bundles(self) -> dict[End, list[End]]:
        """Switch port -> all ports of its logical port. What the members of one are cabled to is one as well."""
        switches = {item["name"] for item in self.site["switches"]}
        far: dict[tuple[str, str], tuple[str, str]] = {}
        for cable in self.site["cables"]:
            a, b = ((cable[end]["device"], cable[end]["interface"]) for end in "ab")
            far |= {a: b, b: a}
        found: dict[End, list[End]] = {}
        for lag in self.site["lags"]:
            near = [(lag["device"], name) for name in lag["interfaces"]]
            for plugs in (near, [far[item] for item in near if item in far]):
                ends = [end_of(item) for item in plugs if item[0] in switches]
                whole = list(dict.fromkeys(other for end in ends for other in found.get(end, [end])))
                found |= dict.fromkeys(whole, whole)
        return found


def end_of(plug: tuple[str, str]) -> End:
    """A plug of a switch as a port. An interface that is no number is port 0, which has no record."""
    return plug[0], int(plug[1]) if plug[1].isascii() and plug[1].isdecimal() else 0


def asked_of(plans: Iterable[Json]) -> dict[End, set[int]]:
    """Switch port -> the access VLANs that plans ask for."""
    found: dict[End, set[int]] = {}
    for plan in plans:
        for item in plan["resources"]:
            if item["kind"] == "SwitchPort":
                spec = item["spec"]
                found.setdefault((spec["switch"], spec["port"]), set()).add(spec["vlan"])
    return found


def claimed_of(plans: Iterable[Json], locks: Iterable[Json]) -> set[tuple[str, int]]:
    """(physical network, VLAN) that networks claim: of plans, and what locks released."""
    found = set[tuple[str, int]]()
    for plan in plans:
        for item in plan["resources"]:
            spec = item["spec"]
            if item["kind"] == "Network" and spec["network_type"] == "vlan" and spec["segmentation_id"] is not None:
                found.add((spec["physical_network"], spec["segmentation_id"]))
    for lock in locks:
        for entry in lock.get("released", ()):
            if entry["claim"] in references.VLAN_CLAIMS:
                found.add(references.vlan_of_claim(entry["value"]))
    return found
