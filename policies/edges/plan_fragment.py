"""One plan's part of the whole: its edges, what it labels and holds alone, and premises for others' edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.model.lock.record import Premise
from interlock.model.site.inventory import Endpoint
from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from policies.facts import identities as ids
from policies.facts.access import device_of
from policies.facts.data import EVERYBODY
from policies.facts.kinds import PlanFacts, ServerFact
from policies.facts.plan import is_ipv6
from policies.facts.plugs import parts_at
from policies.facts.room import place_of, taken_by
from policies.facts.site import SiteFacts

from .plan import PLAN_EDGES, PlanOnSite, reaches_every_vlan
from .premises import authority_premises
from .rights import right_premises
from .shape import GraphFragment, Relation, premise


def plan_fragment(site: SiteFacts, plan: PlanFacts) -> GraphFragment:
    """What one plan brings into the union."""
    facts = PlanOnSite(site, plan)
    return GraphFragment(
        owner=plan.owner,
        edges=tuple(edge for rule in PLAN_EDGES for edge in rule.edges(facts)),
        labels=_labels(facts),
        premises=tuple(sorted(set(_premises(facts)), key=lambda item: (item.relation, item.tuple))),
        exclusive=frozenset(_exclusive(facts)),
        exposures=tuple(sorted(set(_exposures(facts)))),
        grants=tuple(sorted(set(_grants(facts)))),
    )


def _labels(facts: PlanOnSite) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for node, label in _labelled(facts):
        found[node].add(label)
    return {node: frozenset(labels) for node, labels in sorted(found.items())}


def _labelled(facts: PlanOnSite) -> Iterator[tuple[str, str]]:
    plan = facts.plan
    terminal_ports = {port for server in plan.servers if facts.is_terminal(server) for port in server.ports}
    for network in plan.networks:
        # What is outside is the world's, whoever calls the network its own.
        wires = [(facts.hub(network), ids.WORLD)] if network.external else []
        yield from wires or ((wire, network.owner) for wire in facts.wires(network))
    for port in plan.ports:
        # The operator's port of a controller is split off; a tenant takes one of its own to any server.
        if port.name not in terminal_ports or port.owner != ids.OPERATOR:
            yield facts.port(port.name), port.owner
    for server in plan.servers:
        yield from ((facts.server(server.name), label) for label in server.labels)
    for router in plan.routers:
        yield facts.router(router.name), router.owner
    for item in plan.switch_ports:
        machine = facts.site.site.machine.get(item.device)
        at = Endpoint(device=item.device, interface=item.interface)
        if machine is not None and "rnic" in parts_at(facts.site.site, at):
            yield ids.part(machine.serial, "rnic"), plan.owner
        elif facts.site.is_bare_metal(item.device):
            node = ids.part(facts.site.site.host[item.device].serial, item.interface)
            yield from [(node, plan.owner)] if node in facts.site.lendable else []
    if plan.is_tenant:
        yield ids.capability(plan.owner), plan.owner
    yield from _labelled_holdings(facts)


def _labelled_holdings(facts: PlanOnSite) -> Iterator[tuple[str, str]]:
    """Whole hosts, volumes, and what fabric managers and V-IPU controllers join."""
    plan = facts.plan
    for server in plan.servers:
        parts = facts.site.interfaces(server.host) if server.is_bare_metal else facts.passed_on(server)
        yield from ((node, label) for node in parts for label in server.labels)
    for volume in plan.volumes:
        yield ids.volume(plan.owner, volume.name), volume.owner
    for allocation in plan.allocations:
        yield ids.allocation(allocation.owner, allocation.name), allocation.owner
        yield from ((facts.rnic(machine), allocation.owner) for machine in allocation.machines)
    # Whoever's controller has its agent commands the machine, in an allocation or not.
    yield from ((facts.rnic(agent.machine), plan.owner) for agent in plan.vipu.agents)
    for key in plan.keys:
        yield from [(facts.key(key)[0], plan.owner)] if key.is_claim else []
        yield from ((port, plan.owner) for port in facts.own_ports(key))
    for item in plan.nvlinks:
        yield ids.nvlink_partition(item.domain, item.partition), plan.owner
        yield from ((ids.gpu(item.domain, gpu), plan.owner) for gpu in item.gpus)


def _premises(facts: PlanOnSite) -> Iterator[Premise]:
    yield from _switch_port_premises(facts)
    yield from _port_premises(facts)
    yield from _gateway_premises(facts)
    yield from _server_premises(facts)
    yield from _network_premises(facts)
    yield from _fabric_premises(facts)
    yield from authority_premises(facts)


def _switch_port_premises(facts: PlanOnSite) -> Iterator[Premise]:
    for item in facts.plan.switch_ports:
        switch = facts.site.site.switch.get(item.switch)
        if switch is not None:
            yield premise(Relation.UNTAGGED, switch.serial, str(item.port), str(item.vlan))


def _port_premises(facts: PlanOnSite) -> Iterator[Premise]:
    for port, network in facts.attached_ports():
        bridges = facts.site.bridges(port.host, network.physical_network)
        if reaches_every_vlan(port, network):
            yield from (premise(Relation.EVERY_VLAN, facts.port(port.name), bridge) for bridge in bridges)
        metal = facts.site.bare_metal_ends(port.host, network.physical_network)
        placed = metal if port.vnic_type == "baremetal" and facts.site.is_bare_metal(port.host or "") else bridges
        if network.kind != "vxlan" and not placed and port.host is not None:
            where = (network.physical_network or "", str(network.segment or 0))
            yield premise(Relation.UNPLACED, facts.port(port.name), port.host, *where)


def _gateway_premises(facts: PlanOnSite) -> Iterator[Premise]:
    for router in facts.plan.routers:
        if router.external_network is None:
            continue
        inside = [facts.plan.subnet[name] for name in router.subnets if name in facts.plan.subnet]
        scoped = any(subnet.subnet_pool is not None for subnet in inside)
        node = facts.router(router.name)
        other_family = any(is_ipv6(subnet.cidr) for subnet in inside)
        addresses = "in scope" if scoped else "IPv6" if other_family else "filtered"
        yield premise(Relation.GATEWAY, node, router.external_network, addresses, facts.plan.owner)


def _server_premises(facts: PlanOnSite) -> Iterator[Premise]:
    for server in facts.plan.servers:
        node = facts.server(server.name)
        host = facts.site.site.host.get(server.host)
        if host is not None:
            room = taken_by(server, facts.plan, facts.site)
            yield premise(Relation.TAKES, place_of(host, room), node, *room.columns)
        if server.is_bare_metal:
            yield from _bare_metal_premises(facts, server)
            continue
        role = "controller" if server.is_controller else "server"
        yield premise(Relation.GUEST, node, server.host, role)
        if _hands_out_devices(facts, server):
            yield premise(Relation.PASSTHROUGH, node, server.host, server.flavor)
        if facts.is_terminal(server):
            for port in server.ports:
                yield premise(Relation.COPY, node, facts.port(port), "vipu-controller", facts.plan.owner)


def _hands_out_devices(facts: PlanOnSite, server: ServerFact) -> bool:
    flavor = facts.site.site.flavor.get(Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND) or "")
    return flavor is not None and bool(device_of(flavor.all_extra_specs.items()))


def _bare_metal_premises(facts: PlanOnSite, server: ServerFact) -> Iterator[Premise]:
    """On a host that the site runs as a hypervisor, a bare-metal server has its bridges too."""
    node = facts.server(server.name)
    yield premise(Relation.METAL, node, server.host)
    yield from (premise(Relation.EVERY_VLAN, node, bridge) for bridge in facts.site.bridges_of(server.host))


def _fabric_premises(facts: PlanOnSite) -> Iterator[Premise]:
    cloud, owner = facts.site.site.cloud, facts.plan.owner
    for access in facts.plan.accesses:
        address = ids.share_address(cloud, access.vip)
        yield premise(Relation.COPY, ids.share_service(cloud), address, "storage-appliance", owner)
    for key in facts.plan.keys:
        node, fabric = facts.key(key)
        for guid, membership in key.members:
            yield premise(Relation.KEY, node, ids.infiniband_port(guid), membership, fabric)
    for item in facts.plan.nvlinks:
        node = ids.nvlink_partition(item.domain, item.partition)
        yield premise(Relation.NVLINK, node, ids.fabric(item.domain))


def _network_premises(facts: PlanOnSite) -> Iterator[Premise]:
    if facts.plan.is_tenant:
        yield premise(Relation.CAPABILITY, ids.capability(facts.plan.owner))
    for network in facts.plan.networks:
        for wire in facts.wires(network):
            yield premise(Relation.CLAIM, wire, facts.plan.owner, network.name, network.segment_name, "held")
            if network.shared:
                yield premise(Relation.OFFERED, wire)
        if network.shared and network.external:
            yield premise(Relation.OFFERED, facts.hub(network))
    yield from (premise(Relation.OPEN_SCOPE, str(scope)) for scope in facts.plan.open_scopes)
    yield from right_premises(facts)


def _exclusive(facts: PlanOnSite) -> Iterator[str]:
    for item in facts.plan.switch_ports:
        machine = facts.site.site.machine.get(item.device)
        switch = facts.site.site.switch.get(item.switch)
        if machine is not None:
            yield from facts.site.held_with(machine)
        if switch is not None:
            yield ids.port_identity(switch.serial, item.port)
    for network in facts.plan.networks:
        yield from (ids.segment_identity(wire) for wire in facts.wires(network))
    yield from _exclusive_holdings(facts)


def _exclusive_holdings(facts: PlanOnSite) -> Iterator[str]:
    site, plan = facts.site.site, facts.plan
    hosts = {server.host for server in plan.servers if facts.takes_host(server)}
    hosts |= {item.device for item in plan.switch_ports if facts.site.is_bare_metal(item.device)}
    yield from (ids.host_identity(site.host[name].serial) for name in hosts if name in site.host)
    told = {name for allocation in plan.allocations for name in allocation.machines}
    told |= {agent.machine for agent in plan.vipu.agents}
    machines = (site.machine[name] for name in told if name in site.machine)
    yield from (identity for machine in machines for identity in facts.site.held_with(machine))
    yield from (ids.share_address(site.cloud, access.vip) for access in plan.accesses)
    for key in plan.keys:
        yield from [facts.key(key)[0]] if key.is_claim else []
        yield from facts.own_ports(key)
    for item in plan.nvlinks:
        yield ids.nvlink_partition(item.domain, item.partition)
        yield from (ids.gpu(item.domain, gpu) for gpu in item.gpus)
    for pair in plan.keypairs:
        yield from (ids.login_key_identity(found) for found in pair.fingerprints)
    for server in plan.servers:
        # Whoever is let in to a server of the operator's is none of the tenant's people (SEC-05).
        keys = server.login_keys if plan.owner in server.labels else ()
        yield from (ids.login_key_identity(found) for found in keys)


def volume_holders(plan: PlanFacts) -> dict[str, frozenset[str]]:
    """Attached volume of the plan -> its owner, and whoever controls a server of others that it is attached to (Excl).

    Who else controls a server of the volume's own owner is a matter of that server, and AUTH-01 says so.
    """
    owners = {item.name: item.owner for item in plan.volumes}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for item in plan.attachments:
        if item.volume in owners:
            owner, server = owners[item.volume], plan.server.get(item.server)
            labels = server.labels if server is not None else {ids.FOREIGN}
            found[item.volume] |= {owner} if owner in labels else {owner, *labels}
    return {ids.volume(plan.owner, name): frozenset(labels) for name, labels in sorted(found.items())}


def _exposures(facts: PlanOnSite) -> Iterator[str]:
    """Entries from outside: floating addresses, and buckets that everybody may read."""
    yield from (f"floating address {item.shown} leads to {item.port}" for item in facts.plan.floating_ips)
    for policy in facts.plan.bucket_policies:
        for principals, actions in policy.grants:
            if EVERYBODY in principals:
                yield f"bucket {policy.bucket}: everybody may {' and '.join(actions)}"


def _grants(facts: PlanOnSite) -> Iterator[str]:
    """Grants by address: at which address of the appliance, to which prefix."""
    for access in facts.plan.accesses:
        yield f"share {access.share} at {access.vip}: {access.prefix}"
