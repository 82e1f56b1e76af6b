"""The smallest change that parts two owners: which entries, changed together, leave no path between them.

The search is exact up to `MOST` entries: some edge of the path at hand must go, so every entry behind it is tried, then
the next path is found without the edges that rest on those entries. Where that is too much or finds nothing, a set is
made step by step and thinned until each entry in it is needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.vocabulary.entries import EntryKind, SpecEntry
from policies.facts.identities import RESERVED_LABELS
from policies.graph.search import shortest
from policies.proof import Finding, FixKind

from .spec_entries import SpecEntries
from .spec_objects import Support

if TYPE_CHECKING:
    from policies.graph.search import Graph

#: Entries up to which the smallest set is looked for.
MOST = 3
#: Nodes that one search may walk through, and edges of the largest component that it is made in: a second or two.
PATIENCE, LARGEST = 1_000_000, 20_000

Fix = tuple[tuple[SpecEntry, ...], FixKind]
#: Entries that are changed together.
Chosen = frozenset[SpecEntry]
_None: Chosen = frozenset()


def fix_of(entries: SpecEntries, finding: Finding) -> Fix | None:
    """The entries whose change parts the owners at the ends of a finding's path; None if there is no such set."""
    owners = _owners(entries, finding.path)
    if owners is None:
        return None
    graph = entries.model.must
    import networkx as nx

    component = sorted(nx.node_connected_component(graph, finding.path[0]))
    if sum(len(graph[node]) for node in component) > 2 * LARGEST:
        return None
    return _Parting(entries, graph, component, *owners).found()


def _owners(entries: SpecEntries, path: tuple[str, ...]) -> tuple[str, str] | None:
    if not path or path[0] not in entries.model.must:
        return None
    own, label = entries.model.plan.owner, entries.model.label
    first = own if own in label(path[0]) else min(label(path[0]), default="")
    last = label(path[-1]) - {first}
    second = min(last, key=lambda name: (name in RESERVED_LABELS, name), default="")
    return (first, second) if first and second else None


class _Impatient(Exception):
    """The exact search took too long."""


class _Parting:
    """One search: two owners in one component."""

    def __init__(self, entries: SpecEntries, graph: Graph, component: list[str], first: str, second: str) -> None:
        self.entries = entries
        #: A copy of the component: edges are taken out of it and put back.
        self.part: Graph = graph.subgraph(component).copy()
        self.reasons: dict[tuple[str, str], list[Support]] = {}
        self.rests_on: defaultdict[SpecEntry, set[tuple[str, str]]] = defaultdict(set)
        for node in component:
            for other in sorted(graph[node]):
                if node < other:
                    self._note((node, other), entries.edge(graph, node, other))
        label = entries.model.label
        self.ends = {owner: [node for node in component if owner in label(node)] for owner in (first, second)}
        for owner, nodes in self.ends.items():
            for node in nodes:
                self._note((f"{owner}=", node), entries.label(node, owner))
        self.first, self.second = first, second
        self.walked = 0
        self._ranks: dict[SpecEntry, int] = {}

    def _note(self, thing: tuple[str, str], reasons: list[Support]) -> None:
        """An edge by its ends, or a label by owner and node, with why it is there."""
        self.reasons[thing] = reasons
        for support in reasons:
            for way in support:
                for entry in way:
                    self.rests_on[entry].add(thing)

    def found(self) -> Fix | None:
        """The best of the smallest sets, else a minimal one."""
        try:
            for size in range(1, MOST + 1):
                sets = set(self._sets(_None, size, set()))
                if sets:
                    return min(map(self._listed, sets), key=self._cost), FixKind.SMALLEST
        except _Impatient:
            pass
        step_by_step = self._minimal()
        return (self._listed(step_by_step), FixKind.MINIMAL) if step_by_step else None

    def _listed(self, chosen: Chosen) -> tuple[SpecEntry, ...]:
        return tuple(sorted(chosen, key=lambda entry: (self._rank(entry), entry)))

    def _cost(self, chosen: tuple[SpecEntry, ...]) -> tuple[int, tuple[SpecEntry, ...]]:
        return sum(map(self._rank, chosen)), chosen

    def _rank(self, entry: SpecEntry) -> int:
        """What to change rather: guards and open trunks, then links, networks, other things; others' claims last."""
        if entry not in self._ranks:
            self._ranks[entry] = self._ranked(entry)
        return self._ranks[entry]

    def _ranked(self, entry: SpecEntry) -> int:
        objects = self.entries.objects
        if entry.kind is EntryKind.LOCK:
            return 5
        if entry.kind is EntryKind.RESOURCE:
            return 2 if entry.name in objects.plan.network else 3
        if entry in objects.link_entries:
            return 0 if entry in objects.open_trunks else 1
        return 4 if ".ports." in entry.name else 0

    def _gone(self, chosen: Chosen) -> set[tuple[str, str]]:
        """The edges and labels that are not there any more."""
        touched = {thing for entry in chosen for thing in self.rests_on.get(entry, ())}
        return {thing for thing in touched if all(_taken(support, chosen) for support in self.reasons[thing])}

    def _path(self, chosen: Chosen) -> tuple[str, ...] | None:
        """The shortest path that is left between the two owners."""
        gone = self._gone(chosen)
        goals = {node for node in self.ends[self.second] if (f"{self.second}=", node) not in gone}
        starts = [node for node in self.ends[self.first] if (f"{self.first}=", node) not in gone]

        def is_goal(node: str) -> bool:
            self.walked += 1
            return node in goals

        with _without(self.part, gone):
            return shortest(self.part, starts, is_goal)

    def _sets(self, chosen: Chosen, size: int, seen: set[Chosen]) -> Iterator[Chosen]:
        """Every set of this size, or less, that contains `chosen` and parts the owners."""
        if chosen in seen:
            return
        seen.add(chosen)
        path = self._path(chosen)
        if self.walked > PATIENCE:
            raise _Impatient
        if path is None:
            yield chosen
        elif size > len(chosen) and self._fewest(chosen, path, size - len(chosen)):
            for way in self._cuts(path, chosen):
                if len(chosen | way) <= size:
                    yield from self._sets(chosen | way, size, seen)

    def _fewest(self, chosen: Chosen, path: tuple[str, ...] | None, left: int) -> bool:
        """True unless more paths than may be cut have no entry in common."""
        count, taken = 0, _None
        while path is not None and count <= left:
            behind = frozenset(entry for way in self._cuts(path, chosen) for entry in way)
            if not behind:
                return False
            if behind & taken:
                break  # one entry may serve for both paths
            count, taken = count + 1, taken | behind
            path = self._path(chosen | taken)
        return count <= left

    def _cuts(self, path: tuple[str, ...], chosen: Chosen) -> list[Chosen]:
        """The changes that take away the next reason for an edge or an end of a path, each without what is chosen."""
        edges = [(min(pair), max(pair)) for pair in pairwise(path)]
        labels = [(f"{self.first}=", path[0]), (f"{self.second}=", path[-1])]
        found: dict[Chosen, None] = {}
        for thing in (*edges, *labels):
            reasons = self.reasons[thing]
            left = next((support for support in reasons if not _taken(support, chosen)), ())
            # What cannot be taken away wholly need not be begun.
            if all(reasons):
                found |= {way - chosen: None for way in left}
        return sorted(found, key=lambda way: (len(way), sorted(map(self._rank, way)), sorted(way)))

    def _minimal(self) -> Chosen | None:
        chosen = _None
        while (path := self._path(chosen)) is not None:
            cuts = self._cuts(path, chosen)
            if not cuts:
                return None
            chosen |= cuts[0]
        for entry in sorted(chosen, key=lambda item: (-self._rank(item), item)):
            if self._path(chosen - {entry}) is None:
                chosen -= {entry}
        return chosen


def _taken(support: Support, chosen: Chosen) -> bool:
    return any(way <= chosen for way in support)


@contextmanager
def _without(graph: Graph, gone: set[tuple[str, str]]) -> Iterator[None]:
    """The graph without these edges, for as long as a search takes; what is no edge of it is passed over."""
    edges = [(a, b) for a, b in gone if graph.has_edge(a, b)]
    graph.remove_edges_from(edges)
    try:
        yield
    finally:
        graph.add_edges_from(edges)
