"""What edges join, where a row of the table asks for it after all others."""

from __future__ import annotations

from collections.abc import Iterable

from .shape import Edge


class Joined:
    """For each node one that stands for all it is joined with."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._above: dict[str, str] = {}
        for edge in edges:
            self.join(edge)

    def top(self, node: str) -> str:
        """The node that stands for these."""
        above = self._above
        while above.setdefault(node, node) != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    def join(self, edge: Edge) -> None:
        """Both ends are one from now on."""
        self._above[self.top(edge.a)] = self.top(edge.b)
