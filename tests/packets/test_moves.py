"""A port is set otherwise under traffic: no frame comes to a VLAN that it was in neither before nor after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from sandbox.fabric.frames import Probe
from sandbox.fabric.prober import Arrival, NothingShown
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
#: Rounds of frames in a setting, each with an answer of the switches: after those the frames of the first are through.
ROUNDS = 12
#: Seconds for them, and for a frame that has to arrive; the machine may be busy.
PATIENCE = 60.0


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

    `step` is what each frame says that it was sent in; it is raised when a setting has been applied, and no step is
    passed before frames of it were sent: a thread that the machine keeps waiting lags by one step at most.
    """

    stage: Stage
    step: int = 0
    sent: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    #: Two for each step.
    probes: list[Probe] = field(
        default_factory=lambda: [Probe(MOVED, tags) for _ in range(MOVES + 1) for tags in KINDS]
    )
    #: Of each step: rounds that were sent, and whether the host that hears everything got a frame.
    rounds: list[int] = field(default_factory=lambda: [0] * (MOVES + 1))
    heard: set[int] = field(default_factory=set)
    _over: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def go(self) -> None:
        self.stage.prober.begin()
        try:
            while not self._over:
                self._round(self.step)
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _round(self, step: int) -> None:
        for number in (2 * step, 2 * step + 1):
            self.stage.prober.send(self.probes[number], number)
            self.sent += 1
        # The control socket answers once in a round: never more than a switch forwards.
        self.stage.fabric.control("version")
        arrived = self.stage.prober.arrived(self.probes)
        with self._changed:
            self.arrivals += arrived
            self.heard |= {item.number // 2 for item in arrived if item.receiver == HEARING}
            self.rounds[step] += 1
            self._changed.notify_all()

    def await_step(self, *, heard: bool) -> None:
        """Until frames of this step were sent and had time to arrive. `heard`: one has to. Raises NothingShown."""

        def shown() -> bool:
            return self.rounds[self.step] >= ROUNDS and (not heard or self.step in self.heard)

        with self._changed:
            self._changed.wait_for(lambda: shown() or self._over, PATIENCE)
            if not shown():
                rounds = self.rounds[self.step]
                raise NothingShown(f"positive control: step {self.step} had {rounds} rounds, and none was heard")

    @contextmanager
    def going(self) -> Iterator[Traffic]:
        """Traffic for a while, and all that arrived of it. What fails in its thread fails here."""
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(self.go)
            try:
                yield self
            finally:
                self._over = True
                sending.result()
        self.stage.prober.settle()
        self.arrivals += self.stage.prober.arrived(self.probes)

    def slipped(self) -> list[Arrival]:
        """What came to the VLAN of nobody's turn."""
        return [item for item in self.arrivals if item.receiver in (THIRD, FAR) or item.tag == OTHER]


def is_heard(port: PortState) -> bool:
    """True if untagged frames of the port come into a VLAN that there is."""
    return port.enabled and (port.access_vlan if port.mode == "access" else port.native_vlan) in TURNS


def run(stage: Stage, settings: list[PortState], move: Callable[[Stage, PortState], None] = moved) -> Traffic:
    """Set a port so many times, in turn, under traffic."""
    prepared(stage)
    moved(stage, settings[0])
    with Traffic(stage).going() as traffic:
        traffic.await_step(heard=is_heard(settings[0]))
        for step in range(1, MOVES + 1):
            port = settings[step % len(settings)]
            move(stage, port)
            traffic.step = step
            traffic.await_step(heard=is_heard(port))
    assert traffic.sent >= 2 * ROUNDS * (MOVES + 1)
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
    assert traffic.heard == set(range(MOVES + 1)), "frames of each step arrived"


def _allowed(step: int) -> tuple[int, int]:
    return TURNS[step % len(TURNS)], TURNS[(step + 1) % len(TURNS)]


def test_two_steps_would_be_seen_to_leak(stage: Stage) -> None:
    """As a driver does it that clears a port before it sets it: for that while it is in every VLAN."""

    def in_two_steps(there: Stage, port: PortState) -> None:
        interface = there.fabric.wiring.interfaces[End(HOME, PORT)]
        there.fabric._vsctl("clear", "Port", interface, "tag", "--", "clear", "Port", interface, "vlan_mode")
        moved(there, port)

    assert run(stage, SETTINGS["between VLANs"], in_two_steps).slipped() != []
