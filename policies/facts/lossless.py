"""Fabrics that pause instead of dropping, as switches and cables make them: which buffers may wait for which.

A channel is a link in one direction, with the buffer at its far end: (a, b) for all cables from a to b together, as a
switch sends no frame back to where it came from, whichever of several cables that is. (a, b) waits for (b, c) where a
frame may go on so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from interlock.model.site.inventory import PhysicalNetwork, Site
from interlock.model.site.networks import Ranges
from interlock.model.site.physical import SwitchRole

from .port_modes import PortMode, SwitchEnd
from .site import SiteFacts

if TYPE_CHECKING:
    import networkx as nx

    #: A channel is (from, to), by the names of switches.
    Channels = nx.DiGraph[tuple[str, str]]

Link = tuple[SwitchEnd, SwitchEnd]

#: Pools whose networks carry RDMA: there, switches pause, whether or not a profile is stated.
RDMA_POOLS = ("ipu_data", "roce")
#: Where a switch stands in a fabric of leaves and spines. The other roles have no place in one.
_TIERS: dict[SwitchRole, int] = {"tor": 0, "spine": 1}


@dataclass(frozen=True)
class LosslessFabric:
    """Switches that are cabled together, some of which pause."""

    site: SiteFacts
    #: Its physical networks that are lossless.
    networks: tuple[PhysicalNetwork, ...]
    #: All switches, also those of which nobody says that they pause.
    switches: frozenset[str]

    @cached_property
    def pausing(self) -> frozenset[str]:
        """The switches of its lossless networks."""
        return self.switches.intersection(name for item in self.networks for name in item.switches)

    @cached_property
    def links(self) -> dict[tuple[str, str], tuple[Link, ...]]:
        """(switch, switch) in both directions -> the cables between them that may carry RDMA, ends in this order."""
        found: dict[tuple[str, str], tuple[Link, ...]] = {}
        for a, b in self.site.switch_links:
            if self._may_carry(a) and self._may_carry(b):
                for near, far in ((a, b), (b, a)):
                    pair = (near.switch, far.switch)
                    found[pair] = (*found.get(pair, ()), (near, far))
        return found

    def unknown_ports(self, a: str, b: str) -> tuple[SwitchEnd, ...]:
        """The ports of which nobody states what they carry; nothing, where one cable of these is sure to carry RDMA."""
        doubtful = [[end for end in link if not self.site.configured(end).known] for link in self.links[a, b]]
        return tuple(end for ends in doubtful for end in ends) if all(doubtful) else ()

    @cached_property
    def _vlans(self) -> Ranges | None:
        """What pools give out on its lossless networks; None: any, since one of these is in no pool."""
        pools, names = self.site.site.pools.vlans_by_name.values(), {item.name for item in self.networks}
        pooled = {name for pool in pools for name in pool.physical_networks}
        if names - pooled:
            return None
        return tuple(ids for pool in pools if names.intersection(pool.physical_networks) for ids in pool.vlans)

    def _may_carry(self, end: SwitchEnd) -> bool:
        """False only where it is stated that none of its VLANs goes through this port."""
        mode = self.site.configured(end)
        if not mode.known or mode.routed or mode.filled or mode.tagged is None:
            return True
        if self._vlans is None:
            return bool(mode.tagged or mode.untagged)
        return any(_has(mode, low, high) for low, high in self._vlans)

    def waiting(self, *, certain: bool) -> Channels:
        """Channel -> those that it waits for, without channels of which it is plain that they come to an end.

        With `certain`, between switches that pause alone, by cables that carry RDMA for certain, and where roles say
        which of both is above the other.
        """
        import networkx as nx

        found: Channels = nx.DiGraph()
        onward = self._not_ending(certain)
        for a, reached in onward.items():
            for b in sorted(reached):
                found.add_node((a, b))
                found.add_edges_from(((a, b), (b, c)) for c in sorted(onward[b]) if self._goes_on(a, b, c))
        return found

    def _not_ending(self, certain: bool) -> dict[str, set[str]]:
        """Switch -> those to which a channel leads that waits for some other, which is not at an end itself.

        In a fabric of leaves and spines none is left: of 256 leaves and 128 spines there would be millions of pairs.
        """
        of = self.pausing if certain else self.switches
        onward: dict[str, set[str]] = {name: set() for name in sorted(of)}
        for a, b in self.links:
            is_sure = self.is_ordered(a, b) and not self.unknown_ports(a, b)
            if a in of and b in of and (is_sure or not certain):
                onward[a].add(b)
        while True:
            spines = {name: sum(self._tier(other) == 1 for other in reached) for name, reached in onward.items()}
            ended = [(a, b) for a, reached in onward.items() for b in reached if not self._ways(onward, spines, a, b)]
            if not ended:
                return onward
            for a, b in ended:
                onward[a].remove(b)

    def _ways(self, onward: dict[str, set[str]], spines: dict[str, int], a: str, b: str) -> int:
        """How many channels (a, b) waits for: all that go on from b, but for those that `_goes_on` denies."""
        if self._tier(a) == 1 and self._tier(b) == 0:
            return len(onward[b]) - spines[b]
        return len(onward[b]) - (a in onward[b])

    def _goes_on(self, a: str, b: str, c: str) -> bool:
        """Whether a frame from a may go on from b to c: not back, and not up again once it came down."""
        return a != c and not (self._tier(a) == self._tier(c) == 1 and self._tier(b) == 0)

    def _tier(self, switch: str) -> int | None:
        return _TIERS.get(self.role(switch))

    def role(self, switch: str) -> SwitchRole:
        """What the switch is, as the site states it."""
        return self.site.site.switch[switch].role

    def is_ordered(self, a: str, b: str) -> bool:
        """Whether roles say which of both is above the other, or that both are leaves."""
        return {self.role(a), self.role(b)} in ({"tor"}, {"tor", "spine"})


def _has(mode: PortMode, low: int, high: int) -> bool:
    listed = any(first <= high and low <= last for first, last in mode.tagged or ())
    return listed or any(low <= vlan <= high for vlan in mode.untagged)


def is_lossless(site: Site, network: PhysicalNetwork) -> bool:
    """Whether its ports pause: it has a profile, or a pool for RDMA is on it."""
    pools = site.pools.vlans_by_name
    return network.profile is not None or any(
        name in pools and network.name in pools[name].physical_networks for name in RDMA_POOLS
    )


def lossless_fabrics(site: SiteFacts) -> Iterator[LosslessFabric]:
    """Each group of switches that are cabled together, with a lossless network on one of them."""
    import networkx as nx

    cabled: nx.Graph[str] = nx.Graph()
    networks = [item for item in site.site.physical_networks if is_lossless(site.site, item)]
    cabled.add_nodes_from(name for item in networks for name in item.switches if name in site.site.switch)
    cabled.add_edges_from((a.switch, b.switch) for a, b in site.switch_links)
    for group in sorted(nx.connected_components(cabled), key=min):
        own = tuple(item for item in networks if group.intersection(item.switches))
        if own:
            yield LosslessFabric(site, own, frozenset(group))


def circles(waiting: Channels) -> Iterator[tuple[str, ...]]:
    """The shortest cycle in each part of the graph that has one, as switches from the least on."""
    import networkx as nx

    if nx.is_directed_acyclic_graph(waiting):
        return
    seen: set[frozenset[str]] = set()
    for part in sorted(nx.strongly_connected_components(waiting), key=min):
        if len(part) > 1:
            shortest = _shortest_cycle(waiting, part)
            names = [a for a, _ in shortest]
            least = names.index(min(names))
            # Both directions of one circle are two parts.
            if frozenset(names) not in seen:
                seen.add(frozenset(names))
                yield (*names[least:], *names[:least])


def _shortest_cycle(waiting: Channels, part: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of several the first. None is shorter than three: no channel waits for the way back."""
    found: list[tuple[str, str]] = []
    for start in sorted(part):
        cycle = _cycle_from(waiting, part, start)
        found = cycle if not found or len(cycle) < len(found) else found
        if len(found) == 3:
            break
    return found


def _cycle_from(waiting: Channels, part: set[tuple[str, str]], start: tuple[str, str]) -> list[tuple[str, str]]:
    """The shortest cycle through a channel of a strongly connected part."""
    before: dict[tuple[str, str], tuple[str, str]] = {}
    level = [start]
    while start not in before:
        following = []
        for channel in level:
            for onward in waiting[channel]:
                if onward in part and onward not in before:
                    before[onward] = channel
                    following.append(onward)
        level = following
    found, channel = [start], before[start]
    while channel != start:
        found.append(channel)
        channel = before[channel]
    return found[::-1]
