"""The one place that imports networkx, and only when a graph is made: the policy pack needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from networkx import Graph


def empty_graph() -> Graph[str]:
    """A new undirected graph of node names."""
    import networkx as nx

    return nx.Graph()


def connected(graph: Graph[str]) -> list[set[str]]:
    """The connected components, in a stable order."""
    import networkx as nx

    return sorted(nx.connected_components(graph), key=min)
