"""The switches' command line: what the driver sends, what readers ask, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.switches.command_line import Device, Session
from sandbox.switches.files import FileBackend
from sandbox.switches.grammar import AMBIGUOUS, INCOMPLETE, INVALID
from sandbox.switches.table import PortState
from tests.sandbox.switch_sessions import MANAGEMENT, QUARANTINE, TOR, Recorder, session, typed

PORT = "Ethernet1/1"

#: Commands of networking-generic-switch's Arista driver, in its order.
PLUG = (
    f"interface {PORT}", f"no switchport access vlan {QUARANTINE}", "no switchport mode trunk",
    "switchport trunk allowed vlan none",
    f"interface {PORT}", "switchport mode access", "switchport access vlan 1000",
    f"interface {PORT}", "no shutdown",
)  # fmt: skip
UNPLUG = (
    f"interface {PORT}", "no switchport access vlan 1000", "no switchport mode trunk",
    "switchport trunk allowed vlan none",
    f"vlan {QUARANTINE}", f"name {QUARANTINE}",
    f"interface {PORT}", "switchport mode access", f"switchport access vlan {QUARANTINE}",
    f"interface {PORT}", "shutdown",
)  # fmt: skip
TRUNK = (
    f"interface {PORT}", "switchport mode trunk", "switchport trunk native vlan 1001",
    "switchport trunk allowed vlan add 1001", f"interface {PORT}", "switchport trunk allowed vlan add 1002",
)  # fmt: skip


@pytest.fixture
def at(tmp_path: Path) -> Session:
    """A session at `tor-1`, in its configuration."""
    opened = session(tmp_path)
    assert opened.run("configure terminal") == ""
    return opened


def port(at: Session) -> PortState:
    return at.device.state.ports[PORT]


def test_a_port_is_plugged_and_unplugged_as_the_driver_does(at: Session) -> None:
    assert set(typed(at, "vlan 1000", "name " + "a" * 32, *PLUG)) == {""}
    assert port(at) == PortState(True, "access", 1000, 1, ())
    assert at.device.state.vlans[1000] == "a" * 32
    assert set(typed(at, *UNPLUG)) == {""}
    assert port(at) == PortState(False, "access", QUARANTINE, 1, ())
    assert at.device.state.vlans[QUARANTINE] == str(QUARANTINE)


def test_a_trunk_is_plugged_as_the_driver_does(at: Session) -> None:
    assert set(typed(at, *PLUG[:4], *TRUNK, *PLUG[-2:])) == {""}
    assert port(at) == PortState(True, "trunk", 1, 1001, (1001, 1002))


def test_lists_of_a_trunk(at: Session) -> None:
    seen = []
    for line in ("all", "20,30-32", "add 40", "remove 30,40", "none"):
        typed(at, f"interface {PORT}", f"switchport trunk allowed vlan {line}")
        seen.append(port(at).allowed)
    assert seen == [tuple(range(1, 4095)), (20, 30, 31, 32), (20, 30, 31, 32, 40), (20, 31, 32), ()]
    assert at.run("no switchport trunk allowed vlan") == ""
    assert port(at).allowed == tuple(range(1, 4095))


def test_untagged_frames_of_a_trunk(at: Session) -> None:
    typed(at, f"interface {PORT}", "switchport trunk native vlan tag")
    assert port(at).native_vlan is None
    assert "   switchport trunk native vlan tag\n" in at.run("show running-config")
    assert typed(at, "switchport trunk native vlan 30", "no switchport trunk native vlan") == ["", ""]
    assert port(at).native_vlan == 1


@pytest.mark.parametrize(
    "line", ["frobnicate", "show frobs", "switchport mode hybrid", "vlan 4095", "vlan 0", "mtu 9000"]
)
def test_what_is_unknown_is_refused(at: Session, line: str) -> None:
    at.run(f"interface {PORT}")
    before = at.device.state
    assert (at.run(line), at.failed, at.device.state) == (INVALID, True, before)


@pytest.mark.parametrize(
    "line", ["show", "interface", "switchport access vlan", "no", "switchport trunk allowed vlan add"]
)
def test_what_is_not_finished_is_told_so(at: Session, line: str) -> None:
    at.run(f"interface {PORT}")
    assert at.run(line) == INCOMPLETE


def test_words_may_be_shortened_as_long_as_they_are_clear(at: Session) -> None:
    assert typed(at, "int et1/1", "no shut", "sw acc vl 77") == ["", "", ""]
    assert (port(at).enabled, port(at).access_vlan) == (True, 77)
    assert at.run("switchport trunk allowed vlan a") == AMBIGUOUS
    assert at.run("interface Ethernet 2/1") == ""
    assert at.prompt == "tor-1(config-if-Et2/1)#"


def test_a_port_that_is_not_there_is_no_place_to_configure(at: Session) -> None:
    before = at.device.state
    lines = [line.replace(PORT, "Ethernet99/1") for line in PLUG]
    assert set(typed(at, *lines)) == {INVALID}
    assert (at.device.state, at.prompt) == (before, "tor-1(config)#")


def test_the_default_vlan_stays_and_others_go(at: Session) -> None:
    assert at.run("no vlan 1").startswith(INVALID)
    assert typed(at, "vlan 30-32", "no vlan 31") == ["", ""]
    assert set(at.device.state.vlans) == {1, 30, 32, QUARANTINE}


def test_what_the_backend_refuses_has_not_happened() -> None:
    backend = Recorder(TOR.initial, [], refuses=lambda after: after.ports[PORT].access_vlan == 1000)
    at = Session(Device(TOR, backend))
    typed(at, "configure", f"interface {PORT}")
    assert typed(at, "no shutdown", "switchport access vlan 1000") == ["", f"{INVALID} (not applied: no such bridge)"]
    assert (port(at).enabled, port(at).access_vlan) == (True, QUARANTINE)
    ((before, after),) = backend.applied
    assert (before, after) == (TOR.initial, at.device.state)


def test_what_changes_nothing_is_not_applied() -> None:
    backend = Recorder(TOR.initial, [])
    at = Session(Device(TOR, backend))
    assert set(
        typed(at, "configure", f"interface {PORT}", "shutdown", "switchport mode access", f"vlan {QUARANTINE}")
    ) == {""}
    assert backend.applied == []


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    at = Session(session(tmp_path).device, reads_only=True)
    assert at.run("configure terminal") == "% Authorization denied for command 'configure'"
    assert at.run("show version | json").startswith("{")
    assert at.run(f"interface {PORT}") == INVALID


def test_sessions_share_a_switch_and_not_a_place(at: Session) -> None:
    other = Session(at.device)
    typed(at, "vlan 30", "name thirty")
    assert json.loads(other.run("show vlan 30 | json"))["vlans"]["30"]["name"] == "thirty"
    assert (at.prompt, other.prompt) == ("tor-1(config-vlan-30)#", "tor-1#")


def test_ways_out(at: Session) -> None:
    typed(at, f"interface {PORT}")
    prompts = [at.prompt]
    for line in ("exit", "exit", "exit"):
        at.run(line)
        prompts.append(at.prompt)
    assert prompts == ["tor-1(config-if-Et1/1)#", "tor-1(config)#", "tor-1#", "tor-1#"]
    assert at.ended


def test_the_state_is_found_again(at: Session, tmp_path: Path) -> None:
    typed(at, "vlan 1000", *PLUG)
    again = Device(TOR, FileBackend(tmp_path / "switch.json", TOR.initial))
    assert again.state == at.device.state != TOR.initial


def test_every_answer_about_itself_says_that_it_is_a_simulator(at: Session) -> None:
    said = typed(at, "show version", "show version | json", "show running-config", "help", "?")
    assert all("imulator" in text for text in said), said


def data(at: Session, what: str) -> Any:
    return json.loads(at.run(f"show {what} | json"))


def test_switchport_and_status_in_the_shapes_of_eos(at: Session) -> None:
    typed(at, "vlan 1000", *PLUG)
    ports = data(at, "interfaces switchport")["switchports"]
    assert list(ports) == [port.name for port in TOR.ports]
    bound, trunk = ports[PORT]["switchportInfo"], ports["Ethernet17/1"]["switchportInfo"]
    assert {
        "mode": "access",
        "accessVlanId": 1000,
        "accessVlanName": "VLAN1000",
        "trunkAllowedVlans": "NONE",
    }.items() <= (bound.items())
    assert {"mode": "trunk", "trunkAllowedVlans": "1000-2999", "trunkingNativeVlanId": 0}.items() <= (trunk.items())
    links = {name: row["linkStatus"] for name, row in data(at, "interfaces status")["interfaceStatuses"].items()}
    assert (links[PORT], links["Ethernet2/1"], links["Ethernet33"]) == ("connected", "disabled", "disabled")


def test_vlans_and_neighbours_are_seen_where_there_is_a_link(at: Session) -> None:
    typed(at, "vlan 1000", "interface Ethernet2/1", "switchport access vlan 1000")
    assert set(data(at, "vlan 1000")["vlans"]["1000"]["interfaces"]) == {
        f"Ethernet{number}/1" for number in range(17, 25)
    }
    assert "Ethernet2/1" in data(at, "vlan configured-ports")["vlans"]["1000"]["interfaces"]
    assert at.run("show vlan id 1000 configured-ports").splitlines()[2].split()[3] == "Et2/1,"
    detail = data(at, "lldp neighbors detail")["lldpNeighbors"]
    assert detail["Ethernet2/1"]["lldpNeighborInfo"] == []
    typed(at, "no shutdown")
    (end,) = data(at, "lldp neighbors detail")["lldpNeighbors"]["Ethernet2/1"]["lldpNeighborInfo"]
    assert (end["systemName"], end["neighborInterfaceInfo"]["interfaceId_v2"]) == ("ipum-02", "rnic")
    assert any(line.split()[:3] == ["Et2/1", "ipum-02", "rnic"] for line in at.run("show lldp neighbors").splitlines())


def test_a_running_configuration_makes_the_same_switch(at: Session, tmp_path: Path) -> None:
    """Typed into a switch without any setting it gives the state that it was shown of."""
    typed(at, "vlan 1000", "name one", *PLUG, "interface Ethernet2/1", *TRUNK[1:4])
    plain = PortState(True, "access", 1, 1, tuple(range(1, 4095)))
    bare = Recorder(type(TOR.initial)("tor-1", dict.fromkeys(TOR.initial.ports, plain), {1: "default"}), [])
    copy = Session(Device(TOR, bare))
    copy.run("configure")
    lines = [line.strip() for line in at.run("show running-config").splitlines() if "hostname" not in line]
    assert set(typed(copy, *lines)) == {""}
    assert copy.device.state == at.device.state


def test_management_ports_rest_where_an_operator_reaches_them(tmp_path: Path) -> None:
    at = session(tmp_path, MANAGEMENT)
    rows = data(at, "vlan")["vlans"]
    assert [str(name) for name in rows[str(QUARANTINE)]["interfaces"]] == [f"Ethernet{n}" for n in range(1, 17)]
    assert set(rows) == {"1", "20", str(QUARANTINE)}
