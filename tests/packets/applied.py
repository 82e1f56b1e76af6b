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
from typing import NamedTuple

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.frames import Kind, Probe
from sandbox.fabric.prober import Arrival, Prober, everybody
from sandbox.switches.devices import HOSTS, MACHINES, OPERATOR, QUARANTINE, SWITCHES, access
from sandbox.switches.table import PortState, SwitchState

#: In which all ports of a switch meet while the positive control runs.
CONTROL = 2
UPLINKS = tuple(f"poplar-{host}-ens161f{leg}" for host in HOSTS for leg in (0, 1))
INFRA = ("infra-1-ens1f0", "infra-2-ens1f0")
TRUNKS: Mapping[str, range] = dict.fromkeys(UPLINKS, range(1000, 3000)) | dict.fromkeys(INFRA, range(110, 200))
"""Ports that carry VLANs with their tags: what a host hears there, its hypervisor hands to whom it is for."""
RNICS = tuple(f"ipum-{number:02}-rnic" for number in MACHINES)
BMCS = tuple(f"ipum-{number:02}-mgmt" for number in MACHINES)


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
    """Who is to meet in a VLAN of one switch, and nobody else."""

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
    def locked(cls, file: Path) -> Pod:
        """The one vPOD of a tenant's lock."""
        (claims,) = json.loads(file.read_text(encoding="utf-8"))["allocation"]["vpods"].values()
        rnics = tuple(f"{machine}-rnic" for machine in claims["machines"])
        bmcs = tuple(f"{machine}-mgmt" for machine in claims["machines"])
        uplinks = [f"{host}-ens161f{leg}" for host in claims["hosts"] for leg in (0, 1)]

        def segment(what: str, untagged: Iterable[str], tagged: Iterable[str]) -> Segment:
            vlan = claims[f"{what}_vlan"]
            return Segment(vlan, frozenset({*map(Plug, untagged), *(Plug(host, vlan) for host in tagged)}))

        return cls(
            rnics,
            bmcs,
            segment("ipu_data", rnics, uplinks),
            segment("storage", (), uplinks),
            segment("management", bmcs, [f"{claims['controller_host']}-ens1f0"]),
        )

    @property
    def segments(self) -> tuple[Segment, Segment, Segment]:
        """Data, storage, management."""
        return self.data, self.storage, self.management

    @property
    def plugs(self) -> frozenset[Plug]:
        """All of it."""
        return frozenset().union(*(segment.plugs for segment in self.segments))


def expected(pods: Iterable[Pod]) -> tuple[Segment, ...]:
    """All segments of both switches with these vPODs: the operator's, and the one in which BMCs of nobody rest."""
    pods = tuple(pods)
    taken = {bmc for pod in pods for bmc in pod.bmcs}
    own = [f"{end.system}-{end.port}" for switch in SWITCHES for end in switch.neighbors.values()]
    operators = {Plug(name) for name in own if name not in {*RNICS, *BMCS, *TRUNKS}}
    resting = Segment(QUARANTINE, frozenset(Plug(bmc) for bmc in BMCS if bmc not in taken))
    return (Segment(OPERATOR, frozenset(operators)), resting, *(item for pod in pods for item in pod.segments))


Meeting = tuple[Plug, Plug, Kind]


@dataclass(frozen=True)
class Round:
    """Everything that was sent once, by every plug and in every wrong way, and everything that arrived."""

    sent: frozenset[Plug]
    #: (sender, receiver) of the positive control: the same ports, all in one VLAN of their switch.
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
        """What arrived and must not have. Trunks hear all VLANs of theirs: see `TRUNKS`."""
        home = {plug: segment for segment in segments for plug in segment.plugs}
        return {item for item in self.meetings if not _explained(home.get(item[0]), item[1])}


def _explained(home: Segment | None, receiver: Plug) -> bool:
    if home is None:
        return False
    trunk = receiver.tag == home.vlan and home.vlan in TRUNKS.get(receiver.host, ())
    return receiver in home.plugs or trunk


def sender_of(item: Arrival) -> Plug:
    """Who sent a frame that arrived."""
    return Plug(item.probe.sender, *item.probe.tags)


def wrong_ways(pods: Iterable[Pod]) -> Iterator[Plug]:
    """Frames that nobody is to get: with tags of others from untagged ports, with management's from the fabric."""
    vlans = [segment.vlan for pod in pods for segment in pod.segments]
    for host in (*RNICS, *BMCS, "poplar-1-eno1", "poplar-1-idrac"):
        yield from (Plug(host, vlan) for vlan in vlans)
    for host, carried in TRUNKS.items():
        yield Plug(host)
        yield from (Plug(host, vlan) for vlan in (1, OPERATOR, QUARANTINE, *vlans) if vlan not in carried)


def observed(fabric: Fabric, pods: tuple[Pod, ...], awaited: Iterable[Segment]) -> Round:
    """The positive control, then one round. `pods`: whose plugs send; `awaited`: where there is patience for frames."""
    plugs = {plug for segment in expected(pods) for plug in segment.plugs} | {*map(Plug, (*RNICS, *BMCS))}
    wrong = {*wrong_ways(pods)} - plugs
    probes = [Probe(plug.host, plug.tags, kind) for plug in sorted(plugs, key=str) for kind in Kind]
    probes += [Probe(plug.host, plug.tags, Kind.ARP) for plug in sorted(wrong, key=str)]
    with Prober(fabric) as prober:
        cables = frozenset(pair for one in _by_switch(fabric) for pair in everybody(one))
        with _all_together(fabric):
            prober.probe([Probe(host) for host in fabric.wiring.hosts], control=cables)
        pairs = {(a.host, b.host) for one in awaited for a in one.plugs for b in one.plugs if a.host != b.host}
        seen = prober.probe(probes, awaited=pairs)
    return Round(frozenset(plugs | wrong), cables, seen.arrivals)


def _by_switch(fabric: Fabric) -> list[list[str]]:
    return [
        [host for host, end in fabric.wiring.hosts.items() if end.switch == name] for name in fabric.wiring.switches
    ]


@contextmanager
def _all_together(fabric: Fabric) -> Iterator[None]:
    """All ports of a switch up and in one VLAN, behind its command line's back, and then as they were before."""
    before = [fabric.load(name) for name in fabric.wiring.switches]
    changes = [(state, _joined(state, access(CONTROL))) for state in before]
    fabric.apply(changes)
    try:
        yield
    finally:
        fabric.apply([(after, state) for state, after in changes])


def _joined(state: SwitchState, port: PortState) -> SwitchState:
    return replace(state, ports=dict.fromkeys(state.ports, port), vlans={**state.vlans, CONTROL: "control"})
