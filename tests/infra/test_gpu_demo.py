"""`interlock demo gpu` on paper: its words, the order of its steps, where each puts its files, and how it ends.

The committed site `hall`, its plans and its nodes are real. Pulumi, the embedded cloud and the subnet manager are stood
in for: the tests of the long run start them (`tests/e2e/test_demo_gpu.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.cli.exits import Exit
from infra.commands import demo
from infra.program.gate import Gate
from infra.program.places import GPU_SANDBOX
from interlock.model.site.inventory import Site
from interlock.resources import PartitionKey
from interlock.ufm.answers import FabricMember, FabricPartition
from tests.infra.conftest import STACKS, Interlock
from toolchain.layout import CheckoutLayout

TENANTS = ("acme", "globex", "initech", "umbrella")


class PaperEngine:
    """Stands for Pulumi: what each stack was asked, and what a run of this kind says of it."""

    def __init__(self) -> None:
        self.environment = {"PULUMI_BACKEND_URL": "file://paper"}
        self.steps: list[str] = []
        self.made: set[str] = set()
        self.changes: dict[str, dict[str, int]] = {}
        self.failing: str | None = None

    def of_the_demo(self, sandbox: Path) -> PaperEngine:
        self.steps.append(f"engine on {sandbox.name}")
        return self

    def init(self, stack: str) -> bool:
        is_new = stack not in self.made
        self.made.add(stack)
        return is_new

    def up(self, stack: str) -> int:
        self.steps.append(f"up {stack}")
        self.changes[stack] = {"same": 3} if stack in self.changes else {"create": 3}
        return 255 if stack == self.failing else 0

    def last_changes(self, stack: str) -> dict[str, int]:
        return self.changes[stack]

    def outputs(self, stack: str) -> dict[str, Any]:
        return {"clusters": {f"{stack}-cluster": {"nodes": {}}}}


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PaperEngine:
    """The demo beside a folder that is the cloud's, with the plans' own partitions in its subnet."""
    engine, sandbox = PaperEngine(), tmp_path / "sandbox-hall"
    sandbox.mkdir()

    def supervised(*words: str) -> int:
        told = [word.removeprefix(f"{tmp_path}/") for word in words]
        engine.steps.append(" ".join(told))
        return 1 if engine.failing == words[0] else 0

    monkeypatch.setenv("INTERLOCK_STACKS", str(STACKS))
    monkeypatch.setattr(demo, "Engine", engine)
    monkeypatch.setattr(demo, "supervise", supervised)
    monkeypatch.setattr(demo, "mend", lambda *_: [])
    monkeypatch.setattr(demo, "partitions_of", planned_partitions)
    monkeypatch.setitem(demo.DEMOS, demo.DemoName.GPU, replace(demo.DEMOS[demo.DemoName.GPU], sandbox=sandbox))
    return engine


def planned_partitions(site: Site, fabrics: Path) -> Mapping[str, Mapping[int, FabricPartition]]:
    """What a subnet manager has when every plan is applied."""
    assert fabrics == GPU_SANDBOX / "fabrics.yaml"
    gate, found = Gate.open("hall"), {item.name: dict[int, FabricPartition]() for item in site.infiniband}
    for tenant in TENANTS:
        for item in gate.plan(tenant).resources:
            if isinstance(item.resource, PartitionKey):
                members = (FabricMember(one.guid, one.membership, index0=True) for one in item.resource.members)
                key = item.resource.key
                found[item.resource.infiniband][key] = FabricPartition(key, tuple(members), ip_over_ib=True)
    return found


def test_the_steps_of_the_gpu_demo(engine: PaperEngine, interlock: Interlock, tmp_path: Path) -> None:
    done = interlock("demo", "gpu")
    assert done.code == 0, done.err
    cloud = "--dir sandbox-hall"
    assert engine.steps == [
        "engine on sandbox-hall", f"up {cloud} --rack hall", "up hall-site",
        f"enrol sandbox-hall/nodes.json {cloud}", *(f"up hall-{tenant}" for tenant in TENANTS),
    ]  # fmt: skip
    assert (CheckoutLayout.here().root / "sandbox" / "racks" / "hall.toml").is_file()
    enrolled = {node["name"] for node in json.loads((tmp_path / "sandbox-hall/nodes.json").read_text())["nodes"]}
    site = Gate.open("hall").workspace.site
    assert enrolled == {host.name for host in site.hosts if host.provisioning == "bare-metal"}
    for tenant in TENANTS:
        assert f"Outputs of hall-{tenant}, for the tenant:" in done.out
    assert (
        "  0x0001  32 full at index 0: hall-1-su01-n01, hall-1-su01-n02, hall-1-su01-n03, hall-1-su01-n04\n" in done.out
    )
    assert "nothing was changed" not in done.err
    assert "demo finished in " in done.err


def test_a_second_run_says_that_nothing_was_changed(engine: PaperEngine, interlock: Interlock) -> None:
    assert interlock("demo", "gpu").code == 0
    again = interlock("demo", "gpu")
    assert again.code == 0
    assert "nothing was changed: everything existed already\n" in again.err
    assert "is there on file://paper" in again.err


@pytest.mark.parametrize(
    ("failing", "words"),
    [
        ("up", "the sandbox did not start (exit 1)"),
        ("hall-site", "pulumi up of hall-site ended with 255"),
        ("enrol", "nodes were not enrolled (exit 1)"),
        ("hall-globex", "pulumi up of hall-globex ended with 255"),
    ],
)
def test_a_step_that_fails_ends_the_demo(failing: str, words: str, engine: PaperEngine, interlock: Interlock) -> None:
    engine.failing = failing
    done = interlock("demo", "gpu")
    assert (done.code, done.out) == (Exit.ENVIRONMENT, "")
    assert words in done.err
    assert failing in engine.steps[-1]


def test_a_demo_that_there_is_not(engine: PaperEngine, interlock: Interlock) -> None:
    done = interlock("demo", "tpu")
    assert done.code == Exit.INPUT
    assert "tpu" in done.err
    assert engine.steps == []
