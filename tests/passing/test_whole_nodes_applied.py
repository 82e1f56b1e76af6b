"""A cluster of `kind: vm` the whole way: request, proof, engine, Nova, Placement, a real subnet manager, settle.

The tests are steps of one story, in this order: acme has dgx-1 and leaves; globex, which asks for both nodes, gets them
once it was settled.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.passed_devices import devices_of
from interlock.retry import RetryPolicy
from interlock.ufm.client import UfmClient
from interlock.ufm.loading import load_fabrics
from interlock.ufm.transport import UfmTransport
from tests.builders.accepted import figures
from tests.builders.passing import NODES, SITE, TENANTS, guid, write_passing
from tests.conftest import Sandbox
from tests.e2e.killing import PATIENCE, kill
from tests.e2e.project import Project, Result
from tests.infra.evidence import now
from tests.support.cloud.journal import Trap

OPERATORS, ACME, GLOBEX = (f"{SITE}-{name}" for name in ("site", *TENANTS))
DEVICES, RAILS = 20, range(1, 9)
#: Of these devices the first run of settle gives back before it is killed, at one more request to Placement.
GIVEN = 7
#: (reserved, used) of every device of a node.
FREE, USED, KEPT = {(0, 0)}, {(1, 1)}, {(1, 0)}


@dataclass(frozen=True)
class Ground:
    """The applied site on its cloud."""

    project: Project
    rack: Sandbox
    cloud: Cloud

    def states(self, node: str) -> list[tuple[int, int]]:
        """(reserved, used) of the devices of a node."""
        found = [(device.inventory["reserved"], device.used) for device in devices_of(self.cloud, node)]
        assert len(found) == DEVICES
        return found

    def members(self) -> dict[int, set[str]]:
        """P_Key -> the GUIDs that the subnet manager's stand-in has for it."""
        access = load_fabrics(self.rack.dir / "fabrics.yaml").fabrics["compute"]
        ufm = UfmClient(UfmTransport(access, RetryPolicy()))
        return {key: {*found.guids} for key in (1, 2) if (found := ufm.partition(key)) is not None}

    def servers(self, stack: str) -> dict[str, Any]:
        """Host -> the server that Nova runs there for a stack."""
        objects = self.project.objects(stack).values()
        ids = [item["id"] for item in objects if item["type"] == "interlock:index:Server"]
        api = self.cloud.api("compute")
        found = [api.get(f"/servers/{ident}")["server"] for ident in ids]
        return {server["OS-EXT-SRV-ATTR:host"]: server for server in found}

    def settle(self, *options: str) -> Result:
        """What acme released."""
        return self.project.interlock("settle", "acme", *options)


@pytest.fixture(scope="module")
def ground(rack: Sandbox, cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """The last that is on the cloud: it stays there until the cloud is stopped."""
    project = Project.make(tmp_path_factory.mktemp("passing") / "project", rack.clouds_yaml)
    write_passing(project.only_stacks())
    project.interlock("lock")
    project.init(OPERATORS, ACME, GLOBEX)
    project.must(project.interlock("lock", "acme"))
    project.must(project.plain_up(OPERATORS))
    return Ground(project, rack, cloud)


def test_a_tenant_gets_a_server_with_all_devices_of_its_node(ground: Ground) -> None:
    ground.project.must(ground.project.plain_up(ACME))
    (server,) = ground.servers(ACME).values()
    assert (server["status"], server["OS-EXT-SRV-ATTR:host"]) == ("ACTIVE", NODES[0])
    assert (set(ground.states(NODES[0])), set(ground.states(NODES[1]))) == (USED, FREE)
    assert ground.members() == {1: {guid(1, rail) for rail in RAILS}}


def test_another_image_is_refused_before_the_server_goes(ground: Ground) -> None:
    ground.project.edit(f"{SITE}/tenants/acme.yaml", "image: gpu-node", "image: gpu-next")
    ground.project.must(ground.project.interlock("lock", "acme"))
    before = ground.servers(ACME)[NODES[0]]["id"]
    refused = ground.project.pulumi("preview", ACME)
    assert refused.code != 0
    assert "Server acme-train-node-0" in refused.text
    assert "is not replaced on dgx-1, for image" in refused.text
    ground.project.edit(f"{SITE}/tenants/acme.yaml", "image: gpu-next", "image: gpu-node")
    ground.project.must(ground.project.interlock("lock", "acme"))
    # The engine asks nobody whether it may: what deletes is asked.
    forced = ground.project.plain_up(ACME, "--replace", _urn(ground, "acme-train-node-0"))
    assert forced.code != 0
    assert "is not replaced on dgx-1, for --replace" in forced.text
    assert ground.servers(ACME)[NODES[0]]["id"] == before


def test_a_tenant_that_left_keeps_the_node_from_others(ground: Ground) -> None:
    ground.project.must(ground.project.pulumi("destroy", ACME, "--yes"))
    assert set(ground.states(NODES[0])) == KEPT
    assert ground.members() == {}
    ground.project.edit(f"{SITE}/tenants/acme.yaml", "on_delete: erase", "on_delete: erase\nstate: gone")
    ground.project.must(ground.project.interlock("lock", "acme"))
    refused = ground.project.interlock("lock", "globex")
    assert refused.code != 0
    assert "closest is hall-1, with 2 of them, of which 1 are free" in refused.text


def test_settle_gives_the_devices_back_once_the_node_was_seen_clean_and_goes_on_after_a_kill(ground: Ground) -> None:
    waiting = ground.settle("--format", "json")
    assert waiting.code == 3, waiting.text
    folder = ground.project.folder / "stacks" / SITE / "evidence"
    folder.mkdir(exist_ok=True)
    seen = [_seen(one) for one in json.loads(waiting.out)["evidence"]]
    (folder / "acceptance-acme.json").write_text(json.dumps({"site": SITE, "released_by": "acme", "seen": seen}))
    trap = Trap(ground.rack.dir)
    trap.arm(GIVEN + 1, "before", "/inventories/")
    running = ground.project.start(sys.executable, "-P", "-m", "infra.cli", "settle", "acme")
    held = trap.wait(PATIENCE, lambda: running.poll() is None)
    said = kill(running)
    trap.release()
    assert held is not None, said
    states = Counter(ground.states(NODES[0]))
    assert states == {(0, 0): GIVEN, (1, 0): DEVICES - GIVEN}
    # Until it was settled to the end nobody else is given the node.
    assert ground.project.interlock("lock", "globex").code != 0
    settled = ground.project.must(ground.settle())
    assert f"dgx-1: {DEVICES - GIVEN} devices are given back to Nova" in settled.text
    assert set(ground.states(NODES[0])) == FREE


def test_the_next_tenant_has_the_node(ground: Ground) -> None:
    ground.project.must(ground.project.interlock("lock", "globex"))
    ground.project.must(ground.project.plain_up(GLOBEX))
    assert {host: server["status"] for host, server in ground.servers(GLOBEX).items()} == dict.fromkeys(NODES, "ACTIVE")
    assert [set(ground.states(node)) for node in NODES] == [USED, USED]
    (members,) = ground.members().values()
    assert members == {guid(number, rail) for number in (1, 2) for rail in RAILS}


def _urn(ground: Ground, name: str) -> str:
    return str(ground.project.objects(ACME)[name]["urn"])


def _seen(wanted: dict[str, Any]) -> dict[str, Any]:
    """What a runner writes of one step that settling asks for, with figures that are enough."""
    step = wanted["step"]
    entry = {**wanted["about"], "step": step, "at": now(), "by": "runner-1", **figures().get(step, {})}
    if "fabric" in entry:
        like = entry["fabric"]["ports"]["compute1"]
        ports = {f"compute{rail}": {**like, "guid": guid(1, rail)} for rail in RAILS}
        entry["fabric"] = {"cleared": now(minutes=10), "ports": ports}
    return entry
