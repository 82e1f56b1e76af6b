"""A tenant with a whole host, the whole way: request, plan, proof, engine, Ironic, Neutron, its driver, the switches.

The operator's part is done as an operator does it: `pulumi up` of the site makes the service networks, the switch ports
of the hosts are set to rest, and the node is enrolled.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from openstack.connection import Connection

from tests.conftest import Sandbox
from tests.e2e.project import Project
from tests.e2e.whole_site import STACK, WHOLE, with_whole_hosts
from tests.sandbox.switch_sessions import QUARANTINE, clients
from tests.support.cloud.nodes import enrol, on_fake_hardware, rest_in_quarantine, withdraw
from tests.support.cloud.stage import Stage

SITE, HOST = "lyon-site", WHOLE[0]
SERVER = "hooli-lab-poplar-0"
CANARY = f"canary-{secrets.token_hex(12)}"
#: Switch port -> VLAN of the plan.
PLANNED = {("tor-1", "Ethernet21/1"): 1000, ("tor-1", "Ethernet22/1"): 2000, ("mgmt-1", "Ethernet41"): 3000}


@dataclass(frozen=True)
class Ground:
    """The site is applied, and its node enrolled."""

    project: Project
    cloud: Any
    sandbox: Sandbox
    node: str

    def raw(self) -> Any:
        """The node."""
        return self.cloud.baremetal.get_node(self.node)

    def said(self) -> dict[tuple[str, str], int]:
        """VLANs of the host's switch ports, as the switches say them."""
        known = clients(self.sandbox.dir)
        return {(switch, port): known[switch].vlan_of(port)[1] for switch, port in PLANNED}


@pytest.fixture(scope="module")
def ground(
    stage: Stage, sandbox: Sandbox, cloud: Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    """Nothing of other files is on the cloud; nothing of this one stays."""
    stage.clear()
    folder: Path = tmp_path_factory.mktemp("whole") / "project"
    project = with_whole_hosts(Project.make(folder, sandbox.clouds_yaml))
    project.init(SITE, STACK)
    project.must(project.plain_up(SITE))
    operator: Any = cloud
    listed = json.loads(project.must(project.interlock("nodes", "--format", "json")).out)["nodes"]
    node = on_fake_hardware(next(item for item in listed if item["name"] == HOST))
    # A canary: what reaches a BMC is the operator's and Ironic's.
    node["driver_info"]["redfish_password"] = CANARY
    node |= {"owner": operator.current_project_id}
    rest_in_quarantine(sandbox.dir, node)
    ident = enrol(operator, node)
    yield Ground(project, operator, sandbox, ident)
    withdraw(operator, ident)
    project.destroy(SITE)


@pytest.fixture(scope="module")
def applied(ground: Ground) -> Ground:
    """With the tenant."""
    ground.project.must(ground.project.up(STACK))
    return ground


def test_a_node_that_is_not_enrolled_stops_before_anything_is_made(ground: Ground) -> None:
    ground.cloud.baremetal.patch_node(ground.node, [{"op": "replace", "path": "/name", "value": "elsewhere"}])
    refused = ground.project.plain_up(STACK)
    ground.cloud.baremetal.patch_node(ground.node, [{"op": "replace", "path": "/name", "value": HOST}])
    assert refused.code != 0
    assert f"{SERVER}: Ironic has no node {HOST} that project" in refused.text
    assert ground.project.objects(STACK) == {}


def test_the_host_is_the_tenants_and_on_its_networks(applied: Ground) -> None:
    raw, objects = applied.raw(), applied.project.objects(STACK)
    assert raw.provision_state == "active"
    assert raw.instance_id == objects[SERVER]["id"]
    assert raw["lessee"] == objects["hooli-project"]["id"]
    assert applied.said() == PLANNED
    applied.project.unchanged(STACK)


def test_a_volume_that_is_to_be_encrypted_has_a_key_of_the_tenants(applied: Ground) -> None:
    objects = applied.project.objects(STACK)
    volume = applied.cloud.block_storage.get_volume(objects["hooli-vault"]["id"])
    assert volume.is_encrypted is True
    shown = applied.cloud.block_storage.get(f"/volumes/{volume.id}/encryption").json()
    assert shown["encryption_key_id"]


def test_what_reaches_the_bmc_is_in_no_state(applied: Ground) -> None:
    files = [file for file in (applied.project.folder / "state").rglob("*") if file.is_file()]
    assert any(SERVER.encode() in file.read_bytes() for file in files)
    assert not any(CANARY.encode() in file.read_bytes() for file in files)


def test_a_tenant_that_leaves_gives_its_host_back(applied: Ground) -> None:
    said = applied.project.must(applied.project.pulumi("destroy", STACK, "--yes", "--logtostderr", "-v=9"))
    assert CANARY not in said.text
    raw = applied.raw()
    assert (raw.provision_state, raw.instance_id, raw["lessee"]) == ("available", None, None)
    assert raw.instance_info == {}
    assert applied.said() == dict.fromkeys(PLANNED, QUARANTINE)
    assert list(applied.cloud.baremetal.allocations()) == []
