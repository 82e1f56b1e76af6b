"""A plan's networks: what each network, port, router and right joins, and what the site or others' plans decide."""

from __future__ import annotations

from . import names, references
from .ground import EVERYBODY, OPERATOR, OUTSIDE, Ground, Json
from .plans import PlanOfStack

#: VLAN ids that a virtual function with no VLAN of its own has.
_EVERY = (0, 4095)


def networks(plan: PlanOfStack, ground: Ground) -> None:
    """All of it; the plan is the one that the ground says is being read."""
    _claims(plan, ground)
    for name in plan.all("Port"):
        _port(plan, ground, name)
    _routers(plan, ground)
    _scopes(plan, ground)
    for right in plan.all("RbacPolicy").values():
        _right(plan, ground, right)


def _claims(plan: PlanOfStack, ground: Ground) -> None:
    capability, cloud = names.named("cap", plan.owner), names.named("cloud", plan.inventory.site["cloud"])
    if plan.is_tenant:
        ground.label(capability, plan.owner)
        ground.premises.capabilities.add(capability)
        ground.join_unless(ground.assumed("A2"), "A2", capability, [cloud])
    for name, network in plan.all("Network").items():
        owner, wires = plan.owner_of(network["project"]), plan.wires(network)
        points = [plan.hub(name)] if network["external"] else plan.plug_points(network)
        for wire in wires:
            ground.hold(names.identity("segment", wire), owner)
            ground.join_unless(ground.assumed("A10"), "A10", wire, [plan.inventory.strangers])
            ground.premises.claims.add(wire)
        for node in points if network["external"] else wires:
            ground.label(node, OUTSIDE if network["external"] else owner)
        if network["external"]:
            ground.join("E12", plan.hub(name), plan.plug_points(network))
        if network["shared"]:
            ground.premises.offered |= {*wires, *(points if network["external"] else ())}
        if owner == plan.owner and plan.is_tenant:
            ground.join("E13", capability, points)


def _port(plan: PlanOfStack, ground: Ground, name: str) -> None:
    port = plan.all("Port")[name]
    node, owner = plan.node("port", name), plan.owner_of(port["project"])
    network = plan.all("Network").get(port["network"])
    ground.named[plan.owner].add(node)
    if name not in plan.split or owner != OPERATOR:
        ground.label(node, owner)
    if port["network"] == references.EXTERNAL:
        ground.join("E12", node, [plan.inventory.hub])
    elif network is None:
        ground.join("E7", node, [names.named("ref", port["network"])])
    else:
        ground.join("E12", node, [plan.hub(port["network"])] if network["external"] else [])
        _attached(plan, ground, node, port, network, plan.host_of.get(name))
        is_others = owner != plan.owner_of(network["project"])
        if name not in plan.host_of and (is_others or network["network_type"] == "flat"):
            ground.join("E7", node, plan.plug_points(network))


def _attached(plan: PlanOfStack, ground: Ground, node: str, port: Json, network: Json, host: str | None) -> None:
    """The segments of a port on its host; of one that nothing holds to one VLAN, all of them."""
    inventory, kind, physical = plan.inventory, network["network_type"], network["physical_network"]
    vlan, vnic, bridges = network["segmentation_id"], port["vnic_type"], plan.inventory.bridges(host, physical)
    checked = port["port_security"] and network["port_security"]
    is_open = vnic == "baremetal" or (vnic == "direct" and (not checked or kind == "flat" or vlan in _EVERY))
    number = 0 if kind == "flat" else vlan or 0
    met = plan.wires(network) if kind == "vxlan" else [inventory.at_host(bridge, number) for bridge in bridges]
    if vnic == "normal":
        ground.join("E7", node, met)
    elif vnic == "direct" and vlan != _EVERY[-1]:
        ground.join("E5" if is_open else "E6", node, met)
    if is_open:
        ground.premises.open_ports[node] |= {*bridges}
    metal = _metal_ends(plan, host, physical)
    if vnic == "baremetal":
        ground.join("E5", node, metal)
    is_placed = metal if vnic == "baremetal" and inventory.is_whole(host) else bridges
    if kind != "vxlan" and host is not None and not is_placed:
        ground.premises.unplaced.add((node, host, physical or ""))


def _metal_ends(plan: PlanOfStack, host: str | None, physical: str | None) -> list[str]:
    """The switch ports behind a whole host's interfaces on a physical network."""
    inventory = plan.inventory
    if host is None or physical is None or not inventory.is_whole(host):
        return []
    listed, switches = inventory.hosts[host]["interfaces"].get(physical, ()), inventory.switches_of(physical)
    ends = [end for plug, end in inventory.ends_of[host] if (plug in listed if listed else end[0] in switches)]
    return [names.switch_port(inventory.serial[switch], number) for switch, number in ends]


def _routers(plan: PlanOfStack, ground: Ground) -> None:
    for name, router in plan.all("Router").items():
        node = plan.node("R", name)
        ground.label(node, plan.owner_of(router["project"]))
        inside = []
        for item in plan.all("RouterInterface").values():
            if item["router"] == name:
                ground.join("E10", node, _behind(plan, item["subnet"]))
                inside += [plan.all("Subnet")[item["subnet"]]] if item["subnet"] in plan.all("Subnet") else []
        if router["external_network"] is not None:
            is_passing = any(item["subnet_pool"] is not None or ":" in item["cidr"] for item in inside)
            ground.premises.gateways.add((node, router["external_network"], is_passing, plan.owner))
    for item in plan.all("RouterInterface").values():
        if item["router"] not in plan.all("Router"):
            ground.join("E10", names.named("ref", item["router"]), _behind(plan, item["subnet"]))


def _behind(plan: PlanOfStack, subnet: str) -> list[str]:
    name = plan.all("Subnet").get(subnet, {"network": ""})["network"]
    network = plan.all("Network").get(name)
    if network is None:
        return [names.named("ref", subnet)]
    return [plan.hub(name)] if network["external"] else plan.wires(network)


def _scopes(plan: PlanOfStack, ground: Ground) -> None:
    """Shared scopes and pools; subnets outside whose packets no scope tells apart."""
    is_open = any(item["shared"] for kind in references.SCOPES for item in plan.all(kind).values())
    outside = {name for name, item in plan.all("Network").items() if item["external"]}
    versions = {name: item["ip_version"] for name, item in plan.all("AddressScope").items()}
    pools = {name: versions.get(item["address_scope"]) for name, item in plan.all("SubnetPool").items()}
    for item in plan.all("Subnet").values():
        if item["network"] in outside:
            is_ipv6 = ":" in item["cidr"]
            if item["subnet_pool"] is None:
                is_open |= bool(versions) or is_ipv6
            else:
                is_open |= pools.get(item["subnet_pool"]) not in (None, 6 if is_ipv6 else 4)
    ground.premises.is_scope_open |= is_open


def _right(plan: PlanOfStack, ground: Ground, right: Json) -> None:
    """A right joins before anybody uses it. Filters take no edge away, and to share them adds none."""
    kind = plan.kind_of(right["object"])
    if kind == "SecurityGroup":
        return
    if kind in references.SCOPES and (not plan.is_tenant or references.is_sites(right["object"])):
        ground.premises.is_scope_open = True
        return
    nodes = _scoped_routers(plan) if kind in references.SCOPES else _opened(plan, right)
    target = plan.target_of(right["target"])
    if target == EVERYBODY:
        ground.premises.offered |= {*nodes}
    else:
        ground.premises.rights |= {(node, names.named("cap", target)) for node in nodes}


def _scoped_routers(plan: PlanOfStack) -> list[str]:
    """A tenant's own scope: its routers do no NAT for what is in it."""
    scoped = {name for name, item in plan.all("Subnet").items() if item["subnet_pool"] is not None}
    used = {item["router"] for item in plan.all("RouterInterface").values() if item["subnet"] in scoped}
    return [plan.node("R", name) for name in plan.all("Router") if name in used]


def _opened(plan: PlanOfStack, right: Json) -> list[str]:
    name, network = right["object"], plan.all("Network").get(right["object"])
    if name == references.EXTERNAL or (network is not None and network["external"]):
        hub = plan.inventory.hub if network is None else plan.hub(name)
        return [hub] if right["action"] == "access_as_shared" else []
    return plan.plug_points(network) if network is not None else [names.named("ref", name)]
