"""The shape of edges, premises and the table rows that yield them (docs/design/semantics.md, edges)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Generic, TypeVar

from interlock.model.lock import Premise

from . import identities as ids
from .facts import PortMode, SwitchEnd
from .site_facts import SiteFacts

F = TypeVar("F")


@dataclass(frozen=True)
class Edge:
    """Two nodes that data may flow between."""

    a: str
    b: str
    rule: str
    #: The facts without which nobody knows whether it does.
    missing: tuple[str, ...] = ()
    #: The facts that would remove this edge and are known not to hold.
    broken: tuple[str, ...] = ()


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
    #: router node, external network, "filtered" or "in scope", tenant (E11).
    GATEWAY = "gateway"
    #: server node, attachment node, kind of sharing, tenant that meets it: a declared terminal (E9).
    COPY = "copy"
    #: server node, host, "server" or "controller" (E18).
    GUEST = "guest"
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
    #: segment that every project may plug into (E13).
    OFFERED = "offered"
    #: segment, owner, network, the segment in words, "held" or "released".
    CLAIM = "claim"
    #: exclusive identity, owner, vPOD: released, and not yet seen to be let go.
    RESIDUE = "residue"
    #: node of the claim, VLAN, claim: released, and its physical network is not recorded.
    SOMEWHERE = "somewhere"


def premise(relation: Relation, *columns: str) -> Premise:
    """One premise."""
    return Premise(relation=str(relation), tuple=columns)


@dataclass(frozen=True)
class Share:
    """One owner's part of the whole: its edges, labels and premises. Plans yield them, and so do locks."""

    owner: str
    edges: tuple[Edge, ...]
    labels: dict[str, frozenset[str]]
    premises: tuple[Premise, ...]
    exclusive: frozenset[str] = frozenset()
    #: Entries from outside, and grants to others, in words.
    exposures: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Every node that this owner's plan mentions."""
        ends = {end for edge in self.edges for end in (edge.a, edge.b)}
        named = {column for item in self.premises for column in item.tuple if is_node(column)}
        return frozenset(ends | set(self.labels) | named)


_KINDS = (
    "L:", "V:", "X:", "R:", "K:", "N:", "I:", "dev:", "port:", "vol:", "shares:", "vip:", "guid:", "gpu:",
    "cap:", "cpu:", "fabric:", "cloud:", "foreign:", "lost:", "ref:",
)  # fmt: skip


def is_node(text: str) -> bool:
    """True if a column of a premise is a node's identity."""
    return text.startswith(_KINDS)


class Union:
    """What the edges between owners are resolved from: the site and the premises of all shares."""

    def __init__(self, site: SiteFacts, shares: Iterable[Share]) -> None:
        self.site = site
        #: Nodes that some owner names: only these are worth materialising.
        self.nodes: set[str] = set()
        self._tuples: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for share in shares:
            self.nodes |= share.nodes
            for item in share.premises:
                self._tuples[item.relation].add(item.tuple)

        self._sorted: dict[str, list[tuple[str, ...]]] = {}

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
    def vlans(self) -> tuple[int, ...]:
        """The VLAN ids that somebody claims, configures or uses; no other id needs nodes."""
        used = {ids.bridge_and_vlan(node)[1] for node in self.nodes if node.startswith("L:")}
        planned = {int(vlan) for _, _, vlan in self.facts(Relation.UNTAGGED)}
        site = self.site.site
        routed = {vlan for switch in site.switches for vlan in switch.routed_vlans or ()}
        natives = {port.untagged for switch in site.switches for port in switch.ports if port.untagged is not None}
        return tuple(sorted(used | planned | routed | natives))

    @cached_property
    def mode(self) -> dict[SwitchEnd, PortMode]:
        """How each cabled switch port is set: as the site file says, and as any plan asks for besides."""
        asked: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for serial, port, vlan in self.facts(Relation.UNTAGGED):
            asked[serial, int(port)].add(int(vlan))
        ends = {end for _, end in self.site.device_ends} | {end for pair in self.site.switch_links for end in pair}
        return {end: self._mode(end, asked[self.site.site.switch[end.switch].serial, end.port]) for end in ends}

    def _mode(self, end: SwitchEnd, asked: set[int]) -> PortMode:
        stated = self.site.configured(end)
        # A port that a plan sets is known even where the site file has no record of it.
        return PortMode(known=stated.known or bool(asked), untagged=stated.untagged | asked, tagged=stated.tagged)
