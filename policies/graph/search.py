"""Searches over a graph of the model: shortest ways between owners and to named devices."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from policies.facts.identities import RESERVED_LABELS

if TYPE_CHECKING:
    from .graphs import Graph

Labels = Mapping[str, frozenset[str]]
Path = tuple[str, ...]
_NOBODY: frozenset[str] = frozenset()


def shortest(
    graph: Graph, sources: Iterable[str], found: Callable[[str], bool], within: set[str] | None = None
) -> Path | None:
    """The shortest path from any source to a node that is `found`; ties go to the lesser name."""
    queue = deque(sorted(source for source in sources if source in graph))
    came_from: dict[str, str | None] = dict.fromkeys(queue)
    while queue:
        node = queue.popleft()
        if found(node):
            return _way_back(came_from, node)
        for neighbour in sorted(graph[node]):
            if neighbour not in came_from and (within is None or neighbour in within):
                came_from[neighbour] = node
                queue.append(neighbour)
    return None


def labelled(labels: Labels, wanted: frozenset[str]) -> Callable[[str], bool]:
    """A test for nodes that carry one of these labels."""
    return lambda node: bool(labels.get(node, _NOBODY) & wanted)


def _way_back(came_from: Mapping[str, str | None], node: str) -> Path:
    path = [node]
    while (before := came_from[path[-1]]) is not None:
        path.append(before)
    return tuple(reversed(path))


def meeting(graph: Graph, labels: Labels, component: set[str], own: str) -> Path | None:
    """The shortest path in a component between two owners; None if all of it is one owner's.

    It starts from `own` if that is there, and ends at another tenant before anybody else: that says most.
    """
    owners = frozenset(label for node in component for label in labels.get(node, _NOBODY))
    if len(owners) < 2:
        return None
    tenants = owners - RESERVED_LABELS
    start = own if own in owners else min(tenants or owners)
    sources = [node for node in component if start in labels.get(node, _NOBODY)]
    to_tenant = shortest(graph, sources, labelled(labels, tenants - {start}))
    return to_tenant or shortest(graph, sources, labelled(labels, owners - {start}))


def extended(graph: Graph, labels: Labels, path: Path, own: str) -> Path:
    """The path with a device of each owner at its ends where one is near: a witness says who meets whom."""
    first = own if own in labels.get(path[0], _NOBODY) else min(labels.get(path[0], _NOBODY), default="")
    last = labels.get(path[-1], _NOBODY) - {first}
    others = sorted(last, key=lambda label: (label in RESERVED_LABELS, label))
    before = _device_near(graph, labels, path[0], first, set(path))
    after = _device_near(graph, labels, path[-1], others[0] if others else first, set(path) | set(before))
    return tuple(reversed(before)) + path + after


def _device_near(graph: Graph, labels: Labels, node: str, owner: str, taken: set[str]) -> Path:
    """The steps from a node to the nearest device of an owner, without the node itself; at most four."""
    if node.startswith("dev:"):
        return ()
    allowed = {item for item in graph if item not in taken and not item.startswith(("cap:", "cloud:", "foreign:"))}
    way = shortest(
        graph,
        [node],
        lambda item: item.startswith("dev:") and owner in labels.get(item, _NOBODY),
        within=allowed,
    )
    return way[1:] if way is not None and len(way) <= 5 else ()
