"""What is cabled for all tests of this folder, and how a site is set on it.

Four switches, each with four hosts and a cable to each other one. A site uses what it has; the other ports are down, so
that there is never a loop: nothing here speaks a spanning tree protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from interlock.model.site.inventory import Endpoint, Site, SwitchPortConfig
from sandbox.fabric.fabric import Fabric
from sandbox.fabric.frames import Kind, Probe
from sandbox.fabric.prober import Prober, Seen, everybody
from sandbox.fabric.wiring import End, Wiring
from sandbox.switches.table import PortState, SwitchState

SWITCHES = ("switch-1", "switch-2", "switch-3", "switch-4")
HOSTS = 4
LINKS = {pair: f"Ethernet{49 + number}" for number, pair in enumerate(combinations(SWITCHES, 2))}
ALL_VLANS = tuple(range(1, 4095))
#: In which all hosts of a site meet while the positive control runs.
CONTROL = 2
DOWN = PortState(enabled=False, mode="access", access_vlan=1, native_vlan=None, allowed=())
Plug = tuple[str, str]
"""Device and interface."""


def plant() -> Wiring:
    """All cables there are."""
    hosts = {f"{switch}-host-{n}": End(switch, f"Ethernet{n}") for switch in SWITCHES for n in range(1, HOSTS + 1)}
    links = tuple((End(a, port), End(b, port)) for (a, b), port in LINKS.items())
    ends = [*hosts.values(), *(end for link in links for end in link)]
    ports = {switch: tuple(end.port for end in ends if end.switch == switch) for switch in SWITCHES}
    return Wiring(ports, hosts, links)


def state_of(record: SwitchPortConfig | None) -> PortState:
    """A port of a site as a switch is told it.

    A trunk here carries its native VLAN only if its own list names it, which that of a site file need not; `tag_native`
    drops what comes without a tag.
    """
    if record is None or record.mode == "disabled":
        return DOWN
    if record.mode == "access":
        if record.untagged is None:
            return DOWN  # in no VLAN: it carries nothing
        return PortState(enabled=True, mode="access", access_vlan=record.untagged, native_vlan=None, allowed=())
    if record.mode != "trunk" or record.translations or record.private_vlan is not None:
        raise ValueError(f"no switch here can be set like {record}")
    listed = ALL_VLANS if record.tagged is None else tuple(v for a, b in record.tagged for v in range(a, b + 1))
    native = record.untagged
    allowed = tuple(sorted({*listed} | ({native} if native is not None else set())))
    return PortState(
        enabled=True, mode="trunk", access_vlan=1, native_vlan=None if record.tag_native else native, allowed=allowed
    )


@dataclass(frozen=True)
class Placed:
    """A site on the plant: the port that stands for each of its ports, the host for each plug of a device."""

    site: Site
    port: Mapping[tuple[str, int], End]
    host: Mapping[Plug, str]
    links: tuple[tuple[End, End], ...]
    vlans: tuple[int, ...]

    @classmethod
    def of(cls, site: Site, vlans: Iterable[int]) -> Placed:
        """`vlans`: those that all switches have. Raises StopIteration if the plant is too small."""
        stand_in = dict(zip((item.name for item in site.switches), SWITCHES, strict=False))
        free = {name: iter([f"{name}-host-{n}" for n in range(1, HOSTS + 1)]) for name in SWITCHES}
        wiring, port, host, links = plant(), dict[tuple[str, int], End](), dict[Plug, str](), list[tuple[End, End]]()
        for a, b in _cables(site):
            if a.device in stand_in and b.device in stand_in:
                pair = _link(stand_in[a.device], stand_in[b.device])
                port[_at(a)], port[_at(b)] = pair
                links.append(pair)
            else:
                here, there = (a, b) if a.device in stand_in else (b, a)
                name = next(free[stand_in[here.device]])
                port[_at(here)], host[there.device, there.interface] = wiring.hosts[name], name
        return cls(site, port, host, tuple(links), tuple(sorted({1, CONTROL, *vlans})))

    def states(self) -> dict[str, SwitchState]:
        """Every switch of the plant as the site has it."""
        return self._states(
            {end: state_of(self.site.switch[name].by_port.get(n)) for (name, n), end in self.port.items()}
        )

    def all_together(self) -> dict[str, SwitchState]:
        """The same ports, all up, hosts in one VLAN and links that carry it."""
        access = PortState(enabled=True, mode="access", access_vlan=CONTROL, native_vlan=None, allowed=())
        trunk = PortState(enabled=True, mode="trunk", access_vlan=1, native_vlan=None, allowed=(CONTROL,))
        ends = {end for link in self.links for end in link}
        return self._states({end: trunk if end in ends else access for end in self.port.values()})

    def cabled_together(self) -> frozenset[tuple[str, str]]:
        """Pairs of hosts that meet when everything is up."""
        cables: nx.Graph[str] = nx.Graph()
        cables.add_nodes_from(end.switch for end in self.port.values())
        cables.add_edges_from((a.switch, b.switch) for a, b in self.links)
        at = plant().hosts
        return frozenset(
            pair
            for switches in nx.connected_components(cables)
            for pair in everybody([name for name in self.host.values() if at[name].switch in switches])
        )

    def _states(self, found: Mapping[End, PortState]) -> dict[str, SwitchState]:
        names = {vlan: f"vlan-{vlan}" for vlan in self.vlans}
        return {
            switch: SwitchState(switch, {port: found.get(End(switch, port), DOWN) for port in ports}, names)
            for switch, ports in plant().switches.items()
        }


def _cables(site: Site) -> Iterator[tuple[Endpoint, Endpoint]]:
    yield from ((cable.a, cable.b) for cable in site.cables if cable.kind == "ethernet")


def _at(end: Endpoint) -> tuple[str, int]:
    return end.device, int(end.interface)


def _link(a: str, b: str) -> tuple[End, End]:
    port = LINKS[(a, b) if (a, b) in LINKS else (b, a)]
    return End(a, port), End(b, port)


class Stage:
    """The fabric of a test process, and what is set on it at the moment."""

    def __init__(self, fabric: Fabric, prober: Prober) -> None:
        self.fabric, self.prober = fabric, prober
        self.now = {name: fabric.load(name) for name in fabric.wiring.switches}

    def set(self, states: Mapping[str, SwitchState]) -> None:
        """Set switches, all in one transaction."""
        self.fabric.apply([(self.now[name], state) for name, state in states.items()])
        self.now |= states

    def control(self, placed: Placed) -> None:
        """On the ports and cables of a site everybody reaches everybody, in one VLAN. Raises NothingShown."""
        self.set(placed.all_together())
        self.prober.probe([Probe(host) for host in placed.host.values()], control=placed.cabled_together())

    def sent(
        self, placed: Placed, tags: Iterable[tuple[int, ...]], awaited: frozenset[tuple[str, str]] = frozenset()
    ) -> Seen:
        """Set a site, after its positive control, and send frames of all kinds from every host with each tag."""
        self.control(placed)
        self.set(placed.states())
        wanted = list(tags)
        probes = [Probe(host, tag, kind) for host in placed.host.values() for tag in wanted for kind in Kind]
        return self.prober.probe(probes, awaited=awaited)
