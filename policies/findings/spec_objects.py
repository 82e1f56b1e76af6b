"""Which entry of the specification a node or a setting of a switch comes from.

An entry is a resource of the plan under judgement (a component of it goes by its name too), a fact of the site in its
full form, or the lock of another tenant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from interlock.vocabulary.entries import SpecEntry, of_lock, of_resource, of_site
from interlock.vocabulary.nodes import (
    AllocationNode,
    CapabilityNode,
    ExternalNetworkNode,
    NeutronPortNode,
    RouterNode,
    ServerNode,
    VolumeNode,
    parse,
)
from policies.about import Fact, SiteFact, UndeclaredSharing
from policies.edges.plan import PlanOnSite
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts.fabric import SwitchPortFact
from policies.facts.kinds import NetworkFact
from policies.facts.port_modes import PortMode, SwitchEnd
from policies.graph.model import Model

#: One change: the entries that have to change together.
Way = frozenset[SpecEntry]
#: One reason for an edge or a label, with every change that takes it away.
Support = tuple[Way, ...]
#: A reason that no entry takes away.
FIXED: Support = ()


def ways(entries: Iterable[SpecEntry]) -> Support:
    """Each entry is a change of its own."""
    return tuple(frozenset({entry}) for entry in dict.fromkeys(entries))


def fact_entry(fact: Fact) -> SpecEntry | None:
    """The entry of a fact; None for one that has no place in the site file."""
    match fact:
        case SiteFact(path):
            return of_site(path)
        case UndeclaredSharing():
            return of_site("sharing")
        case _:
            return None


class Objects:
    """The entries behind the nodes of one model, and behind what switch ports carry."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plan = model.plan
        self.facts = PlanOnSite(model.site, model.plan)
        self._others = {share.owner for share in model.others}

    @cached_property
    def _named(self) -> dict[str, list[str]]:
        """Node -> the resources of this plan that are it."""
        plan, facts = self.plan, self.facts
        found: defaultdict[str, list[str]] = defaultdict(list)
        pairs = [(facts.server(item.name), item.name) for item in plan.servers]
        pairs += [(facts.port(item.name), item.name) for item in plan.ports]
        pairs += [(facts.router(item.name), item.name) for item in plan.routers]
        pairs += [(ids.volume(plan.owner, item.name), item.name) for item in plan.volumes]
        pairs += [(ids.allocation(item.owner, item.name), item.name) for item in plan.allocations]
        pairs += [(ids.nvlink_partition(item.domain, item.partition), item.name) for item in plan.nvlinks]
        pairs += [(ids.share_address(facts.site.site.cloud, item.vip), item.name) for item in plan.accesses]
        pairs += [(facts.key(item)[0], item.name) for item in plan.keys]
        for node, name in pairs:
            found[node].append(name)
        return dict(found)

    @cached_property
    def _networks(self) -> dict[str, list[str]]:
        """Segment -> the networks of this plan that claim it, or that a port of this plan has there."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for network in self.plan.networks:
            for node in self.facts.plug_points(network):
                found[node].append(network.name)
        return dict(found)

    @cached_property
    def _network_of_port(self) -> dict[str, str]:
        return {self.facts.port(port.name): network.name for port, network in self.facts.attached_ports()}

    def of(self, node: str) -> tuple[SpecEntry, ...]:
        """The object that a node is: a resource of this plan, or another tenant's."""
        if node in self._named:
            return tuple(map(of_resource, self._named[node]))
        hub = parse(node)
        if isinstance(hub, ExternalNetworkNode) and hub.router is not None:
            return self.of(str(hub.router))
        owner = _owner_in(node)
        return (of_lock(owner),) if owner in self._others else ()

    def networks(self, *nodes: str) -> tuple[SpecEntry, ...]:
        """The networks of this plan at these nodes: segments that they claim, ports that are on them."""
        claimed = (name for node in nodes for name in self._networks.get(node, ()))
        plugged = (self._network_of_port[node] for node in nodes if node in self._network_of_port)
        return tuple(map(of_resource, dict.fromkeys((*plugged, *claimed))))

    def holders(self, relation: Relation, *columns: str) -> tuple[SpecEntry, ...]:
        """The others whose locks hold a premise that begins so."""
        found = self._premises.get((str(relation), columns[0]), ())
        return tuple(dict.fromkeys(of_lock(owner) for owner, told in found if told[: len(columns)] == columns))

    @cached_property
    def _premises(self) -> dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]]:
        """(relation, first column) -> (owner, columns) of each premise of the others."""
        found: defaultdict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for share in self.model.others:
            for item in share.premises:
                found[item.relation, item.tuple[0]].append((share.owner, item.tuple))
        return dict(found)

    # Switch ports

    def port_entry(self, end: SwitchEnd) -> SpecEntry:
        """The record of a switch port in the site file."""
        return of_site(f"switches.{end.switch}.ports.{end.port}")

    def carried(self, end: SwitchEnd, vlan: int) -> list[Support]:
        """Why a switch port carries a VLAN: records of it or of others in its bundle, planned ports, others' claims."""
        found: list[Support] = []
        for port in self.model.site.logical.members(end):
            serial, planned = self.model.site.site.switch[port.switch].serial, self._planned_ports(port, vlan)
            found += [ways(planned)] if planned else []
            found += [ways([lock]) for lock in self.holders(Relation.UNTAGGED, serial, str(port.port), str(vlan))]
            if self._in_mode(self.model.site.recorded(port), vlan):
                found.append(ways([self.port_entry(port)]))
        return found or [ways([self.port_entry(end)])]

    def _planned_ports(self, end: SwitchEnd, vlan: int) -> list[SpecEntry]:
        """The switch port that this plan sets, and the network of its vPOD whose id it takes."""
        found: list[SpecEntry] = []
        for item in self._switch_ports.get((end.switch, end.port, vlan), ()):
            found.append(of_resource(item.name))
            same = (net for net in self.plan.networks if (net.vpod, net.segment) == (item.vpod, vlan))
            found += [of_resource(net.name) for net in same if self._reaches(net, end)]
        return found

    def _reaches(self, network: NetworkFact, end: SwitchEnd) -> bool:
        """True if the network is a VLAN of a physical network on that switch."""
        switches = self.model.site.switches_of.get(network.physical_network or "", ())
        return network.kind == "vlan" and any(item.name == end.switch for item in switches)

    @cached_property
    def _switch_ports(self) -> dict[tuple[str, int, int], list[SwitchPortFact]]:
        found: defaultdict[tuple[str, int, int], list[SwitchPortFact]] = defaultdict(list)
        for item in self.plan.switch_ports:
            found[item.switch, item.port, item.vlan].append(item)
        return dict(found)

    def _in_mode(self, mode: PortMode, vlan: int) -> bool:
        tagged = (mode.inside(tag) for tag in self.model.union.vlans)
        return vlan in mode.untagged or any(vlan in inside for inside in tagged)

    def links(self, a: str, b: str) -> list[Support]:
        """Why VLANs of two switches are joined: one reason for each cable that does it, to be cut at either end."""
        (left, near), (right, far) = ids.bridge_and_vlan(a), ids.bridge_and_vlan(b)
        cables = self._cables.get((left, right), ())
        joining = (pair for pair in cables if self._joins(*pair, near, far))
        return [(self._end(x, near), self._end(y, far)) for x, y in joining]

    @cached_property
    def _cables(self) -> dict[tuple[str, str], list[tuple[SwitchEnd, SwitchEnd]]]:
        """Two switches' bridges -> the cables between them, in that order."""
        switch = self.model.site.site.switch
        found: defaultdict[tuple[str, str], list[tuple[SwitchEnd, SwitchEnd]]] = defaultdict(list)
        for a, b in self.model.site.switch_links:
            for x, y in ((a, b), (b, a)):
                left, right = (ids.switch_bridge(switch[end.switch].serial) for end in (x, y))
                found[left, right].append((x, y))
        return dict(found)

    @cached_property
    def link_entries(self) -> frozenset[SpecEntry]:
        """The records of switch ports that lead to another switch."""
        return frozenset(self.port_entry(end) for pair in self.model.site.switch_links for end in pair)

    @cached_property
    def open_trunks(self) -> frozenset[SpecEntry]:
        """Those of them that carry every VLAN, for want of a list."""
        ends = (end for pair in self.model.site.switch_links for end in pair)
        return frozenset(self.port_entry(end) for end in ends if self.model.union.mode[end].tagged is None)

    @cached_property
    def end_of(self) -> dict[str, SwitchEnd]:
        """Node of a switch port, or of what is cabled there -> the switch port."""
        site, found = self.model.site, dict[str, SwitchEnd]()
        for device, end in site.device_ends:
            found[ids.switch_port(site.site.switch[end.switch].serial, end.port)] = end
            found[ids.part(site.serial(device.device), device.interface)] = end
        return found

    def _joins(self, x: SwitchEnd, y: SwitchEnd, near: int, far: int) -> bool:
        left, right = self.model.union.mode[x], self.model.union.mode[y]
        tags = self.model.union.vlans
        tagged = any(near in left.inside(tag) and far in right.inside(tag) for tag in tags)
        return tagged or (near in left.untagged and far in right.untagged)

    def _end(self, end: SwitchEnd, vlan: int) -> Way:
        """All that has to change for one end of a cable to carry a VLAN no more."""
        return frozenset(entry for support in self.carried(end, vlan) for entry in support[0])


def _owner_in(node: str) -> str:
    """The owner that an identity names; empty if it names none."""
    match parse(node):
        case (
            CapabilityNode(owner)
            | ServerNode(owner)
            | NeutronPortNode(owner)
            | RouterNode(owner)
            | VolumeNode(owner)
            | AllocationNode(owner)
        ):
            return owner
        case _:
            return ""
