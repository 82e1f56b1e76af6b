"""The benchmarks in their cheapest form: they run, and their figures mean what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bare, bare_operator, removal
from benchmarks.demo import steps_of
from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, measure
from benchmarks.report import PAGE, Report, Table
from benchmarks.values import values_of
from benchmarks.wired_ports import WiredPorts
from benchmarks.wiring import request
from infra.program.gate import Gate
from interlock.model.load import load_workspace
from interlock.switches.observed import ObservedPort, ObservedSwitch
from tests.conftest import ROOT
from tests.e2e.project import Project
from tests.support.world.declared import switch_port

CHILD = "import time; b = b'x' * 80_000_000; time.sleep(0.5)"
TREE = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def test_measures_the_whole_process_tree(tmp_path: Path) -> None:
    done = measure([sys.executable, "-c", TREE], tmp_path, os.environ)
    assert done.seconds > 0.5
    assert 80 < done.peak_mib < 200
    assert done.cpu_seconds > 0


def test_a_failed_command_has_no_figure(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match="ended with 3"):
        measure([sys.executable, "-c", "raise SystemExit(3)"], tmp_path, os.environ)


def test_growth_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.growth", "--sizes", "1", "2", "--rounds", "1", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row[0] for row in report["table"]["rows"]] == [1, 2]
    assert all(ratio > 0 for ratio in report["ratios"].values())


def test_certificates_are_checked_alone_and_beside_the_site() -> None:
    sizes = ["--tenants", "8", "16", "--halls", "2", "4", "--rounds", "1"]
    command = [sys.executable, "-m", "benchmarks.certificates", *sizes, "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["table"]["rows"]
    assert [row[0] for row in rows] == ["8, alone", "16, alone", "2, beside the site", "4, beside the site"]
    for few, many in (rows[:2], rows[2:]):
        assert few[1] < many[1], "larger certificates"
    assert all(seconds > 0 for row in rows for seconds in row[2:4])


def test_audits_run_and_find_no_drift_in_what_was_planned() -> None:
    command = [sys.executable, "-m", "benchmarks.audits", "--tenants", "2", "4", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    few, many = json.loads(done.stdout)["table"]["rows"]
    assert few[1] < many[1]
    assert many[2] - few[2] == 2 * (1 + 4), "a bucket and the limits of a project more for each tenant, and no list"


def test_the_parts_of_the_fences_are_each_measured(tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").write_text("clouds: {}\n")
    command = [sys.executable, "-m", "benchmarks.fence_parts", "acme"]
    environment = os.environ | {"OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml")}
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout).keys() == {"load and plan", "prove", "claims", "check"}


def test_the_script_can_make_all_that_the_plan_holds() -> None:
    values = values_of(Gate.open("lyon"), "acme")
    assert {item["kind"] for item in values["objects"]} <= bare.MAKERS.keys()
    assert {item["kind"] for item in values["existing"].values()} <= bare.FINDERS.keys()
    names = [item["name"] for item in values["objects"]]
    for number, item in enumerate(values["objects"]):
        assert set(item["needs"]) <= {*names[:number], *values["existing"]}


def test_the_script_wires_all_machines_of_a_site(tmp_path: Path) -> None:
    project = Project.make(tmp_path / "project", tmp_path / "clouds.yaml")
    request(16)(project)
    ports = WiredPorts.of(project).wanted
    assert len({(port.switch, port.port_name) for port in ports}) == 32
    values = values_of(Gate(load_workspace(project.folder / "stacks", "lyon")), "acme")
    assert {item["kind"] for item in values["objects"]} <= bare.MAKERS.keys() & {
        *removal.REMOVERS,
        *removal.WITH_OTHERS,
    }
    told = [item["spec"] for item in values["objects"] if item["kind"] == "SwitchPort"]
    assert {(spec["switch"], spec["port_name"]) for spec in told} == {(port.switch, port.port_name) for port in ports}
    assert all(spec["name"] for spec in told)


def test_a_switch_is_read_in_each_way() -> None:
    subprocess.run([sys.executable, ROOT / "sandbox" / "supervisor.py", "install"], check=True, capture_output=True)
    command = [sys.executable, "-m", "benchmarks.switches", "--ports", "2", "40", "--rounds", "1", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = [row[0] for row in json.loads(done.stdout)["table"]["rows"]]
    ways = ("interlock", "netmiko script", "asyncssh script")
    assert rows == [f"{way}, {ports} ports" for ports in (2, 40) for way in ways]


@pytest.mark.parametrize("vlan", [1003, 4000])
def test_a_port_that_is_read_in_another_vlan_has_no_figure(vlan: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = WiredPorts((switch_port("acme", 1, 1002, "10.32.0.10"),), {"tor-1": None})
    port = ObservedPort("Ethernet1/1", admin_up=True, mode="access", access_vlan=vlan)
    said = ObservedSwitch("tor-1", None, None, None, {port.name: port})
    monkeypatch.setattr(WiredPorts, "_read", lambda _: {"tor-1": said})
    with pytest.raises(BenchmarkFailed, match="is not wired"):
        ports.require_set()
    ports.require_rest()


def test_a_port_that_keeps_its_vlan_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = WiredPorts((switch_port("acme", 1, 1002, "10.32.0.10"),), {"tor-1": None})
    port = ObservedPort("Ethernet1/1", admin_up=False, mode="access", access_vlan=1002)
    said = ObservedSwitch("tor-1", None, None, None, {port.name: port})
    monkeypatch.setattr(WiredPorts, "_read", lambda _: {"tor-1": said})
    with pytest.raises(BenchmarkFailed, match="is not at rest"):
        ports.require_rest()


class Pretended:
    """Stands for a cloud: notes how many calls are made at once, and in which order they end."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def make(self, _operator: bare_operator.Operator, spec: dict[str, Any], ids: bare_operator.Ids) -> str:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.02)
        with self._lock:
            self._now -= 1
            self.ended.append(spec["name"])
        if spec["name"] == "broken":
            raise RuntimeError("no room")
        return f"id of {spec['name']} after {sorted(ids)}"


def objects(**needs: tuple[str, ...]) -> dict[str, Any]:
    listed = [
        {"name": name, "kind": "Port", "spec": {"name": name}, "needs": list(others)} for name, others in needs.items()
    ]
    return {"threads": {"network": 2}, "existing": {}, "objects": listed}


def test_the_script_keeps_order_and_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Pretended()
    monkeypatch.setitem(bare.MAKERS, "Port", ("network", cloud.make))
    made = bare.Run(bare_operator.Operator(None), objects(a=(), b=(), c=(), d=(), last=("a", "d"))).make()
    assert cloud.ended[-1] == "last"
    assert cloud.most == 2
    assert made["last"] == "id of last after ['a', 'd']"


def test_the_script_ends_with_the_first_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Pretended()
    monkeypatch.setitem(bare.MAKERS, "Port", ("network", cloud.make))
    with pytest.raises(RuntimeError, match="no room"):
        bare.Run(bare_operator.Operator(None), objects(broken=(), last=("broken",))).make()
    assert cloud.ended == ["broken"]


def test_reads_the_steps_of_the_demo() -> None:
    told = [
        "  Python environment from requirements.lock …",
        "  Python environment from requirements.lock … 10 s",
        "  Python environment from requirements.lock done in 11.6 s",
        "==> sandbox: a real OpenStack",
        "sandbox: starting 8 of 8 processes ...",
        "sandbox: starting 8 of 8 processes: done in 37.5 s",
        "    done after 38.0 s",
        "==> pulumi up --yes",
        "    done after 20.0 s",
    ]
    assert steps_of(told) == {
        "Python environment from requirements.lock": 11.6,
        "sandbox: a real OpenStack": 38.0,
        "→ starting 8 of 8 processes": 37.5,
        "pulumi up --yes": 20.0,
    }


def test_writes_its_block_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin up -->\nold\n<!-- end up -->\nafter\n")
    report = Report("up", {"a / b": 1.25}, Table(("", "seconds"), (("a", 1.0),)), Machine.here())
    report.write(page)
    text = page.read_text()
    assert text.startswith("before\n<!-- begin up -->\n|")
    assert text.endswith("<!-- end up -->\nafter\n")
    assert "- a / b: **1.25**" in text
    assert "old" not in text


@pytest.mark.parametrize(
    "name", ["up", "unchanged", "growth", "fleet", "editing", "startup", "demo", "wiring", "switches", "gpu_halls"]
)
def test_the_page_has_a_place_for_each(name: str) -> None:
    text = PAGE.read_text()
    assert f"<!-- begin {name} -->" in text
    assert f"<!-- end {name} -->" in text
