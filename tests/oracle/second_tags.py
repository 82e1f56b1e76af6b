"""Ways of second tags as a graph without a direction has them: whoever gets somewhere by one is joined with it.

It is how the page allows the prover to err (docs/design/semantics.md §4, E21), found in the oracle's own terrain: a way
is one of the oracle's, it counts where the oracle sees somebody who may send, and what it then joins may send on.
"""

from __future__ import annotations

from dataclasses import replace

from .oracle import Pair, leaks_in, terrain_of
from .terrain import Terrain, flood
from .vpods import BESIDE_MEDIA, meetings_of_vpods
from .world import OP, World


def both_ways(terrain: Terrain) -> Terrain:
    """The terrain with a hop there and back for each way of a second tag that somebody may take who is not `op`."""
    hops = {place: list(found) for place, found in terrain.hops.items()}
    joined, left = replace(terrain, hops=hops, one_way={}), dict(terrain.one_way)
    senders = [mark.place for mark in terrain.marks if mark.owner != OP]
    while True:
        here = flood(joined, senders, must=False)
        now = [place for place in left if place in here]
        if not now:
            return joined
        for place in now:
            for way in left.pop(place):
                joined.hop(place, way.to, way.row, certain=False)


def meetings_both_ways(world: World) -> frozenset[Pair]:
    """Pairs of owners, and of vPODs of one tenant, that meet or may meet if second tags joined both their ends."""
    media = both_ways(terrain_of(world, BESIDE_MEDIA))
    vpods = {pair for pair, _, _ in meetings_of_vpods(world, media)}
    return leaks_in(world, both_ways(terrain_of(world))).may | vpods
