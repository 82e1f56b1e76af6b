"""V-IPU controllers of the sandbox: each lives with its server, and hears whose gateways stand in its VLAN."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from interlock.vipu.client import ControllerClient
from interlock.vipu.loading import ControllerMachine, load_vipu
from interlock.vipu.reading import AdminApiSaid, read_controller
from interlock.vipu.transport import LocalRunner
from sandbox.launcher import processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from sandbox.vipu.guest import PoplarGuest
from tests.conftest import Sandbox
from tests.sandbox.cloud import Cloud, until
from tests.sandbox.switch_sessions import MANAGEMENT, QUARANTINE, clients
from tests.sandbox.vipu_servers import ROOT, VPodServers, vpod_servers

#: VLANs of gateways, and the addresses of BMC and gateway of machines 1 to 3 there.
ACME, GLOBEX = 150, 151
BMC, GATEWAY = (
    [f"10.61.0.{8 + 2 * number}" for number in range(3)],
    [f"10.61.0.{9 + 2 * number}" for number in range(3)],
)


@dataclass(frozen=True)
class Vpod:
    """A controller with its network of gateways, two machines there, a Poplar server and one elsewhere."""

    servers: VPodServers
    management: Any
    controller: Any
    poplar: Any
    stranger: Any

    @property
    def agents(self) -> dict[str, tuple[str, str | None]]:
        """Agent -> state and serial, as the controller says it."""
        listed = json.loads(self.servers.told(self.controller, "list", "agents", "--showjson"))
        return {item["id"]: (item["status"]["state"], item["status"]["serial"]) for item in listed}

    def heard(self, controller: Any) -> set[str]:
        """Addresses of agents that a controller hears beside its own."""
        return {item["host"] for item in json.loads(self.servers.told(controller, "discover", "agents", "--showjson"))}


@pytest.fixture(scope="module")
def vpod(cloud: Cloud) -> Iterator[Vpod]:
    with vpod_servers(cloud) as servers:
        management = servers.management(ACME, "10.61.0.0/24")
        control, other = servers.control(7150, "10.62.0.0/24"), servers.control(7151, "10.63.0.0/24")
        controller = servers.server("acme-train-controller", control, management)
        for number in (1, 2):
            servers.machine(number, management, BMC[number - 1], GATEWAY[number - 1])
        poplar, stranger = servers.server("acme-train-poplar-1", control), servers.server("globex-poplar-1", other)
        yield Vpod(servers, management, controller, poplar, stranger)


def typed(cloud: Cloud, port: str, *lines: str) -> None:
    """Set a port of the management switch by hand."""
    switch = clients(cloud.running.dir)[MANAGEMENT.name]
    key = keys.user_key_file(Instance(cloud.running.dir).state / "switches", keys.WRITER)
    text = "\n".join(("configure terminal", f"interface {port}", *lines, "end"))
    assert switch.answers(text, username=keys.WRITER, key_file=str(key)) == [(0, "")]


def test_a_server_that_is_no_running_controller_is_not_reached(vpod: Vpod) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    for server, why in ((nobody, "No route to host"), (vpod.poplar.id, "no V-IPU controller runs in it")):
        done = vpod.servers.station(server, "vipu-admin", "list", "agents")
        assert (done.returncode, done.stdout) == (255, "")
        assert done.stderr.startswith("ssh: ")
        assert why in done.stderr
    assert vpod.servers.station(vpod.controller.id, "rm", "-rf").returncode == 127


def test_how_a_controller_is_set_is_read_by_the_sandboxs_own_file(vpod: Vpod, cloud: Cloud) -> None:
    """It asks for keys, over TLS; of its machine nothing is read, since nobody says how, unless somebody does."""
    name = "acme-train-controller"
    entry = load_vipu(cloud.running.dir / "vipu.yaml").of(name)
    assert entry is not None
    client = ControllerClient(name, entry.of(vpod.controller.id, name, ""), LocalRunner(name))
    said = read_controller(client, datetime.now(UTC))
    assert (said.keys.asked, said.release, said.certificates, said.backup) == (True, "1.18.0", None, None)
    settings = vpod.servers.folder / "state" / "vipu" / vpod.controller.id / "admin.hcl"
    host, port = re.findall(r'api-(?:host|port)="(.+)"', settings.read_text(encoding="utf-8"))
    # The way into the server without the command there.
    machine = ControllerMachine(client.access.command[:-1], None, None, admin_port=int(port))
    there = ControllerClient(name, replace(client.access, machine=machine), client.runner)
    assert read_controller(there, datetime.now(UTC)).admin_api == AdminApiSaid(int(port), (host,))


def test_agents_are_those_whose_gateways_stand_in_the_vlan(vpod: Vpod, cloud: Cloud) -> None:
    """A port that is shut, or moved by hand, takes its machine away; a foreign one is heard."""
    assert vpod.heard(vpod.controller) == {*GATEWAY[:2]}
    for number in (1, 2):
        vpod.servers.told(vpod.controller, "create", "agent", f"ag{number}", "--host", GATEWAY[number - 1])
    both = {f"ag{number}": ("ONLINE", f"PLACEHOLDER-M2000-{number:02}") for number in (1, 2)}
    assert vpod.agents == both
    typed(cloud, "Ethernet2", "shutdown")
    assert vpod.agents["ag2"][0] == "OFFLINE"
    typed(cloud, "Ethernet2", "no shutdown")
    assert vpod.agents == both
    typed(cloud, "Ethernet2", f"switchport access vlan {QUARANTINE}")
    assert vpod.agents["ag2"][0] == "OFFLINE"
    typed(cloud, "Ethernet2", f"switchport access vlan {ACME}")
    assert (vpod.agents, vpod.heard(vpod.controller)) == (both, set())
    # Nobody's machine, moved into the VLAN by hand, and back.
    typed(cloud, "Ethernet3", f"switchport access vlan {ACME}")
    assert vpod.heard(vpod.controller) == {"192.168.201.3"}
    typed(cloud, "Ethernet3", f"switchport access vlan {QUARANTINE}")
    assert vpod.heard(vpod.controller) == set()


def test_a_machine_that_fails_or_is_replaced_is_seen(vpod: Vpod) -> None:
    def happens(*words: str) -> None:
        file = str(vpod.servers.folder / "state" / "vipu" / "racks.json")
        subprocess.run([sys.executable, "-m", "sandbox.vipu", "machine", file, "ipum-01", *words], cwd=ROOT, check=True)

    states = [vpod.agents["ag1"]]
    for words in (("--answers", "no"), ("--replace",)):
        happens(*words)
        states.append(vpod.agents["ag1"])
    assert [state for state, _ in states] == ["ONLINE", "OFFLINE", "ONLINE"]
    assert states[0][1] == "PLACEHOLDER-M2000-01" != states[2][1]


def test_a_controller_outlives_its_process_and_a_stop_of_its_server(vpod: Vpod, cloud: Cloud, sandbox: Sandbox) -> None:
    before = vpod.servers.census()
    assert before["acme-train-controller"]["agents"].keys() == {"ag1", "ag2"}
    instance, process = Instance(sandbox.dir), next(item for item in PROCESSES if item.name == "vipu")
    os.kill(processes.pid_of(instance, process), signal.SIGKILL)
    until(lambda: not processes.pid_of(instance, process))
    assert vpod.servers.station(vpod.controller.id, "vipu-admin", "list", "agents").returncode == 255
    sandbox.supervise("up")
    assert vpod.agents.keys() == {"ag1", "ag2"}
    cloud.admin.compute.stop_server(vpod.controller)
    vpod.servers.becomes(vpod.controller, "SHUTOFF")
    done = vpod.servers.station(vpod.controller.id, "vipu-admin", "list", "agents")
    assert (done.returncode, "Connection timed out" in done.stderr) == (255, True)
    cloud.admin.compute.start_server(vpod.controller)
    vpod.servers.becomes(vpod.controller, "ACTIVE")
    assert vpod.agents.keys() == {"ag1", "ag2"}
    assert vpod.servers.census() == before


def test_vipu_yaml_says_how_a_controller_is_reached(vpod: Vpod) -> None:
    """From any folder, with nothing of the environment."""
    file = vpod.servers.folder / "vipu.yaml"
    assert file.stat().st_mode & 0o077 == 0
    entry = yaml.safe_load(file.read_text(encoding="utf-8"))["controllers"]["default"]
    assert entry["run"] == "local"
    for command in (entry["command"], entry["user_command"]):
        words = [word.replace("{server}", vpod.controller.id) for word in command]
        done = subprocess.run(
            [*words, "list", "partitions", "--showjson"], cwd="/", env={"PATH": os.environ["PATH"]},
            check=False, text=True, capture_output=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_poplar_server_has_partitions_by_its_own_key_over_its_network(vpod: Vpod) -> None:
    told, folder = vpod.servers.told, vpod.servers.folder
    told(vpod.controller, "create", "cluster", "c1", "--agents", "ag1,ag2")
    told(vpod.controller, "create", "allocation", "al1", "--cluster", "c1")
    made = json.loads(told(vpod.controller, "create", "user", "poplar-1", "--allocations", "al1", "--showjson"))
    guest = PoplarGuest(folder, vpod.controller.id, vpod.poplar.id, "poplar-1", made["access_key"])
    done = guest.vipu("create", "partition", "p1", "--size", "4")
    assert done.returncode == 0, done.stderr
    assert vpod.servers.census()["acme-train-controller"]["partitions"]["p1"]["owner"] == "poplar-1"
    # Not from another network, not with another key, and not what admins do.
    elsewhere = PoplarGuest(folder, vpod.controller.id, vpod.stranger.id, "poplar-1", made["access_key"])
    assert elsewhere.vipu("list", "partitions").returncode == 255
    assert (
        PoplarGuest(folder, vpod.controller.id, vpod.poplar.id, "poplar-1", "x").vipu("list", "partitions").returncode
        == 1
    )
    assert guest.vipu("list", "agents").returncode == 2


def test_an_armed_fault_bites_once(vpod: Vpod) -> None:
    assert vpod.servers.station(vpod.controller.id, "--fault", "create user=cut-after").returncode == 0
    lost = vpod.servers.station(vpod.controller.id, "vipu-admin", "create", "user", "u2", "--allocations", "al1")
    assert (lost.returncode, lost.stdout) == (1, "")
    assert "u2" in vpod.servers.told(vpod.controller, "list", "users")
    vpod.servers.told(vpod.controller, "remove", "user", "u2")
    assert vpod.servers.station(vpod.controller.id, "--fault", "create user=explode").returncode == 255


def test_a_controller_goes_with_its_server_and_hears_its_own_vlan_alone(vpod: Vpod) -> None:
    """Last: the first controller goes, and its successor of the same name is empty."""
    servers = vpod.servers
    second = servers.server("globex-controller", servers.management(GLOBEX, "10.64.0.0/24"))
    assert vpod.heard(second) == set()
    folder = servers.folder / "state" / "vipu"
    servers.delete(vpod.controller)
    until(lambda: not (folder / vpod.controller.id).exists())
    assert servers.station(vpod.controller.id, "vipu-admin", "list", "agents").returncode == 255
    assert servers.census().keys() == {"globex-controller"}
    again = servers.server("acme-train-controller", vpod.management)
    assert json.loads(servers.told(again, "list", "agents", "--showjson")) == []
    assert vpod.heard(again) == {*GATEWAY[:2]}
