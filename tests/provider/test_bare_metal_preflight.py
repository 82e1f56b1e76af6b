"""Nodes of whole hosts before an apply: one clear error for each cause, and none for a host that is ours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.preflight import NotLookedAt, preflight
from interlock.provider.regions import Catalogue
from interlock.resources import Admitted
from tests.conftest import Sandbox
from tests.provider.whole_hosts import BARE_METAL, HOST, LEGS, NODE, mia, node, told
from tests.sandbox.switch_sessions import clients
from tests.support.cloud.nodes import Enrolled
from tests.support.engine.stack import Stack
from tests.support.world import whole

__all__ = ["mia", "node"]


@pytest.fixture(scope="module")
def free(mia: Stack) -> Stack:
    """All is as it should be."""
    assert told(mia, conductor_group="interlock") == []
    return mia


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ({"owner": None}, {}, "Ironic has no node whole-1 that project .* owns"),
        ({"resource_class": "other"}, {"resource_class": "poplar-r6525"}, "the resource class other, not poplar-r6525"),
        ({"conductor_group": ""}, {"conductor_group": "interlock"}, r"the conductor group \(none\), not interlock"),
        ({"network_interface": "noop"}, {"network_interface": "neutron"}, "the network interface noop, not neutron"),
        ({"automated_clean": False}, {"automated_clean": True}, "is not cleaned between two tenants"),
        ({"maintenance": True}, {"maintenance": False}, "is in maintenance"),
        ({"driver_info/cleaning_network": None}, {}, "names no cleaning_network in its driver_info"),
    ],
)  # fmt: skip
def test_a_node_that_is_not_as_stated(
    free: Stack, node: Enrolled, wrong: dict[str, Any], right: dict[str, Any], said: str
) -> None:
    before = node.raw()
    back = right or (
        {"owner": before["owner"]} if "owner" in wrong else
        {"driver_info/cleaning_network": before["driver_info"]["cleaning_network"]}
    )  # fmt: skip
    node.patch(**wrong)
    try:
        (fault,) = told(free, conductor_group="interlock")
    finally:
        node.patch(**back)
    assert re.search(said, fault), fault
    assert "next: " in fault


def test_a_node_that_nobody_enrolled(free: Stack) -> None:
    spec = free.resources[HOST].model_copy(update={"node": "whole-7"})
    (fault,) = told(free, resources=_with(free, spec))
    assert fault.startswith(f"{HOST}: Ironic has no node whole-7 that project ")
    assert "next: enroll it as `interlock nodes` prints it" in fault


def _with(program: Stack, spec: Any) -> tuple[Admitted, ...]:
    admitted = program.admission().resources
    changed = Admitted(name=HOST, kind=spec.KIND, spec=spec.canonical())
    return tuple(changed if item.name == HOST else item for item in admitted)


def test_a_cloud_without_ironic_loses_its_whole_hosts_by_name(free: Stack) -> None:
    cloud = Cloud("sandbox")
    regions = {kind: names for kind, names in cloud.login.catalogue.regions.items() if kind != "baremetal"}
    cloud.login = replace(cloud.login, catalogue=Catalogue(regions))
    (fault,) = told(free, cloud)
    assert f"the cloud has no Ironic (no service `baremetal` in its catalogue), which would deploy {HOST}" in fault


def test_a_node_that_another_has(free: Stack, node: Enrolled, operator: Cloud) -> None:
    body = {"resource_class": "poplar-r6525", "candidate_nodes": [node.id]}
    theirs = operator.api("baremetal").post("/allocations", body)["uuid"]
    try:
        while not node.raw()["instance_uuid"]:
            pass
        (fault,) = told(free)
    finally:
        operator.api("baremetal").delete(f"/allocations/{theirs}")
    assert f"node whole-1 is taken by instance {theirs}, which is not of this stack" in fault


def test_a_node_that_is_not_available(free: Stack, node: Enrolled) -> None:
    node.becomes("manageable", after="manage")
    (fault,) = told(free)
    node.becomes("available", after="provide")
    assert "node whole-1 is manageable, not available" in fault


def test_a_node_that_is_lent_to_another(free: Stack, node: Enrolled, operator: Cloud) -> None:
    node.patch(lessee=operator.login.project)
    (fault,) = told(free)
    node.patch(lessee=None)
    assert f"node whole-1 is lent to project {operator.login.project}, which is not of this stack" in fault


def test_a_service_network_is_the_sites_and_of_one_node_alone(free: Stack, node: Enrolled, operator: Cloud) -> None:
    (fault, again) = told(free, service_networks={NODE: "external"})
    assert f"names {node.network} as its cleaning_network, not the site's network external" in fault
    assert "provisioning_network" in again
    # What another node names counts from when it is enrolled.
    body = {"name": "whole-2", "driver": "fake-hardware", "driver_info": {"provisioning_network": node.network}}
    other = operator.api("baremetal").post("/nodes", body | {"owner": operator.login.project})["uuid"]
    try:
        faults = told(free)
    finally:
        operator.api("baremetal").delete(f"/nodes/{other}")
    assert len(faults) == 2
    assert f"shares its cleaning_network {node.network} with whole-2: two ex-tenants would meet there" in faults[0]


def test_ports_of_a_node_are_where_the_plan_says(free: Stack, node: Enrolled) -> None:
    with node.renamed("Ethernet13", "Ethernet14"):
        (fault,) = told(free)
    assert "node whole-1 has no port at mgmt-1 Ethernet13" in fault
    nameless = (LEGS[0], LEGS[1].model_copy(update={"port_name": None}))
    spec = free.resources[HOST].model_copy(update={"legs": nameless})
    (fault, *_) = told(free, resources=_with(free, spec))
    assert "has an interface at mgmt-1 port 13, and nobody states what the switch calls it" in fault


def test_a_bond_is_refused_with_its_reason(free: Stack, node: Enrolled, operator: Cloud) -> None:
    ironic, (first, *_) = operator.api("baremetal"), node.ports()
    group = ironic.post("/portgroups", {"node_uuid": node.id, "name": "bond0"})["uuid"]
    node.grouped(first, group)
    (fault,) = told(free)
    node.grouped(first, "")
    ironic.delete(f"/portgroups/{group}")
    assert "in a port group (a bond, LACP): both ports of a bond are on one network" in fault


def test_what_is_still_attached_is_told(free: Stack, node: Enrolled, operator: Cloud) -> None:
    vif = free.state[f"{HOST}-data"].id
    path = f"/nodes/{node.id}/vifs"
    operator.api("baremetal").post(path, {"id": vif})
    (fault,) = told(free)
    operator.api("baremetal").delete(f"{path}/{vif}")
    assert f"still has port {vif} attached at tor-1 Ethernet13/1" in fault


def test_a_switch_port_in_use_is_not_taken(free: Stack, sandbox: Sandbox) -> None:
    tor = clients(sandbox.dir)["tor-1"]
    used = ("switchport mode access", "switchport access vlan 1999", "no shutdown")
    whole.by_hand(sandbox.dir, tor, "Ethernet13/1", *used)
    (fault,) = told(free)
    whole.by_hand(sandbox.dir, tor, "Ethernet13/1", "switchport access vlan 4000", "shutdown")
    assert "tor-1 Ethernet13/1 is access 1999: it is neither at rest nor as planned" in fault


def test_a_switch_that_cannot_be_asked_is_no_answer(free: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SWITCHES", "/nowhere/switches.yaml")
    found = preflight(free.admission(), Cloud("sandbox"), frozenset({HOST}))
    told_of = [fault for fault in found if fault.code == BARE_METAL]
    assert [type(fault) for fault in told_of] == [NotLookedAt, NotLookedAt]
