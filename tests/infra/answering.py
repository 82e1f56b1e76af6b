"""ssh servers that answer as the switches of the shipped site should, for readers of switches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.program.gate import Gate
from infra.switches.survey import planned_ports
from interlock.hardware import SWITCHES
from interlock.model.site.inventory import Switch, SwitchPortConfig
from interlock.switches import commands
from interlock.switches.observed import ranges_text
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


def planned_vlans(gate: Gate) -> dict[str, dict[int, int]]:
    """Switch -> port -> the VLAN that some plan sets there."""
    found: dict[str, dict[int, int]] = {switch.name: {} for switch in gate.workspace.site.switches}
    for item in planned_ports(gate):
        found[item.port.switch][item.port.port] = item.port.vlan
    return found


@contextmanager
def answering_switches(gate: Gate, planned: Mapping[str, dict[int, int]], folder: Path) -> Iterator[Switches]:
    """All switches of a site, and `switches.yaml` in a folder, which says how they are asked."""
    found = {switch.name: answering(switch, planned.get(switch.name, {})) for switch in gate.workspace.site.switches}
    with running(*(one.server for one in found.values())):
        write_secret(folder / "password", PASSWORD)
        lines = [
            f"  {name}: {{platform: eos, host: 127.0.0.1, port: {one.server.port}, username: {USER}, "
            f"password_file: password, host_key: {one.server.known_as}}}\n"
            for name, one in found.items()
        ]
        (folder / "switches.yaml").write_text("switches:\n" + "".join(lines))
        for one in found.values():
            one.tell()
        yield found
