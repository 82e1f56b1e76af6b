"""`interlock switches` on the shipped site, against ssh servers that answer as its switches should."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.program.gate import Gate
from interlock.switches import commands
from tests.infra.answering import Switches, answering_switches, planned_vlans, setting
from tests.infra.conftest import Interlock, Lyon
from tests.switches_read.ssh_server import write_secret


@pytest.fixture
def switches(lyon: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Switches]:
    """The site's two switches, as everything is planned, and the file that says how they are asked."""
    gate = Gate.open("lyon")
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "switches.yaml"))
    with answering_switches(gate, planned_vlans(gate), tmp_path) as found:
        yield found


def test_all_is_as_stated(switches: Switches, interlock: Interlock) -> None:
    ended = interlock("switches")
    assert (ended.code, ended.err) == (0, "")
    assert "2 of 2 switches read; 0 differences; no LLDP neighbour heard at" in ended.out
    assert "Ethernet1/1   up/down    access 1000" in ended.out


def test_a_port_in_another_vlan(switches: Switches, interlock: Interlock) -> None:
    switches["tor-1"].ports["Ethernet2/1"] = setting("access", access=1999)
    switches["tor-1"].tell()
    ended = interlock("switches", "tor-1")
    assert ended.code == 1
    assert "different  tor-1 2 (Ethernet2/1): VLAN: the plan of lyon-acme sets access VLAN 1000" in ended.out
    assert "the switch says 1999" in ended.out
    assert switches["mgmt-1"].server.asked == []


def test_a_port_that_neutron_never_touched(switches: Switches, interlock: Interlock) -> None:
    """Disabled by the site file, in no plan, and enabled by somebody."""
    switches["tor-1"].states["Ethernet31/1"] = {"linkStatus": "connected"}
    switches["tor-1"].tell()
    ended = interlock("switches", "--format", "json")
    found = json.loads(ended.out)
    assert ended.code == 1
    assert [(one["port"], one["about"], one["says"], one["by"]) for one in found["findings"] if
            one["found"] != "unheard"] == [(31, "admin state", "enabled", "the site file")]  # fmt: skip
    assert found["version"] == 1
    port = next(one for one in found["switches"]["tor-1"]["ports"] if one["port"] == 31)
    assert (port["name"], port["admin_up"], port["neighbours"]) == ("Ethernet31/1", True, None)


def test_what_is_unknown_is_no_pass(switches: Switches, interlock: Interlock) -> None:
    switches["tor-1"].server.answers.pop(commands.EOS_VLANS.text)
    ended = interlock("switches")
    assert ended.code == 3
    assert "unknown  tor-1 1 (Ethernet1/1): VLAN:" in ended.out
    assert "not read: list of VLANs: `show vlan | json` is refused" in ended.out


def test_a_switch_that_cannot_be_read_leaves_the_other(switches: Switches, interlock: Interlock) -> None:
    switches["tor-1"].server.answers[commands.EOS_VERSION.text] = (
        '{"serialNumber": "OTHER", "systemMacAddress": "02:1c:73:00:00:01"}'
    )
    ended = interlock("switches")
    assert ended.code == 4
    assert "unread  tor-1: another device answers" in ended.out
    assert "its serial is OTHER, and the site states PLACEHOLDER-7060X-1" in ended.out
    assert "1 of 2 switches read" in ended.out


def test_a_switch_without_an_entry(switches: Switches, interlock: Interlock, tmp_path: Path) -> None:
    file = tmp_path / "switches.yaml"
    file.write_text("\n".join(line for line in file.read_text().splitlines() if "mgmt-1" not in line) + "\n")
    ended = interlock("switches")
    assert ended.code == 4
    assert "unread  mgmt-1:" in ended.out
    assert "add `mgmt-1` under `switches:`" in ended.out


def test_a_mistyped_switch(switches: Switches, interlock: Interlock) -> None:
    ended = interlock("switches", "tor1")
    assert ended.code == 2
    assert "IN-008 `tor1` is not a switch of this site" in ended.err
    assert "did you mean `tor-1`?" in ended.err


def test_without_the_file(lyon: Lyon, interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "none.yaml"))
    ended = interlock("switches")
    assert ended.code == 2
    assert "IN-020 there is no such file" in ended.err


def test_no_secret_is_shown(switches: Switches, interlock: Interlock, tmp_path: Path) -> None:
    write_secret(tmp_path / "password", "a-wrong-canary")
    for arguments in (("switches",), ("switches", "--debug"), ("switches", "--format", "json")):
        ended = interlock(*arguments)
        assert ended.code == 4
        assert "refuses the login" in ended.out
        assert "canary" not in ended.out + ended.err
