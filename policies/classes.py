"""Connected classes as a forest: for each node the least node of its class, and the next step towards it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Forest:
    """One tree for each class; a tree's root is the least node, and its step is empty."""

    least: dict[str, str]
    towards: dict[str, str]


def forest(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> Forest:
    """The forest of a graph: breadth first from the least node of each class, so that steps are shortest ways."""
    near: defaultdict[str, set[str]] = defaultdict(set)
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    found = Forest({}, {})
    for node in sorted({*nodes, *near}):
        if node not in found.least:
            _grow(found, near, node)
    return found


def _grow(found: Forest, near: dict[str, set[str]], root: str) -> None:
    found.least[root], found.towards[root] = root, ""
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        for other in sorted(near.get(node, ())):
            if other not in found.least:
                found.least[other], found.towards[other] = root, node
                waiting.append(other)
