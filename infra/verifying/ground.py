"""What is derived: edges that are or may be there, those that guards keep away, labels, and who has what alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from infra.checker import GUARDS, SHARING

#: The two ends of an edge, in either order.
Pair = frozenset[str]
#: One record of a site or plan in full form.
Json = dict[str, Any]

OPERATOR, STRANGERS, OUTSIDE = "op", "foreign", "world"
#: Labels that are no tenant's.
RESERVED = frozenset({OPERATOR, STRANGERS, OUTSIDE})
#: Whose an edge is that no certificate has to have.
NOBODY = ""
#: In an audience, and as the target of a right.
EVERYBODY = "*"


@dataclass
class Premises:
    """What plans state that joins nothing by itself: an edge of it needs the site, or another owner's premise."""

    #: Node of a port -> the (host, interface)s of hypervisors on all VLANs of which it may send.
    open_ports: defaultdict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    #: (server, host) of whole hosts.
    whole: set[tuple[str, str]] = field(default_factory=set)
    #: (server, host, flavour as the plan refers to it) of guests.
    guests: set[tuple[str, str, str]] = field(default_factory=set)
    #: (port, host, physical network) where the host has no interface on that network.
    unplaced: set[tuple[str, str, str]] = field(default_factory=set)
    #: (device, attachment, kind of sharing, tenant that meets it).
    copies: set[tuple[str, str, str, str]] = field(default_factory=set)
    #: (router, what it has its gateway on, whether its addresses pass the filter, tenant).
    gateways: set[tuple[str, str, bool, str]] = field(default_factory=set)
    #: True if some plan lets everybody into an address scope or subnet pool of the operator's.
    is_scope_open: bool = False
    #: Who may plug in what: (node, capability), and what everybody may.
    rights: set[tuple[str, str]] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    capabilities: set[str] = field(default_factory=set)
    #: Segments that networks claim.
    claims: set[str] = field(default_factory=set)
    #: Segments that networks claimed, and that nobody saw to be let go.
    let_go: set[str] = field(default_factory=set)
    #: (P_Key, port, membership, subnet) of InfiniBand.
    keys: set[tuple[str, str, str, str]] = field(default_factory=set)
    #: (claim, VLAN) of released VLANs that may lie on any switch.
    lost: set[tuple[str, int]] = field(default_factory=set)
    #: (partition, domain) of NVLink.
    partitions: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Ground:
    """Everything derived from one site and all its plans. An edge stands with the row of the table that it is from."""

    premises: Premises = field(default_factory=Premises)
    #: Edges that are there, or that an unstated fact may add, and no guard takes away.
    joined: dict[Pair, str] = field(default_factory=dict)
    #: Ends -> the owner whose plan an edge is from; those of the site itself are not here.
    planned_by: dict[Pair, str] = field(default_factory=dict)
    #: Whose plan is being read.
    reading: str = ""
    #: Ends -> row, and the guards that all have to hold for the edge to be away.
    guarded: dict[Pair, tuple[str, frozenset[str]]] = field(default_factory=dict)
    labels: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: What carries the operator's label unless a plan has it.
    lent: set[str] = field(default_factory=set)
    #: What was cleaned while nobody knows that cleaning erases: an idle one is not known to be the operator's.
    doubtful: set[str] = field(default_factory=set)
    #: (device, its former holder, what that may have left, the device's serial, the assumptions that it rests on).
    cleaned: set[tuple[str, str, str, str, tuple[str, ...]]] = field(default_factory=set)
    #: Identity -> who has it.
    exclusive: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: Owner -> the nodes, and the exclusive identities, that its plan itself names.
    named: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    held: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    guards: dict[str, bool | None] = field(default_factory=dict)
    #: Owner -> rule that follows from no fact -> what it finds in the owner's plan.
    answers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    _assumed: dict[str, frozenset[str]] = field(default_factory=dict)
    #: What of the inputs these tables do not read, in words.
    unread: Counter[str] = field(default_factory=Counter)

    def join(self, row: str, a: str, others: Iterable[str]) -> None:
        """Edges from one node to others that no guard takes away."""
        for other in others:
            self._note(frozenset((a, other)))
            self.joined.setdefault(frozenset((a, other)), row)

    def join_unless(self, guards: frozenset[str] | None, row: str, a: str, others: Iterable[str]) -> None:
        """Edges that are away while all these guards hold; None or no guards: nothing takes them away."""
        if not guards or not all(self.guards.get(guard) is True for guard in guards):
            self.join(row, a, others)
            return
        for other in others:
            self._note(frozenset((a, other)))
            self.guarded.setdefault(frozenset((a, other)), (row, guards))

    def may_state(self, row: str, a: str, b: str, guards: frozenset[str]) -> None:
        """An edge that guards keep away, and that a certificate need not name: nobody has a part in it any more."""
        self.guarded.setdefault(frozenset((a, b)), (row, guards))
        self.planned_by.setdefault(frozenset((a, b)), NOBODY)

    def _note(self, pair: Pair) -> None:
        if self.reading:
            self.planned_by.setdefault(pair, self.reading)

    def assumed(self, name: str) -> frozenset[str]:
        """The guards of an assumption, as a certificate names them: those of the table, and all others stated of it.

        `A5` is without the guard that counts between owners only.
        """
        if name not in self._assumed:
            self._assumed[name] = self._guards_of(name)
        return self._assumed[name]

    def _guards_of(self, name: str) -> frozenset[str]:
        head = f"assumptions.{name.split()[0]}."
        listed = {f"{head}{guard}" for guard in GUARDS[name]}
        between = {f"{head}{guard}" for guard in GUARDS["A5 between owners"]}
        if name == "A5 between owners":
            return frozenset(listed)
        return frozenset(listed | {guard for guard in self.guards if guard.startswith(head)} - between)

    def holds(self, name: str) -> bool:
        """True if all guards of an assumption are stated to hold."""
        return all(self.guards.get(guard) is True for guard in self.assumed(name))

    def is_open(self, name: str) -> bool:
        """True if nobody states whether an assumption holds: no guard of it is false, and one is not stated."""
        states = {self.guards.get(guard) for guard in self.assumed(name)}
        return False not in states and None in states

    def declared(self, items: Iterable[Json]) -> frozenset[str]:
        """The guards of declarations of sharing; an external network filters nothing without an address scope."""
        found: set[str] = set()
        for item in items:
            names = {*SHARING[item["kind"]], *item["guards"]}
            found |= {f"sharing.{item['name']}.guards.{guard}" for guard in names}
            found |= {"external.address_scope"} if item["kind"] == "external-network" else set()
        return frozenset(found)

    def label(self, node: str, owner: str) -> None:
        """Something that the plan being read names, and whose it is."""
        self.labels[node].add(owner)
        self.named[self.reading].add(node)

    def hold(self, thing: str, owner: str) -> None:
        """What an owner of the plan being read has alone."""
        self.exclusive[thing].add(owner)
        self.held[self.reading].add(thing)

    @property
    def tenants(self) -> dict[str, set[str]]:
        """Node -> the tenants whose it is."""
        return {node: found for node, owners in self.labels.items() if (found := owners - RESERVED)}

    def nodes(self) -> set[str]:
        """Every node that something is said of by now."""
        return {end for pair in (*self.joined, *self.guarded) for end in pair} | self.labels.keys()

    def classes(self) -> dict[str, str]:
        """Node -> one node that stands for all that edges join it with."""
        above: dict[str, str] = {}

        def top(node: str) -> str:
            while above.setdefault(node, node) != node:
                above[node] = above[above[node]]
                node = above[node]
            return node

        for a, b in (tuple(pair) for pair in self.joined if len(pair) > 1):
            above[top(a)] = top(b)
        return {node: top(node) for node in list(above)}


def welcome(declared: Iterable[Json], tenant: str) -> bool:
    """True if one of these declarations is for the tenant, or for everybody."""
    return any({EVERYBODY, tenant} & {*item["audience"]} for item in declared)
