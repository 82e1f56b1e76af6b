"""Declared sharing: what is split while its guards hold, private VLANs, and whoever is not in an audience.

A copy of a declared device is on its wire whatever the guards say; it is the device itself while one of them fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from . import names, references
from .ground import OPERATOR, OUTSIDE, RESERVED, Ground, Json, welcome
from .inventory import Inventory
from .ports import End
from .wires import instances

_EXTERNAL, _APPLIANCE = "external-network", "storage-appliance"


@dataclass(frozen=True)
class SplitCopy:
    """What one segment meets of a declared device. `whole`: the device itself."""

    node: str
    segment: str
    whole: str
    declared: tuple[int, ...]
    row: str = "E5"


class Terminals:
    """All that is declared as shared, on a site whose other edges are derived already."""

    def __init__(self, inventory: Inventory, ground: Ground) -> None:
        self.inventory = inventory
        self.ground = ground
        self.ports = inventory.ports
        #: The declarations, which copies name by number.
        self._sharing: list[Json] = inventory.site["sharing"]

    def derive(self) -> None:
        """Copies and their devices; roles in private VLANs; gateways, controllers, appliances, InfiniBand ports."""
        for copy in self.copies:
            self.ground.join(copy.row, copy.node, [copy.segment])
            self.ground.join_unless(self.ground.declared(self._of(copy)), "E9", copy.node, [copy.whole])
            self.ground.labels[copy.whole].add(OPERATOR)
        for switch in self.inventory.switches.values():
            for node, segment, _ in self._addresses(switch):
                self.ground.labels[node].add(OPERATOR)
                self.ground.join("E10", node, [] if switch["name"] in self.inventory.shared else [segment])
        for (switch_name, vlan), groups in self.groups.items():
            guards = self._roles(switch_name, vlan)
            for group, _ in groups:
                node = names.vlan_of_switch(self._serial(switch_name), vlan, group)
                self.ground.join_unless(guards, "E1", node, [self.inventory.segment(switch_name, vlan)])
        self._planned()
        self._gateways()
        self._keys()

    def _of(self, copy: SplitCopy) -> list[Json]:
        return [self._sharing[number] for number in copy.declared]

    def _numbers(self, items: list[Json]) -> tuple[int, ...]:
        return tuple(self._sharing.index(item) for item in items)

    def _serial(self, switch: str) -> str:
        return self.inventory.serial[switch]

    @cached_property
    def groups(self) -> dict[tuple[str, int], list[tuple[str, int]]]:
        """(switch, VLAN) -> (group, VLAN) of its isolated ports and communities."""
        found: defaultdict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
        for end in {*self.inventory.behind.values()}.union(*self.inventory.links):
            role = self.ports.port(end).private
            if role is not None:
                for vlan in self.inventory.carried(end):
                    found[end[0], vlan].add((names.group_of("isolated", end[1], role), vlan))
        return {place: sorted(groups) for place, groups in found.items()}

    def _met(self, switch: str, vlans: list[int]) -> Iterator[tuple[int, str, str]]:
        """(VLAN, group or nothing, segment): what something promiscuous meets of these VLANs."""
        for vlan in vlans:
            for group in ("", *(name for name, _ in self.groups.get((switch, vlan), ()))):
                yield vlan, group, names.vlan_of_switch(self._serial(switch), vlan, group)

    @cached_property
    def copies(self) -> list[SplitCopy]:
        """Every copy of every declared device and routing instance."""
        return [*self._cabled(), *self._instances()]

    def _cabled(self) -> Iterator[SplitCopy]:
        bridged = {*self.inventory.uplinks.values()}
        for plug, end in self.inventory.behind.items():
            declared = self.inventory.shared_at(plug) if end not in bridged else []
            if not declared:
                continue
            serial, port = self.inventory.known_as(plug[0]), self.ports.port(end)
            node, whole = names.part(serial, plug[1]), names.named("dev", serial)
            vlans = self.inventory.carried(end)
            if port.private is not None:
                group = names.group_of("isolated", end[1], port.private)
                met = [(vlan, group, self.inventory.met_by(end, vlan)) for vlan in vlans]
            else:
                met = [*self._met(end[0], vlans if port.known else sorted({*vlans, *self.inventory.vlans}))]
            for vlan, group, segment in met:
                yield SplitCopy(names.copy(node, vlan, group), segment, whole, self._numbers(declared))

    def _instances(self) -> Iterator[SplitCopy]:
        shared = self.inventory.shared
        for switch in self.inventory.switches.values():
            for known_as, node, vlans in instances(self.inventory, switch):
                if known_as in shared:
                    for vlan, group, segment in self._met(switch["name"], vlans):
                        numbers = self._numbers(shared[known_as])
                        yield SplitCopy(names.copy(node, vlan, group), segment, node, numbers, "E10")
            for node, segment, (vlan, group) in self._addresses(switch):
                if switch["name"] in shared:
                    numbers = self._numbers(shared[switch["name"]])
                    yield SplitCopy(names.copy(node, vlan, group), segment, node, numbers, "E10")

    def _addresses(self, switch: Json) -> Iterator[tuple[str, str, tuple[int, str]]]:
        """(node, segment, (VLAN, group)) of each address of a switch that is not known to route."""
        if switch["ip_routing"] is True and switch["routed_vlans"] is not None:
            return
        stated = switch["routed_vlans"]
        for number in self.inventory.vlans if stated is None else stated:
            for place, (vlan, group, segment) in enumerate(self._met(switch["name"], [number])):
                name = f"vlan-{vlan}-{place}" if place else f"vlan-{vlan}"
                yield names.part(switch["serial"], name), segment, (vlan, group)

    def _roles(self, switch: str, vlan: int) -> frozenset[str] | None:
        """The guards that keep the groups of a private VLAN apart; None where nothing does, or perhaps nothing."""
        found = self.ground.assumed("A7") | self.ground.assumed("A1")
        record = self.inventory.switches[switch]
        for declared in (*self._promiscuous(switch, vlan), *self._routing_in(record, vlan)):
            if not declared:
                return None
            found |= self.ground.declared(declared)
        return None if any(item["vlan"] == vlan for item in record["vteps"]) else found

    def _promiscuous(self, switch: str, vlan: int) -> Iterator[list[Json]]:
        """The declarations of whatever is on a promiscuous port; none of what is not declared, or may be there."""
        bridged = {*self.inventory.uplinks.values()}
        ends = [(end, [] if end in bridged else self.inventory.shared_at(plug)) for plug, end in self._plugs()]
        for end, declared in (*ends, *((end, []) for link in self.inventory.links for end in link)):
            port = self.ports.port(end)
            if end[0] == switch and port.private is None:
                yield from [] if port.known else [list[Json]()]
                yield from [declared] if vlan in self.inventory.carried(end) else []

    def _plugs(self) -> list[tuple[tuple[str, str], End]]:
        return [*self.inventory.behind.items()]

    def _routing_in(self, switch: Json, vlan: int) -> Iterator[list[Json]]:
        stated, shared = switch["routed_vlans"], self.inventory.shared
        if switch["ip_routing"] is not False and (stated is None or vlan in stated):
            yield shared.get(switch["name"], [])
        for item in switch["vrfs"]:
            if vlan in item["vlans"]:
                yield shared.get(names.declared_as(switch["name"], item["name"]), [])

    def _planned(self) -> None:
        """V-IPU controllers and the storage appliance: each port or address is a copy."""
        for device, attachment, kind, tenant in self.ground.premises.copies:
            declared = self.inventory.declarations(kind)
            guards = self.ground.declared(declared) if declared else None
            self.ground.join_unless(guards, "E9", device, [attachment])
            if not self._is_welcome(declared, tenant):
                self.ground.labels[attachment].add(OPERATOR)

    def _is_welcome(self, declared: list[Json], tenant: str) -> bool:
        """Of several appliances nobody can tell which has the address."""
        if any(item["kind"] == _APPLIANCE for item in declared):
            return all(welcome([item], tenant) for item in declared)
        return not declared or welcome(declared, tenant)

    def _gateways(self) -> None:
        declared = self.inventory.declarations(_EXTERNAL)
        tables = [
            ("scopes", self.inventory.site["external"]["name"]),
            *(("rights", kind) for kind in references.SCOPES),
        ]
        is_open = self.ground.premises.is_scope_open or any(self.inventory.is_open(*table) for table in tables)
        filtered = self.ground.declared(declared) if declared and not is_open else None
        for router, reference, is_passing, tenant in self.ground.premises.gateways:
            if reference != references.EXTERNAL:
                self.ground.join("E11", router, [names.named("ref", reference)])
                continue
            copy = names.gateway_copy(self.inventory.hub, router)
            self.ground.join("E11", router, [copy])
            self.ground.join_unless(None if is_passing else filtered, "E11", copy, [self.inventory.hub])
            if not self._is_welcome(declared, tenant):
                self.ground.labels[copy].add(OUTSIDE)

    def _keys(self) -> None:
        """With one full member all members of a P_Key are one, unless every full member is a declared terminal."""
        full: defaultdict[str, set[str]] = defaultdict(set)
        members = self.ground.premises.keys
        declared = {names.guid(name): found for name, found in self.inventory.shared.items() if names.is_guid(name)}
        for key, port, membership, _ in members:
            if membership == "full":
                full[key].add(port)
        for key, port, _, fabric in members:
            self.ground.join_unless(self.ground.assumed("A6"), "E19", port, [fabric])
            served = [declared.get(other, []) for other in full[key]]
            if served:
                guards = self.ground.declared(item for found in served for item in found) if all(served) else None
                self.ground.join_unless(guards, "E19", port, [key])
            owners = self.ground.labels.get(port, set()) - RESERVED
            for other in (full[key] & declared.keys()) - {port}:
                if not all(welcome(declared[other], owner) for owner in owners):
                    self.ground.join("E19", port, [other])
        ports = {*declared, *(port for _, port, _, _ in members if not self.ground.labels.get(port))}
        for port in ports:
            self.ground.labels[port].add(OPERATOR)

    def outsiders(self) -> None:
        """A copy is the device itself for whoever is not in its audience; who meets it follows from all other edges."""
        limited = [copy for copy in self.copies if not welcome(self._of(copy), "*")]
        class_of, labels = (self.ground.classes(), self.ground.tenants) if limited else ({}, {})
        met: defaultdict[str, set[str]] = defaultdict(set)
        for node, owners in labels.items():
            met[class_of.get(node, node)] |= owners
        for copy in limited:
            here = met[class_of.get(copy.node, copy.node)]
            if not all(welcome(self._of(copy), tenant) for tenant in here):
                self.ground.join("E9", copy.node, [copy.whole])
