"""How far apart the nodes of a cluster are: units, racks, and switches between any two of its GPUs on one rail."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.inventory import Site

from .node_choice import spread
from .node_groups import spots_of


@dataclass(frozen=True)
class ClusterSpan:
    """What the allocation achieved. `switches` None: there is one node, no fabric, or the cables are not stated.

    `racks` None: it is not stated in which racks all of them stand.
    """

    cluster: str
    nodes: int
    halls: tuple[str, ...]
    units: int
    racks: int | None
    switches: int | None

    def __str__(self) -> str:
        if not self.nodes:
            return "released, and has no nodes"
        racks = "" if self.racks is None else f" and {_counted(self.racks, 'rack')}"
        where = f"in {_counted(self.units, 'scalable unit')}{racks}"
        hall = f" of {', '.join(self.halls)}" if self.halls else ""
        apart = f"; GPUs of one rail are {_counted(self.switches, 'switch', 'switches')} apart" if self.switches else ""
        return f"{_counted(self.nodes, 'node')} {where}{hall}{apart}"


def cluster_span(site: Site, name: str, allocation: ClusterAllocation) -> ClusterSpan:
    """Of one cluster of a lock; what the site does not list stands nowhere."""
    units, racks = spread(spots_of(site, allocation.hosts))
    halls = dict.fromkeys(site.gpu_node[node].hall for node in allocation.hosts if node in site.gpu_node)
    known = site.infiniband_subnet
    # A key for storage says nothing of GPUs, which may have no fabric at all.
    of_gpus = any(name not in known or known[name].storage is None for name in allocation.partition_keys)
    switches = _switches_apart(site, allocation.hosts) if of_gpus else None
    stand = all(node in site.placement for node in allocation.hosts)
    return ClusterSpan(name, len(allocation.hosts), tuple(halls), units, racks if stand else None, switches)


def _switches_apart(site: Site, nodes: Iterable[str]) -> int | None:
    """The most switches between two nodes on one rail; None where a cable is not stated, or nothing leads there."""
    leaves: dict[tuple[str, int], set[str]] = {}
    ports = 0
    for node in (site.gpu_node[name] for name in nodes if name in site.gpu_node):
        ports += 1
        for port in node.ports_for("compute"):
            end = site.far_end(node.name, port.name)
            if end is None:
                return None
            leaves.setdefault((port.infiniband, port.rail), set()).add(end.device)
    if ports < 2:
        return None
    links = _links(site)
    found = [_farthest(links, sorted(switches)) for switches in leaves.values()]
    known = [hops for hops in found if hops is not None]
    return max(known) if known and len(known) == len(found) else None


def _links(site: Site) -> dict[str, set[str]]:
    """Switch -> switches of InfiniBand subnets that a cable joins it to."""
    names = {switch.name for switch in site.fabric_switches}
    found: dict[str, set[str]] = {}
    for cable in site.cables:
        a, b = cable.a.device, cable.b.device
        if cable.kind == "infiniband" and a in names and b in names:
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
    return found


def _farthest(links: Mapping[str, set[str]], switches: list[str]) -> int | None:
    """Switches on the shortest way between those two that are farthest apart; None where there is no way."""
    most = 1
    for first in switches:
        steps = _steps(links, first)
        if any(other not in steps for other in switches):
            return None
        most = max(most, *(steps[other] for other in switches))
    return most


def _steps(links: Mapping[str, set[str]], first: str) -> dict[str, int]:
    """Switch -> switches on the shortest way there, both ends counted."""
    steps, waiting = {first: 1}, deque([first])
    while waiting:
        switch = waiting.popleft()
        for other in sorted(links.get(switch, ())):
            if other not in steps:
                steps[other] = steps[switch] + 1
                waiting.append(other)
    return steps


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or f'{one}s'}"
