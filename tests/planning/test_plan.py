"""What stands in a plan, and that nothing but its inputs decides it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.model.tenant import BucketRequest, Tenant
from interlock.planning import Plan, PlanningError, plan_site, plan_tenant
from interlock.planning.security import RULES_OF_A_CONTROLLER
from interlock.resources import Network, Port, Quota, Resource, SecurityGroup, Server, SwitchPort
from tests.builders.pod64 import locked, pod64, pools, site_locked, tenant, vpod
from tests.planning.golden import FOLDER, plans, text_of

ROOT = Path(__file__).parents[2]


def plan_of(request: Tenant) -> Plan:
    site = pod64()
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def resource(plan: Plan, name: str) -> Resource:
    return plan.by_name[name].resource


@pytest.mark.parametrize("name", ["site", "acme", "globex"])
def test_the_plan_is_the_golden_one(name: str) -> None:
    golden = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert text_of(plans()[name]) == golden


def test_the_hash_seed_changes_nothing() -> None:
    line = "from tests.planning.golden import plans; print(*(plan.hash for plan in plans().values()))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = {
        subprocess.run(
            [sys.executable, "-c", line], cwd=ROOT, env=environment | {"PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert said == {" ".join(plan.hash for plan in plans().values()) + "\n"}


@pytest.mark.parametrize("name", ["site", "acme", "globex"])
def test_every_reference_stands_before_its_user_or_in_another_stack(name: str) -> None:
    site_names = {(item.resource.KIND, item.name) for item in plans()["site"].resources}
    seen: dict[str, str] = {}
    plan = plans()[name]
    waited_for = {item.name for item in plan.resources}
    for item in plan.resources:
        for field, reference in item.resource.references():
            kinds = item.resource.reference_fields()[field].kinds
            if reference.startswith("site:"):
                kind, _, target = reference.removeprefix("site:").partition("/")
                assert (kind, target) in site_names
            elif reference.startswith("cloud:"):
                kind = reference.removeprefix("cloud:").partition("/")[0]
            else:
                kind = seen[reference]
            assert kind in kinds, (item.name, field)
        assert set(item.after) <= waited_for
        seen[item.name] = item.resource.KIND


def test_what_lies_in_the_project_waits_for_quota_and_operator() -> None:
    plan = plans()["acme"]
    for item in plan.resources[3:]:
        in_project = (
            getattr(item.resource, "project", None) == "acme-project" or item.resource.KIND == "Keypair"
        )
        assert (item.after[:2] == ("acme-quota", "acme-operator")) is in_project, item.name


def test_components_stand_below_their_parents() -> None:
    plan = plans()["acme"]
    tree = [(item.name, item.type, item.parent) for item in plan.components]
    assert tree == [
        ("acme", "TenantProject", None),
        ("acme-train", "VirtualPod", "acme"),
        ("acme-train-poplar-0", "PoplarServer", "acme-train"),
        ("acme-train-poplar-1", "PoplarServer", "acme-train"),
        ("acme-train-controller", "VipuController", "acme-train"),
        ("acme-data", "Bucket", "acme"),
    ]
    assert {item.component for item in plan.resources} <= {name for name, _, _ in tree}


def test_direct_ports_cite_no_security_group_and_keep_the_spoof_check() -> None:
    ports = [item.resource for item in plans()["acme"].resources if isinstance(item.resource, Port)]
    direct = [port for port in ports if port.vnic_type == "direct"]
    assert len(direct) == 4
    assert all(port.port_security and not port.security_groups for port in direct)
    assert all(port.security_groups for port in ports if port.vnic_type == "normal")


def test_the_controller_lives_with_the_operator_and_has_no_key() -> None:
    plan = plans()["acme"]
    for item in plan.of("acme-train-controller"):
        assert getattr(item.resource, "project", None) == "site:Project/controllers"
    server = resource(plan, "acme-train-controller")
    assert isinstance(server, Server)
    assert server.keypair is None
    assert "ip_forward = 0" in server.user_data


def test_only_the_user_api_is_open_from_poplar() -> None:
    group = resource(plans()["acme"], "acme-train-controller-api")
    assert isinstance(group, SecurityGroup)
    assert [(rule.direction, rule.port_min, rule.port_max, rule.remote_prefix) for rule in group.rules] == [
        ("ingress", 8090, 8090, "10.30.0.0/24")
    ]


def test_ssh_is_open_from_the_stated_prefixes_only_each_in_its_own_ip_version() -> None:
    request = tenant("acme")
    access = request.access.model_copy(update={"ssh_from": ("203.0.113.0/24", "2001:db8::/32")})
    group = resource(plan_of(request.model_copy(update={"access": access})), "acme-train-poplar-ssh")
    assert isinstance(group, SecurityGroup)
    inward = {
        (rule.ethertype, rule.protocol, rule.remote_prefix)
        for rule in group.rules
        if rule.direction == "ingress"
    }
    assert inward == {
        ("IPv4", "tcp", "203.0.113.0/24"),
        ("IPv4", "icmp", "203.0.113.0/24"),
        ("IPv6", "tcp", "2001:db8::/32"),
        ("IPv6", "icmp", "2001:db8::/32"),
    }


def test_every_machine_has_both_switch_ports_and_nothing_can_make_them() -> None:
    plan = plans()["globex"]
    found = {item.name: item.resource for item in plan.without_actuator()}
    assert len(found) == 16
    rnic = found["globex-train-rnic-ipum-09"]
    assert isinstance(rnic, SwitchPort)
    assert (rnic.switch, rnic.port, rnic.vlan) == ("tor-1", 9, 1001)


def test_the_quota_has_room_for_the_plan_and_one_replacement_of_each_kind() -> None:
    quota = resource(plans()["acme"], "acme-quota")
    assert isinstance(quota, Quota)
    assert (quota.instances, quota.cores, quota.ram_mib) == (3, 336, 3 * 232 * 1024)
    # 6 ports of servers, one of the router, one of DHCP on control, and one of each again.
    assert (quota.networks, quota.subnets, quota.ports, quota.routers) == (4, 4, 11, 2)
    assert (quota.security_groups, quota.volumes, quota.volume_gib) == (3, 3, 30)


def test_the_controllers_quota_counts_the_rules_that_a_controller_has() -> None:
    groups = [item.resource for item in plans()["acme"].of("acme-train-controller")]
    assert (
        sum(len(group.rules) for group in groups if isinstance(group, SecurityGroup)) == RULES_OF_A_CONTROLLER
    )


def test_without_a_scope_the_external_subnet_stands_in_none() -> None:
    site = pod64(external=pod64().external.model_copy(update={"address_scope": None}))
    plan = plan_site(site, site_locked(site))
    assert "external-pool" not in plan.by_name
    assert plan.by_name["external-subnet"].resource.canonical()["subnet_pool"] is None


def test_what_exists_already_is_referred_to_and_not_planned() -> None:
    site = pod64(existing={"Network/external": "0c2f9a7e-0000-4000-8000-000000000000"})
    plan = plan_site(site, site_locked(site))
    assert not any(isinstance(item.resource, Network) for item in plan.resources)
    assert plan.by_name["external-subnet"].resource.canonical()["network"] == "site:Network/external"


def test_user_data_is_small_and_names_the_own_controller() -> None:
    for name, api_host in (("acme", "10.30.0.5"), ("globex", "10.30.1.5")):
        server = resource(plans()[name], f"{name}-train-poplar-0")
        assert isinstance(server, Server)
        assert server.user_data.startswith("#cloud-config\n")
        assert f'api-host="{api_host}"' in server.user_data
        assert len(server.user_data) < 1024


def test_a_lock_older_than_its_request_is_refused() -> None:
    site, before = pod64(), tenant("acme", servers=1)
    with pytest.raises(PlanningError, match="run `interlock lock acme`"):
        plan_tenant(site, site_locked(site), tenant("acme", servers=2), locked(site, before))


def test_two_resources_of_one_name_are_refused() -> None:
    request = tenant("acme", buckets=(BucketRequest(name="router", versioning=True, on_delete="keep"),))
    with pytest.raises(PlanningError, match="two resources of the plan would be named acme-router"):
        plan_of(request)


def test_a_machine_without_a_cable_is_named() -> None:
    site = pod64()
    unplugged = pod64(cables=tuple(item for item in site.cables if item.a.interface != "rnic"))
    request = tenant("acme")
    with pytest.raises(PlanningError, match="no cable at ipum-01:rnic"):
        plan_tenant(unplugged, site_locked(unplugged), request, locked(unplugged, request))


def test_a_second_vpod_shares_the_router_and_nothing_else() -> None:
    plan = plan_of(
        tenant("acme", vpods=(vpod("train", machines=2, servers=1), vpod("serve", machines=2, servers=1)))
    )
    assert len([item for item in plan.resources if item.resource.KIND == "Router"]) == 1
    networks = [item.resource for item in plan.resources if isinstance(item.resource, Network)]
    identities = {(item.network_type, item.physical_network, item.segmentation_id) for item in networks}
    assert len(identities) == len(networks) == 8


def test_a_subnet_without_room_for_a_server_is_named() -> None:
    site = pod64(pools=pools(control_subnets=("10.30.0.0/16", 28)))
    request = tenant("acme")
    with pytest.raises(PlanningError, match=r"subnet 10.30.0.0/28 has no address .10"):
        plan_tenant(site, site_locked(site), request, locked(site, request))


def test_a_management_subnet_may_be_small() -> None:
    site = pod64(pools=pools(management_subnets=("10.80.0.0/14", 26)))
    request = tenant("acme")
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    assert resource(plan, "acme-train-management-subnet").canonical()["pools"] == [
        ["10.80.0.55", "10.80.0.62"]
    ]
