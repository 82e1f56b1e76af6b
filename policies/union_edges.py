"""Edges that the union of all shares decides: the site's own, and those with premises of two owners."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site import Sharing

from . import identities as ids
from .edges import Edge, EdgeRule, Relation, Union
from .facts import PortMode, SwitchEnd
from .guards import BETWEEN_OWNERS, Held, assumption, sharing
from .plan_edges import EXTERNAL_REFERENCE


def unless(held: Held, rule: str, a: str, b: str) -> Iterator[Edge]:
    """The edge that a guard removes: there if it is known not to hold, perhaps there if nobody stated it."""
    if held.value is not True:
        yield Edge(a, b, rule, held.missing, held.broken)


def port_path(end: SwitchEnd) -> str:
    """The place of a switch port in the site file."""
    return f"switches.{end.switch}.ports.{end.port}"


def _bridge(union: Union, end: SwitchEnd) -> str:
    return ids.switch_bridge(union.site.site.switch[end.switch].serial)


def _between_switches(union: Union) -> Iterator[Edge]:
    for a, b in union.site.switch_links:
        left, right = union.mode[a], union.mode[b]
        if not (left.known and right.known):
            yield from _unmodelled(union, a, b)
            continue
        for vlan in union.vlans:
            if left.carries(vlan) and right.carries(vlan):
                yield Edge(ids.vlan_segment(_bridge(union, a), vlan), ids.vlan_segment(_bridge(union, b), vlan), "E1")


def _unmodelled(union: Union, a: SwitchEnd, b: SwitchEnd) -> Iterator[Edge]:
    """A link with an end that the site file does not configure may join all VLANs of both switches."""
    missing = tuple(port_path(end) for end in (a, b) if not union.mode[end].known)
    link = ids.switch_port(union.site.site.switch[a.switch].serial, a.port)
    for end in (a, b):
        yield from (Edge(link, ids.vlan_segment(_bridge(union, end), vlan), "E2", missing) for vlan in union.vlans)


def _natives(union: Union) -> Iterator[Edge]:
    for a, b in union.site.switch_links:
        for left in sorted(union.mode[a].untagged):
            for right in sorted(union.mode[b].untagged):
                near = ids.vlan_segment(_bridge(union, a), left)
                yield Edge(near, ids.vlan_segment(_bridge(union, b), right), "E2")


def _host_uplinks(union: Union) -> Iterator[Edge]:
    for node in sorted(_host_segments(union)):
        bridge, vlan = ids.bridge_and_vlan(node)
        end = union.site.uplink.get(bridge)
        if end is not None:
            yield from _uplink_edges(union, node, vlan, end)


def _host_segments(union: Union) -> set[str]:
    """VLANs of host bridges that anything is attached to; where a port reaches every VLAN, all of them."""
    named = {node for node in union.nodes if node.startswith("L:") and "/" in node}
    open_bridges = {bridge for _, bridge in union.facts(Relation.EVERY_VLAN)}
    hub_bridges = _external_bridges(union)
    every = {ids.vlan_segment(bridge, vlan) for bridge in open_bridges for vlan in (0, *union.vlans)}
    return named | every | {ids.vlan_segment(bridge, _external_vlan(union)) for bridge in hub_bridges}


def _uplink_edges(union: Union, node: str, vlan: int, end: SwitchEnd) -> Iterator[Edge]:
    mode, switch = union.mode[end], _bridge(union, end)
    if not mode.known:
        for other in union.vlans:
            yield Edge(node, ids.vlan_segment(switch, other), "E4", (port_path(end),))
    elif vlan == 0:
        yield from (Edge(node, ids.vlan_segment(switch, native), "E4") for native in sorted(mode.untagged))
    elif vlan in mode.untagged:
        # A switch may or may not take frames tagged with the VLAN that it sends untagged.
        yield Edge(node, ids.vlan_segment(switch, vlan), "E4", (f"{port_path(end)}.tag_native",))
    elif mode.carries(vlan):
        yield Edge(node, ids.vlan_segment(switch, vlan), "E4")


def _every_vlan(union: Union) -> Iterator[Edge]:
    """Virtual functions that are not held to one VLAN, and whatever else is cabled to a switch."""
    for port, bridge in union.facts(Relation.EVERY_VLAN):
        yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E5") for vlan in (0, *union.vlans))
    uplinks = set(union.site.uplink.values())
    for _, end in union.site.device_ends:
        if end not in uplinks:
            yield from _behind_port(union, end, union.mode[end])


def _behind_port(union: Union, end: SwitchEnd, mode: PortMode) -> Iterator[Edge]:
    switch = union.site.site.switch[end.switch]
    port, bridge = ids.switch_port(switch.serial, end.port), _bridge(union, end)
    if not mode.known:
        yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E5", (port_path(end),)) for vlan in union.vlans)
        return
    tagged = {vlan for vlan in union.vlans if mode.carries(vlan)}
    yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E5") for vlan in sorted(mode.untagged | tagged))


def _unplaced(union: Union) -> Iterator[Edge]:
    for port, host, network, _ in union.facts(Relation.UNPLACED):
        for switch in union.site.switches_of.get(network, ()):
            bridge = ids.switch_bridge(switch.serial)
            missing = (f"hosts.{host}.interfaces.{network}",)
            yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E7", missing) for vlan in union.vlans)


def _cabled_devices(union: Union) -> Iterator[Edge]:
    uplinks = set(union.site.uplink.values())
    for end, port in union.site.device_ends:
        if port not in uplinks:
            serial = union.site.site.switch[port.switch].serial
            for device in union.site.devices_behind(end):
                yield Edge(device, ids.switch_port(serial, port.port), "E9")


def _terminals(union: Union) -> Iterator[Edge]:
    for server, attachment, kind, _ in union.facts(Relation.COPY):
        yield from unless(_declared_held(union, kind), "E9", server, attachment)


def declarations(union: Union, kind: str) -> tuple[Sharing, ...]:
    """The site's declarations of one kind of sharing."""
    return tuple(item for item in union.site.site.sharing if item.kind == kind)


def _declared_held(union: Union, kind: str) -> Held:
    """Undeclared sharing is an ordinary node: like a declaration with a false guard."""
    found = declarations(union, kind)
    return sharing(union.site.site, found) if found else _broken(f"sharing declares no {kind}")


def _broken(fact: str) -> Held:
    return Held(value=False, broken=(fact,))


def _switch_routing(union: Union) -> Iterator[Edge]:
    for switch in union.site.site.switches:
        if switch.ip_routing is False or switch.routed_vlans == ():
            continue
        stated = {"ip_routing": switch.ip_routing, "routed_vlans": switch.routed_vlans}
        missing = tuple(f"switches.{switch.name}.{name}" for name, value in stated.items() if value is None)
        for vlan in union.vlans if switch.routed_vlans is None else switch.routed_vlans:
            segment = ids.vlan_segment(ids.switch_bridge(switch.serial), vlan)
            yield Edge(ids.default_vrf(switch.serial), segment, "E10", missing)


def _gateways(union: Union) -> Iterator[Edge]:
    held = _declared_held(union, "external-network")
    for (scope,) in union.facts(Relation.OPEN_SCOPE):
        held = _broken(f"{scope} is shared with tenants")
    for router, reference, addresses, _ in union.facts(Relation.GATEWAY):
        if reference != EXTERNAL_REFERENCE:
            yield Edge(router, ids.unresolved(reference), "E11")
            continue
        name = union.site.site.external.name
        copy, hub = ids.external_copy(name, router), ids.external_hub(name)
        yield Edge(router, copy, "E11")
        joined = addresses == "in scope"
        yield from unless(
            _broken("a subnet of the router joins an address scope") if joined else held, "E11", copy, hub
        )


def _external_vlan(union: Union) -> int:
    return union.site.site.external.vlan or 0


def _external_bridges(union: Union) -> tuple[str, ...]:
    name = union.site.site.external.physical_network
    return tuple(bridge for host in union.site.site.hosts for bridge in union.site.bridges(host.name, name))


def _external_wires(union: Union) -> Iterator[Edge]:
    """The wire of the external network: where it leaves a host, and its VLAN on switches."""
    external = union.site.site.external
    hub, vlan = ids.external_hub(external.name), _external_vlan(union)
    yield from (Edge(hub, ids.vlan_segment(bridge, vlan), "E12") for bridge in _external_bridges(union))
    if vlan:
        yield from (Edge(hub, wire, "E12") for wire in union.site.segments(external.physical_network, vlan))


def _offered(union: Union) -> Iterator[Edge]:
    """A shared network is one that every tenant and everybody unknown may plug into."""
    everyone = [node for (node,) in union.facts(Relation.CAPABILITY)]
    everyone.append(ids.foreigners(union.site.site.cloud))
    for (segment,) in union.facts(Relation.OFFERED):
        yield from (Edge(node, segment, "E13") for node in everyone)


def _machines(union: Union) -> Iterator[Edge]:
    held = assumption(union.site.site, "A3")
    for machine in union.site.site.machines:
        rnic, gateway, bmc = (ids.part(machine.serial, name) for name in ("rnic", "gw", "bmc"))
        yield from unless(held, "E15", rnic, gateway)
        yield from unless(held, "E15", gateway, bmc)


def _links(union: Union) -> Iterator[Edge]:
    held, machine = assumption(union.site.site, "A4"), union.site.site.machine
    for cable in union.site.site.cables:
        if cable.kind != "ethernet" and cable.a.device in machine and cable.b.device in machine:
            ends = (ids.part(machine[end.device].serial, "rnic") for end in (cable.a, cable.b))
            yield from unless(held, "E16", *ends)


def _hypervisors(union: Union) -> Iterator[Edge]:
    site = union.site.site
    apart = assumption(site, "A5", without=BETWEEN_OWNERS)
    processors = assumption(site, "A5", only=BETWEEN_OWNERS)
    for server, name, _ in union.facts(Relation.GUEST):
        host = site.host.get(name)
        serial = host.serial if host is not None else name
        yield from unless(apart, "E18", server, ids.hypervisor(serial))
        yield from unless(processors, "E18", server, ids.processors(serial))


def _switches_forward(union: Union) -> Iterator[Edge]:
    held = assumption(union.site.site, "A1")
    for node in sorted(union.nodes):
        if node.startswith("L:") and "/" not in node:
            switch = union.site.switch_of_bridge.get(ids.bridge_and_vlan(node)[0])
            if switch is not None:
                yield from unless(held, "A1", node, ids.fabric(switch.serial))


def _cloud_scopes(union: Union) -> Iterator[Edge]:
    held = assumption(union.site.site, "A2")
    for (node,) in union.facts(Relation.CAPABILITY):
        yield from unless(held, "A2", node, ids.cloud_api(union.site.site.cloud))


def _pools(union: Union) -> Iterator[Edge]:
    held = assumption(union.site.site, "A10")
    for segment, *_ in union.facts(Relation.CLAIM):
        yield from unless(held, "A10", segment, ids.foreigners(union.site.site.cloud))


#: The rows that are resolved after the union; A1, A2 and A10 are the edges that false assumptions add.
UNION_EDGES: tuple[EdgeRule[Union], ...] = (
    EdgeRule("E1", "cabled switches carry the same tagged VLAN", _between_switches),
    EdgeRule("E2", "cabled switches join their native VLANs, also when the numbers differ", _natives),
    EdgeRule("E4", "a host's interface carries the VLANs of its switch port", _host_uplinks),
    EdgeRule("E5", "a device that may tag reaches the native and every tagged VLAN of its switch port", _every_vlan),
    EdgeRule("E7", "a port whose host has no interface on its network may be on any of its VLANs", _unplaced),
    EdgeRule("E9", "what is cabled to a switch port is attached there", _cabled_devices),
    EdgeRule("E9", "a terminal passes nothing on while its guards are held", _terminals),
    EdgeRule("E10", "a switch that routes joins the VLANs in which it has an address", _switch_routing),
    EdgeRule("E11", "a gateway meets a copy of the external network, and its hub unless it is filtered", _gateways),
    EdgeRule("E12", "the wire of the external network", _external_wires),
    EdgeRule("E13", "every project may plug into a shared network", _offered),
    EdgeRule("E15", "a machine joins RNIC, gateway and BMC unless A3 is held", _machines),
    EdgeRule("E16", "links between machines carry data unless A4 is held", _links),
    EdgeRule("E18", "a hypervisor joins its guests unless A5 is held", _hypervisors),
    EdgeRule("A1", "a switch joins all its VLANs unless A1 is held", _switches_forward),
    EdgeRule("A2", "the cloud joins all projects unless A2 is held", _cloud_scopes),
    EdgeRule("A10", "strangers may be on every claimed segment unless A10 is held", _pools),
)


def site_labels(union: Union) -> dict[str, frozenset[str]]:
    """Labels that no plan puts: the operator's devices, the world behind the external network, strangers."""
    operator = frozenset({ids.OPERATOR})
    site = union.site.site
    found = {device: operator for end, _ in union.site.device_ends for device in union.site.devices_behind(end)}
    for machine in site.machines:
        found |= {ids.part(machine.serial, name): operator for name in ("rnic", "gw", "bmc")}
    for host in site.hosts:
        found[ids.hypervisor(host.serial)] = operator
    for switch in site.switches:
        found[ids.default_vrf(switch.serial)] = operator
    found[ids.cloud_api(site.cloud)] = operator
    found[ids.foreigners(site.cloud)] = frozenset({ids.FOREIGN})
    found[ids.external_hub(site.external.name)] = frozenset({ids.WORLD})
    return found | dict(_unwelcome(union))


def _unwelcome(union: Union) -> Iterator[tuple[str, frozenset[str]]]:
    """Copies of a terminal that a tenant outside its audience meets count as the operator's."""
    for _, attachment, kind, tenant in union.facts(Relation.COPY):
        if not _welcome(declarations(union, kind), tenant):
            yield attachment, frozenset({ids.OPERATOR})
    for router, _, _, tenant in union.facts(Relation.GATEWAY):
        if not _welcome(declarations(union, "external-network"), tenant):
            yield ids.external_copy(union.site.site.external.name, router), frozenset({ids.WORLD})


def _welcome(declared: tuple[Sharing, ...], tenant: str) -> bool:
    return not declared or any({"*", tenant} & set(item.audience) for item in declared)
