"""Old and new together: what is applied is proved with the plan (docs/design/semantics.md §9, order and races).

Everything that the engine passes through on its way lies between the two, so what keeps apart with the edges of both
keeps apart throughout. An attribute with one value, such as an access VLAN, contributes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from interlock.model.lock.record import Footprint
from interlock.resources import digest_of
from policies.edges.shape import Edge, GraphFragment

from .boundary import footprint_share

T = TypeVar("T", str, tuple[str, ...])

NOT_LOOKED_AT = "not looked at"
NOTHING_ELSE = "looked at: nothing else is applied"
#: What is applied where there is nothing but what is planned.
NOTHING = Footprint(classes=(), labels={}, exclusive=())
#: The rule id of an edge that the partition of an applied footprint stands for. It says that two nodes are joined, not
#: by what: what is plugged into a wire, and what joins vPODs of one tenant, is not to be read off it.
APPLIED = "applied"


def together(own: GraphFragment, applied: Footprint | GraphFragment | None) -> GraphFragment:
    """One share with everything of both.

    A footprint decides between owners; between the vPODs of one tenant only the share of the applied plan does.
    """
    if applied is None:
        return own
    old = _contracted(own.owner, applied) if isinstance(applied, Footprint) else applied
    nodes = sorted(own.labels.keys() | old.labels.keys())
    nobody: frozenset[str] = frozenset()
    premises = {*own.premises, *old.premises}
    return GraphFragment(
        owner=own.owner,
        # Of two edges between the same nodes the later one is shown: that of the plan.
        edges=tuple(dict.fromkeys((*old.edges, *own.edges))),
        labels={node: own.labels.get(node, nobody) | old.labels.get(node, nobody) for node in nodes},
        premises=tuple(sorted(premises, key=lambda item: (item.relation, item.tuple))),
        exclusive=own.exclusive | old.exclusive,
        exposures=tuple(sorted({*own.exposures, *old.exposures})),
        grants=tuple(sorted({*own.grants, *old.grants})),
        former=frozenset(old.labels.keys() - own.labels.keys()),
    )


def joined(footprints: Sequence[Footprint]) -> Footprint:
    """One footprint with everything of all: classes that share a node become one in the graph that they are put into.

    Of none it is `NOTHING`.
    """
    return Footprint(
        classes=_all(item.classes for item in footprints),
        labels={
            node: tuple(sorted({label for item in footprints for label in item.labels.get(node, ())}))
            for node in sorted({node for item in footprints for node in item.labels})
        },
        exclusive=_all(item.exclusive for item in footprints),
        exposures=_all(item.exposures for item in footprints),
        grants=_all(item.grants for item in footprints),
        premises=tuple(
            sorted({one for item in footprints for one in item.premises}, key=lambda one: (one.relation, one.tuple))
        ),
        unknown=_all(item.unknown for item in footprints),
    )


def _all(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(sorted(set(chain.from_iterable(parts))))


def _contracted(owner: str, footprint: Footprint) -> GraphFragment:
    share = footprint_share(owner, footprint)
    return replace(share, edges=tuple(Edge(edge.a, edge.b, APPLIED) for edge in share.edges))


def in_words(applied: Footprint | GraphFragment | None) -> str:
    """What was looked at, for the judgement."""
    if applied is None:
        return NOT_LOOKED_AT
    if applied == NOTHING:
        return NOTHING_ELSE
    return f"proved together with the plan, {_digest(applied)}"


def _digest(applied: Footprint | GraphFragment) -> str:
    if isinstance(applied, Footprint):
        return digest_of(applied.model_dump(mode="json"))
    edges = sorted([edge.a, edge.b, edge.rule] for edge in applied.edges)
    labels = {node: sorted(labels) for node, labels in applied.labels.items()}
    premises = sorted([item.relation, *item.tuple] for item in applied.premises)
    return digest_of([edges, labels, premises, sorted(applied.exclusive)])
