"""The one place that imports networkx, and only when a graph is made: the policy pack needs none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from networkx import Graph


def empty_graph() -> Graph[str]:
    """A new undirected graph of node names."""
    import networkx as nx

    return nx.Graph()


def reached(graph: Graph[str], nodes: Iterable[str]) -> Graph[str]:
    """The components that hold one of these nodes, as a graph of its own."""
    found: set[str] = set()
    waiting = [node for node in nodes if node in graph]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [neighbour for neighbour in graph[node] if neighbour not in found]
    return graph.subgraph(found).copy()


def connected(graph: Graph[str]) -> list[set[str]]:
    """The connected components, in a stable order."""
    import networkx as nx

    return sorted(nx.connected_components(graph), key=min)
