"""The scenario: two tenants on one rack by `interlock lock` and `pulumi up` alone, until nothing of them is left."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from openstack.connection import Connection

from sandbox.vipu.census import VipuCensus, vipu_census
from tests.conftest import ROOT, Sandbox
from tests.e2e.listing import listing
from tests.e2e.project import Project
from tests.e2e.standing import SITE, TENANTS, Standing
from tests.sandbox.cloud import until
from tests.sandbox.switch_sessions import clients

#: Tenant -> its vPOD.
VPODS = {"acme": "train", "globex": "research"}
SERIAL = "PLACEHOLDER-M2000-"


@pytest.fixture
def alone(stands: Standing) -> Iterator[Project]:
    """The site without a tenant, whatever stood; also if a test leaves one half made."""
    project = stands.apply(SITE)
    _destroy(stands)
    yield project
    _destroy(stands)


def _destroy(stands: Standing) -> None:
    for stack in TENANTS:
        if stack in stands.applied:
            stands.project.must(stands.project.pulumi("destroy", stack, "--yes"))
            stands.applied.discard(stack)


def _locked(project: Project, tenant: str) -> dict[str, Any]:
    text = (project.folder / "stacks" / "lyon" / "tenants" / f"{tenant}.lock.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["allocation"]["vpods"][VPODS[tenant]]
    return found


def _at_controller(sandbox: Sandbox, server: str, *words: str) -> Any:
    """What `vipu-admin` in a controller's server answers, as JSON."""
    station = [sys.executable, "-m", "sandbox.vipu.station", str(sandbox.dir), server, "vipu-admin"]
    done = subprocess.run([*station, *words, "--showjson"], cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _machines_heard(sandbox: Sandbox, server: str, subnet: str) -> set[str]:
    """Serials of the machines that a controller reaches, each as an agent at the address at which it is heard."""
    for number, heard in enumerate(_at_controller(sandbox, server, "discover", "agents")):
        assert ip_address(heard["host"]) in ip_network(subnet)
        _at_controller(sandbox, server, "create", "agent", f"found{number}", "--host", heard["host"])
    agents = _at_controller(sandbox, server, "list", "agents")
    assert {agent["status"]["state"] for agent in agents} == {"ONLINE"}
    return {agent["status"]["serial"] for agent in agents}


def _carried(port: dict[str, Any]) -> tuple[Any, ...]:
    """What a switch port carries; names of VLANs, and lists that have no effect in its mode, stay as they were set."""
    if port["mode"] == "access":
        return "access", port["accessVlanId"]
    return port["mode"], port["trunkingNativeVlanId"], port["trunkAllowedVlans"]


def _census(sandbox: Sandbox, cloud: Connection) -> tuple[VipuCensus, Any, Any]:
    """All objects of V-IPU, what the tenants have at the cloud, and what every switch port carries."""
    objects = {
        tenant: {what: dict(names) for what, names in listing(cloud, tenant).items() if names} for tenant in VPODS
    }
    ports = {
        name: {port: _carried(item["switchportInfo"]) for port, item in shown["switchports"].items()}
        for name, shown in (
            (name, client.show("interfaces switchport")) for name, client in clients(sandbox.dir).items()
        )
    }
    return vipu_census(sandbox.dir), objects, ports


def test_scenario_two_tenants_on_one_rack_until_they_are_gone(
    alone: Project, stands: Standing, cloud: Connection, sandbox: Sandbox
) -> None:
    before = _census(sandbox, cloud)
    assert before[:2] == ({}, {tenant: {} for tenant in VPODS})
    for tenant in VPODS:
        alone.must(alone.interlock("lock", tenant))
        stands.applied.add(f"lyon-{tenant}")
        alone.must(alone.plain_up(f"lyon-{tenant}"))
    controllers = {tenant: f"{tenant}-{vpod}-controller" for tenant, vpod in VPODS.items()}
    for tenant, name in controllers.items():
        lock = _locked(alone, tenant)
        server = next(one for one in cloud.compute.servers(all_projects=True) if one.name == name)
        own = {machine.replace("ipum-", SERIAL) for machine in lock["machines"]}
        assert _machines_heard(sandbox, server.id, lock["management_subnet"]) == own
    assert _census(sandbox, cloud)[0].keys() == {*controllers.values()}
    _destroy(stands)
    until(lambda: not [*(sandbox.dir / "state" / "vipu").glob("*-*-*-*-*")])
    assert _census(sandbox, cloud) == before
