"""What the prover's graph says of who reaches whom on the wires of a site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.edges.union import second_tag_ways
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.judging import model_of, read
from tests.oracle.comparing import lock_of
from tests.oracle.world import World

from .plant import Placed

if TYPE_CHECKING:
    from policies.edges.shape import Edge
    from policies.graph.search import Graph

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Said:
    """Pairs of hosts by one graph: on one wire segment; in one component, where hosts forward between VLANs."""

    wire: Pairs
    component: Pairs


@dataclass(frozen=True)
class Answer:
    """For certain, and if everything that nobody stated is as bad as it can be."""

    must: Said
    may: Said
    #: (sender, receiver): by a second tag, whoever the sender is. The graph has these where it is not the operator.
    second: Pairs


def asked(world: World, placed: Placed) -> Answer:
    """The graph of the operator's own plan, which is about the whole site."""
    assert world.site_plan is not None
    site = SiteFacts(world.site)
    locks = [lock_of(world, tenant) for tenant in world.plans]
    model = model_of(site, world.site_plan, locks, own=read(site, world.site_plan))
    nodes = {
        placed.host[end.device, end.interface]: ids.switch_port(world.site.switch[port.switch].serial, port.port)
        for end, port in site.ordinary_ends
    }
    assert nodes.keys() == set(placed.host.values()), "every device of these sites is an ordinary one"
    may = _said(model, model.may, nodes)
    return Answer(_said(model, model.must, nodes), may, _second(model, nodes, second_tag_ways(model.union)) - may.wire)


def _met(graph: Graph, nodes: Mapping[str, str]) -> dict[str, set[str]]:
    """Host -> the segments that it is on."""
    return {
        host: {to for to in graph[node] if ids.is_wire(to)} if node in graph else set[str]()
        for host, node in nodes.items()
    }


def _second(model: Model, nodes: Mapping[str, str], ways: Iterable[Edge]) -> Pairs:
    """From whoever is on the wire of the first VLAN of a way to whoever is on that of the second."""
    wire_of = {node: number for number, wire in enumerate(model.wires(model.may)) for node in wire}
    at: dict[int, set[str]] = {}
    for host, segments in _met(model.may, nodes).items():
        for node in segments:
            at.setdefault(wire_of[node], set()).add(host)
    ends = {(wire_of.get(way.a, -1), wire_of.get(way.b, -1)) for way in ways}
    return frozenset((x, y) for a, b in ends for x in at.get(a, ()) for y in at.get(b, ()) if x != y)


def _said(model: Model, graph: Graph, nodes: Mapping[str, str]) -> Said:
    segments = _met(graph, nodes)
    on_wire = [[host for host, met in segments.items() if met & wire] for wire in model.wires(graph)]
    together = [[host for host, node in nodes.items() if node in part] for part in model.components(graph)]
    return Said(_pairs(on_wire), _pairs(together))


def _pairs(groups: Iterable[Iterable[str]]) -> Pairs:
    return frozenset((a, b) for group in map(list, groups) for a in group for b in group if a != b)


def closed(pairs: Pairs) -> Pairs:
    """Who reaches whom if every host forwards: both ways, and further."""
    reached: dict[str, set[str]] = {}
    for a, b in pairs:
        both = reached.get(a, {a}) | reached.get(b, {b})
        reached |= dict.fromkeys(both, both)
    return _pairs({id(group): group for group in reached.values()}.values())
