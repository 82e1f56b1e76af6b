"""What the cloud may hold besides, unless somebody asked it and all is in files (docs/design/semantics.md §8, E20).

A right, a member, an address scope or a network in the pools that no plan tells of: whoever has it is a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.completeness import OVERLAYS
from interlock.vocabulary.nodes import OverlayNode, parse, switch_vlan
from policies.about import Fact, in_order
from policies.facts import identities as ids
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


def unlisted_members(union: Union) -> Iterator[Edge]:
    """Whoever has a role in a project plugs in whatever it may."""
    strangers = ids.foreigners(union.site.site.cloud)
    if missing := union.site.undeclared("members", union.site.site.domain):
        yield from (Edge(node, strangers, UNLISTED, missing) for (node,) in union.facts(Relation.CAPABILITY))


def unlisted_scopes(site: SiteFacts) -> tuple[Fact, ...]:
    """The declarations without which something may be outside that no gateway filters, or inside that it lets pass."""
    rights = (fact for kind in _SCOPES for fact in site.undeclared("rights", kind))
    return in_order((*site.undeclared("scopes", site.site.external.name), *rights))
