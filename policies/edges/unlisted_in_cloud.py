"""What the cloud may hold besides, unless somebody asked it and all is in files (docs/design/semantics.md §8, E20).

A right, a member, an address scope or a network in the pools that no plan tells of: whoever has it is a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.completeness import OVERLAYS
from interlock.vocabulary.nodes import OverlayNode, VlanNode, parse, switch_vlan
from policies.about import Fact, in_order
from policies.facts import identities as ids
from policies.facts.port_modes import PortMode, SwitchEnd
from policies.facts.site import SiteFacts

from .shape import Edge, Relation, Union

#: Row of the table of edges.
UNLISTED = "E20"
#: Kinds of objects a right to which opens the filter of the gateways.
_SCOPES = ("AddressScope", "SubnetPool")


def unlisted_rights(union: Union) -> Iterator[Edge]:
    """Rights to plug into networks, and networks of the cloud on the wire of one that is claimed."""
    strangers, rights = ids.foreigners(union.site.site.cloud), union.site.undeclared("rights", "Network")
    physical = _physical_networks(union.site)
    for segment in sorted({item[0] for item in union.facts(Relation.CLAIM)}):
        node = parse(segment)
        names: tuple[str, ...] = (OVERLAYS,) if isinstance(node, OverlayNode) else ()
        if (vlan := switch_vlan(segment)) is not None:
            names = physical.get(vlan.bridge, ())
        networks = (fact for name in names for fact in union.site.undeclared("networks", name))
        if missing := in_order((*rights, *networks)):
            yield Edge(segment, strangers, UNLISTED, missing)


def _physical_networks(site: SiteFacts) -> dict[str, tuple[str, ...]]:
    """Switch bridge -> the physical networks that reach it: a network of each may have any VLAN there."""
    found: dict[str, tuple[str, ...]] = {}
    for name, switches in site.switches_of.items():
        for switch in switches:
            bridge = ids.switch_bridge(switch.serial)
            found[bridge] = (*found.get(bridge, ()), name)
    return found


def unlisted_on_trunks(union: Union) -> Iterator[Edge]:
    """Networks on a wire that a driver fills: the VLANs of the switch, and what is at the other end of the cable."""
    strangers = ids.foreigners(union.site.site.cloud)
    for end, mode in union.mode.items():
        if missing := unlisted_networks(union, mode):
            for node in _met_by_trunk(union, end):
                yield Edge(node, strangers, UNLISTED, missing)


def unlisted_networks(union: Union, mode: PortMode) -> tuple[Fact, ...]:
    """What nobody knows of the networks whose VLANs a driver puts onto a trunk; nothing where it is a known one."""
    if not mode.filled:
        return ()
    reaching = [
        name for name, found in union.site.switches_of.items() if any(switch.name in mode.filled for switch in found)
    ]
    return in_order(fact for name in reaching for fact in union.site.undeclared("networks", name))


def _met_by_trunk(union: Union, end: SwitchEnd) -> Iterator[str]:
    """All that one VLAN or another of a trunk leads to."""
    switch = union.site.site.switch[end.switch]
    bridge = ids.switch_bridge(switch.serial)
    yield ids.switch_port(switch.serial, end.port)
    for vlan in union.vlans:
        yield ids.vlan_segment(bridge, vlan)
        yield from union.private_groups.get((end.switch, vlan), ())
    for link in union.site.links_of.get(bridge, {}).get(end, ()):
        far = link[1] if link[0] == end else link[0]
        yield from (union.segment(far, vlan) for vlan in union.carried(far))
    hosts = {name for name, port in union.site.uplink.items() if port == end}
    for node in sorted(union.nodes):
        if isinstance(found := parse(node), VlanNode) and found.bridge in hosts:
            yield node
    yield from (port for port, there in union.facts(Relation.EVERY_VLAN) if there in hosts)


def unlisted_members(union: Union) -> Iterator[Edge]:
    """Whoever has a role in a project plugs in whatever it may."""
    strangers = ids.foreigners(union.site.site.cloud)
    if missing := union.site.undeclared("members", union.site.site.domain):
        yield from (Edge(node, strangers, UNLISTED, missing) for (node,) in union.facts(Relation.CAPABILITY))


def unlisted_scopes(site: SiteFacts) -> tuple[Fact, ...]:
    """The declarations without which something may be outside that no gateway filters, or inside that it lets pass."""
    rights = (fact for kind in _SCOPES for fact in site.undeclared("rights", kind))
    return in_order((*site.undeclared("scopes", site.site.external.name), *rights))
