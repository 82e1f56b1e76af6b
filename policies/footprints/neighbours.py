"""Who can meet whom: the classes of a whole site, made once, so that a proof looks only at those it meets.

A plan whose boundary the site's locks know already (its own lock is among them) adds no edge between owners. Its
classes are then parts of the classes of all locks together, and only locks with a node in one of those can change its
verdict (docs/design/semantics.md §9). Any other plan is judged beside all locks, as if there were no classes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from interlock.model.lock.record import Lock, Premise
from interlock.model.site.inventory import Site
from interlock.resources import canonical_json
from interlock.vocabulary.digests import Digest
from interlock.vocabulary.nodes import VlanNode, is_identity, parse
from policies.authority.grants import COMMON, OF_AUTH, spoken_of
from policies.edges.reach import reached
from policies.edges.shape import Edge, GraphFragment, Relation, Union
from policies.edges.union import second_tag_ways
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.facts.site import SiteFacts
from policies.graph import kernel
from policies.graph.model import Resolved, owners

from .boundary import OPERATORS_LOCK, lock_share

#: Premises that name no node, but a switch port or an exclusive identity: they meet nobody everywhere.
_BY_NUMBER = frozenset({"untagged", "residue"})


def mentioned(site: SiteFacts, share: GraphFragment) -> Iterator[str]:
    """Every node that a share says something of: of the graph, and of Auth."""
    yield from reached(site, share)
    yield from spoken_of(share)


@dataclass(frozen=True)
class Classes:
    """The connected classes of G_may over a site and all its locks, and who is in them. Can be stored: plain data."""

    #: Node -> its class; principals and objects of Auth are nodes here too.
    of_node: Mapping[str, int]
    #: Class -> ids of the locks that mention a node in it; those VLAN ids of its nodes that anybody uses.
    locks: Mapping[int, frozenset[str]]
    vlans: Mapping[int, frozenset[int]]
    #: Exclusive identity -> ids of the locks that hold it.
    holders: Mapping[str, frozenset[str]]
    #: Locks that every plan meets.
    everywhere: frozenset[str]
    #: Every premise of any lock.
    premises: frozenset[Premise]
    #: Class -> the edges that the union resolves between its nodes; a held one is in the classes of both its ends.
    edges: Mapping[int, tuple[Edge, ...]]
    #: Node -> everybody who owns or controls it.
    labels: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, site: SiteFacts, shares: Mapping[str, GraphFragment]) -> Classes:
        """Resolve the union of all shares; linear in their number."""
        union = Union(site, shares.values())
        ends = _dead_ends(union)
        named = {owner: frozenset(mentioned(site, share)) - ends for owner, share in shares.items()}
        resolved = Resolved.of(union)
        of_node = _classes(union, resolved, named.values())
        locks: defaultdict[int, set[str]] = defaultdict(set)
        holders: defaultdict[str, set[str]] = defaultdict(set)
        vlans: defaultdict[int, set[int]] = defaultdict(set)
        for name, nodes in named.items():
            for node in nodes:
                locks[of_node[node]].add(name)
            for identity in shares[name].exclusive:
                holders[identity].add(name)
        used = set(union.vlans)
        for node, number in of_node.items():
            segment = parse(node)
            if isinstance(segment, VlanNode) and segment.number in used:
                vlans[number].add(segment.number)
        return cls(
            of_node=of_node,
            locks={number: frozenset(found) for number, found in locks.items()},
            vlans={number: frozenset(found) for number, found in vlans.items()},
            holders={identity: frozenset(found) for identity, found in holders.items()},
            everywhere=frozenset(_met_by_all(site, shares)),
            premises=frozenset(item for share in shares.values() for item in share.premises),
            edges=_by_class(of_node, resolved),
            labels=owners(site, tuple(shares.values()), resolved),
        )

    def knows(self, share: GraphFragment) -> bool:
        """True if a plan brings nothing to the boundary that no lock has."""
        boundary = (node for node in share.nodes if ids.is_boundary(node))
        return all(node in self.of_node for node in boundary) and self.premises.issuperset(share.premises)

    def met(self, nodes: Iterable[str]) -> set[int]:
        """The classes of these nodes."""
        return {self.of_node[node] for node in nodes if node in self.of_node}


class Neighbours:
    """The locks of one site, and which of them a plan can meet.

    `load` reads locks by id; it is asked for few. `hashes` has the id and hash of every lock.
    """

    def __init__(
        self, site: SiteFacts, classes: Classes, hashes: Mapping[str, str], load: Callable[[Sequence[str]], list[Lock]]
    ) -> None:
        self.site = site
        self.classes = classes
        self.hashes = dict(sorted(hashes.items()))
        self._load = load
        self._loaded: dict[str, tuple[Lock, GraphFragment]] = {}

    @classmethod
    def of(cls, site: Site | SiteFacts, locks: Iterable[Lock]) -> Neighbours:
        """Everything in memory: for whoever judges many plans of one site."""
        by_id = {lock.id: lock for lock in locks}
        facts = SiteFacts.of(site)
        classes = Classes.of(facts, {name: lock_share(lock, facts) for name, lock in by_id.items()})
        hashes = {name: lock.hash or lock.expected_hash() for name, lock in by_id.items()}
        return cls(facts, classes, hashes, lambda names: [by_id[name] for name in names])

    def locks(self, names: Iterable[str]) -> list[tuple[Lock, GraphFragment]]:
        """These locks with what each brings, by id."""
        wanted = sorted(names)
        missing = [name for name in wanted if name not in self._loaded]
        for lock in self._load(missing) if missing else ():
            self._loaded[lock.id] = (lock, lock_share(lock, self.site))
        return [self._loaded[name] for name in wanted]

    def meeting(self, nodes: Iterable[str], share: GraphFragment) -> tuple[frozenset[str], frozenset[int]]:
        """Ids of the locks that meet one of these nodes or hold what the share holds, and VLAN ids of their classes."""
        met = self.classes.met([*nodes, *mentioned(self.site, share)])
        found = set(self.classes.everywhere)
        for number in met:
            found |= self.classes.locks.get(number, frozenset())
        for identity in share.exclusive:
            found |= self.classes.holders.get(identity, frozenset())
        vlans = (vlan for number in met for vlan in self.classes.vlans.get(number, ()))
        return frozenset(found), frozenset(vlans)

    def resolved(self, tenant: str, share: GraphFragment) -> Resolved | None:
        """The edges and labels of the classes that a plan meets, if it says just what its tenant's lock says."""
        if tenant not in self.hashes:
            return None
        old = self.locks([tenant])[0][1]
        if not _is_same(old, share):
            return None
        met = sorted(self.classes.met(mentioned(self.site, share)))
        edges = dict.fromkeys(edge for number in met for edge in self.classes.edges.get(number, ()))
        known = self.classes.labels
        # Also of what only an owner's own edges lead to, such as the hub of an external network.
        brought = [share, *(near for _, near in self.locks(self.meeting((), share)[0]))]
        named = {node for item in brought for node in item.nodes}
        ends = {node for edge in edges for node in (edge.a, edge.b)}
        labels = {node: known[node] for node in ends | named if node in known}
        return Resolved(tuple(edges), labels)

    @cached_property
    def _rows(self) -> tuple[bytes, dict[str, tuple[int, int]]]:
        """Id and hash of all lock files as one JSON text, and where in it each stands, with the comma behind it."""
        places: dict[str, tuple[int, int]] = {}
        rows: list[bytes] = []
        end = 0
        for name, value in ((name, value) for name, value in self.hashes.items() if name != OPERATORS_LOCK):
            rows.append(canonical_json([name, value]).encode() + b",")
            places[name] = end, end + len(rows[-1])
            end += len(rows[-1])
        return b"".join(rows), places

    def footprints(self, but: str | None) -> str:
        """What `digest_of` says of the id and hash of every lock file except one, without writing all of them again."""
        text, places = self._rows
        begin, end = places.get(but or "", (0, 0))
        kept = (text[:begin] + text[end:]).removesuffix(b",")
        return str(Digest.of(b"[" + kept + b"]"))


def _is_same(old: GraphFragment, new: GraphFragment) -> bool:
    """True if a plan is at the boundary what the lock says: the union then resolves to the same edges and labels."""
    if frozenset(old.premises) != frozenset(new.premises):
        return False
    before, after = ({node for node in share.nodes if ids.is_boundary(node)} for share in (old, new))
    return before == after and all(new.labels.get(node) == labels for node, labels in old.labels.items())


def _classes(union: Union, resolved: Resolved, named: Iterable[frozenset[str]]) -> dict[str, int]:
    numbers = kernel.Numbering(node for nodes in named for node in sorted(nodes))
    edges = (edge for edges in (resolved.edges, *(share.edges for share in union.shares)) for edge in edges)
    pairs = [*((edge.a, edge.b) for edge in edges if not edge.held), *_by_calls(union)]
    # A way of a second tag is there once somebody may send one: a plan may bring the first who does.
    pairs += ((edge.a, edge.b) for edge in second_tag_ways(union))
    numbers.all_of(resolved.labels)
    numbers.all_of(end for edge in resolved.edges for end in (edge.a, edge.b))
    left, right = numbers.all_of(a for a, _ in pairs), numbers.all_of(b for _, b in pairs)
    component = kernel.components(len(numbers), left, right)
    return {node: component[number] for node, number in numbers.number.items()}


def _by_class(of_node: Mapping[str, int], resolved: Resolved) -> dict[int, tuple[Edge, ...]]:
    found: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in resolved.edges:
        for number in {of_node[edge.a], of_node[edge.b]}:
            found[number].append(edge)
    return {number: tuple(edges) for number, edges in found.items()}


def _by_calls(union: Union) -> Iterator[tuple[str, str]]:
    """The steps of closed sets, without direction."""
    ends = _dead_ends(union)
    grants = ((a, b) for _, a, b, _ in union.facts(Relation.GRANT) if b not in ends)
    owned = ((who.principal(label), node) for node, label in union.facts(Relation.HOLDS))
    places = (item[:2] for relation in (Relation.MOUNTS, Relation.LISTENS) for item in union.facts(relation))
    for a, b in (*grants, *owned, *places):
        if a not in COMMON and b not in COMMON:
            yield a, b


def _dead_ends(union: Union) -> frozenset[str]:
    """What nobody owns and nothing leads on from, such as a person who is a member here and there: joins nobody."""
    held = {node for node, _ in union.facts(Relation.HOLDS)}
    sources = {source for _, source, _, _ in union.facts(Relation.GRANT)}
    return frozenset({target for _, _, target, _ in union.facts(Relation.GRANT)} - held - sources)


def _met_by_all(site: SiteFacts, shares: Mapping[str, GraphFragment]) -> Iterator[str]:
    """Locks with a premise that holds for everybody, wherever they are."""
    opened = {who.kind_and_name(node) for share in shares.values() for node in _open_references(share)}
    for owner, share in shares.items():
        named = (item.tuple[0] for item in share.premises if item.relation == Relation.HOLDS)
        if any(_is_for_all(site, item) for item in share.premises) or any(
            who.kind_and_name(node) in opened for node in named if opened
        ):
            yield owner


def _open_references(share: GraphFragment) -> Iterator[str]:
    for item in share.premises:
        if item.relation == Relation.HOLDS and who.is_unresolved(item.tuple[0]):
            yield item.tuple[0]


def _is_for_all(site: SiteFacts, item: Premise) -> bool:
    if item.relation == Relation.RULED:
        return site.assumption("A11", only=item.tuple[1]).value is not True
    if item.relation in OF_AUTH:
        return any(column in COMMON for column in item.tuple)
    return item.relation not in _BY_NUMBER and not any(is_identity(column) for column in item.tuple)
