"""What a switch says of a port beside what is planned, in all its forms; and readings that are shared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Literal, cast

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.preflight.faults import NotLookedAt
from interlock.provider.preflight.switch_ports import resting_switch_ports
from interlock.provider.switch_readings import SwitchReadings
from interlock.provider.switch_settings import (
    PortAsPlanned,
    not_at_rest,
    not_let_go,
    setting_of,
    taken_from,
    unconfirmed,
)
from interlock.resources import Admission, Admitted, BareMetalLeg, SwitchPort
from interlock.switches.errors import SwitchUnread
from interlock.switches.loading import SwitchAccess, SwitchesRead
from interlock.switches.observed import ObservedPort, ObservedSwitch
from tests.conftest import ROOT
from tests.support.world.declared import switch_port

PLANNED = switch_port("acme", 5, 1000, "10.5.2.1")
LEG = BareMetalLeg(switch="tor-1", port=5, port_name="Ethernet5/1", vlan=1000, quarantine_vlan=4000)
GOOD = ObservedPort("Ethernet5/1", admin_up=True, mode="access", access_vlan=1000)


def saying(port: ObservedPort | None, vlans: frozenset[int] | None = frozenset({1, 1000, 4000})) -> ObservedSwitch:
    return ObservedSwitch("tor-1", "SN", "02:1c:73:00:00:01", "x", {} if port is None else {port.name: port}, vlans)


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (GOOD, ""),
        (None, "tor-1 has no port Ethernet5/1"),
        (replace(GOOD, admin_up=False), "tor-1 Ethernet5/1 is shut, not access 1000"),
        (replace(GOOD, access_vlan=4000), "tor-1 Ethernet5/1 is access 4000, not access 1000"),
        (replace(GOOD, mode="trunk"), "tor-1 Ethernet5/1 is trunk, not access 1000"),
        (replace(GOOD, mode="routed"), "tor-1 Ethernet5/1 is routed, not access 1000"),
        # What is not said confirms nothing.
        (replace(GOOD, admin_up=None), "tor-1 does not say all of Ethernet5/1: it is access 1000"),
        (replace(GOOD, access_vlan=None), "tor-1 does not say all of Ethernet5/1: it is access (VLAN not said)"),
        (replace(GOOD, mode=None), "tor-1 does not say all of Ethernet5/1: it is set in a way that is not said"),
    ],
)
def test_only_a_whole_answer_confirms(port: ObservedPort | None, said: str) -> None:
    assert unconfirmed(PLANNED, saying(port)) == said


def test_a_vlan_that_the_switch_lacks_confirms_nothing() -> None:
    assert unconfirmed(PLANNED, saying(GOOD, frozenset({1}))) == (
        "tor-1 Ethernet5/1 is in VLAN 1000, which tor-1 does not have"
    )
    assert unconfirmed(PLANNED, saying(GOOD, None)) == "tor-1 does not say all of Ethernet5/1: it is access 1000"


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (GOOD, ""),
        (replace(GOOD, access_vlan=4000), ""),
        (replace(GOOD, access_vlan=1), ""),
        (replace(GOOD, access_vlan=1001, admin_up=False), ""),
        (replace(GOOD, access_vlan=1001), "tor-1 Ethernet5/1 is access 1001"),
        (replace(GOOD, mode="trunk"), "tor-1 Ethernet5/1 is trunk"),
        (replace(GOOD, access_vlan=None), "tor-1 Ethernet5/1 is access (VLAN not said)"),
        (replace(GOOD, mode=None), "tor-1 Ethernet5/1 is set in a way that is not said"),
        (None, "tor-1 has no port Ethernet5/1"),
    ],
)
def test_a_port_is_taken_from_rest_alone(port: ObservedPort | None, said: str) -> None:
    assert taken_from(PLANNED, saying(port)) == said


def test_a_port_in_quarantine_that_nobody_states_is_in_use() -> None:
    spec = PLANNED.model_copy(update={"quarantine_vlan": None})
    assert taken_from(spec, saying(replace(GOOD, access_vlan=4000))) == "tor-1 Ethernet5/1 is access 4000"


def test_whether_a_port_has_left_a_vlan() -> None:
    for port, carries in (
        (GOOD, True),
        (replace(GOOD, access_vlan=4000), False),
        (replace(GOOD, admin_up=False), False),
        (replace(GOOD, mode=None, access_vlan=None), None),
        (replace(GOOD, admin_up=None), None),
    ):
        setting = setting_of(PLANNED, saying(port))
        assert setting is not None
        assert setting.carries(1000) is carries
        assert setting.has_let_go(1000) is (carries is False)


def test_a_port_whose_vlan_is_not_in_the_table_is_not_at_rest() -> None:
    """No frame passes now; whoever makes the VLAN there again finds the port in it."""
    said = replace(saying(GOOD), vlans=frozenset({1, 4000}))
    setting = setting_of(PLANNED, said)
    assert setting is not None
    assert setting.carries(1000) is False
    assert not setting.has_let_go(1000)
    assert not_at_rest(PLANNED, said) == "tor-1 Ethernet5/1 is still access 1000"


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (replace(GOOD, admin_up=False), ""),
        (replace(GOOD, access_vlan=4000), ""),
        (replace(GOOD, access_vlan=1), ""),
        (replace(GOOD, access_vlan=1001), "tor-1 Ethernet5/1 is access 1001, not at rest"),
        (replace(GOOD, mode="trunk", access_vlan=None), "tor-1 Ethernet5/1 is still trunk"),
        (replace(GOOD, admin_up=None), "tor-1 Ethernet5/1 is still access 1000"),
    ],
)
def test_a_port_that_was_given_back_rests(port: ObservedPort | None, said: str) -> None:
    assert not_at_rest(PLANNED, saying(port)) == said


@pytest.mark.parametrize("judge", [not_at_rest, not_let_go])
def test_a_port_that_is_not_there_is_not_at_rest_but_unknown(
    judge: Callable[[PortAsPlanned, ObservedSwitch], str],
) -> None:
    """Renamed or broken out, it carries under another name what it carried before."""
    with pytest.raises(SwitchUnread, match="tor-1 has no such port"):
        judge(PLANNED, saying(replace(GOOD, name="Ethernet5/2")))
    nameless = LEG.model_copy(update={"port_name": None})
    with pytest.raises(SwitchUnread, match="nobody states what tor-1 calls it"):
        judge(nameless, saying(GOOD))


@pytest.mark.parametrize("mode", ["trunk", "routed", "dot1q-tunnel"])
def test_a_port_that_is_no_access_port_has_let_go_of_nothing(mode: Literal["trunk", "routed", "dot1q-tunnel"]) -> None:
    """It is in no VLAN alone, and may carry each of them with its tag."""
    open_, shut = (setting_of(PLANNED, saying(replace(GOOD, mode=mode, admin_up=up))) for up in (True, False))
    assert open_ is not None
    assert open_.carries(1000) is False
    assert not open_.has_let_go(1000)
    assert shut is not None
    assert shut.has_let_go(1000)


ACCESS = SwitchAccess("tor-1", "eos", "127.0.0.1", 22, "x", None, None, "key", None, "switches.yaml:1:1")
KNOWN = SwitchesRead(ROOT / "switches.yaml", {"tor-1": ACCESS})


class Switch:
    """Answers when it is let, and counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = threading.Semaphore(0)

    def read(self, access: SwitchAccess, mac: str | None) -> ObservedSwitch:
        assert (access, mac) == (ACCESS, "02:00:00:00:00:01")
        self.asked += 1
        self.go.acquire()
        return replace(saying(GOOD), model=f"answer {self.asked}")


def test_those_who_wait_share_the_next_answer_and_nobody_takes_an_older_one() -> None:
    switch = Switch()
    readings = SwitchReadings(lambda: KNOWN, switch.read)
    found = list[str | None]()

    def ask() -> None:
        found.append(readings.now("tor-1", "02:00:00:00:00:01").model)

    threads = [threading.Thread(target=ask) for _ in range(9)]
    threads[0].start()
    while switch.asked < 1:
        pass
    for thread in threads[1:]:
        # They ask while the first answer is on its way: it may be from before what they did.
        thread.start()
    switch.go.release()
    threads[0].join()
    assert found == ["answer 1"]
    for _ in threads:
        switch.go.release()
    for thread in threads[1:]:
        thread.join()
    assert "answer 1" not in found[1:]
    assert switch.asked < len(threads)


def test_the_preflight_waits_for_hanging_switches_side_by_side() -> None:
    """None of eight answers before all are asked; each that hangs is told, and the one that answers is judged."""
    names = [f"tor-{number}" for number in range(1, 9)]
    meeting = threading.Barrier(len(names))

    def read(access: SwitchAccess, _: str | None) -> ObservedSwitch | SwitchUnread:
        meeting.wait(30)
        return saying(GOOD) if access.name == "tor-5" else SwitchUnread(access.name, "no login within 15 s", "look")

    known = SwitchesRead(KNOWN.file, {name: replace(ACCESS, name=name) for name in names})
    specs = {name: PLANNED.model_copy(update={"switch": name, "vlan": 1001}) for name in names}
    admission = SimpleNamespace(
        resources=[
            Admitted(name=f"port-{name}", kind=SwitchPort.KIND, spec=spec.canonical()) for name, spec in specs.items()
        ]
    )
    cloud = SimpleNamespace(switches=SwitchReadings(lambda: known, read))
    found = list(resting_switch_ports(cast(Cloud, cloud), cast(Admission, admission)))
    assert [fault.message for fault in found if isinstance(fault, NotLookedAt)] == [
        f"switch {name}: no login within 15 s" for name in names if name != "tor-5"
    ]
    (judged,) = (fault for fault in found if not isinstance(fault, NotLookedAt))
    assert judged.message.startswith("tor-5 Ethernet5/1 is access 1000: it is neither at rest nor as planned")


def test_what_is_not_known_is_raised_each_time() -> None:
    readings = SwitchReadings(lambda: KNOWN, lambda access, _: SwitchUnread(access.name, "no answer", "wait"))
    for _ in range(2):
        with pytest.raises(SwitchUnread, match="no answer"):
            readings.now("tor-1", None)
    with pytest.raises(SwitchUnread, match="does not say how it is asked"):
        readings.now("tor-9", None)
