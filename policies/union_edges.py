"""Edges that the union of all shares decides: the site's own, and those with premises of two owners."""

from __future__ import annotations

from collections.abc import Iterator

from . import identities as ids
from .edges import Edge, EdgeRule, Relation, Union
from .facts import PortMode, SwitchEnd
from .guarded_edges import GUARDED_EDGES


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
        listed = union.site.site.host.get(host)
        stated = listed is not None and network in listed.interfaces
        # A virtual server on a host that is given out whole: its interfaces are stated, and are not its own.
        missing = (f"hosts.{host}.provisioning" if stated else f"hosts.{host}.interfaces.{network}",)
        for switch in union.site.switches_of.get(network, ()):
            bridge = ids.switch_bridge(switch.serial)
            yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E7", missing) for vlan in union.vlans)


def _cabled_devices(union: Union) -> Iterator[Edge]:
    uplinks = set(union.site.uplink.values())
    for end, port in union.site.device_ends:
        if port not in uplinks:
            serial = union.site.site.switch[port.switch].serial
            for device in union.site.devices_behind(end):
                yield Edge(device, ids.switch_port(serial, port.port), "E9")


def _switch_routing(union: Union) -> Iterator[Edge]:
    for switch in union.site.site.switches:
        if switch.ip_routing is False or switch.routed_vlans == ():
            continue
        stated = {"ip_routing": switch.ip_routing, "routed_vlans": switch.routed_vlans}
        missing = tuple(f"switches.{switch.name}.{name}" for name, value in stated.items() if value is None)
        for vlan in union.vlans if switch.routed_vlans is None else switch.routed_vlans:
            segment = ids.vlan_segment(ids.switch_bridge(switch.serial), vlan)
            yield Edge(ids.default_vrf(switch.serial), segment, "E10", missing)


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


def _lost_claims(union: Union) -> Iterator[Edge]:
    """A released VLAN whose physical network nobody recorded may lie on any switch."""
    for node, vlan, words in union.facts(Relation.SOMEWHERE):
        if vlan.isdecimal():
            for switch in union.site.site.switches:
                segment = ids.vlan_segment(ids.switch_bridge(switch.serial), int(vlan))
                yield Edge(node, segment, "E13", (f"physical network of {words}",))


#: The rows that are resolved after the union, and those that guards decide.
UNION_EDGES: tuple[EdgeRule[Union], ...] = (
    EdgeRule("E1", "cabled switches carry the same tagged VLAN", _between_switches),
    EdgeRule("E2", "cabled switches join their native VLANs, also when the numbers differ", _natives),
    EdgeRule("E4", "a host's interface carries the VLANs of its switch port", _host_uplinks),
    EdgeRule("E5", "a device that may tag reaches the native and every tagged VLAN of its switch port", _every_vlan),
    EdgeRule("E7", "a port whose host has no interface on its network may be on any of its VLANs", _unplaced),
    EdgeRule("E9", "what is cabled to a switch port is attached there", _cabled_devices),
    EdgeRule("E10", "a switch that routes joins the VLANs in which it has an address", _switch_routing),
    EdgeRule("E12", "the wire of the external network", _external_wires),
    EdgeRule("E13", "every project may plug into a shared network", _offered),
    EdgeRule("E13", "a released VLAN may be on every switch unless its physical network is known", _lost_claims),
    *GUARDED_EDGES,
)
