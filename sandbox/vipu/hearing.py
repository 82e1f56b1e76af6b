"""Which IPU-Machines a controller hears in the sandbox: those whose gateway stands in a VLAN of its server.

What counts is the switch: a port that was moved by hand, or is shut, takes its machine away from one controller and
shows it to another. Where a gateway has which address Neutron's port for the switch port says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.rack.ipu_racks import MANAGEMENT
from sandbox.rack.table import Rack
from sandbox.switches.files import decoded
from sandbox.switches.table import SwitchState

from .racks import AGENT_PORT, IpuMachine, Racks, RingCable
from .sandbox_cloud import BoundPort, SandboxCloud, ServerNetwork

#: What the network of BMCs and gateways is called where agents are discovered.
HEARD_ON = "ipum-mgmt"
_RNIC = "rnic"


@dataclass(frozen=True)
class Plug:
    """The switch port at the other end of a machine's cable."""

    switch: str
    mac: str
    physical_network: str
    port: str


def machines_of(rack: Rack) -> Racks:
    """The IPU-Machines of a rack file as the instance's own file has them; `host` is a machine's name there."""
    machines, rings = [], []
    for number, one in enumerate(rack.ipu_racks, 1):
        machines += [
            IpuMachine(name, AGENT_PORT, number, position, serial, ipuof_host="", interface=HEARD_ON)
            for position, (name, serial) in enumerate(one.serials.items(), 1)
        ]
        rings += [RingCable(number, 1, len(one.serials))] if one.ring else []
    return Racks(tuple(machines), tuple(rings))


def factory_address(machine: IpuMachine) -> str:
    """Where a gateway is heard that Neutron never gave an address: of the sandbox's own choice."""
    return f"192.168.{200 + machine.lrack}.{machine.position}"


@dataclass(frozen=True)
class Hearing:
    """Works out what controllers hear, from switches and databases of one instance as they are now."""

    folder: Path
    rack: Rack
    cloud: SandboxCloud

    def heard(self, server: str, machines: Racks) -> Racks:
        """The hardware as the controller in a server has it. Raises sqlite3.Error, OSError."""
        networks, bound = self.cloud.networks(server), self.cloud.bound_ports()
        states = dict(self._states())
        heard: dict[str, IpuMachine] = {}
        for machine in machines.machines:
            network = self._network(machine, networks, states)
            if network is not None:
                host = self._address(machine, MANAGEMENT, bound, network.network) or factory_address(machine)
                ipuof = self._address(machine, _RNIC, bound, None) or host
                heard[machine.host] = replace(machine, host=host, ipuof_host=ipuof)
        down = tuple(
            (heard[one].host, heard[other].host)
            for one, other in machines.links_down
            if one in heard and other in heard
        )
        return replace(machines, machines=tuple(heard.values()), links_down=down)

    def _states(self) -> Iterator[tuple[str, SwitchState]]:
        for switch in self.rack.switches:
            file = self.folder / "state" / "switches" / f"{switch.name}.json"
            yield switch.name, decoded(json.loads(file.read_text("utf-8"))) if file.exists() else switch.initial

    def _plug(self, machine: str, interface: str) -> Plug | None:
        for switch in self.rack.switches:
            for port, end in switch.neighbors.items():
                if (end.system, end.port) == (machine, interface):
                    return Plug(switch.name, switch.mac, switch.physical_network, port)
        return None

    def _network(
        self, machine: IpuMachine, networks: tuple[ServerNetwork, ...], states: dict[str, SwitchState]
    ) -> ServerNetwork | None:
        """The network of the server in whose VLAN the machine's gateway stands."""
        plug = self._plug(machine.host, MANAGEMENT)
        if plug is None:
            return None
        state = states[plug.switch]
        port = state.ports[plug.port]
        # A gateway sends without a tag. Through a trunk it is in the native VLAN, if that is carried.
        vlan = port.access_vlan if port.mode == "access" else port.native_vlan
        if not port.enabled or vlan not in state.vlans or (port.mode == "trunk" and vlan not in port.allowed):
            return None
        return next(
            (item for item in networks if (item.physical_network, item.vlan) == (plug.physical_network, vlan)), None
        )

    def _address(
        self, machine: IpuMachine, interface: str, bound: tuple[BoundPort, ...], network: str | None
    ) -> str | None:
        """The last address of Neutron's port for a switch port: BMC and gateway are one port, ascending.

        That on the network first; a machine that was moved by hand has the address that it had.
        """
        plug = self._plug(machine.host, interface)
        if plug is None:
            return None
        found = [
            item
            for item in bound
            if item.port == plug.port and item.switch in (plug.switch, plug.mac) and item.addresses
        ]
        found.sort(key=lambda item: item.network != network)
        return found[0].addresses[-1] if found else None
