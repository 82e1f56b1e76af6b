"""What of the specification a witness comes from: the entries behind each edge of a path, and behind labels.

For each row of the table of edges: which entries put the edge there, and which changes take it away again. What a
guard keeps away goes when all its facts hold; what several cables or tenants join goes when each of them lets go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.planning.plan import Plan
from interlock.resources import RouterInterface, VolumeAttachment
from interlock.vocabulary.entries import SpecEntry, of_lock, of_resource, of_site
from interlock.vocabulary.nodes import (
    PartitionKeyNode,
    SwitchPortNode,
    VlanNode,
    is_capability,
    is_device,
    is_vlan,
    parse,
)
from policies.about import PlanComponent, PlanResource, SiteDevice, SiteFact, Subject, UndeclaredSharing
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.footprints.boundary import PARTITION
from policies.graph.model import Model
from policies.graph.search import facts_of
from policies.proof import Finding

from .spec_objects import FIXED, Objects, Support, fact_entry, ways

if TYPE_CHECKING:
    from policies.graph.search import EdgeFacts, Graph


class SpecEntries:
    """The entries of one model and the plan that it is of."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self.model = model
        self.plan = plan
        self.objects = Objects(model)

    # What a finding is about

    def of_finding(self, finding: Finding) -> tuple[SpecEntry, ...]:
        """What causes a finding: what its rule says that it is about, and what its path shows."""
        return tuple(dict.fromkeys((*self._of_subjects(finding.subjects), *self.along(self.model.may, finding.path))))

    def along(self, graph: Graph, path: tuple[str, ...]) -> tuple[SpecEntry, ...]:
        """The entries behind a path, in its order; behind the labels of a single node."""
        supports = [support for a, b in pairwise(path) for support in self.edge(graph, a, b)]
        if len(path) == 1:
            own = self.model.plan.owner
            labels = sorted(self.model.label(path[0]), key=lambda label: (label != own, label))
            supports = [support for label in labels for support in self.label(path[0], label)]
        found = (entry for support in supports for way in support for entry in sorted(way))
        return tuple(dict.fromkeys(found))

    def _of_subjects(self, subjects: Iterable[Subject]) -> list[SpecEntry]:
        """Facts, and of what the plan and the site have: the resources, else the components, else the devices."""
        facts, resources, components, devices = (list[SpecEntry]() for _ in range(4))
        for subject in subjects:
            match subject:
                case PlanResource(name):
                    resources += [of_resource(name)] if name in self.plan.by_name else []
                case PlanComponent(name):
                    components += [of_resource(name)] if name in self.plan.component else []
                case SiteDevice(name):
                    devices += self._records(name)
                case SiteFact() | UndeclaredSharing():
                    facts += [entry] if (entry := fact_entry(subject)) is not None else []
        return facts + (resources or components or devices)

    def _records(self, device: str) -> Iterator[SpecEntry]:
        """Where the site file has a device."""
        site = self.model.site.site
        fabric = self.model.site.infiniband.switch
        tables = (
            ("switches", site.switch), ("machines", site.machine), ("hosts", site.host), ("fabric_switches", fabric)
        )  # fmt: skip
        yield from (of_site(f"{section}.{device}") for section, table in tables if device in table)

    # Why an edge is there

    @cached_property
    def _own(self) -> dict[frozenset[str], list[str]]:
        found: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for edge in self.model.own.edges:
            found[frozenset((edge.a, edge.b))].append(edge.rule)
        return dict(found)

    @cached_property
    def _others(self) -> dict[frozenset[str], list[str]]:
        found: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for share in self.model.others:
            for edge in share.edges:
                found[frozenset((edge.a, edge.b))].append(share.owner)
        return dict(found)

    def edge(self, graph: Graph, a: str, b: str) -> list[Support]:
        """Every reason for an edge: it is gone when each of them is taken away."""
        if not graph.has_edge(a, b):
            return []
        pair, facts = frozenset((a, b)), facts_of(graph, a, b)
        own = self._own.get(pair, [])
        found = [self._planned(rule, a, b) for rule in own]
        found += [ways([of_lock(owner)]) for owner in self._others.get(pair, ())]
        if facts["rule"] != PARTITION and facts["rule"] not in own:
            found += self._resolved(facts, a, b)
        return found

    def _planned(self, rule: str, a: str, b: str) -> Support:
        """An edge of the plan alone."""
        objects, special = self.objects, self._connecting(rule, a, b)
        if rule == "E9":
            return ways(special or [*objects.of(a if is_device(a) else b)])
        return ways([*special, *objects.networks(a, b), *objects.of(a), *objects.of(b)])

    def _connecting(self, rule: str, a: str, b: str) -> list[SpecEntry]:
        """Resources that are no node of their own: they lie between two."""
        ends = {entry.name for node in (a, b) for entry in self.objects.of(node)}
        if rule == "E8":
            return [of_resource(item.name) for item in self.model.plan.trunks if item.port in ends]
        if rule == "E9":
            return [of_resource(name) for name, spec in self._attachments if {spec.server, spec.volume} <= ends]
        if rule == "E10":
            networks = {entry.name for entry in self.objects.networks(a, b)}
            subnets = {item.name for item in self.model.plan.subnets if item.network in networks}
            return [
                of_resource(name) for name, spec in self._interfaces if spec.router in ends and spec.subnet in subnets
            ]
        return []

    @cached_property
    def _attachments(self) -> list[tuple[str, VolumeAttachment]]:
        found = ((item.name, item.resource) for item in self.plan.resources)
        return [(name, spec) for name, spec in found if isinstance(spec, VolumeAttachment)]

    @cached_property
    def _interfaces(self) -> list[tuple[str, RouterInterface]]:
        found = ((item.name, item.resource) for item in self.plan.resources)
        return [(name, spec) for name, spec in found if isinstance(spec, RouterInterface)]

    def _resolved(self, facts: EdgeFacts, a: str, b: str) -> list[Support]:
        """An edge that the union decides."""
        guards = [fact_entry(fact) for fact in (*facts["broken"], *facts["missing"])]
        if guards:
            together = frozenset(entry for entry in guards if entry is not None)
            rest = ways([*self.objects.networks(a, b), *self.objects.of(a), *self.objects.of(b)])
            return [((together, *rest) if together and None not in guards else rest)]
        row = self._rows.get(facts["rule"])
        if row is not None:
            return row(a, b)
        return [ways([*self.objects.networks(a, b), *self.objects.of(a), *self.objects.of(b)])]

    @cached_property
    def _rows(self) -> dict[str, Callable[[str, str], list[Support]]]:
        """Row of the table of edges -> why such an edge is there, where no guard decides."""
        return {
            "E1": self._link, "E2": self._link, "E3": self._overlay, "E4": self._uplink, "E5": self._behind_port,
            "E9": self._attached, "E10": self._routing, "E12": self._external, "E13": self._rights,
            "E19": self._members,
        }  # fmt: skip

    def _link(self, a: str, b: str) -> list[Support]:
        """VLANs of two switches."""
        return (self.objects.links(a, b) if is_vlan(a) and is_vlan(b) else []) or [FIXED]

    def _attached(self, a: str, b: str) -> list[Support]:
        """A cable stays where it is: what its switch port carries can change."""
        is_cable = any(isinstance(parse(node), SwitchPortNode) for node in (a, b))
        return [FIXED] if is_cable else [ways([*self.objects.of(a), *self.objects.of(b)])]

    def _external(self, _a: str, _b: str) -> list[Support]:
        """The wire of the external network."""
        return [ways([of_site("external.vlan"), of_site("external.physical_network")])]

    def _overlay(self, a: str, b: str) -> list[Support]:
        """A VLAN and its overlay, or Neutron's overlay and the one of its underlay."""
        return [ways(self._mapped(a, b))]

    def _mapped(self, a: str, b: str) -> Iterator[SpecEntry]:
        site = self.model.site
        for node in (a, b):
            vlan = parse(node)
            if isinstance(vlan, VlanNode) and vlan.bridge in site.switch_of_bridge:
                switch = site.switch_of_bridge[vlan.bridge].name
                yield of_site(f"switches.{switch}.vteps.{vlan.number}")
        yield from (of_site(f"underlays.{item.name}") for item in site.site.underlays if item.neutron)

    def _uplink(self, a: str, b: str) -> list[Support]:
        """A host's interface, or its own system there, and the switch port behind it."""
        if not (is_vlan(a) and is_vlan(b)):
            return self._behind_port(a, b)
        host, switch = (a, b) if ids.vlan_of(a).is_of_host else (b, a)
        end = self.model.site.uplink.get(ids.bridge_and_vlan(host)[0])
        return self.objects.carried(end, ids.bridge_and_vlan(switch)[1]) if end is not None else [FIXED]

    def _behind_port(self, a: str, b: str) -> list[Support]:
        """A device that may tag, and a VLAN of the switch port behind it."""
        node, wire = (a, b) if ids.is_wire(b) else (b, a)
        end = self.objects.end_of.get(ids.shared_by_copies(node))
        if end is not None:
            return self.objects.carried(end, ids.bridge_and_vlan(wire)[1])
        return [ways([*self.objects.of(node), *self.objects.networks(node)])]

    def _routing(self, a: str, b: str) -> list[Support]:
        """A routing instance of a switch, and a VLAN in which it has an address."""
        return [ways(self._addresses(a, b))]

    def _addresses(self, a: str, b: str) -> Iterator[SpecEntry]:
        instance = ids.shared_by_copies(b if is_vlan(a) else a)
        for switch in self.model.site.site.switches:
            if instance in {ids.part(switch.serial, f"vlan-{vlan}") for vlan in switch.routed_vlans or ()}:
                yield of_site(f"switches.{switch.name}.routed_vlans")
            if instance == ids.default_vrf(switch.serial):
                yield of_site(f"switches.{switch.name}.routed_vlans")
                yield of_site(f"switches.{switch.name}.ip_routing")
            found = (item.name for item in switch.vrfs if instance == ids.vrf(switch.serial, item.name))
            yield from (of_site(f"switches.{switch.name}.vrfs.{name}") for name in found)

    def _rights(self, a: str, b: str) -> list[Support]:
        """Who opened a network, or gave a right to it."""
        plan, found = self.model.plan, list[Support]()
        names = {entry.name for entry in self.objects.networks(a, b)}
        own = [item.name for item in plan.networks if item.name in names and item.shared]
        own += [item.name for item in plan.rights if item.object in names]
        found += [ways([of_resource(name)]) for name in own]
        for node in (a, b):
            for relation in (Relation.OFFERED, Relation.RIGHT, Relation.SOMEWHERE):
                found += [ways([lock]) for lock in self.objects.holders(relation, node)]
        return found or [FIXED]

    def _members(self, a: str, b: str) -> list[Support]:
        """A port in a P_Key: whose plan put it there."""
        key, port = (a, b) if isinstance(parse(a), PartitionKeyNode) else (b, a)
        found = [ways([lock]) for lock in self.objects.holders(Relation.KEY, key, port)]
        return [*found, *([ways(self.objects.of(key))] if self.objects.of(key) else [])] or [FIXED]

    # Why a label is there

    def label(self, node: str, label: str) -> list[Support]:
        """Every reason for a label on a node; one that is fixed is the site's, or what a tenant is."""
        found = [ways([of_lock(share.owner)]) for share in self.model.others if label in share.labels.get(node, ())]
        if label in self.model.own.labels.get(node, ()):
            found += self._own_label(node)
        put = {owner for share in (self.model.own, *self.model.others) for owner in share.labels.get(node, ())}
        return found if label in put and found else [FIXED]

    def _own_label(self, node: str) -> list[Support]:
        if is_capability(node):
            return [FIXED]
        found = [ways([entry]) for entry in (*self.objects.networks(node), *self.objects.of(node)) if ids.is_wire(node)]
        found = found or [ways([entry]) for entry in (*self.objects.of(node), *self._borrowed(node))]
        return found or [FIXED]

    def _borrowed(self, node: str) -> Iterator[SpecEntry]:
        """What lends a machine's RNIC or a bare-metal host."""
        site, plan = self.model.site, self.model.plan
        for item in plan.switch_ports:
            machine = site.site.machine.get(item.device)
            serial = machine.serial if machine is not None else site.serial(item.device)
            if node == ids.part(serial, item.interface):
                yield of_resource(item.name)
        for allocation in plan.allocations:
            if node in map(self.objects.facts.rnic, allocation.machines):
                yield of_resource(allocation.name)
        for server in plan.servers:
            if server.is_bare_metal and node in site.interfaces(server.host):
                yield of_resource(server.name)
