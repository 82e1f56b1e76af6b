"""What each setting of a port takes and sends, by frames: what `sandbox/switches/table.py` says in words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sandbox.fabric.frames import Probe
from sandbox.switches.table import PortState, SwitchState

from .plant import DOWN, HOSTS, SWITCHES, Stage

HOME = SWITCHES[0]
ASKED, HEARING, *_ = (f"{HOME}-host-{number}" for number in range(1, HOSTS + 1))
#: Of these VLANs the switch has all but ABSENT.
FIRST, SECOND, ABSENT = 100, 200, 300
TAGS: tuple[tuple[int, ...], ...] = ((), (0,), (FIRST,), (SECOND,), (ABSENT,), (1,), (4095,))
#: A port that takes and sends every VLAN that there is, with its tag: what shows in which VLAN a frame is.
EVERYTHING = PortState(enabled=True, mode="trunk", access_vlan=1, native_vlan=None, allowed=tuple(range(1, 4095)))


def access(vlan: int) -> PortState:
    return PortState(enabled=True, mode="access", access_vlan=vlan, native_vlan=SECOND, allowed=(SECOND,))


def trunk(native: int | None, *allowed: int) -> PortState:
    return PortState(enabled=True, mode="trunk", access_vlan=FIRST, native_vlan=native, allowed=allowed)


@dataclass(frozen=True)
class Case:
    """A setting; tags that the port takes -> the VLAN they come to; VLANs that it sends -> the tag, None being none."""

    name: str
    port: PortState
    takes: dict[tuple[int, ...], int]
    sends: dict[int, int | None]


UNTAGGED = {(): FIRST, (0,): FIRST}
CASES = (
    Case("access", access(FIRST), UNTAGGED, {FIRST: None}),
    Case("access in a VLAN that is not there", access(ABSENT), {}, {}),
    Case("trunk", trunk(None, FIRST), {(FIRST,): FIRST}, {FIRST: FIRST}),
    Case("trunk with a native VLAN", trunk(FIRST, FIRST), {**UNTAGGED, (FIRST,): FIRST}, {FIRST: None}),
    Case(
        "trunk with a native VLAN and another",
        trunk(FIRST, FIRST, SECOND),
        {**UNTAGGED, (FIRST,): FIRST, (SECOND,): SECOND},
        {FIRST: None, SECOND: SECOND},
    ),
    Case("native VLAN that the list leaves out", trunk(FIRST, SECOND), {(SECOND,): SECOND}, {SECOND: SECOND}),
    Case("native VLAN that is not there", trunk(ABSENT, SECOND, ABSENT), {(SECOND,): SECOND}, {SECOND: SECOND}),
    Case("list with a VLAN that is not there", trunk(None, FIRST, ABSENT), {(FIRST,): FIRST}, {FIRST: FIRST}),
    Case("empty list", trunk(None), {}, {}),
    Case("empty list and a native VLAN", trunk(FIRST), {}, {}),
    Case("only VLANs that are not there", trunk(None, ABSENT), {}, {}),
)


def set_to(stage: Stage, port: PortState) -> None:
    """The port that is asked about, and one that shows what it takes."""
    ports = {"Ethernet1": port, "Ethernet2": EVERYTHING}
    names = {1: "default", FIRST: "first", SECOND: "second"}
    stage.set(
        {
            switch: SwitchState(
                switch, {name: ports.get(name, DOWN) if switch == HOME else DOWN for name in all_of}, names
            )
            for switch, all_of in stage.fabric.wiring.switches.items()
        }
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_port_takes_and_sends(stage: Stage, case: Case) -> None:
    set_to(stage, EVERYTHING)
    stage.prober.probe([Probe(ASKED, (FIRST,)), Probe(HEARING, (FIRST,))], control=[(ASKED, HEARING), (HEARING, ASKED)])
    set_to(stage, case.port)
    seen = stage.prober.probe([Probe(host, tags) for host in (ASKED, HEARING) for tags in TAGS])
    taken = {item.probe.tags: item.tag for item in seen.arrivals if item.receiver == HEARING}
    sent = {item.probe.tags[0]: item.tag for item in seen.arrivals if item.receiver == ASKED}
    assert (taken, sent) == (case.takes, case.sends)
