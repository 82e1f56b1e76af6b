"""The model that rules are asked about: G_must and G_may over the site, one plan and the shares of others.

G_must holds the edges that follow from known facts, G_may also every edge that an unstated fact might add;
the real graph lies between. Nodes carry the labels of all who own or control them. The kernel finds the components
of the whole union; graphs to walk on are made of those that the plan touches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from interlock.model.site.inventory import Endpoint
from interlock.vocabulary.nodes import ReferenceNode, parse
from policies.about import Fact
from policies.edges.reach import reached
from policies.edges.shape import Edge, GraphFragment, Union
from policies.edges.site_labels import site_labels
from policies.edges.union import UNION_EDGES
from policies.facts import identities as ids
from policies.facts.kinds import PlanFacts
from policies.facts.plugs import parts_at
from policies.facts.site import SiteFacts

from . import kernel
from .search import EdgeFacts, connected

if TYPE_CHECKING:
    from .search import Graph

#: Edges inside a wire segment; a second tag leads to another one, which is then met as if it were the same.
WIRE_RULES = frozenset({"E1", "E2", "E3", "E4", "E21"})
Missing = tuple[Fact, ...]
#: With more groups of unstated facts only G_may is searched, and findings name the facts on its paths.
CAUSES_SHOWN_ALONE = 32


@dataclass(frozen=True)
class Resolved:
    """What the table of edges and the site's labels say of a union: made once where many plans meet the same one."""

    edges: tuple[Edge, ...]
    labels: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, union: Union) -> Resolved:
        """Ask every row of the table."""
        return cls(tuple(edge for rule in UNION_EDGES for edge in rule.edges(union)), site_labels(union))


def owners(site: SiteFacts, shares: Collection[GraphFragment], resolved: Resolved) -> dict[str, frozenset[str]]:
    """Node -> everybody who owns or controls it."""
    put: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for share in shares:
        for node, labels in share.labels.items():
            put[node] |= labels
    for node, labels in resolved.labels.items():
        # What is lent is its borrower's; everything else keeps the site's label beside any other.
        if not (node in put and node in site.lendable):
            put[node] |= labels
    for edge in (*resolved.edges, *(edge for share in shares for edge in share.edges)):
        for node in (edge.a, edge.b):
            if not edge.held and isinstance(parse(node), ReferenceNode):
                put[node] |= {ids.FOREIGN}
    return dict(put)


@dataclass
class _Piece:
    """A component of G_must, of which the components of all other graphs are made."""

    nodes: list[str] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


class Model:
    """The union as graphs, with what the plan under judgement touches."""

    def __init__(
        self,
        site: SiteFacts,
        plan: PlanFacts,
        own: GraphFragment,
        others: Sequence[GraphFragment] = (),
        *,
        before: Iterable[str] = (),
        vlans: Iterable[int] = (),
        resolved: Resolved | None = None,
    ) -> None:
        self.site = site
        self.plan = plan
        self.own = own
        self.others = tuple(sorted(others, key=lambda share: share.owner))
        self.union = Union(site, (own, *self.others))
        if vlans:
            # In use by somebody who is not among `others`, in a class that the plan meets.
            self.union.vlans = tuple(sorted(self.union.named_vlans.union(vlans)))
        #: What the plan answers for: a node of every class that it changes, and what it mentioned `before`.
        self.mentioned = frozenset(reached(site, own)).union(before)
        resolved = resolved or Resolved.of(self.union)
        edges = [edge for share in (own, *self.others) for edge in share.edges]
        edges += resolved.edges
        #: What guards keep away: in no graph.
        self.held = tuple(edge for edge in edges if edge.held)
        #: Every edge that there is or might be, over the whole union.
        self.edges = tuple(edge for edge in edges if not edge.held)
        # By the graph itself: the number of one that is gone may be that of another.
        self._components: dict[Graph, list[set[str]]] = {}
        self._wires: dict[Graph, list[set[str]]] = {}
        self.labels = owners(site, (own, *self.others), resolved)

    @cached_property
    def _numbers(self) -> kernel.Numbering:
        found = kernel.Numbering(sorted(self.union.nodes))
        for edge in self.edges:
            found.of(edge.a)
            found.of(edge.b)
        return found

    @cached_property
    def _certain(self) -> Sequence[int]:
        """For each node the number of its component of G_must."""
        known = [edge for edge in self.edges if not edge.missing]
        numbers = self._numbers
        left, right = numbers.all_of(edge.a for edge in known), numbers.all_of(edge.b for edge in known)
        return kernel.components(len(numbers), left, right)

    def _piece_of(self, node: str) -> int:
        return self._certain[self._numbers.number[node]]

    @cached_property
    def _pieces(self) -> dict[int, _Piece]:
        found: defaultdict[int, _Piece] = defaultdict(_Piece)
        for node, number in zip(self._numbers.number, self._certain, strict=True):
            found[number].nodes.append(node)
        for edge in self.edges:
            if not edge.missing:
                found[self._piece_of(edge.a)].edges.append(edge)
        return dict(found)

    @cached_property
    def _unstated(self) -> dict[Missing, list[Edge]]:
        found: defaultdict[Missing, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            if edge.missing:
                found[edge.missing].append(edge)
        return dict(found)

    def _graph(self, groups: Sequence[Missing]) -> Graph:
        """Known edges, and the unknown ones that rest on one of these groups of facts.

        A tenant's plan answers for the components it touches; the rules need not walk through all others.
        """
        unknown = [edge for group in groups for edge in self._unstated[group]]
        left, right = ([self._piece_of(end) for end in ends] for ends in _ends(unknown))
        joined = kernel.components(len(self._pieces), left, right)
        if self.plan.is_tenant:
            numbers = self._numbers.number
            wanted = {joined[self._piece_of(node)] for node in self.mentioned if node in numbers}
        else:
            wanted = set(joined)
        pieces = [piece for number, piece in self._pieces.items() if joined[number] in wanted]
        here = (edge for edge, piece in zip(unknown, left, strict=True) if joined[piece] in wanted)
        return _drawn(pieces, here)

    @cached_property
    def must(self) -> Graph:
        """Every edge that is known to be there."""
        return self._graph(())

    @cached_property
    def unknown(self) -> tuple[Missing, ...]:
        """The groups of facts that nobody stated and that edges rest on."""
        return tuple(sorted(self._unstated, key=lambda group: tuple(map(str, group))))

    @cached_property
    def may(self) -> Graph:
        """Every edge that there might be."""
        return self._graph(self.unknown) if self.unknown else self.must

    @cached_property
    def doubtful(self) -> tuple[Graph, ...]:
        """G_must with the edges of one unknown group at a time, so each cause shows alone; then G_may."""
        alone = self.unknown if len(self.unknown) <= CAUSES_SHOWN_ALONE else ()
        return (*(self._graph([group]) for group in alone), *((self.may,) if len(self.unknown) > 1 else ()))

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
                if server.is_bare_metal or self.site.is_whole(server.host):
                    found |= dict.fromkeys(self.site.lent_parts(server.host), server.vpod)
                found |= {ids.neutron_port(own, port): server.vpod for port in server.ports}
        for item in plan.switch_ports:
            at = Endpoint(device=item.device, interface=item.interface)
            if "rnic" in parts_at(self.site.site, at) and item.vpod is not None:
                found[ids.part(self.site.site.machine[item.device].serial, "rnic")] = item.vpod
        return found

    def touched(self, component: set[str]) -> bool:
        """True if the plan mentions a node of this component; the operator's own plan answers for all."""
        return not self.plan.is_tenant or not self.mentioned.isdisjoint(component)

    def components(self, graph: Graph) -> list[set[str]]:
        """The components that the plan answers for, in a stable order."""
        known = self._components.get(graph)
        if known is None:
            known = self._components[graph] = [item for item in connected(graph) if self.touched(item)]
        return known

    def mixed(self, graph: Graph) -> list[set[str]]:
        """Those of the components that carry two labels: no other can hold a conflict between owners."""
        found = self.components(graph)
        owners = kernel.Numbering()
        pairs = [
            (number, owners.of(label))
            for number, component in enumerate(found)
            for node in component
            for label in self.labels.get(node, ())
        ]
        where = kernel.mixed(range(len(found)), [number for number, _ in pairs], [label for _, label in pairs])
        return [found[number] for number in sorted(where)]

    def wires(self, graph: Graph) -> list[set[str]]:
        """Wire segments: what E1-E4 join. In a stable order, and made once: every rule asks for them."""
        import networkx as nx

        known = self._wires.get(graph)
        if known is None:
            wires: Graph = nx.Graph()
            wires.add_nodes_from(node for node in graph if ids.is_wire(node))
            wires.add_edges_from((a, b) for a, b, facts in graph.edges(data=True) if facts["rule"] in WIRE_RULES)
            known = self._wires[graph] = connected(wires)
        return known

    def wire_of(self, graph: Graph, nodes: Sequence[str]) -> list[set[str]]:
        """The wire segments that hold one of these nodes."""
        wanted = set(nodes)
        return [wire for wire in self.wires(graph) if wanted & wire]


def _ends(edges: Sequence[Edge]) -> tuple[list[str], list[str]]:
    return [edge.a for edge in edges], [edge.b for edge in edges]


def _drawn(pieces: Sequence[_Piece], unknown: Iterable[Edge]) -> Graph:
    """Of several edges between two nodes a known one's facts stay, or the first of the unknown."""
    import networkx as nx

    graph: Graph = nx.Graph()
    for piece in pieces:
        graph.add_nodes_from(piece.nodes)
    for edge in unknown:
        if not graph.has_edge(edge.a, edge.b):
            graph.add_edge(edge.a, edge.b, **EdgeFacts(rule=edge.rule, missing=edge.missing, broken=()))
    for piece in pieces:
        for edge in piece.edges:
            graph.add_edge(edge.a, edge.b, **EdgeFacts(rule=edge.rule, missing=(), broken=edge.broken))
    return graph
