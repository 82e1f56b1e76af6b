"""Routers: L3-01 none enters another's network, L3-02 one project on both sides, L3-05 scopes, L3-06 back ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import RouterNode, last_part, parse
from policies.about import OpenScope, resources
from policies.edges.shape import Relation
from policies.edges.terminals import copies
from policies.facts import identities as ids
from policies.facts.kinds import PlanFacts, PortFact, RouterFact
from policies.footprints.boundary import PARTITION
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import shortest
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, absence

if TYPE_CHECKING:
    from policies.graph.search import Graph

# L3-01


def _not_adjacent(model: Model, names: Names) -> RuleAnswer:
    count = sum(_is_router(node) for node in model.must)
    return absence(model, count, lambda graph: _adjacent(model, names, graph))


def _is_router(node: str) -> bool:
    """A router of a project; those of switches are wires' business."""
    return isinstance(parse(node), RouterNode)


def _adjacent(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    wire_of = {node: wire for wire in model.wires(graph) for node in wire}
    for router in sorted(node for node in graph if _is_router(node)):
        for near in sorted(node for node in graph[router] if graph.edges[router, node]["rule"] == "E10"):
            yield from _beside(model, names, graph, router, near, wire_of.get(near, {near}))


def _beside(
    model: Model, names: Names, graph: Graph, router: str, near: str, wire: set[str]
) -> Iterator[Cause]:  # fmt: skip
    """A stranger's network under an interface says most; else another owner's router on the same wire."""
    own = model.label(router)
    owners = {label for node in wire for label in model.label(node)}
    if owners and not owners & own:
        path = (router, near)
        yield _beside_cause(names, graph, path, f"has an interface on {_whose(owners)} network", 86)
        return
    inside = _around(graph, wire)
    others = {node for node in inside if _is_router(node) and model.label(node) - own}
    way = shortest(graph, [router], lambda node: node in others, within=inside)
    if way is not None:
        yield _beside_cause(names, graph, way, f"stands on one segment with {names.of(way[-1])}", 40)


def _around(graph: Graph, wire: set[str]) -> set[str]:
    """The wire and the routers on it; those of other tenants hang where their locks say that all of it is joined."""
    joined = {node for item in wire for node in graph[item] if graph.edges[item, node]["rule"] == PARTITION}
    held = wire | joined
    return held | {node for item in held for node in graph[item] if _is_router(node)}


def _whose(owners: set[str]) -> str:
    return "a stranger's" if owners == {ids.FOREIGN} else f"{' and '.join(sorted(owners))}'s"


def _beside_cause(names: Names, graph: Graph, path: tuple[str, ...], why: str, specificity: int) -> Cause:
    return Cause(
        key=(path[0], path[-1]),
        message=f"{names.of(path[0])} {why}",
        witness=names.path(graph, path),
        path=path,
        hint="join routers to subnets of their own tenant only; tenants meet at the external network, filtered",
        missing=missing_on(graph, path),
        specificity=specificity,
    )


# L3-02


def _one_project(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    interfaces = [(router, owner, subnet) for router in plan.routers for owner, subnet in router.interfaces]
    ports = [port for port in plan.ports if not _terminal(plan, port)]
    causes = [_interface_cause(*item, why) for item in interfaces if (why := _differs(plan, *item))]
    causes += [cause for port in ports for cause in _port_faults(plan, port)]
    return RuleAnswer(len(interfaces) + len(ports), tuple(causes))


def _terminal(plan: PlanFacts, port: PortFact) -> bool:
    """The operator's controller stands on its tenant's network on purpose, by a port of the operator's."""
    servers = (item for item in plan.servers if item.name == port.server and item.is_controller)
    return port.owner == ids.OPERATOR and any(server.labels == {ids.OPERATOR} for server in servers)


def _differs(plan: PlanFacts, router: RouterFact, owner: str, subnet: str) -> str:
    found = plan.subnet.get(subnet)
    if found is None or (network := plan.network.get(found.network)) is None:
        return f"subnet {subnet} belongs to somebody whom this plan does not know"
    owners = {"interface": owner, "router": router.owner, "subnet": found.owner, "network": network.owner}
    return "" if len(set(owners.values())) == 1 else ", ".join(f"{what}: {whose}" for what, whose in owners.items())


def _interface_cause(router: RouterFact, _: str, subnet: str, why: str) -> Cause:
    return Cause(
        key=(router.name, subnet),
        message=f"the interface of {router.name} on {subnet} joins two projects ({why})",
        witness=(f"router {router.name} [{router.owner}]", f"subnet {subnet}", why),
        hint="router, interface, subnet and network lie in one project",
        specificity=84,
        about=resources(router.name, subnet),
    )


def _port_faults(plan: PlanFacts, port: PortFact) -> Iterator[Cause]:
    network = plan.network.get(port.network)
    if network is None or network.owner == port.owner:
        return
    rights = (item for item in plan.rights if item.object == network.name and item.action == "access_as_shared")
    if any(item.target in ("*", port.owner) for item in rights):
        return
    yield Cause(
        key=port.name,
        message=f"port {port.name} of {port.owner} is on {network.name} of {network.owner}, which gives no right to it",
        witness=(f"port {port.name} [{port.owner}]", f"network {network.name} [{network.owner}]"),
        hint="put the port on a network of its own project",
        specificity=58,
        about=resources(port.name, network.name),
    )


# L3-05

#: What a router has behind it that its gateway does not translate.
_PASSING = {
    "in scope": "a subnet behind it joins an address scope",
    "IPv6": "a subnet behind it is IPv6, and the address scope outside is for IPv4",
}


def _no_open_scope(model: Model, _: Names) -> RuleAnswer:
    scopes = [OpenScope.parse(scope) for (scope,) in model.union.facts(Relation.OPEN_SCOPE)]
    gateways = [item for item in model.union.facts(Relation.GATEWAY) if item[0] in model.own.nodes]
    outside = model.site.site.external.name
    causes = [_scope_cause(scope.kind, scope.name, scope.why, outside) for scope in scopes]
    passing = [
        (last_part(parse(node)), _PASSING[addresses]) for node, _, addresses, _ in gateways if addresses in _PASSING
    ]
    causes += [_scope_cause("router", name, why, outside) for name, why in passing]
    return RuleAnswer(len(gateways) + len(scopes), tuple(causes))


def _scope_cause(kind: str, name: str, why: str, outside: str) -> Cause:
    """`outside`: the name of the external network."""
    what = f"{kind} {name}"
    return Cause(
        key=what,
        message=f"{what}: {why}, so packets are routed without NAT, both ways",
        witness=(what, why, f"external network {outside}"),
        hint="keep the external subnet's address scope to itself, and tenants' subnets out of any scope",
        specificity=62,
        about=resources(name, outside),
    )


# L3-06


def _by_declared_router_only(model: Model, names: Names) -> RuleAnswer:
    declared = [item for item in model.site.site.sharing if item.kind == "routed-back-end"]
    places = list(copies(model.union)) if declared else []
    nodes = {item.name: {place.hub for place in places if item in place.declared} for item in declared}
    return absence(model, len(declared), lambda graph: _open_routers(model, names, graph, nodes))


def _open_routers(model: Model, names: Names, graph: Graph, nodes: dict[str, set[str]]) -> Iterator[Cause]:
    for name, devices in nodes.items():
        path = shortest(graph, devices, lambda node: bool(model.label(node) - ids.RESERVED_LABELS))
        if path is not None:
            yield Cause(
                key=name,
                message=f"the way to the back end {name} is open: {names.of(path[-1])} passes {names.of(path[0])}",
                witness=names.path(graph, tuple(reversed(path))),
                path=tuple(reversed(path)),
                hint="deny by default on that router, permit the service's addresses only, and state both guards",
                missing=missing_on(graph, path),
                specificity=64,
            )


L3_01 = Rule(
    id="L3-01",
    title="routers of two owners are adjacent at the external network only",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a router forwards between all its interfaces, whatever the routes say",
    source="docs/design/semantics.md §11, example 13; OSSA-2014-008",
    needs=("routers", "router interfaces", "claims", "everything that joins segments"),
    ask=_not_adjacent,
)
L3_02 = Rule(
    id="L3-02",
    title="ports and router interfaces lie in the project of their network",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="an interface of one project on another's subnet is a way in that its owner never gave",
    source="OSSA-2014-008: routers could be attached to other projects' networks",
    needs=("routers", "router interfaces", "subnets", "ports", "rights"),
    ask=_one_project,
)
L3_05 = Rule(
    id="L3-05",
    title="no address scope lets packets between two tenants bypass NAT",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="inside one scope Neutron routes without NAT, and a gateway then filters nothing",
    source="docs/design/semantics.md §11, example 15; Neutron admin guide, address scopes",
    needs=("gateways", "subnet pools", "address scopes", "rights"),
    ask=_no_open_scope,
)
L3_06 = Rule(
    id="L3-06",
    title="a routed back end is reached through its declared router only",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a router toward a service that permits everything joins all its tenants",
    source="docs/design/semantics.md §11, example 39; reference design, storage: Ceph's public network",
    needs=("sharing of kind routed-back-end", "its guards", "everything that joins"),
    ask=_by_declared_router_only,
    of=Of.BOTH,
)
