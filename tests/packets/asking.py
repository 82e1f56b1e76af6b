"""What the prover's graph says of who reaches whom on the wires of a site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.judging import model_of, read
from tests.oracle.world import World

from .plant import Placed

if TYPE_CHECKING:
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


def asked(world: World, placed: Placed) -> Answer:
    """The graph of the operator's own plan, which is about the whole site."""
    assert world.site_plan is not None
    site = SiteFacts(world.site)
    model = model_of(site, world.site_plan, [], own=read(site, world.site_plan))
    nodes = {
        placed.host[end.device, end.interface]: ids.switch_port(world.site.switch[port.switch].serial, port.port)
        for end, port in site.ordinary_ends
    }
    assert nodes.keys() == set(placed.host.values()), "every device of these sites is an ordinary one"
    return Answer(_said(model, model.must, nodes), _said(model, model.may, nodes))


def _said(model: Model, graph: Graph, nodes: Mapping[str, str]) -> Said:
    segments = {
        host: {to for to in graph[node] if ids.is_wire(to)} if node in graph else set[str]()
        for host, node in nodes.items()
    }
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
