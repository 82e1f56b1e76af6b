"""What stands on the switches of a sandbox, as locks have it, and what frames show of it.

A `Plug` is what sends and hears in one VLAN: a machine's port without a tag, or a host's uplink with the tag that its
hypervisor puts on the frames of a virtual function or bridge. No hypervisor runs here: the namespace that stands for
the uplink sends with that tag and counts what arrives with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.frames import Kind, Probe
from sandbox.fabric.prober import Arrival, Prober, everybody
from sandbox.rack.table import Rack
from sandbox.switches.devices import Switch, access
from sandbox.switches.table import PortState, SwitchState

#: In which all ports of a switch meet while the positive control runs.
CONTROL = 2
OPERATOR = 20
#: What the pools of both leaf groups give out.
POOLED = frozenset(range(1000, 3000))


@dataclass(frozen=True)
class Field:
    """What stands at the ends of a rack's cables, by the name of its namespace."""

    rack: Rack

    @cached_property
    def _ends(self) -> dict[str, tuple[Switch, PortState]]:
        return {
            f"{end.system}-{end.port}": (switch, switch.initial.ports[port])
            for switch in self.rack.switches
            for port, end in switch.neighbors.items()
            if end.system not in self.rack.switch
        }

    @cached_property
    def rnics(self) -> tuple[str, ...]:
        """Of all machines, in their order."""
        return tuple(name for name in self._ends if name.endswith("-rnic"))

    @cached_property
    def bmcs(self) -> tuple[str, ...]:
        """In the same order."""
        return tuple(f"{name.removesuffix('rnic')}mgmt" for name in self.rnics)

    @cached_property
    def trunks(self) -> Mapping[str, frozenset[int]]:
        """Ports that carry VLANs with their tags: what a host hears there, its hypervisor hands to whom it is for.

        Of one that Neutron's driver fills, all that pools give out there: it carries those that networks have.
        """
        return {
            name: POOLED if name in self.filled else frozenset(port.allowed)
            for name, (_, port) in self._ends.items()
            if port.mode == "trunk"
        }

    @cached_property
    def filled(self) -> frozenset[str]:
        """Those whose VLANs come and go with networks."""
        ends = ((switch, port, end) for switch in self.rack.switches for port, end in switch.neighbors.items())
        return frozenset(f"{end.system}-{end.port}" for switch, port, end in ends if port in switch.filled)

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """Ports of the operator's own VLAN."""
        return tuple(name for name, (_, port) in self._ends.items() if (port.mode, port.access_vlan) == IN_OPERATORS)

    def switch(self, host: str) -> str:
        """The switch that a port is cabled to."""
        return self._ends[host][0].name

    def uplinks(self, host: str) -> list[str]:
        """The trunks of a host."""
        return [name for name in self.trunks if name.startswith(f"{host}-")]


IN_OPERATORS = ("access", OPERATOR)


class Plug(NamedTuple):
    """A namespace and the tag of its frames."""

    host: str
    tag: int | None = None

    @property
    def tags(self) -> tuple[int, ...]:
        """The same as a probe has it."""
        return () if self.tag is None else (self.tag,)


@dataclass(frozen=True)
class Segment:
    """Who is to meet in a VLAN of one switch, and nobody else. Other switches may have the same id."""

    switch: str
    vlan: int
    plugs: frozenset[Plug]


@dataclass(frozen=True)
class Pod:
    """A vPOD, as its lock has it."""

    rnics: tuple[str, ...]
    bmcs: tuple[str, ...]
    data: Segment
    storage: Segment
    management: Segment

    @classmethod
    def locked(cls, field: Field, file: Path) -> dict[str, Pod]:
        """The vPODs of a tenant's lock, by name."""
        vpods = json.loads(file.read_text(encoding="utf-8"))["allocation"]["vpods"]
        return {name: cls.of(field, claims) for name, claims in vpods.items()}

    @classmethod
    def of(cls, field: Field, claims: Mapping[str, Any]) -> Pod:
        """A vPOD with the claims of a lock."""
        rnics = tuple(f"{machine}-rnic" for machine in claims["machines"])
        bmcs = tuple(f"{machine}-mgmt" for machine in claims["machines"])
        uplinks = [uplink for host in claims["hosts"] for uplink in field.uplinks(host)]

        def segment(what: str, untagged: Iterable[str], tagged: Iterable[str]) -> Segment:
            vlan = claims[f"{what}_vlan"]
            plugs = frozenset({*map(Plug, untagged), *(Plug(host, vlan) for host in tagged)})
            (switch,) = {field.switch(plug.host) for plug in plugs}
            return Segment(switch, vlan, plugs)

        return cls(
            rnics,
            bmcs,
            segment("ipu_data", rnics, uplinks),
            segment("storage", (), uplinks),
            segment("management", bmcs, field.uplinks(claims["controller_host"])),
        )

    @property
    def segments(self) -> tuple[Segment, Segment, Segment]:
        """Data, storage, management."""
        return self.data, self.storage, self.management

    @property
    def plugs(self) -> frozenset[Plug]:
        """All of it."""
        return frozenset().union(*(segment.plugs for segment in self.segments))


def expected(field: Field, pods: Iterable[Pod]) -> tuple[Segment, ...]:
    """All segments of all switches with these vPODs: the operator's, and the one in which BMCs of nobody rest."""
    pods = tuple(pods)
    taken = {bmc for pod in pods for bmc in pod.bmcs}
    operators = Segment("mgmt-1", OPERATOR, frozenset(map(Plug, field.operators)))
    rest = frozenset(Plug(bmc) for bmc in field.bmcs if bmc not in taken)
    resting = Segment("mgmt-1", field.rack.quarantine_vlan, rest)
    return (operators, resting, *(item for pod in pods for item in pod.segments))


Meeting = tuple[Plug, Plug, Kind]


@dataclass(frozen=True)
class Round:
    """Everything that was sent once, by every plug and in every wrong way, and everything that arrived."""

    field: Field
    sent: frozenset[Plug]
    #: (sender, receiver) of the positive control: the same ports and cables, all in one VLAN.
    control: frozenset[tuple[str, str]]
    arrivals: tuple[Arrival, ...]

    @cached_property
    def meetings(self) -> frozenset[Meeting]:
        """Which plug heard which, by what."""
        return frozenset((sender_of(item), Plug(item.receiver, item.tag), item.probe.kind) for item in self.arrivals)

    def between(self, some: Iterable[Plug], others: Iterable[Plug]) -> frozenset[Meeting]:
        """What one side got from the other, in both directions. Raises AssertionError for ports that showed nothing."""
        a, b = frozenset(some), frozenset(others)
        assert a
        assert b
        assert a | b <= self.sent, "each side sent"
        alive = {host for pair in self.control for host in pair}
        assert {plug.host for plug in a | b} <= alive, "and each port can carry frames"
        return frozenset(
            item for item in self.meetings if (item[0] in a and item[1] in b) or (item[0] in b and item[1] in a)
        )

    def absent(self, segments: Iterable[Segment]) -> set[Meeting]:
        """What must arrive and did not."""
        wanted = {
            (a, b, kind)
            for segment in segments
            for a in segment.plugs
            for b in segment.plugs
            if a != b
            for kind in Kind
        }
        return wanted - self.meetings

    def stray(self, segments: Iterable[Segment]) -> set[Meeting]:
        """What arrived and must not have. Trunks hear all VLANs of theirs: see `Field.trunks`."""
        home = {plug: segment for segment in segments for plug in segment.plugs}
        return {item for item in self.meetings if not _explained(self.field, home.get(item[0]), item[1])}


def _explained(field: Field, home: Segment | None, receiver: Plug) -> bool:
    if home is None:
        return False
    return receiver in home.plugs or on_trunk(field, home.switch, home.vlan, receiver)


def on_trunk(field: Field, switch: str, vlan: int, receiver: Plug) -> bool:
    """Whether a receiver hears a VLAN of a switch because it is on a trunk there that carries it."""
    carries = receiver.tag == vlan and vlan in field.trunks.get(receiver.host, ())
    return carries and field.switch(receiver.host) == switch


def sender_of(item: Arrival) -> Plug:
    """Who sent a frame that arrived."""
    return Plug(item.probe.sender, *item.probe.tags)


def wrong_ways(field: Field, pods: Iterable[Pod]) -> Iterator[Plug]:
    """Frames that nobody is to get: with tags of others from untagged ports, with management's from the fabric."""
    vlans = {segment.vlan for pod in pods for segment in pod.segments}
    for host in (*field.rnics, *field.bmcs, "poplar-1-eno1", "poplar-1-idrac"):
        yield from (Plug(host, vlan) for vlan in vlans)
    for host, carried in field.trunks.items():
        yield Plug(host)
        yield from (
            Plug(host, vlan) for vlan in (1, OPERATOR, field.rack.quarantine_vlan, *vlans) if vlan not in carried
        )


def observed(fabric: Fabric, field: Field, pods: tuple[Pod, ...], awaited: Iterable[Segment]) -> Round:
    """The positive control, then one round. `pods`: whose plugs send; `awaited`: where there is patience for frames."""
    machines = map(Plug, (*field.rnics, *field.bmcs))
    plugs = {plug for segment in expected(field, pods) for plug in segment.plugs} | {*machines}
    wrong = {*wrong_ways(field, pods)} - plugs
    probes = [Probe(plug.host, plug.tags, kind) for plug in sorted(plugs, key=str) for kind in Kind]
    probes += [Probe(plug.host, plug.tags, Kind.ARP) for plug in sorted(wrong, key=str)]
    with Prober(fabric) as prober:
        cables = frozenset(pair for one in _cabled_together(fabric) for pair in everybody(one))
        with _all_together(fabric):
            prober.probe([Probe(host) for host in fabric.wiring.hosts], control=cables)
        pairs = {(a.host, b.host) for one in awaited for a in one.plugs for b in one.plugs if a.host != b.host}
        seen = prober.probe(probes, awaited=pairs)
    return Round(field, frozenset(plugs | wrong), cables, seen.arrivals)


def _cabled_together(fabric: Fabric) -> list[list[str]]:
    """Hosts by the switches that reach one another by cables."""
    groups = [{name} for name in fabric.wiring.switches]
    for a, b in fabric.wiring.links:
        joined = [group for group in groups if {a.switch, b.switch} & group]
        groups = [*(group for group in groups if group not in joined), set().union(*joined)]
    return [[host for host, end in fabric.wiring.hosts.items() if end.switch in group] for group in groups]


@contextmanager
def _all_together(fabric: Fabric) -> Iterator[None]:
    """All ports of all switches up and in one VLAN, behind their command lines' backs, and then as before."""
    before = [fabric.load(name) for name in fabric.wiring.switches]
    changes = [(state, _joined(state, access(CONTROL))) for state in before]
    fabric.apply(changes)
    try:
        yield
    finally:
        fabric.apply([(after, state) for state, after in changes])


def _joined(state: SwitchState, port: PortState) -> SwitchState:
    return replace(state, ports=dict.fromkeys(state.ports, port), vlans={**state.vlans, CONTROL: "control"})
