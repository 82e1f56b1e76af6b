"""The model that rules are asked about: G_must and G_may over the site, one plan and the shares of others.

G_must holds the edges that follow from known facts, G_may also every edge that an unstated fact might add;
the real graph lies between. Nodes carry the labels of all who own or control them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from . import identities as ids
from .edges import Edge, Share, Union
from .facts import PlanFacts
from .graphs import connected, empty_graph, reached
from .site_facts import SiteFacts
from .site_labels import site_labels
from .union_edges import UNION_EDGES

if TYPE_CHECKING:
    import networkx as nx

#: Edges inside a wire segment.
WIRE_RULES = frozenset({"E1", "E2", "E3", "E4"})
Missing = tuple[str, ...]
#: With more groups of unstated facts only G_may is searched, and findings name the facts on its paths.
CAUSES_SHOWN_ALONE = 32


class Model:
    """The union as graphs, with what the plan under judgement touches."""

    def __init__(self, site: SiteFacts, plan: PlanFacts, own: Share, others: Sequence[Share] = ()) -> None:
        self.site = site
        self.plan = plan
        self.own = own
        self.others = tuple(sorted(others, key=lambda share: share.owner))
        self.union = Union(site, (own, *self.others))
        self._edges = self._resolve()
        self._wires: dict[int, list[set[str]]] = {}
        self.must = self._graph(())
        self.labels = self._labels()

    def _resolve(self) -> tuple[Edge, ...]:
        shares = (edge for share in (self.own, *self.others) for edge in share.edges)
        resolved = (edge for rule in UNION_EDGES for edge in rule.edges(self.union))
        return tuple(shares) + tuple(resolved)

    def _graph(self, groups: Sequence[Missing]) -> nx.Graph[str]:
        """Known edges, and the unknown ones that rest on one of these groups of facts."""
        graph = empty_graph()
        graph.add_nodes_from(sorted(self.union.nodes))
        for edge in self._edges:
            if edge.missing in groups and not graph.has_edge(edge.a, edge.b):
                graph.add_edge(edge.a, edge.b, rule=edge.rule, missing=edge.missing, broken=())
        for edge in self._edges:
            if not edge.missing:
                graph.add_edge(edge.a, edge.b, rule=edge.rule, missing=(), broken=edge.broken)
        # A tenant's plan answers for the components it touches; the rules need not walk through all others.
        return reached(graph, self.own.nodes) if self.plan.is_tenant else graph

    @cached_property
    def unknown(self) -> tuple[Missing, ...]:
        """The groups of facts that nobody stated and that edges rest on."""
        return tuple(sorted({edge.missing for edge in self._edges if edge.missing}))

    @cached_property
    def may(self) -> nx.Graph[str]:
        """Every edge that there might be."""
        return self._graph(self.unknown) if self.unknown else self.must

    @cached_property
    def doubtful(self) -> tuple[nx.Graph[str], ...]:
        """G_must with the edges of one unknown group at a time, so each cause shows alone; then G_may."""
        alone = self.unknown if len(self.unknown) <= CAUSES_SHOWN_ALONE else ()
        return (*(self._graph([group]) for group in alone), *((self.may,) if len(self.unknown) > 1 else ()))

    def _labels(self) -> dict[str, frozenset[str]]:
        put: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for share in (self.own, *self.others):
            for node, labels in share.labels.items():
                put[node] |= labels
        for node, labels in site_labels(self.union).items():
            # What is lent is its borrower's; everything else keeps the site's label beside any other.
            if not (node in put and node in self.site.lendable):
                put[node] |= labels
        for edge in self._edges:
            for node in (edge.a, edge.b):
                if node.startswith("ref:"):
                    put[node] |= {ids.FOREIGN}
        return dict(put)

    def label(self, node: str) -> frozenset[str]:
        """Everybody who owns or controls a node."""
        return self.labels.get(node, frozenset())

    @cached_property
    def vpod_of(self) -> dict[str, str]:
        """Node -> vPOD, for what the plan's vPODs own on data and storage media."""
        own, plan = self.plan.owner, self.plan
        found: dict[str, str] = {}
        for server in plan.servers:
            if server.vpod is not None and not server.is_controller:
                found[ids.server(own, server.name)] = server.vpod
                if server.is_bare_metal:
                    found |= dict.fromkeys(self.site.interfaces(server.host), server.vpod)
                found |= {ids.neutron_port(own, port): server.vpod for port in server.ports}
        for item in plan.switch_ports:
            machine = self.site.site.machine.get(item.device)
            if machine is not None and item.interface == "rnic" and item.vpod is not None:
                found[ids.part(machine.serial, "rnic")] = item.vpod
        return found

    def touched(self, component: set[str]) -> bool:
        """True if the plan mentions a node of this component; the operator's own plan answers for all."""
        return not self.plan.is_tenant or not self.own.nodes.isdisjoint(component)

    def components(self, graph: nx.Graph[str]) -> list[set[str]]:
        """The components that the plan answers for, in a stable order."""
        return [item for item in connected(graph) if self.touched(item)]

    def wires(self, graph: nx.Graph[str]) -> list[set[str]]:
        """Wire segments: what E1-E4 join. In a stable order, and made once: every rule asks for them."""
        known = self._wires.get(id(graph))
        if known is None:
            wires = empty_graph()
            wires.add_nodes_from(node for node in graph if ids.is_wire(node))
            wires.add_edges_from((a, b) for a, b, facts in graph.edges(data=True) if facts["rule"] in WIRE_RULES)
            known = self._wires[id(graph)] = connected(wires)
        return known

    def wire_of(self, graph: nx.Graph[str], nodes: Sequence[str]) -> list[set[str]]:
        """The wire segments that hold one of these nodes."""
        wanted = set(nodes)
        return [wire for wire in self.wires(graph) if wanted & wire]
