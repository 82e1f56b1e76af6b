"""Questions that rules ask of a `networkx` graph: what is connected, and the one shortest way that a witness shows.

`networkx` is imported by the functions that need it: importing it takes about a third as long as a whole
`interlock check`, and commands that judge nothing, such as `interlock lock`, do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from interlock.vocabulary.nodes import CapabilityNode, CloudApiNode, ForeignersNode, OperatedNode, is_device, parse
from policies.about import Fact
from policies.facts.identities import RESERVED_LABELS

if TYPE_CHECKING:
    import networkx as nx

    #: Nodes are canonical identities as text; the attributes of an edge are `EdgeFacts`.
    Graph = nx.Graph[str]

Labels = Mapping[str, frozenset[str]]
Path = tuple[str, ...]
_NOBODY: frozenset[str] = frozenset()


class EdgeFacts(TypedDict):
    """The attributes of an edge of the model's graphs."""

    #: The row of the table of edges.
    rule: str
    #: The facts that nobody stated and without which it is not known to be there.
    missing: tuple[Fact, ...]
    #: The guards that would remove it and do not hold.
    broken: tuple[Fact, ...]


def facts_of(graph: Graph, a: str, b: str) -> EdgeFacts:
    """What is known of the edge between two neighbours."""
    facts = graph.edges[a, b]
    return EdgeFacts(rule=facts["rule"], missing=facts["missing"], broken=facts["broken"])


def connected(graph: Graph) -> list[set[str]]:
    """The connected components, in the order of their least nodes."""
    import networkx as nx

    return sorted(nx.connected_components(graph), key=min)


def shortest(
    graph: Graph, sources: Iterable[str], found: Callable[[str], bool], within: set[str] | None = None
) -> Path | None:
    """The shortest path from any source to a node that is `found`; of several the least by its nodes' names.

    `within`: the nodes that may follow a source; all of them if it is None.
    """
    import networkx as nx

    starts = {source for source in sources if source in graph}
    part = graph if within is None else graph.subgraph(within | starts)
    layers: list[set[str]] = []
    for layer in nx.bfs_layers(part, sorted(starts)):
        layers.append(set(layer))
        ends = {node for node in layer if found(node)}
        if ends:
            return _least_path(part, layers, ends)
    return None


def _least_path(graph: Graph, layers: Sequence[set[str]], ends: set[str]) -> Path:
    """Of the shortest paths through the layers of a search that end at one of these nodes, the least by names."""
    onward = [ends]
    for layer in reversed(layers[:-1]):
        onward.append({near for node in onward[-1] for near in graph[node] if near in layer})
    path = [min(onward.pop())]
    while onward:
        path.append(min(near for near in graph[path[-1]] if near in onward[-1]))
        onward.pop()
    return tuple(path)


def labelled(labels: Labels, wanted: frozenset[str]) -> Callable[[str], bool]:
    """A test for nodes that carry one of these labels."""
    return lambda node: bool(labels.get(node, _NOBODY) & wanted)


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
    after = _device_near(graph, labels, path[-1], others[0] if others else first, {*path, *before})
    return tuple(reversed(before)) + path + after


def _device_near(graph: Graph, labels: Labels, node: str, owner: str, taken: set[str]) -> Path:
    """The steps from a node to the nearest device of an owner, without the node itself; at most four."""
    if is_device(node):
        return ()
    everybodys = CapabilityNode | CloudApiNode | ForeignersNode | OperatedNode
    allowed = {item for item in graph if item not in taken and not isinstance(parse(item), everybodys)}
    way = shortest(
        graph,
        [node],
        lambda item: is_device(item) and owner in labels.get(item, _NOBODY),
        within=allowed,
    )
    return way[1:] if way is not None and len(way) <= 5 else ()
