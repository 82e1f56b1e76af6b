"""`interlock switches` on the shipped site, against ssh servers that answer as its switches should."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.program.gate import Gate
from infra.switches.survey import planned_ports
from interlock.hardware import SWITCHES
from interlock.model.site.inventory import Switch, SwitchPortConfig
from interlock.switches import commands
from interlock.switches.observed import ranges_text
from tests.infra.conftest import Interlock, Lyon
from tests.switches_read.ssh_server import PASSWORD, USER, FakeSwitch, running, write_secret


def setting(mode: str, access: int = 1, native: int = 1, allowed: str = "ALL") -> dict[str, Any]:
    info = {"mode": mode, "accessVlanId": access, "trunkingNativeVlanId": native, "trunkAllowedVlans": allowed}
    return {"enabled": True, "switchportInfo": info}


def as_stated(config: SwitchPortConfig, vlan: int | None) -> dict[str, Any]:
    """The answer of a port that is as the site and the plans say."""
    if config.mode == "trunk" and vlan is None:
        assert config.tagged is not None
        return setting("trunk", allowed=ranges_text(config.tagged))
    return setting("access", access=vlan or config.untagged or 1)


@dataclass
class Answering:
    """A switch of the site, and what it answers, to be changed before it is asked."""

    server: FakeSwitch
    ports: dict[str, Any]
    states: dict[str, Any]

    def tell(self) -> None:
        """SwitchAnswer what is set now."""
        self.server.answers[commands.EOS_SWITCHPORTS.text] = json.dumps({"switchports": self.ports})
        self.server.answers[commands.EOS_STATUS.text] = json.dumps({"interfaceStatuses": self.states})


def answering(switch: Switch, planned: dict[int, int]) -> Answering:
    names = {port: SWITCHES[switch.model].default_port_name(port) for port in switch.by_port}
    ports = {names[port]: as_stated(config, planned.get(port)) for port, config in switch.by_port.items()}
    states = {
        names[port]: {"linkStatus": "disabled" if config.mode == "disabled" else "notconnect"}
        for port, config in switch.by_port.items()
    }
    answers = {
        commands.EOS_VERSION: {"serialNumber": switch.serial, "systemMacAddress": switch.mac},
        commands.EOS_VLANS: {"vlans": {str(vlan): {} for vlan in range(1, 4000)}},
        commands.EOS_LLDP: {"lldpNeighbors": {}},
        commands.EOS_ADDRESSES: {"interfaces": {}},
    }
    return Answering(FakeSwitch({command.text: json.dumps(one) for command, one in answers.items()}), ports, states)


Switches = dict[str, Answering]


@pytest.fixture
def switches(lyon: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Switches]:
    """The site's two switches, as everything is planned, and the file that says how they are asked."""
    gate = Gate.open("lyon")
    planned = planned_ports(gate)
    found = {
        switch.name: answering(
            switch, {item.port.port: item.port.vlan for item in planned if item.port.switch == switch.name}
        )
        for switch in gate.workspace.site.switches
    }
    with running(*(one.server for one in found.values())):
        write_secret(tmp_path / "password", PASSWORD)
        lines = [
            f"  {name}: {{platform: eos, host: 127.0.0.1, port: {one.server.port}, username: {USER}, "
            f"password_file: password, host_key: {one.server.known_as}}}\n"
            for name, one in found.items()
        ]
        (tmp_path / "switches.yaml").write_text("switches:\n" + "".join(lines))
        monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "switches.yaml"))
        for one in found.values():
            one.tell()
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
