"""The shape of edges, premises and the table rows that yield them (docs/design/semantics.md, edges)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from interlock.model.lock.record import Premise
from interlock.vocabulary.digits import is_number
from interlock.vocabulary.nodes import VlanNode, is_identity, parse, switch_vlan
from policies.about import Fact, SaidFact, SiteFact
from policies.facts import identities as ids
from policies.facts.port_modes import PortMode, SwitchEnd
from policies.facts.site import SiteFacts

F = TypeVar("F")

#: Role of a port that hears promiscuous ports only; any other word is the name of a community.
ISOLATED = "isolated"


@dataclass(frozen=True)
class Edge:
    """Two nodes that data may flow between."""

    a: str
    b: str
    rule: str
    #: The facts without which nobody knows whether it does.
    missing: tuple[Fact, ...] = ()
    #: The facts that would remove this edge and are known not to hold.
    broken: tuple[Fact, ...] = ()
    #: The guards that keep this edge away: all known to hold, so it is in no graph. The certificate names it, so that
    #: a checker can see what the verdict rests on.
    held: tuple[Fact, ...] = ()
    #: All guards that it takes to keep it away, whatever is stated of them; empty where no guard can do that.
    guards: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class EdgeRule(Generic[F]):
    """One row of the table: the rule's id and what it says, and the edges that it reads off the facts."""

    id: str
    title: str
    edges: Callable[[F], Iterable[Edge]]


class Relation(StrEnum):
    """What a premise says; the columns are in the order of its tuple."""

    #: switch serial, port, VLAN: an access port that a plan asks for (half of E1, E2, E5).
    UNTAGGED = "untagged"
    #: port node, host bridge: an attachment that reaches every VLAN of the switch port behind it (E5).
    EVERY_VLAN = "every-vlan"
    #: port node, host, physical network, VLAN: a port whose host has no interface on that network (E7).
    UNPLACED = "unplaced"
    #: router node, external network, "filtered", "in scope" or "IPv6", tenant (E11).
    GATEWAY = "gateway"
    #: server node, attachment node, kind of sharing, tenant that meets it: a declared terminal (E9).
    COPY = "copy"
    #: server node, host, "server" or "controller" (E18).
    GUEST = "guest"
    #: server node, host, flavour: the flavour hands out devices of that host (E5).
    PASSTHROUGH = "passthrough"
    #: host, server node, and what the server takes there, as `policies.facts.room` writes them (CAP-02).
    TAKES = "takes"
    #: server node, host: a whole host that is lent out (E14).
    METAL = "metal"
    #: key node, port node, "full" or "limited", fabric node (E19).
    KEY = "key"
    #: partition node, fabric node (E17).
    NVLINK = "nvlink"
    #: capability node (E13).
    CAPABILITY = "capability"
    #: address scope or subnet pool that every project may use (E11).
    OPEN_SCOPE = "open-scope"
    #: segment, router or external network that every project may plug into (E13).
    OFFERED = "offered"
    #: segment, router or external network, and the capability of the tenant (or `op`) that may plug into it (E13).
    RIGHT = "right"
    #: segment, owner, network, the segment in words, "held" or "released".
    CLAIM = "claim"
    #: exclusive identity, owner, vPOD: released, and not yet seen to be let go.
    RESIDUE = "residue"
    #: node of the claim, VLAN, claim: released, and its physical network is not recorded.
    SOMEWHERE = "somewhere"
    #: what a former holder may have left, the device that it is on: cleaned and given out again (A9).
    SETTLED = "settled"
    #: way, source, target, what gives it: a grant (Auth).
    GRANT = "grant"
    #: principal or object, label: whose it is, who therefore writes it.
    HOLDS = "holds"
    #: object, name: declared open to everybody by the request, for reading.
    EXPOSED = "exposed"
    #: object, guard of A11: its grants hold only while the service keeps to them.
    RULED = "ruled"
    #: share, address of the appliance, tenant that meets it, prefix of the clients, what gives it: a grant by address.
    MOUNTS = "mounts"
    #: controller, port node, tenant that meets it: where it can be called.
    LISTENS = "listens"


def premise(relation: Relation, *columns: str) -> Premise:
    """One premise."""
    return Premise(relation=str(relation), tuple=columns)


@dataclass(frozen=True)
class GraphFragment:
    """One owner's part of the whole: its edges, labels and premises. Plans yield them, and so do locks."""

    owner: str
    edges: tuple[Edge, ...]
    labels: dict[str, frozenset[str]]
    premises: tuple[Premise, ...]
    exclusive: frozenset[str] = frozenset()
    #: Entries from outside, and grants to others, in words.
    exposures: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    #: Labelled nodes that the owner has only in what is applied, and no more in the plan.
    former: frozenset[str] = frozenset()
    #: Those login keys in `exclusive` that a lock notes: the request names them no more, servers may still have them.
    former_keys: frozenset[str] = frozenset()

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Every node that this owner's plan mentions."""
        ends = {end for edge in self.edges for end in (edge.a, edge.b)}
        named = {column for item in self.premises for column in item.tuple if is_identity(column)}
        return frozenset(ends | set(self.labels) | named)


def private_group(bridge: str, vlan: int, port: int, role: str) -> str:
    """The part of a private VLAN that a port with this role is on: an isolated one is alone there."""
    return ids.private_segment(bridge, vlan, f"port-{port}" if role == ISOLATED else f"group-{role}")


class Union:
    """What the edges between owners are resolved from: the site and the premises of all shares."""

    def __init__(self, site: SiteFacts, shares: Iterable[GraphFragment]) -> None:
        self.site = site
        self.shares = tuple(shares)
        #: Nodes that some owner names: only these are worth materialising.
        self.nodes: set[str] = set()
        self._tuples: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for share in self.shares:
            self.nodes |= share.nodes
            for item in share.premises:
                self._tuples[item.relation].add(item.tuple)

        self._sorted: dict[str, list[tuple[str, ...]]] = {}
        #: Most ports of a site are set like others.
        self._carried: dict[PortMode, tuple[int, ...]] = {}

    def facts(self, relation: Relation) -> list[tuple[str, ...]]:
        """The tuples of one relation, sorted."""
        name = str(relation)
        if name not in self._sorted:
            self._sorted[name] = sorted(self._tuples[name])
        return self._sorted[name]

    @cached_property
    def claims_on(self) -> dict[str, list[tuple[str, ...]]]:
        """Segment -> the tuples of the claims on it."""
        found: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for item in self.facts(Relation.CLAIM):
            found[item[0]].append(item)
        return dict(found)

    @cached_property
    def claimed_at(self) -> dict[str, frozenset[int]]:
        """Switch -> the VLANs there that networks claim, of plans and of what is released and not settled."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for segment in self.claims_on:
            vlan = switch_vlan(segment)
            if vlan is not None and (switch := self.site.switch_of_bridge.get(vlan.bridge)) is not None:
                found[switch.name].add(vlan.number)
        return {name: frozenset(vlans) for name, vlans in found.items()}

    @cached_property
    def named_vlans(self) -> frozenset[int]:
        """The VLAN ids that somebody claims, configures or uses."""
        used = {node.number for node in map(parse, self.nodes) if isinstance(node, VlanNode)}
        planned = {int(vlan) for _, _, vlan in self.facts(Relation.UNTAGGED)}
        released = {int(vlan) for _, vlan, _ in self.facts(Relation.SOMEWHERE) if is_number(vlan)}
        return frozenset(used | planned | released | self.site.vlans)

    @cached_property
    def vlans(self) -> tuple[int, ...]:
        """The VLAN ids that need nodes: those that are named, and of the others one for each stretch of the lists.

        Whoever sends any tag meets others by an id that nobody named; ids between which no list divides go one way.
        """
        found = set(self.named_vlans)
        for low, high in self.site.stretches:
            nameless = (vlan for vlan in range(low, high + 1) if vlan not in self.named_vlans)
            found.update(islice(nameless, 1))
        return tuple(sorted(found))

    @cached_property
    def mode(self) -> dict[SwitchEnd, PortMode]:
        """How each cabled switch port is set: as the site file says, and as any plan asks for besides."""
        ends = {end for _, end in self.site.device_ends} | {end for pair in self.site.switch_links for end in pair}
        return {end: self.mode_of(end) for end in ends}

    @cached_property
    def _asked(self) -> dict[tuple[str, int], frozenset[int]]:
        """(serial, port) -> the access VLANs that plans ask for."""
        asked: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for switch, port, vlan in self.facts(Relation.UNTAGGED):
            asked[switch, int(port)].add(int(vlan))
        return {place: frozenset(vlans) for place, vlans in asked.items()}

    def mode_of(self, end: SwitchEnd) -> PortMode:
        """How any switch port is set, cabled or not."""
        # A plan says what a port will be; what it is until then, without a record of it, it leaves unknown.
        stated = self.site.configured(end).filled_with(self.claimed_at)
        serial = {port: self.site.site.switch[port.switch].serial for port in self.site.logical.set_with(end)}
        asked = {vlan for port, found in serial.items() for vlan in self._asked.get((found, port.port), ())}
        if not asked:
            return stated
        # An access port's frames are without a tag.
        return replace(stated, untagged=stated.untagged | asked, perhaps_tagged=stated.perhaps_tagged - asked)

    def natives(self, end: SwitchEnd) -> Iterator[tuple[int, tuple[Fact, ...]]]:
        """The VLANs that frames without a tag may belong to, and for each the facts without which nobody knows."""
        mode = self.mode[end]
        for vlan in sorted(mode.untagged):
            fact = SiteFact(f"switches.{end.switch}.ports.{end.port}.tag_native")
            yield vlan, (fact,) if vlan in mode.perhaps_tagged else ()

    def segment(self, end: SwitchEnd, vlan: int) -> str:
        """A VLAN as a switch port meets it: the whole, or in a private VLAN the group of the port."""
        bridge, role = ids.switch_bridge(self.site.site.switch[end.switch].serial), self.mode[end].private
        if role is None:
            return ids.vlan_segment(bridge, vlan)
        return private_group(bridge, vlan, end.port, role)

    @cached_property
    def private_groups(self) -> dict[tuple[str, int], tuple[str, ...]]:
        """(switch, VLAN) -> the segments of its isolated ports and communities."""
        found: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for end in self.mode:
            if self.mode[end].private is not None:
                for vlan in self.carried(end):
                    found[end.switch, vlan].add(self.segment(end, vlan))
        return {place: tuple(sorted(groups)) for place, groups in sorted(found.items())}

    def inside(self, end: SwitchEnd, tag: int) -> dict[int, tuple[Fact, ...]]:
        """The VLANs that frames with this tag may belong to, and for each the facts without which nobody knows."""
        mode = self.mode[end]
        found = {vlan: self._unless_taken(end, vlan, tag) for vlan in sorted(mode.inside(tag))}
        for vlan in sorted(mode.perhaps_inside(tag)):
            found[vlan] = (SiteFact(f"switches.{end.switch}.ports.{end.port}.tagged"),)
        for vlan in sorted(mode.natives_of(tag)):
            found.setdefault(vlan, self._unless_taken(end, vlan, tag))
        return found

    def _unless_taken(self, end: SwitchEnd, vlan: int, tag: int) -> tuple[Fact, ...]:
        """What nobody knows of a VLAN that a port sends without a tag, listed or not: whether it takes it with one."""
        mode = self.mode[end]
        if vlan not in mode.untagged or self.surely_tagged(end, vlan, tag):
            return ()
        port = f"{end.switch} port {end.port}"
        if mode.tag_native is None:
            return (SiteFact(f"switches.{end.switch}.ports.{end.port}.tag_native"),)
        if vlan in self.site.configured(end).untagged:
            return (SaidFact(f"whether {port} takes its untagged VLAN {vlan} with a tag"),)
        return (SaidFact(f"whether {port} takes frames with the tag of the VLAN {vlan} that a plan sets there"),)

    def surely_tagged(self, end: SwitchEnd, vlan: int, tag: int) -> bool:
        """True if the port, or another of its bundle, carries a VLAN by a tag by its record, and not as native."""
        stated = self.site.configured(end)
        return any(vlan not in item.untagged and vlan in item.inside(tag) for item in stated.members or (stated,))

    def carried(self, end: SwitchEnd) -> tuple[int, ...]:
        """The VLANs inside the switch that a device behind a port reaches: the native one, and each by some tag."""
        return self.carried_by(self.mode[end])

    def carried_by(self, mode: PortMode) -> tuple[int, ...]:
        """The same of a port that is set like this."""
        if mode not in self._carried:
            self._carried[mode] = self._reached(mode)
        return self._carried[mode]

    def _reached(self, mode: PortMode) -> tuple[int, ...]:
        if not mode.translations:
            return tuple(sorted(mode.untagged.union(filter(mode.carries, self.vlans))))
        # A list that names a translated VLAN in either way is taken to let it in: what is behind may send any frame.
        inner = (vlan for tag in self.vlans for vlan in mode.inside(tag) | mode.perhaps_inside(tag))
        return tuple(sorted(mode.untagged.union(inner)))
