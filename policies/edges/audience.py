"""Terminals that not everybody may meet: whoever else does, meets the device itself (docs/design/semantics.md §5).

Who meets a copy follows from everything else that joins, so this is decided last, and only where a declaration of a
cabled device names an audience.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from policies.about import Fact, SiteFact, in_order
from policies.facts import identities as ids
from policies.facts.guards import EVERYBODY, welcome

from .shape import Edge, Union
from .terminals import TerminalCopy, copies


def is_any_limited(union: Union) -> bool:
    """True if some cabled device is declared for an audience."""
    return any(not welcome(copy.declared, EVERYBODY) for copy in copies(union))


def outsiders(union: Union, edges: Sequence[Edge]) -> Iterator[Edge]:
    """A copy and its device, where a tenant outside the audience meets the copy; `edges`: what else there is."""
    limited = [copy for copy in copies(union) if not welcome(copy.declared, EVERYBODY)]
    known, perhaps = _Classes(edge for edge in edges if not edge.missing), _Classes(edges)
    for copy in limited:
        if _uninvited(union, known, copy):
            yield Edge(copy.node, copy.hub, "E9", broken=_paths(copy))
        elif _uninvited(union, perhaps, copy):
            yield Edge(copy.node, copy.hub, "E9", missing=_doubts(edges, perhaps, copy))


def _uninvited(union: Union, classes: _Classes, copy: TerminalCopy) -> bool:
    there = classes.around(copy.node)
    return any(
        not welcome(copy.declared, label)
        for share in union.shares
        for node, labels in share.labels.items()
        if node in there
        for label in labels - ids.RESERVED_LABELS
    )


def _paths(copy: TerminalCopy) -> tuple[Fact, ...]:
    return tuple(SiteFact(f"sharing.{item.name}.audience") for item in copy.declared)


def _doubts(edges: Iterable[Edge], classes: _Classes, copy: TerminalCopy) -> tuple[Fact, ...]:
    """The unstated facts around a copy: without some of them nobody knows who meets it."""
    there = classes.around(copy.node)
    return in_order(fact for edge in edges if edge.a in there for fact in edge.missing)


class _Classes:
    """What edges join: the components of a graph, each looked for when it is first asked for."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        # Imported here: what judges nothing does not need it.
        import networkx as nx

        self._graph = nx.Graph((edge.a, edge.b) for edge in edges)
        self._found: list[Set[str]] = []

    def around(self, node: str) -> Set[str]:
        """All nodes of a node's class."""
        import networkx as nx

        if node not in self._graph:
            return {node}
        for known in self._found:
            if node in known:
                return known
        self._found.append(nx.node_connected_component(self._graph, node))
        return self._found[-1]
