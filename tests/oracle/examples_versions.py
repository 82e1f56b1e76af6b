"""Example 45 as worlds: acme is proved, and somebody else changes before the proof is used.

What the oracle says of it is which VLANs two tenants' plans both reach, each by itself: only there can one disturb
what was proved of the other.
"""

from __future__ import annotations

from .drafting import Draft
from .oracle import terrain_of
from .sayings import VLAN, A, G, leaf, more_leaf, tenant
from .terrain import flood
from .world import World

CAROL = "carol"
#: (switch serial, VLAN).
Wire = tuple[str, int]


def _draft() -> Draft:
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    for name, vlan in VLAN.items():
        tenant(draft, name, vlan)
    tenant(draft, CAROL, 1001, "data-2", "hv-2")
    return draft


def when_proved() -> World:
    """acme and globex on leaf-1, each on its own VLAN; carol on leaf-2."""
    return _draft().made()


def globex_came_near() -> World:
    """globex has a port in VLAN 1001 of leaf-1 as well."""
    draft = _draft()
    tenant(draft, G, VLAN[A])
    return draft.made()


def carol_changed() -> World:
    """carol has one more segment, on leaf-2."""
    draft = _draft()
    tenant(draft, CAROL, 1003, "data-2", "hv-2")
    return draft.made()


def shared_wires(world: World, one: str, other: str) -> set[Wire]:
    """The VLANs of switches that both reach by their own plans."""
    return _reached(world, one) & _reached(world, other)


def _reached(world: World, owner: str) -> set[Wire]:
    alone = World(world.site, {owner: world.plans[owner]})
    terrain = terrain_of(alone)
    places = flood(terrain, [mark.place for mark in terrain.marks if mark.owner == owner], must=False)
    return {(str(place[1]), int(place[2])) for place in places if place[0] == "bridge"}
