"""Who is on a wire segment: claims on it, and what is plugged into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import NeutronPortNode, SwitchPortNode, is_device, parse
from policies.edges.operated import OPERATED_EDGES
from policies.facts import identities as ids
from policies.footprints.applied import APPLIED
from policies.graph.model import Model

if TYPE_CHECKING:
    from policies.graph.search import Graph

#: Edges that a false assumption adds, or that stand for a partition of what is applied: they join, but plug nothing in.
ASSUMPTION_RULES = frozenset({"A1", "A2", "A10", *(item.id for item in OPERATED_EDGES), APPLIED})


@dataclass(frozen=True)
class SegmentClaim:
    """A network's claim on a segment."""

    node: str
    owner: str
    network: str
    words: str
    state: str

    def __str__(self) -> str:
        released = " (released, not seen to be let go)" if self.state == "released" else ""
        return f"{self.owner}'s network {self.network} claims {self.words}{released}"


def claims(model: Model, wire: set[str]) -> tuple[SegmentClaim, ...]:
    """The claims on one wire segment, one for each network."""
    every = (SegmentClaim(*item) for node in sorted(wire) for item in model.union.claims_on.get(node, ()))
    return tuple({(claim.owner, claim.network, claim.state): claim for claim in every}.values())


def claimants(model: Model, claim: SegmentClaim) -> frozenset[str]:
    """Whose the claimed network is: a plan may also hold networks of the operator's, such as a management VLAN."""
    shares = (share for share in (model.own, *model.others) if share.owner == claim.owner)
    return frozenset(label for share in shares for label in share.labels.get(claim.node, {claim.owner}))


def at_odds(model: Model, wire: set[str]) -> tuple[SegmentClaim, SegmentClaim] | None:
    """Two claims of two owners on one wire, one of the plan's own first; None if all are one owner's.

    Two networks of one owner on one wire leak nothing; its vPODs are kept apart by ISO-03.
    """
    held = sorted(claims(model, wire), key=lambda claim: (claim.owner != model.plan.owner, str(claim)))
    pairs = ((a, b) for a, b in combinations(held, 2) if len(claimants(model, a) | claimants(model, b)) > 1)
    return next(pairs, None)


def attached(graph: Graph, wire: set[str]) -> Iterator[str]:
    """What is plugged into a whole wire segment; behind a switch port, the devices there. Each once."""
    seen = set(wire)
    for node in sorted(wire):
        for neighbour in sorted(graph[node]):
            if graph.edges[node, neighbour]["rule"] not in ASSUMPTION_RULES and neighbour not in seen:
                seen.add(neighbour)
                yield from _behind(graph, neighbour)


def _behind(graph: Graph, node: str) -> Iterator[str]:
    if isinstance(parse(node), SwitchPortNode):
        known = {other for other, facts in graph[node].items() if facts["rule"] != APPLIED}
        yield from (device for device in sorted(known) if not ids.is_wire(device))
    else:
        yield node


def neighbourhood(graph: Graph, wire: set[str]) -> set[str]:
    """The wire segment, what is plugged into it, and the ports and servers in between."""
    near = {item for node in wire for item in graph[node] if graph.edges[node, item]["rule"] not in ASSUMPTION_RULES}
    found = wire | near | set(attached(graph, wire))
    ports = [node for node in found if isinstance(parse(node), NeutronPortNode | SwitchPortNode)]
    return found | {item for port in ports for item in graph[port] if is_device(item)}
