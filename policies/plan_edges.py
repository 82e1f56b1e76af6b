"""A plan's own edges: those whose premises all lie in the plan and the site's inventory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.lock import Premise

from . import identities as ids
from .edges import Edge, EdgeRule, Relation, Share, premise
from .facts import NetworkFact, PlanFacts, PortFact, ServerFact
from .site_facts import SiteFacts

EXTERNAL_REFERENCE = "site:Network/external"
EVERY_VLAN_IDS = (0, 4095)


@dataclass(frozen=True)
class Planned:
    """A plan's facts and the site they are about."""

    site: SiteFacts
    plan: PlanFacts

    def port(self, name: str) -> str:
        """The node of a port of this plan."""
        return ids.neutron_port(self.plan.owner, name)

    def server(self, name: str) -> str:
        """The node of a server of this plan."""
        return ids.server(self.plan.owner, name)

    def router(self, name: str) -> str:
        """The node of a router of this plan."""
        return ids.router(self.plan.owner, name)

    def wires(self, network: NetworkFact) -> tuple[str, ...]:
        """What a network claims: its VLAN on every switch of its physical network, or its overlay."""
        if network.kind == "vxlan":
            return (ids.overlay(self.site.site.cloud, network.segment or 0),)
        if network.kind == "vlan" and network.segment is not None:
            return self.site.segments(network.physical_network, network.segment)
        return ()

    def is_terminal(self, server: ServerFact) -> bool:
        """True if the server may count as a declared controller: the operator's alone."""
        return server.is_controller and server.labels == {ids.OPERATOR}


def reaches_every_vlan(port: PortFact, network: NetworkFact) -> bool:
    """E5 rather than E6: a VF with the spoof check off, without a VLAN, or with VLAN 0 or 4095."""
    if port.vnic_type != "direct":
        return False
    checked = port.port_security and network.port_security
    return not checked or network.kind == "flat" or network.segment in EVERY_VLAN_IDS


def _attached(facts: Planned) -> Iterator[tuple[PortFact, NetworkFact]]:
    for port in facts.plan.ports:
        network = facts.plan.network.get(port.network)
        if network is not None:
            yield port, network


def _segments_at_host(facts: Planned, port: PortFact, network: NetworkFact) -> tuple[str, ...]:
    if network.kind == "vxlan":
        return facts.wires(network)
    vlan = 0 if network.kind == "flat" else (network.segment or 0)
    return tuple(ids.vlan_segment(bridge, vlan) for bridge in facts.site.bridges(port.host, network.physical_network))


def _virtual_functions(facts: Planned) -> Iterator[Edge]:
    for port, network in _attached(facts):
        if port.vnic_type == "direct" and not reaches_every_vlan(port, network):
            yield from (Edge(facts.port(port.name), wire, "E6") for wire in _segments_at_host(facts, port, network))


def _ordinary_nics(facts: Planned) -> Iterator[Edge]:
    for port, network in _attached(facts):
        if port.vnic_type == "normal":
            yield from (Edge(facts.port(port.name), wire, "E7") for wire in _segments_at_host(facts, port, network))


def _devices(facts: Planned) -> Iterator[Edge]:
    for server in facts.plan.servers:
        if not facts.is_terminal(server):
            for port in server.ports:
                known = port in facts.plan.port
                yield Edge(facts.server(server.name), facts.port(port) if known else ids.unresolved(port), "E9")


def _routers(facts: Planned) -> Iterator[Edge]:
    for router in facts.plan.routers:
        for name in router.subnets:
            yield from (Edge(facts.router(router.name), wire, "E10") for wire in _behind_subnet(facts, name))


def _behind_subnet(facts: Planned, name: str) -> tuple[str, ...]:
    """The segments under a subnet of this plan; an object that no file describes is a node of its own."""
    subnet = facts.plan.subnet.get(name)
    network = facts.plan.network.get(subnet.network) if subnet is not None else None
    return facts.wires(network) if network is not None else (ids.unresolved(name),)


def _external_ports(facts: Planned) -> Iterator[Edge]:
    hub = ids.external_hub(facts.site.site.external.name)
    for port in facts.plan.ports:
        if port.network == EXTERNAL_REFERENCE:
            yield Edge(facts.port(port.name), hub, "E12")
        elif port.network not in facts.plan.network:
            yield Edge(facts.port(port.name), ids.unresolved(port.network), "E7")


def _capabilities(facts: Planned) -> Iterator[Edge]:
    for network in facts.plan.networks:
        if network.owner == facts.plan.owner and facts.plan.is_tenant:
            yield from (Edge(ids.capability(network.owner), wire, "E13") for wire in facts.wires(network))


#: The rows that a plan can be asked for alone. Those that need another owner's facts: `union_edges`.
PLAN_EDGES: tuple[EdgeRule[Planned], ...] = (
    EdgeRule("E6", "a virtual function with a VLAN set by the host reaches that VLAN only", _virtual_functions),
    EdgeRule("E7", "an ordinary vNIC reaches its network's segment on its host", _ordinary_nics),
    EdgeRule("E9", "a server forwards between its ports, unless it is a declared terminal", _devices),
    EdgeRule("E10", "a router joins the segments of all its interfaces", _routers),
    EdgeRule("E12", "a port on an external network reaches its hub", _external_ports),
    EdgeRule("E13", "a project may plug into its own networks", _capabilities),
)


def plan_share(site: SiteFacts, plan: PlanFacts) -> Share:
    """What one plan brings into the union."""
    facts = Planned(site, plan)
    return Share(
        owner=plan.owner,
        edges=tuple(edge for rule in PLAN_EDGES for edge in rule.edges(facts)),
        labels=_labels(facts),
        premises=tuple(sorted(set(_premises(facts)), key=lambda item: (item.relation, item.tuple))),
        exclusive=frozenset(_exclusive(facts)),
    )


def _labels(facts: Planned) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for node, label in _labelled(facts):
        found[node].add(label)
    return {node: frozenset(labels) for node, labels in sorted(found.items())}


def _labelled(facts: Planned) -> Iterator[tuple[str, str]]:
    plan = facts.plan
    terminal_ports = {port for server in plan.servers if facts.is_terminal(server) for port in server.ports}
    for network in plan.networks:
        yield from ((wire, network.owner) for wire in facts.wires(network))
    for port in plan.ports:
        if port.name not in terminal_ports:
            yield facts.port(port.name), port.owner
    for server in plan.servers:
        yield from ((facts.server(server.name), label) for label in server.labels)
    for router in plan.routers:
        yield facts.router(router.name), router.owner
    for item in plan.switch_ports:
        machine = facts.site.site.machine.get(item.device)
        if machine is not None and item.interface == "rnic":
            yield ids.part(machine.serial, "rnic"), plan.owner
    if plan.is_tenant:
        yield ids.capability(plan.owner), plan.owner


def _premises(facts: Planned) -> Iterator[Premise]:
    yield from _switch_port_premises(facts)
    yield from _port_premises(facts)
    yield from _gateway_premises(facts)
    yield from _server_premises(facts)
    yield from _network_premises(facts)


def _switch_port_premises(facts: Planned) -> Iterator[Premise]:
    for item in facts.plan.switch_ports:
        switch = facts.site.site.switch.get(item.switch)
        if switch is not None:
            yield premise(Relation.UNTAGGED, switch.serial, str(item.port), str(item.vlan))


def _port_premises(facts: Planned) -> Iterator[Premise]:
    for port, network in _attached(facts):
        bridges = facts.site.bridges(port.host, network.physical_network)
        if reaches_every_vlan(port, network):
            yield from (premise(Relation.EVERY_VLAN, facts.port(port.name), bridge) for bridge in bridges)
        if network.kind != "vxlan" and not bridges and port.host is not None:
            where = (network.physical_network or "", str(network.segment or 0))
            yield premise(Relation.UNPLACED, facts.port(port.name), port.host, *where)


def _gateway_premises(facts: Planned) -> Iterator[Premise]:
    for router in facts.plan.routers:
        if router.external_network is None:
            continue
        inside = [facts.plan.subnet[name] for name in router.subnets if name in facts.plan.subnet]
        scoped = any(subnet.subnet_pool is not None for subnet in inside)
        node = facts.router(router.name)
        addresses = "in scope" if scoped else "filtered"
        yield premise(Relation.GATEWAY, node, router.external_network, addresses, facts.plan.owner)


def _server_premises(facts: Planned) -> Iterator[Premise]:
    for server in facts.plan.servers:
        node = facts.server(server.name)
        role = "controller" if server.is_controller else "server"
        yield premise(Relation.GUEST, node, server.host, role)
        if facts.is_terminal(server):
            for port in server.ports:
                yield premise(Relation.COPY, node, facts.port(port), "vipu-controller", facts.plan.owner)


def _network_premises(facts: Planned) -> Iterator[Premise]:
    if facts.plan.is_tenant:
        yield premise(Relation.CAPABILITY, ids.capability(facts.plan.owner))
    for network in facts.plan.networks:
        for wire in facts.wires(network):
            yield premise(Relation.CLAIM, wire, facts.plan.owner, network.name, network.segment_name, "held")
            if network.shared:
                yield premise(Relation.OFFERED, wire)
        if network.shared and network.external:
            yield premise(Relation.OFFERED, ids.external_hub(facts.site.site.external.name))
    yield from (premise(Relation.OPEN_SCOPE, scope) for scope in facts.plan.open_scopes)


def _exclusive(facts: Planned) -> Iterator[str]:
    for item in facts.plan.switch_ports:
        machine = facts.site.site.machine.get(item.device)
        switch = facts.site.site.switch.get(item.switch)
        if machine is not None:
            yield ids.machine_identity(machine.serial)
        if switch is not None:
            yield ids.port_identity(switch.serial, item.port)
    for network in facts.plan.networks:
        yield from (ids.segment_identity(wire) for wire in facts.wires(network))
