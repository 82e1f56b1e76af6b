"""The sandbox's V-IPU controllers on databases of their own, and a door through which commands get to them.

Controllers, storage, TLS and the commands are those of `sandbox/vipu`: `sandbox.vipu.station` stands for ssh to a
controller's server. What Nova, Neutron and a switch say of servers and machines is written down here.
"""

from __future__ import annotations

import http.client
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from sandbox.rack.reading import rack_of
from sandbox.services.vipu import StationDoor
from sandbox.switches.files import FileBackend
from sandbox.switches.table import PortState, SwitchState
from sandbox.vipu.census import VipuCensus, vipu_census
from sandbox.vipu.hearing import factory_address, machines_of
from sandbox.vipu.objects import ControllerState
from sandbox.vipu.stations import VipuStations
from sandbox.vipu.storage import ControllerStorage
from tests.conftest import ROOT

#: The switch of the gateways, the VLAN of the vPOD's management network there, and the machines that are in it.
SWITCH, VLAN, MACHINES = "mgmt-1", 150, 5
_TABLES = {
    "nova": ("instances (uuid, display_name, vm_state, task_state, deleted)",),
    "neutron": (
        "ports (id, network_id, device_id, admin_state_up)",
        "networksegments (network_id, network_type, physical_network, segmentation_id)",
        "ipallocations (port_id, ip_address)",
        "ml2_port_bindings (port_id, profile)",
    ),
}


@dataclass(frozen=True)
class Said:
    """What a command ended with."""

    code: int
    out: str
    err: str


@dataclass
class PaperControllers:
    """Controllers of an instance in a folder, whose servers are those that `add` named."""

    instance: Path
    stations: VipuStations
    #: Port of the door.
    door: int

    def add(self, server: str, name: str) -> None:
        """A controller's server is there, on the network of the gateways."""
        rack = self.stations.rack
        network = rack.switch[SWITCH].physical_network
        with self._database("nova") as nova, self._database("neutron") as neutron:
            nova.execute("INSERT INTO instances VALUES (?, ?, 'active', NULL, 0)", (server, name))
            neutron.execute("INSERT INTO ports VALUES ('p', 'n', ?, 1)", (server,))
            neutron.execute("INSERT INTO networksegments VALUES ('n', 'vlan', ?, ?)", (network, VLAN))
        self.stations.reach(server)

    def forget(self, server: str) -> None:
        """The controller is ended, and starts without the storage that it had, as after a disk that was lost."""
        self.restart(server, forgetting=True)

    def restart(self, server: str, *, forgetting: bool = False) -> None:
        """The controller is ended and starts again: its server stops for a moment."""
        for state in ("stopped", "active"):
            with self._database("nova") as nova:
                nova.execute("UPDATE instances SET vm_state = ? WHERE uuid = ?", (state, server))
            self.stations.look()
            if forgetting and state == "stopped":
                shutil.rmtree(self.stations.folder / server)
        self.stations.reach(server)

    def gone(self, server: str) -> None:
        """Nova has no such server any more."""
        with self._database("nova") as nova:
            nova.execute("UPDATE instances SET deleted = 1 WHERE uuid = ?", (server,))
        self.stations.look()

    def census(self) -> VipuCensus:
        """All objects, without dates and keys."""
        return vipu_census(self.instance)

    def state(self, server: str) -> ControllerState:
        """All that one controller keeps."""
        return ControllerStorage(self.stations.folder / server).read()

    def agent_hosts(self) -> list[str]:
        """Addresses at which the machines of the vPOD answer."""
        return [factory_address(machine) for machine in machines_of(self.stations.rack).machines[:MACHINES]]

    def run(self, server: str, program: str, words: Sequence[str]) -> Said:
        """A command in a controller's server."""
        line = http.client.HTTPConnection("127.0.0.1", self.door)
        line.request("POST", "/", json.dumps({"server": server, "program": program, "words": words}))
        said = json.loads(line.getresponse().read())
        return Said(said["code"], said["out"], said["err"])

    def told(self, server: str, line: str) -> str:
        """What an administrator at the console is answered, whose command has to succeed."""
        said = self.run(server, "vipu-admin", line.split())
        assert said.code == 0, said.err
        return said.out

    @contextmanager
    def _database(self, name: str) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.instance / "state" / "db" / f"{name}.db")) as connection, connection:
            yield connection


def write_vipu(port: int, folder: Path) -> None:
    """`vipu.yaml` whose commands knock at this port."""
    knock = [sys.executable, "-I", "-S", str(Path(__file__).with_name("knock.py")), "127.0.0.1", str(port), "{server}"]
    entry = {
        "run": "local", "command": [*knock, "vipu-admin"], "user_command": [*knock, "vipu"],
        "flags": {"no-wait": "--no-wait"},
    }  # fmt: skip
    (folder / "vipu.yaml").write_text(yaml.safe_dump({"controllers": {"default": entry}}, width=1000))


@contextmanager
def paper_controllers(folder: Path) -> Iterator[PaperControllers]:
    """Controllers of an instance in a folder."""
    (folder / "state" / "db").mkdir(parents=True)
    for name, tables in _TABLES.items():
        with closing(sqlite3.connect(folder / "state" / "db" / f"{name}.db")) as connection, connection:
            for table in tables:
                connection.execute(f"CREATE TABLE {table}")
    rack = rack_of(folder)
    _set_switch(folder, rack.switch[SWITCH].initial)
    stations = VipuStations(folder, rack)
    stations.start()
    desk = StationDoor(0, stations)
    (folder / "ports.json").write_text(json.dumps({"vipu": desk.server_address[1]}))
    threading.Thread(target=desk.serve_forever, daemon=True).start()
    door = subprocess.Popen(
        [sys.executable, "-m", "tests.support.paper.door", str(folder)],
        cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert door.stdout is not None
        yield PaperControllers(folder, stations, int(door.stdout.readline()))
    finally:
        assert door.stdin is not None
        door.stdin.close()
        door.wait(30)
        desk.shutdown()
        desk.server_close()
        stations.stop()


def _set_switch(folder: Path, initial: SwitchState) -> None:
    """The gateways of the vPOD's machines stand in its VLAN."""
    ports = {f"Ethernet{at}": PortState(True, "access", VLAN, None, ()) for at in range(1, MACHINES + 1)}
    after = replace(initial, ports={**initial.ports, **ports}, vlans={**initial.vlans, VLAN: "management"})
    FileBackend(folder / "state" / "switches" / f"{SWITCH}.json", initial).apply(initial, after)
