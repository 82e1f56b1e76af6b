"""A port is set otherwise under traffic: no frame comes to a VLAN that it was in neither before nor after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from sandbox.fabric.frames import Probe
from sandbox.fabric.prober import Arrival
from sandbox.fabric.wiring import End
from sandbox.switches.table import PortState, SwitchState

from .plant import ALL_VLANS, DOWN, LINKS, SWITCHES, Stage

HOME = SWITCHES[0]
#: The host whose port is set otherwise, one that hears every VLAN with its tag, one in a VLAN that is nobody's turn.
MOVED, HEARING, THIRD = (f"{HOME}-host-{number}" for number in (1, 2, 3))
#: Behind an uplink: a frame that slips through goes this way as well.
FAR = f"{SWITCHES[1]}-host-1"
TURNS, OTHER = (1001, 1002, 1003, 1004), 1009
MOVES = 24
KINDS: tuple[tuple[int, ...], ...] = ((), (OTHER,))
PORT = "Ethernet1"


def access(vlan: int) -> PortState:
    return PortState(enabled=True, mode="access", access_vlan=vlan, native_vlan=None, allowed=())


def trunk(*vlans: int, native: int | None = None) -> PortState:
    return PortState(enabled=True, mode="trunk", access_vlan=1, native_vlan=native, allowed=tuple(sorted(vlans)))


def prepared(stage: Stage) -> None:
    """MOVED down; HEARING and the uplink carry everything; THIRD and FAR are in the VLAN of nobody's turn."""
    names = {vlan: f"vlan-{vlan}" for vlan in (1, *TURNS, OTHER)}
    ends = stage.fabric.wiring.hosts
    link = LINKS[HOME, SWITCHES[1]]
    found = {
        ends[HEARING]: trunk(*ALL_VLANS), ends[THIRD]: access(OTHER), ends[FAR]: access(OTHER),
        End(HOME, link): trunk(*ALL_VLANS), End(SWITCHES[1], link): trunk(*ALL_VLANS),
    }  # fmt: skip
    ports = stage.fabric.wiring.switches
    stage.set({s: SwitchState(s, {p: found.get(End(s, p), DOWN) for p in ports[s]}, names) for s in SWITCHES})
    stage.prober.probe([Probe(THIRD), Probe(FAR)], control=[(THIRD, FAR), (FAR, THIRD), (FAR, HEARING)])


def moved(stage: Stage, port: PortState) -> None:
    """MOVED's port set otherwise."""
    before = stage.now[HOME]
    stage.set({HOME: replace(before, ports={**before.ports, PORT: port})})


@dataclass
class Traffic:
    """Frames of MOVED without end: untagged ones, and some with the tag of a VLAN that is not its own.

    `step` is what each frame says that it was sent in; it is raised when a setting has been applied.
    """

    stage: Stage
    step: int = 0
    sent: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    #: Two for each step.
    probes: list[Probe] = field(
        default_factory=lambda: [Probe(MOVED, tags) for _ in range(MOVES + 1) for tags in KINDS]
    )
    _over: threading.Event = field(default_factory=threading.Event)

    def go(self) -> None:
        self.stage.prober.begin()
        while not self._over.is_set():
            step = self.step
            for number in (2 * step, 2 * step + 1):
                self.stage.prober.send(self.probes[number], number)
                self.sent += 1
            # The control socket answers once in a round: never more than a switch forwards.
            self.stage.fabric.control("version")
            self.arrivals += self.stage.prober.arrived(self.probes)

    @contextmanager
    def going(self) -> Iterator[Traffic]:
        """Traffic for a while, and all that arrived of it."""
        thread = threading.Thread(target=self.go)
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()
        self.stage.prober.settle()
        self.arrivals += self.stage.prober.arrived(self.probes)

    def slipped(self) -> list[Arrival]:
        """What came to the VLAN of nobody's turn."""
        return [item for item in self.arrivals if item.receiver in (THIRD, FAR) or item.tag == OTHER]


def run(stage: Stage, settings: list[PortState], move: Callable[[Stage, PortState], None] = moved) -> Traffic:
    """Set a port so many times, in turn, under traffic."""
    prepared(stage)
    moved(stage, settings[0])
    with Traffic(stage).going() as traffic:
        for step in range(1, MOVES + 1):
            move(stage, settings[step % len(settings)])
            traffic.step = step
    assert traffic.sent > 2 * MOVES
    return traffic


SETTINGS = {
    "between VLANs": [access(vlan) for vlan in TURNS],
    "up and down": [access(TURNS[0]), replace(access(TURNS[0]), enabled=False)],
    "access and trunk": [access(TURNS[0]), trunk(TURNS[1], TURNS[2], native=TURNS[1])],
    "native and none": [trunk(TURNS[0], native=TURNS[0]), trunk(TURNS[1])],
    "VLAN that is not there": [access(TURNS[0]), access(2000)],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_slips_through(stage: Stage, name: str) -> None:
    """The host that hears everything is the positive control: it gets frames of every VLAN of a turn."""
    settings = SETTINGS[name]
    traffic = run(stage, settings)
    assert traffic.slipped() == []
    heard = {item.tag for item in traffic.arrivals if item.receiver == HEARING}
    own = {item.access_vlan if item.mode == "access" else item.native_vlan for item in settings if item.enabled}
    assert heard == own - {None, 2000}


def test_no_frame_takes_the_way_of_the_setting_before(stage: Stage) -> None:
    """A frame that is sent when a setting has been applied is in its VLAN, or in that of the next one."""
    traffic = run(stage, SETTINGS["between VLANs"])
    late = [
        item for item in traffic.arrivals if item.receiver == HEARING and item.tag not in _allowed(item.number // 2)
    ]
    assert late == []
    assert {item.number // 2 for item in traffic.arrivals} >= set(range(1, MOVES)), "frames of each step arrived"


def _allowed(step: int) -> tuple[int, int]:
    return TURNS[step % len(TURNS)], TURNS[(step + 1) % len(TURNS)]


def test_two_steps_would_be_seen_to_leak(stage: Stage) -> None:
    """As a driver does it that clears a port before it sets it: for that while it is in every VLAN."""

    def in_two_steps(there: Stage, port: PortState) -> None:
        interface = there.fabric.wiring.interfaces[End(HOME, PORT)]
        there.fabric._vsctl("clear", "Port", interface, "tag", "--", "clear", "Port", interface, "vlan_mode")
        moved(there, port)

    assert run(stage, SETTINGS["between VLANs"], in_two_steps).slipped() != []
