"""Edges that the union of all shares decides: the site's own, and those with premises of two owners."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.vocabulary.digits import is_number
from interlock.vocabulary.nodes import OverlayNode, VlanNode, parse
from policies.about import Fact, SaidFact, SiteFact
from policies.facts import identities as ids
from policies.facts.plugs import plug_doubt
from policies.facts.port_modes import PortMode, SwitchEnd

from .audience import is_any_limited, outsiders
from .cleaned import CLEANED, doubted, perhaps_operators
from .guarded import GUARDED_EDGES
from .private_vlans import roles
from .second_tags import SECOND_TAG, second_tags, ways
from .shape import Edge, EdgeRule, Relation, Union
from .terminals import addresses, attachments, instances, passing, port_fact
from .unlisted import passed_through, perhaps_uplink, unlisted_attachments, unlisted_hosts, unlisted_switches
from .unlisted_in_cloud import unlisted_members, unlisted_on_trunks, unlisted_rights

#: What an overlay may be encapsulated in.
ENCAPSULATIONS = ("vxlan", "geneve")


def _bridge(union: Union, end: SwitchEnd) -> str:
    return ids.switch_bridge(union.site.site.switch[end.switch].serial)


def _between_switches(union: Union) -> Iterator[Edge]:
    for a, b in union.site.switch_links:
        left, right = union.mode[a], union.mode[b]
        if not (left.known and right.known):
            yield from _unmodelled(union, a, b)
        for tag in union.vlans:
            far = union.inside(b, tag)
            for near, missing in union.inside(a, tag).items() if far else ():
                for vlan, more in far.items():
                    yield Edge(union.segment(a, near), union.segment(b, vlan), "E1", missing + more)


def _unmodelled(union: Union, a: SwitchEnd, b: SwitchEnd) -> Iterator[Edge]:
    """A link with an end that the site file does not configure may join all VLANs of both switches."""
    missing = tuple(port_fact(union, end) for end in (a, b) if not union.mode[end].known)
    link = ids.switch_port(union.site.site.switch[a.switch].serial, a.port)
    for end in (a, b):
        yield from (Edge(link, ids.vlan_segment(_bridge(union, end), vlan), "E2", missing) for vlan in union.vlans)


def _natives(union: Union) -> Iterator[Edge]:
    for a, b in union.site.switch_links:
        for left, missing in union.natives(a):
            for right, more in union.natives(b):
                yield Edge(union.segment(a, left), union.segment(b, right), "E2", missing + more)


def _host_uplinks(union: Union) -> Iterator[Edge]:
    for node in sorted(_host_segments(union)):
        bridge, vlan = ids.bridge_and_vlan(node)
        end = union.site.uplink.get(bridge)
        if end is not None:
            yield from _uplink_edges(union, node, vlan, end)


def _host_segments(union: Union) -> set[str]:
    """VLANs of host bridges that anything is attached to; where a port reaches every VLAN, all of them."""
    named = {node for node in union.nodes if isinstance(vlan := parse(node), VlanNode) and vlan.is_of_host}
    open_bridges = {bridge for _, bridge in union.facts(Relation.EVERY_VLAN)}
    hub_bridges = _external_bridges(union)
    every = {ids.vlan_segment(bridge, vlan) for bridge in open_bridges for vlan in (0, *union.vlans)}
    return named | every | {ids.vlan_segment(bridge, _external_vlan(union)) for bridge in hub_bridges}


def _uplink_edges(union: Union, node: str, vlan: int, end: SwitchEnd) -> Iterator[Edge]:
    mode, switch = union.mode[end], _bridge(union, end)
    if not mode.known:
        for other in union.vlans:
            yield Edge(node, ids.vlan_segment(switch, other), "E4", (port_fact(union, end),))
    if vlan == 0:
        yield from (Edge(node, union.segment(end, native), "E4", missing) for native, missing in union.natives(end))
        yield from [Edge(node, _port(union, end), "E10")] if mode.routed else []
    else:
        reached = union.inside(end, vlan)
        yield from (Edge(node, union.segment(end, inner), "E4", missing) for inner, missing in reached.items())


def _kernels(union: Union) -> Iterator[Edge]:
    for node, end in union.site.kernel_at.items():
        yield from (Edge(node, union.segment(end, native), "E4", missing) for native, missing in union.natives(end))
        if not union.mode[end].known:
            unknown = (port_fact(union, end),)
            for vlan in union.vlans:
                yield Edge(node, ids.vlan_segment(_bridge(union, end), vlan), "E4", unknown)


def _every_vlan(union: Union) -> Iterator[Edge]:
    """Virtual functions that are not held to one VLAN, and whatever else is cabled to a switch."""
    roots = {server for server, _ in union.facts(Relation.METAL)}
    for port, bridge in union.facts(Relation.EVERY_VLAN):
        end = union.site.uplink.get(bridge)
        # VLAN 0 is what the port sends and takes without a tag.
        carried = () if end is None else (*union.carried(end), *([0] if union.mode[end].untagged else []))
        # Whether the adapter hands frames over that its switch port does not take, nobody says.
        missing = (SaidFact(f"whether the adapter of {bridge} keeps the VLANs of its functions apart"),)
        for vlan in (0, *union.vlans):
            yield Edge(port, ids.vlan_segment(bridge, vlan), "E5", () if vlan in carried or port in roots else missing)
    for plug, end in union.site.ordinary_ends:
        yield from _behind_port(union, end, union.mode[end], perhaps_uplink(union, plug))


def _behind_port(union: Union, end: SwitchEnd, mode: PortMode, doubt: tuple[Fact, ...]) -> Iterator[Edge]:
    switch = union.site.site.switch[end.switch]
    port, bridge = ids.switch_port(switch.serial, end.port), _bridge(union, end)
    if not mode.known:
        missing = (port_fact(union, end), *doubt)
        yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E5", missing) for vlan in union.vlans)
    yield from (Edge(port, union.segment(end, vlan), "E5", doubt) for vlan in union.carried(end))


def _unplaced(union: Union) -> Iterator[Edge]:
    for port, host, network, _ in union.facts(Relation.UNPLACED):
        listed = union.site.site.host.get(host)
        stated = listed is not None and network in listed.interfaces
        # A virtual server on a host that is given out whole: its interfaces are stated, and are not its own.
        missing = (SiteFact(f"hosts.{host}.provisioning" if stated else f"hosts.{host}.interfaces.{network}"),)
        # It comes out where the network is, or where the host's own cables lead.
        of_host = {union.site.site.switch[end.switch].serial for _, end in union.site.ends_of.get(host, ())}
        of_network = {switch.serial for switch in union.site.switches_of.get(network, ())}
        for serial in sorted(of_host | of_network):
            bridge = ids.switch_bridge(serial)
            yield from (Edge(port, ids.vlan_segment(bridge, vlan), "E7", missing) for vlan in union.vlans)


def _cabled_devices(union: Union) -> Iterator[Edge]:
    for end, port in union.site.ordinary_ends:
        serial = union.site.site.switch[port.switch].serial
        missing = (*plug_doubt(union.site.site, end), *perhaps_uplink(union, end))
        for device in union.site.devices_behind(end):
            yield Edge(device, ids.switch_port(serial, port.port), "E9", missing)


def _whole_hosts(union: Union) -> Iterator[Edge]:
    """Whoever runs a host that is given out whole forwards between its interfaces, or the devices passed on to it."""
    for host in union.site.site.hosts:
        if not union.site.is_bare_metal(host.name):
            parts = union.site.lent_parts(host.name)
            yield from (Edge(parts[0], other, "E9") for other in parts[1:])
            continue
        first, *others = union.site.interfaces(host.name) or ("",)
        yield from (Edge(first, other, "E9") for other in others)
        missing = (SiteFact(f"hosts.{host.name}.bmc"),)
        for plug in union.site.doubtful_plugs(host.name):
            node = ids.part(host.serial, plug)
            yield Edge(union.site.bmc(host.name), node, "E9", missing)
            yield from [Edge(first, node, "E9", missing)] if first else []
    for server, name in union.facts(Relation.METAL):
        for plug in union.site.doubtful_plugs(name):
            node = ids.part(union.site.site.host[name].serial, plug)
            yield Edge(server, node, "E9", (SiteFact(f"hosts.{name}.bmc"),))


def _switch_routing(union: Union) -> Iterator[Edge]:
    for switch in union.site.site.switches:
        bridge = ids.switch_bridge(switch.serial)
        for name, node, vlans, missing in instances(union, switch):
            if name not in union.site.shared:
                yield from (Edge(node, ids.vlan_segment(bridge, vlan), "E10", missing) for vlan in vlans)
        for address in addresses(union, switch) if switch.name not in union.site.shared else ():
            yield Edge(address.node, address.segment, "E10", address.missing)


def _routed_ports(union: Union) -> Iterator[Edge]:
    """A port with an address of the switch's own: the default routing instance is at the other end of its cable."""
    routed = sorted((end for end in union.mode if union.mode[end].routed), key=str)
    for end in routed:
        switch = union.site.site.switch[end.switch]
        if switch.ip_routing is not False:
            missing = () if switch.ip_routing else (SiteFact(f"switches.{end.switch}.ip_routing"),)
            yield Edge(ids.default_vrf(switch.serial), ids.switch_port(switch.serial, end.port), "E10", missing)
    for a, b in union.site.switch_links:
        for near, far in ((a, b), (b, a)):
            if union.mode[near].routed:
                met = _untagged_at(union, far)
                yield from (Edge(_port(union, near), node, "E10", missing) for node, missing in met)


def _untagged_at(union: Union, end: SwitchEnd) -> tuple[tuple[str, tuple[Fact, ...]], ...]:
    """What frames without a tag reach at one end of a cable, and the facts without which nobody knows."""
    if union.mode[end].routed:
        return ((_port(union, end), ()),)
    return tuple((union.segment(end, native), missing) for native, missing in union.natives(end))


def _port(union: Union, end: SwitchEnd) -> str:
    return ids.switch_port(union.site.site.switch[end.switch].serial, end.port)


def _overlays(union: Union) -> Iterator[Edge]:
    """VLANs that a switch maps to overlays; without a stated encapsulation it may be any."""
    for switch in union.site.site.switches:
        bridge = ids.switch_bridge(switch.serial)
        for item in switch.vteps:
            fact = SiteFact(f"switches.{switch.name}.vteps.{item.vlan}.encapsulation")
            missing = () if item.encapsulation else (fact,)
            for kind in (item.encapsulation,) if item.encapsulation else ENCAPSULATIONS:
                segment = ids.overlay(item.underlay, item.vni, kind)
                yield Edge(ids.vlan_segment(bridge, item.vlan), segment, "E3", missing)


def _neutrons_overlays(union: Union) -> Iterator[Edge]:
    """Neutron's overlays go by the cloud's name, and are one with what else runs over their underlay."""
    site = union.site.site
    own = (item for item in map(parse, union.nodes) if isinstance(item, OverlayNode) and item.underlay == site.cloud)
    overlays = sorted((item for item in own if item.encapsulation == "vxlan"), key=str)
    for underlay in site.underlays:
        if underlay.neutron is not False and underlay.name != site.cloud:
            missing = () if underlay.neutron else (SiteFact(f"underlays.{underlay.name}.neutron"),)
            for item in overlays:
                yield Edge(str(item), ids.overlay(underlay.name, item.number), "E3", missing)


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


def _rights(union: Union) -> Iterator[Edge]:
    """A right that somebody was given; somebody whom no lock names is a stranger."""
    known = {node for (node,) in union.facts(Relation.CAPABILITY)} | {ids.capability(ids.OPERATOR)}
    for node, holder in union.facts(Relation.RIGHT):
        yield Edge(holder if holder in known else ids.foreigners(union.site.site.cloud), node, "E13")


def _lost_claims(union: Union) -> Iterator[Edge]:
    """A released VLAN whose physical network nobody recorded may lie on any switch."""
    for node, vlan, words in union.facts(Relation.SOMEWHERE):
        if is_number(vlan):
            for switch in union.site.site.switches:
                segment = ids.vlan_segment(ids.switch_bridge(switch.serial), int(vlan))
                yield Edge(node, segment, "E13", (SaidFact(f"physical network of {words}"),))
            for other in _by_filled_trunks(union, int(vlan)):
                yield Edge(node, other, "E13", (SaidFact(f"physical network of {words}"),))


def _by_filled_trunks(union: Union, vlan: int) -> Iterator[str]:
    """Where a VLAN comes by each trunk onto which a driver may have put it."""
    ends = {end for end, mode in union.mode.items() if mode.filled}
    for link in union.site.switch_links:
        for near, far in (link, link[::-1]):
            if near in ends:
                yield from (union.segment(far, inner) for inner in union.inside(far, vlan))
    yield from (ids.vlan_segment(bridge, vlan) for bridge, end in union.site.uplink.items() if end in ends)


#: The rows that each look at facts alone.
_ROWS: tuple[EdgeRule[Union], ...] = (
    EdgeRule("E1", "cabled switches carry the same tagged VLAN", _between_switches),
    EdgeRule("E2", "cabled switches join their native VLANs, also when the numbers differ", _natives),
    EdgeRule("E1", "a group of a private VLAN is apart while roles are held and only terminals hear all", roles),
    EdgeRule("E5", "the operator's kernel hears what a switch port sends its host untagged", _kernels),
    EdgeRule("E3", "a switch maps VLANs to overlays", _overlays),
    EdgeRule("E3", "Neutron's overlays share their ids with all that runs over one underlay", _neutrons_overlays),
    EdgeRule("E4", "a host's interface carries the VLANs of its switch port", _host_uplinks),
    EdgeRule("E5", "a device that may tag reaches the native and every tagged VLAN of its switch port", _every_vlan),
    EdgeRule("E7", "a port whose host has no interface on its network may be on any of its VLANs", _unplaced),
    EdgeRule("E5", "a network function of a flavour reaches every VLAN of its host's ports", passed_through),
    EdgeRule("E9", "what is cabled to a switch port is attached there", _cabled_devices),
    EdgeRule("E9", "a host that is given out whole forwards between its interfaces", _whole_hosts),
    EdgeRule("E5", "each VLAN that a declared device meets, meets a copy of it", attachments),
    EdgeRule("E9", "a declared device passes nothing on while its guards are held", passing),
    EdgeRule("E10", "a routing instance of a switch joins the VLANs in which it has an address", _switch_routing),
    EdgeRule("E10", "a routing instance is at the other end of a routed port's cable", _routed_ports),
    EdgeRule("E12", "the wire of the external network", _external_wires),
    EdgeRule("E20", "where no table is complete, or a port has no cable, something may be there", unlisted_switches),
    EdgeRule("E20", "a host may have interfaces that nobody listed", unlisted_hosts),
    EdgeRule("E20", "a machine or another device may be attached elsewhere, too", unlisted_attachments),
    EdgeRule("E20", "rights to a network, and networks on its wire, that no plan tells of", unlisted_rights),
    EdgeRule("E20", "networks that no plan tells of, on the trunks that a driver fills", unlisted_on_trunks),
    EdgeRule("E20", "members of a project whom no plan tells of", unlisted_members),
    EdgeRule("E13", "every project may plug into a shared network", _offered),
    EdgeRule("E13", "who was given a right may plug in", _rights),
    EdgeRule("E13", "a released VLAN may be on every switch unless its physical network is known", _lost_claims),
    *GUARDED_EDGES,
)


def _all_of(union: Union) -> list[Edge]:
    """What plans join, and what these rows do and no guard keeps away."""
    edges = [edge for share in union.shares for edge in share.edges]
    return edges + [edge for row in _ROWS for edge in row.edges(union) if not edge.held]


def second_tag_ways(union: Union) -> list[Edge]:
    """Every way of a second tag, whoever may send one."""
    return list(ways(union, _host_segments(union)))


def _second_tags(union: Union) -> Iterator[Edge]:
    found = second_tag_ways(union)
    if found:
        yield from second_tags(union, found, _all_of(union))


def _outside_audience(union: Union) -> Iterator[Edge]:
    if is_any_limited(union):
        yield from outsiders(union, [*_all_of(union), *_second_tags(union)])


def _perhaps_operators(union: Union) -> Iterator[Edge]:
    devices = doubted(union)
    if devices:
        others = [*_all_of(union), *_second_tags(union), *_outside_audience(union)]
        yield from perhaps_operators(union, devices, others)


#: The rows that are resolved after the union, and those that guards decide.
UNION_EDGES: tuple[EdgeRule[Union], ...] = (
    *_ROWS,
    EdgeRule(SECOND_TAG, "the next switch reads a second tag where the first is taken off", _second_tags),
    EdgeRule("E9", "a declared device is an ordinary one for whoever is not in its audience", _outside_audience),
    EdgeRule(CLEANED, "what was cleaned and nobody has may be the operator's again", _perhaps_operators),
)
