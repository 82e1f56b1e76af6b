"""`interlock settle` on the site `hall`: a GPU node that acme gave up is handed out only cleaned and accepted.

acme: a cluster of two of the eight DGX H100 ── one less ── settle
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from infra.commands import settle as command
from infra.program.gate import Gate
from interlock.model.lock.files import load_lock
from interlock.model.lock.record import Lock
from tests.builders.accepted import ACCEPTED, figures
from tests.infra.conftest import STACKS, Interlock, Lyon
from tests.infra.evidence import now
from tests.infra.test_settle_evidence import quiet_cloud

REQUEST = """name: Acme
on_delete: erase
access:
  members: [alice]
  ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKr02uEjnP4eKInAoZpd9RjVn5+oETOPEk/TeADGI9jM anne@acme.example
  ssh_from: [198.51.100.0/24]
clusters:
  train: {nodes: 2, type: dgx-h100, image: gpu-node}
  spare: {nodes: 1, type: dgx-h100, image: gpu-node}
"""
LEFT = "  spare: {nodes: 1, type: dgx-h100, image: gpu-node}\n"
FIRMWARE = """evidence:
  max_age: 30d
  acceptance:
    dgx-h100: {firmware: {hca: ["28.39.3560"], gpu: ["96.00.89.00.01"], nvswitch: ["96.10.55.00.01"]}}
"""


class Hall(Lyon):
    @property
    def folder(self) -> Path:
        return self.stacks / "hall"

    def gate(self) -> Gate:
        return Gate.open("hall")


@pytest.fixture
def smaller(tmp_path: Path, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> Hall:
    """acme has given the cluster `spare` up."""
    stacks = tmp_path / "stacks"
    shutil.copytree(STACKS / "hall", stacks / "hall", ignore=shutil.ignore_patterns("*.lock.json"))
    monkeypatch.setenv("INTERLOCK_STACKS", str(stacks))
    monkeypatch.setenv("INTERLOCK_SITE", "hall")
    hall = Hall(stacks)
    hall.replace("site.yaml", "evidence: {max_age: 30d}\n", FIRMWARE)
    (hall.folder / "tenants").mkdir(exist_ok=True)
    hall.file("tenants/acme.yaml").write_text(REQUEST)
    quiet_cloud(monkeypatch, tmp_path)
    monkeypatch.setattr(command, "_cleaned", lambda gate, hosts: ())
    done = interlock("lock")
    assert done.code == 0, done.err
    hall.replace("tenants/acme.yaml", LEFT, "")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    return hall


def lock_of(hall: Hall) -> Lock:
    return load_lock(hall.file("tenants/acme.lock.json"), "acme.lock.json", Lock)


def entries(hall: Hall, told: str) -> list[dict[str, Any]]:
    """Everything that settle asks for, as its JSON says it, with figures that are enough."""
    site = hall.gate().workspace.site
    found = []
    for one in json.loads(told)["evidence"]:
        about = dict(one["about"])
        entry = {**about, "step": one["step"], "at": now(seconds=1), "by": "runner-1", **figures().get(one["step"], {})}
        if "fabric" in entry:
            like = entry["fabric"]["ports"]["compute1"]
            ports = {
                port.name: {**like, "guid": port.guid} for port in site.gpu_node[about["host"]].ports_for("compute")
            }
            entry["fabric"] = {"cleared": now(minutes=10), "ports": ports}
        found.append(entry)
    return found


def write(hall: Hall, seen: list[dict[str, Any]]) -> None:
    hall.file("evidence").mkdir(exist_ok=True)
    document = {"site": "hall", "released_by": "acme", "seen": seen}
    hall.file("evidence/acceptance-run-1.json").write_text(json.dumps(document, indent=1))


def test_it_waits_for_acceptance_and_then_settles(smaller: Hall, interlock: Interlock) -> None:
    first = interlock("settle", "acme", "--dry-run", "--format", "json")
    assert first.code == 3
    seen = entries(smaller, first.out)
    hosts = {one["host"] for one in seen if one["step"] in ACCEPTED}
    assert len(hosts) == 1
    cleaned = [one for one in seen if one["step"] not in ACCEPTED]
    write(smaller, cleaned)
    refused = interlock("settle", "acme")
    assert refused.code == 3
    for step in ACCEPTED:
        assert f"nobody is known to have seen it {step}\n" in refused.err
    assert "it unwired" not in refused.err
    write(smaller, seen)
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert lock_of(smaller).released == ()
    assert interlock("check").code == 0


def test_less_than_enough_waits_and_says_why(smaller: Hall, interlock: Interlock) -> None:
    seen = entries(smaller, interlock("settle", "acme", "--dry-run", "--format", "json").out)
    (slow,) = [one for one in seen if one["step"] == "bandwidth-measured"]
    slow["all_reduce"]["busbw"] = 431.2
    write(smaller, seen)
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert "says 431.2 GB/s, and 460 are wanted" in refused.err
    assert "it diagnosed" not in refused.err
    slow["all_reduce"]["busbw"] = 460.0
    write(smaller, seen)
    assert interlock("settle", "acme", "--dry-run").code == 0


def test_with_the_assumption_nobody_attests(smaller: Hall, interlock: Interlock) -> None:
    seen = entries(smaller, interlock("settle", "acme", "--dry-run", "--format", "json").out)
    write(smaller, [one for one in seen if one["step"] != "firmware-attested"])
    assert interlock("settle", "acme", "--dry-run").code == 3
    before = interlock("check")
    smaller.replace("site.yaml", "assumptions:\n", "assumptions:\n  A25: {gpu_firmware_kept: true}\n")
    assert interlock("lock").code == 0
    after = interlock("check")
    assert (after.code, after.out) == (before.code, before.out)
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert "nobody attested its firmware, it rests on assumptions.A25.gpu_firmware_kept" in done.err
