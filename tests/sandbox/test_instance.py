"""An instance: its ports, its services, its status."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.launcher import ports, processes
from sandbox.launcher.births import birth
from sandbox.launcher.catalogue import LISTENERS, PEOPLE, PROCESSES, processes_of
from sandbox.launcher.errors import SandboxError
from sandbox.launcher.layout import Instance
from sandbox.launcher.making import making
from sandbox.rack.reading import named
from tests.sandbox.cloud import Cloud, Running
from tests.sandbox.switch_sessions import LYON

SUPERVISOR = Path(__file__).resolve().parents[2] / "sandbox" / "supervisor.py"


def supervise(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SUPERVISOR), *words]
    return subprocess.run(command, check=False, text=True, capture_output=True, cwd=cwd)


def test_two_instances_get_disjoint_ports_though_neither_runs(tmp_path: Path) -> None:
    first = ports.choose(tmp_path / "one", set())
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "ports.json").write_text(json.dumps(first), encoding="utf-8")
    taken = ports.claimed(tmp_path, tmp_path / "two")
    assert taken == set(first.values())
    # the same folder name makes both begin their search at the same port
    second = ports.choose(tmp_path / "one", taken)
    assert set(second) == set(LISTENERS)
    assert not set(second.values()) & set(first.values())


def test_a_port_in_use_is_not_chosen(tmp_path: Path) -> None:
    wanted = ports.choose(tmp_path, set())["keystone"]
    with socket.socket() as other:
        other.bind(("127.0.0.1", wanted))
        other.listen()
        assert wanted not in ports.choose(tmp_path, set()).values()


def test_a_port_in_use_on_the_address_of_a_switch_is_not_chosen(tmp_path: Path) -> None:
    wanted = ports.choose(tmp_path, set())["keystone"]
    with socket.socket() as other:
        other.bind((LYON.switches[-1].address, wanted))
        other.listen()
        assert wanted not in ports.choose(tmp_path, set()).values()


def test_a_pid_file_of_a_dead_process_names_nobody(tmp_path: Path) -> None:
    instance, process = Instance(tmp_path), PROCESSES[0]
    instance.run.mkdir()
    own = os.getpid()
    path = processes.pid_file(instance, process.name)
    path.write_text(f"{own} {birth(own)}", encoding="utf-8")
    assert processes.pid_of(instance, process) == own
    path.write_text(f"{own} 1", encoding="utf-8")
    assert processes.pid_of(instance, process) == 0


def build_half(target: Path) -> None:
    with making(target) as folder:
        (folder / "half").touch()
        raise KeyboardInterrupt


def test_an_interrupted_build_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "venv"
    with making(target) as folder:
        (folder / "whole").touch()
    with pytest.raises(KeyboardInterrupt):
        build_half(target)
    assert [path.name for path in tmp_path.iterdir()] == ["venv"]
    assert [path.name for path in target.iterdir()] == ["whole"]


def test_a_process_that_ends_while_starting_is_named_with_its_last_words(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.logs.mkdir()
    output = processes.output_file(instance, "nova")
    output.write_text("Traceback\nValueError: no such option\n", encoding="utf-8")
    nova = next(process for process in PROCESSES if process.name == "nova")
    with pytest.raises(SandboxError) as caught:
        processes.wait_ready(instance, (nova,))
    assert "nova ended while starting" in str(caught.value)
    assert "nova.out" in str(caught.value)
    assert "ValueError: no such option" in str(caught.value)


def test_status_reports_every_service(sandbox: Running, tmp_path: Path) -> None:
    done = supervise("status", "--format", "json", "--dir", str(sandbox.dir), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["version"] == 1
    assert seen["up"]
    assert seen["frames"] is False
    assert [one["name"] for one in seen["processes"]] == [process.name for process in processes_of(named("lyon"))]
    answers = {name: code for one in seen["processes"] for name, code in one["http"].items()}
    # 300 is a list of API versions
    assert set(answers.values()) <= {200, 300}, answers
    assert 300 < seen["rss_mib"] < 4000


def test_every_service_of_the_catalogue_answers(cloud: Cloud) -> None:
    admin = cloud.admin
    assert {user.name for user in admin.identity.users()} >= set(PEOPLE)
    assert {host.name for host in admin.compute.hypervisors()} == {*LYON.host}
    assert {provider.name for provider in admin.placement.resource_providers()} >= {*LYON.host}
    agents = {(agent.host, agent.agent_type) for agent in admin.network.agents()}
    assert ("poplar-1", "NIC Switch agent") in agents
    assert ("infra-1", "Open vSwitch agent") in agents
    assert ("infra-1", "NIC Switch agent") not in agents
    assert {"address-scope", "rbac-policies", "network-segment-range", "trunk"} <= {
        extension.alias for extension in admin.network.extensions()
    }
    assert [kind.name for kind in admin.block_storage.types()].count("fake") == 1
    assert list(admin.image.images()) is not None
    assert list(admin.baremetal.nodes()) is not None
    assert list(admin.object_store.containers()) is not None
    assert admin.shared_file_system.get("/shares").status_code == 200


def test_up_on_a_running_instance_does_nothing(sandbox: Running) -> None:
    running = processes.running(Instance(sandbox.dir))
    done = supervise("up", "--dir", str(sandbox.dir))
    assert done.returncode == 0, done.stderr
    assert "nothing to do" in done.stderr
    assert done.stdout == ""
    assert processes.running(Instance(sandbox.dir)) == running


def test_credentials_are_for_their_owner_only(sandbox: Running) -> None:
    assert stat.S_IMODE(sandbox.clouds_yaml.stat().st_mode) == 0o600


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_status_that_cannot_be_written_is_one_line(tmp_path: Path, form: str) -> None:
    command = [sys.executable, str(SUPERVISOR), "status", "--format", form, "--dir", str(tmp_path / "none")]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "sandbox: error: stdout cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (4, said)


def test_a_status_that_nobody_reads_is_no_talk(tmp_path: Path) -> None:
    command = [sys.executable, str(SUPERVISOR), "status", "--dir", str(tmp_path / "none")]
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True) as running:
        os.close(writer)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (141, "")
