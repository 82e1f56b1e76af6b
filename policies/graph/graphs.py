"""A small undirected graph of node names, as much of one as rules need; made from the kernel's components.

A clean plan is judged without networkx: importing it takes longer than most judgements. `as_networkx` gives what is
not asked for at every plan, such as certificates, its algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from networkx import Graph as NetworkxGraph


class EdgeFacts(TypedDict):
    """What is known of one edge."""

    #: The row of the table of edges.
    rule: str
    #: The facts that nobody stated and without which it is not known to be there.
    missing: tuple[str, ...]
    #: The guards that would remove it and do not hold.
    broken: tuple[str, ...]


_NOTHING: EdgeFacts = {"rule": "", "missing": (), "broken": ()}


class Graph:
    """Nodes, and for each its neighbours with the facts of the edge between."""

    def __init__(self) -> None:
        self._near: dict[str, dict[str, EdgeFacts]] = {}

    def add_node(self, node: str) -> None:
        """Add a node, if it is not there."""
        self._near.setdefault(node, {})

    def add_nodes_from(self, nodes: Iterable[str]) -> None:
        """Add several nodes."""
        for node in nodes:
            self._near.setdefault(node, {})

    def add_edge(self, a: str, b: str, facts: EdgeFacts = _NOTHING) -> None:
        """Add an edge and its ends; of two edges between the same nodes the later one's facts stay."""
        self._near.setdefault(a, {})[b] = facts
        self._near.setdefault(b, {})[a] = facts

    def add_edges_from(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Add several edges without facts."""
        for a, b in pairs:
            self.add_edge(a, b)

    def has_edge(self, a: str, b: str) -> bool:
        """True if the two are neighbours."""
        return b in self._near.get(a, ())

    def __contains__(self, node: object) -> bool:
        return node in self._near

    def __iter__(self) -> Iterator[str]:
        return iter(self._near)

    def __len__(self) -> int:
        return len(self._near)

    def __getitem__(self, node: str) -> Mapping[str, EdgeFacts]:
        """A node's neighbours. Raises KeyError if there is no such node."""
        return self._near[node]

    @property
    def edges(self) -> EdgeView:
        """The edges, by their ends."""
        return EdgeView(self._near)

    def subgraph(self, nodes: Iterable[str], without: str | None = None) -> Graph:
        """The part between these nodes as a graph of its own, `without` the edges of one rule."""
        part = Graph()
        kept = {node for node in nodes if node in self._near}
        for node in kept:
            near = self._near[node].items()
            part._near[node] = {other: facts for other, facts in near if other in kept and facts["rule"] != without}
        return part

    def as_networkx(self) -> NetworkxGraph[str]:
        """The same graph for networkx, whose import takes a quarter of a second."""
        import networkx as nx

        found: NetworkxGraph[str] = nx.Graph()
        found.add_nodes_from(self._near)
        found.add_edges_from((a, b, dict(facts)) for (a, b), facts in self.edges.items())
        return found


class EdgeView(Mapping[tuple[str, str], EdgeFacts]):
    """`graph.edges`: look one up by its two ends in any order, or go through all, each once."""

    def __init__(self, near: dict[str, dict[str, EdgeFacts]]) -> None:
        self._near = near

    def __getitem__(self, ends: tuple[str, str]) -> EdgeFacts:
        return self._near[ends[0]][ends[1]]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        for node, others in self._near.items():
            seen.add(node)
            yield from ((node, other) for other in others if other not in seen or other == node)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def empty_graph() -> Graph:
    """A new graph."""
    return Graph()


def connected(graph: Graph) -> list[set[str]]:
    """The connected components, in a stable order."""
    found: list[set[str]] = []
    seen: set[str] = set()
    for start in graph:
        if start not in seen:
            component = _around(graph, start)
            seen |= component
            found.append(component)
    return sorted(found, key=min)


def _around(graph: Graph, start: str) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        fresh = graph[waiting.pop()].keys() - found
        found |= fresh
        waiting += fresh
    return found
