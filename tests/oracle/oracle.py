"""The oracle: who meets whom in a world, found by sending something from everywhere and seeing where it comes out.

It is written from docs/design/semantics.md alone and reads resources and the site file, never facts or graphs of
the prover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .addresses import meetings_by_address
from .authority import Meeting, meetings_by_data
from .calling import meetings_at_controllers
from .hardware import Hardware
from .operated import Operated
from .readings import Facts
from .routers import Routers
from .segments import Segments
from .servers import Servers
from .switches import Switches
from .terrain import Place, Step, Terrain, flood, trace
from .unlisted import Unlisted
from .vpods import BESIDE_MEDIA, meetings_of_vpods, tenants_with_vpods
from .world import OP, World

Pair = frozenset[str]


@dataclass(frozen=True)
class Leaks:
    """Owners that meet: for certain, and if everything unknown is as bad as it can be. `traces`: one way each."""

    must: frozenset[Pair]
    may: frozenset[Pair]
    traces: dict[Pair, tuple[str, ...]]

    @property
    def verdict(self) -> str:
        """V violated, N not provable, P proved."""
        return "V" if self.must else "N" if self.may else "P"


def leaks(world: World, without: frozenset[str] = frozenset()) -> Leaks:
    """Who meets whom. `without`: rows of the page that are left out."""
    return leaks_in(world, terrain_of(world, without))


def leaks_in(world: World, terrain: Terrain) -> Leaks:
    """The same where the terrain of the world is there already."""
    traces: dict[Pair, tuple[str, ...]] = {}
    may = set(_meetings(terrain, False, traces))
    must = set(_meetings(terrain, True, traces)) if may else set()
    for pair, certain, way in _others(world, terrain, terrain.without):
        traces[pair] = way
        may.add(pair)
        if certain:
            must.add(pair)
    return Leaks(frozenset(must), frozenset(may), traces)


def _others(world: World, terrain: Terrain, without: frozenset[str]) -> Iterator[Meeting]:
    """By calls and by addresses instead of packets, and vPODs of one tenant."""
    if "Auth" not in without:
        yield from meetings_by_data(world)
        yield from meetings_at_controllers(world, terrain)
        yield from meetings_by_address(world)
    if tenants_with_vpods(world):
        yield from meetings_of_vpods(world, terrain_of(world, without | BESIDE_MEDIA))


def terrain_of(world: World, without: frozenset[str] = frozenset()) -> Terrain:
    """Every hop there is in a world."""
    facts, terrain = Facts(world), Terrain(without)
    switches = Switches(facts, terrain)
    segments = Segments(facts, terrain, switches)
    switches.walk()
    segments.walk()
    hardware = Hardware(facts, terrain, switches)
    hardware.walk()
    servers = Servers(facts, terrain, switches, segments)
    servers.walk()
    servers.entries()
    segments.kernels()
    Unlisted(facts, terrain, switches, segments, servers).walk()
    Operated(facts, terrain, switches, segments, servers).walk()
    segments.uplinks()
    Routers(facts, terrain, segments).walk()
    hardware.idle()
    return terrain


def _meetings(terrain: Terrain, must: bool, traces: dict[Pair, tuple[str, ...]]) -> Iterator[Pair]:
    """Pairs of owners one of whom gets to something of the other's."""
    marks = [mark for mark in terrain.marks if mark.certain or not must]
    flooded: set[Place] = set()
    owners_at: dict[Place, set[str]] = {}
    for mark in marks:
        owners_at.setdefault(mark.place, set()).add(mark.owner)
    for mark in marks:
        if mark.place in flooded:
            continue
        # Data flows both ways, so one flood finds all who meet here.
        reached = flood(terrain, [mark.place], must)
        flooded |= reached.keys()
        yield from _met(terrain, reached, owners_at, traces)
    if terrain.one_way and not must:
        yield from _struck(terrain, owners_at, traces)


def _struck(terrain: Terrain, owners_at: dict[Place, set[str]], traces: dict[Pair, tuple[str, ...]]) -> Iterator[Pair]:
    """Pairs of owners one of whom gets something to the other, and perhaps nothing back. The operator tries nothing."""
    for sender in sorted({owner for owners in owners_at.values() for owner in owners} - {OP}):
        seeds = [place for place, owners in owners_at.items() if sender in owners]
        reached = flood(terrain, seeds, must=False, one_way=True)
        met = {owner: place for place in reached for owner in owners_at.get(place, ()) if owner != sender}
        doors = (door for door in terrain.doors if door.place in reached and sender not in door.audience)
        met.update((OP, door.place) for door in doors)
        for other, place in met.items():
            pair = frozenset((sender, other))
            traces.setdefault(pair, tuple(reversed(list(trace(reached, place)))))
            yield pair


def _met(
    terrain: Terrain, reached: dict[Place, Step], owners_at: dict[Place, set[str]], traces: dict[Pair, tuple[str, ...]]
) -> Iterator[Pair]:
    """Pairs of owners among the places of one flood."""
    met: dict[str, Place] = {}
    for place in reached:
        for owner in owners_at.get(place, ()):
            met.setdefault(owner, place)
    for door in terrain.doors:
        if door.place in reached and any(owner != OP and owner not in door.audience for owner in met):
            met.setdefault(OP, door.place)
    for one in met:
        for other in met:
            if one < other:
                pair = frozenset((one, other))
                traces[pair] = (*reversed(list(trace(reached, met[one]))), "…", *trace(reached, met[other]))
                yield pair
