"""What stands in a plan, and that nothing but its inputs decides it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.model.site.inventory import LogicalRack, PriceBook, Site, VlanPool
from interlock.model.site.networks import PhysicalNetwork
from interlock.model.tenant.request import BucketRequest, Tenant
from interlock.planning import Plan, PlanningError, nameable, plan_site, plan_tenant, stated_existing
from interlock.planning.quotas import controllers_quota
from interlock.planning.security import RULES_OF_A_CONTROLLER
from interlock.resources import (
    Aggregate,
    BareMetalServer,
    BucketPolicy,
    Network,
    Port,
    Quota,
    Resource,
    SecurityGroup,
    Server,
    ShareAccess,
    SwitchPort,
    VipuAllocation,
)
from tests.builders.pod64 import (
    MACHINES,
    POPLAR_HOSTS,
    bare_metal_pod64,
    bare_metal_vpod,
    cable,
    given,
    gone,
    locked,
    pod64,
    pools,
    site_locked,
    storing_pod64,
    tenant,
    vpod,
)
from tests.planning.golden import FOLDER, data_request, plans, text_of

ROOT = Path(__file__).parents[2]
PLANS = tuple(plans())


def plan_of(request: Tenant) -> Plan:
    site = pod64()
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def resource(plan: Plan, name: str) -> Resource:
    return plan.by_name[name].resource


@pytest.mark.parametrize("name", PLANS)
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


@pytest.mark.parametrize("name", PLANS)
def test_every_reference_stands_before_its_user_or_in_another_stack(name: str) -> None:
    sites = ("site", "storing-site", "gpu-site", "heads-site")
    site_names = {(item.resource.KIND, item.name) for site in sites for item in plans()[site].resources}
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
        in_project = getattr(item.resource, "project", None) == "acme-project" or item.resource.KIND == "Keypair"
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
    inside = [item for item in plan.of("acme-train-controller") if item.resource.is_declared]
    assert len(inside) == 7
    for item in inside:
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
        (rule.ethertype, rule.protocol, rule.remote_prefix) for rule in group.rules if rule.direction == "ingress"
    }
    assert inward == {
        ("IPv4", "tcp", "203.0.113.0/24"),
        ("IPv4", "icmp", "203.0.113.0/24"),
        ("IPv6", "tcp", "2001:db8::/32"),
        ("IPv6", "icmp", "2001:db8::/32"),
    }


def test_every_machine_has_both_switch_ports_and_nothing_can_make_them() -> None:
    plan = plans()["globex"]
    found = {item.name: item.resource for item in plan.without_actuator() if isinstance(item.resource, SwitchPort)}
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
    assert sum(len(group.rules) for group in groups if isinstance(group, SecurityGroup)) == RULES_OF_A_CONTROLLER


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


def test_everything_that_can_be_named_is_left_out_of_the_plan_and_stated_instead() -> None:
    site = pod64()
    keys = nameable(site)
    assert {"Project/controllers", "Network/external", "Aggregate/poplar-hosts", "Flavor/poplar.whole"} <= {*keys}
    there = pod64(existing=dict.fromkeys(keys, "1"))
    whole, left = plan_site(site, site_locked(site)), plan_site(there, site_locked(there))
    stated = {f"{item.kind}/{item.name}": item for item in stated_existing(there)}
    assert stated.keys() == {*keys}
    assert {item.name for item in whole.resources} - {item.name for item in left.resources} == {
        item.name for item in stated.values()
    }
    assert stated["Network/external"].spec == resource(whole, "external").canonical()
    assert stated["Subnet/external-subnet"].spec["network"] == "site:Network/external"
    assert stated_existing(site) == ()


@pytest.mark.parametrize("key", ["Network/nobody", "Network/externl", "Keypair/acme-key"])
def test_what_is_no_object_of_the_site_cannot_exist_already(key: str) -> None:
    """Nothing would ever look at it: a mistyped key would have the object created a second time."""
    site = pod64(existing={key: "0c2f9a7e-0000-4000-8000-000000000000"})
    with pytest.raises(PlanningError, match=f"names {key}, which is no object of this site"):
        plan_site(site, site_locked(site))


def test_user_data_is_small_and_names_the_own_controller() -> None:
    for name, api_host in (("acme", "10.30.0.5"), ("globex", "10.30.1.5")):
        server = resource(plans()[name], f"{name}-train-poplar-0")
        assert isinstance(server, Server)
        assert server.user_data.startswith("#cloud-config\n")
        assert f'api-host="{api_host}"' in server.user_data
        assert len(server.user_data) < 16 << 10


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
        plan_tenant(unplugged, site_locked(unplugged), request, locked(site, request))


def test_a_second_vpod_shares_the_router_and_nothing_else() -> None:
    plan = plan_of(tenant("acme", vpods=(vpod("train", machines=2, servers=1), vpod("serve", machines=2, servers=1))))
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
    assert resource(plan, "acme-train-management-subnet").canonical()["pools"] == [["10.80.0.55", "10.80.0.62"]]


def test_every_vpod_has_an_allocation_of_its_machines_at_its_own_controller() -> None:
    allocation = resource(plans()["globex"], "globex-train-allocation")
    assert isinstance(allocation, VipuAllocation)
    assert allocation.controller == "globex-train-controller"
    assert allocation.machines == tuple(f"ipum-{number:02}" for number in range(9, 17))
    assert allocation.topology == "mesh"


def test_an_allocation_lists_machines_by_position_however_they_are_pinned() -> None:
    site, request = pod64(), tenant("acme", machines=2)
    lock = given(locked(site, request), machines=("ipum-04", "ipum-03"))
    plan = plan_tenant(site, site_locked(site), request, lock)
    assert resource(plan, "acme-train-allocation").canonical()["machines"] == ["ipum-03", "ipum-04"]


@pytest.mark.parametrize(("machines", "topology"), [(16, "torus"), (8, "mesh")])
def test_only_a_whole_rack_with_the_cable_back_is_a_torus(machines: int, topology: str) -> None:
    rack = LogicalRack(name="lrack-1", number=1, topology="torus")
    site, request = pod64(logical_racks=(rack,)), tenant("acme", machines=machines)
    lock = given(locked(pod64(), request), machines=MACHINES[:machines])
    plan = plan_tenant(site, site_locked(site), request, lock)
    assert resource(plan, "acme-train-allocation").canonical()["topology"] == topology


def test_bare_metal_stands_on_three_interfaces_each_in_its_own_vlan() -> None:
    plan = plans()["bare-metal"]
    ports = {
        item.name: (spec.switch, spec.port, spec.interface, spec.vlan)
        for item in plan.of("acme-train-poplar-1")
        if isinstance(spec := item.resource, SwitchPort)
    }
    assert ports == {
        "acme-train-poplar-1-ipu-data-switch": ("tor-1", 19, "ens161f0", 1000),
        "acme-train-poplar-1-storage-switch": ("tor-1", 20, "ens161f1", 2000),
        "acme-train-poplar-1-control-switch": ("mgmt-1", 38, "eno1", 3000),
    }
    server = resource(plan, "acme-train-poplar-1")
    assert isinstance(server, BareMetalServer)
    assert server.node == "poplar-2"
    specs = [resource(plan, name) for name in server.ports]
    assert [port.vnic_type for port in specs if isinstance(port, Port)] == ["baremetal"] * 3


def test_the_control_network_of_bare_metal_is_a_vlan_and_its_controller_stands_on_it() -> None:
    plan = plans()["bare-metal"]
    network = resource(plan, "acme-train-control")
    assert isinstance(network, Network)
    assert (network.network_type, network.physical_network, network.segmentation_id) == ("vlan", "mgmt1g", 3000)
    port = resource(plan, "acme-train-controller-control")
    assert isinstance(port, Port)
    assert (port.network, port.project) == ("acme-train-control", "site:Project/controllers")


def test_no_security_group_is_cited_where_nothing_applies_it() -> None:
    plan = plans()["bare-metal"]
    assert "acme-train-poplar-ssh" not in plan.by_name
    groups = [item.resource.security_groups for item in plan.resources if isinstance(item.resource, Port)]
    assert groups.count(()) == 6


def test_a_bare_metal_host_without_a_second_fast_interface_is_named() -> None:
    site = bare_metal_pod64()
    hosts = tuple(
        host.model_copy(update={"interfaces": {"fabric100g": ("ens161f0",), "mgmt1g": ("eno1",)}})
        for host in site.hosts
    )
    with pytest.raises(PlanningError, match=r"bare-metal host poplar-1 has 1 interface\(s\) on fabric100g"):
        bare_metal_on(site.model_copy(update={"hosts": hosts}))


def test_interfaces_that_no_host_entry_lists_are_read_from_the_cables() -> None:
    site = bare_metal_pod64()
    hosts = tuple(host.model_copy(update={"interfaces": {}}) for host in site.hosts)
    assert text_of(bare_metal_on(site.model_copy(update={"hosts": hosts}))) == text_of(plans()["bare-metal"])


def bare_metal_on(site: Site) -> Plan:
    """The plan of bare metal on a site that says less than the one its lock was made for."""
    request = tenant("acme", vpods=(bare_metal_vpod(),))
    return plan_tenant(site, site_locked(site), request, locked(bare_metal_pod64(), request))


def test_a_lock_without_the_vlan_of_bare_metal_is_refused() -> None:
    site, request = bare_metal_pod64(), tenant("acme", vpods=(bare_metal_vpod(),))
    lock = given(locked(pod64(), tenant("acme")), control_vlan=None, control_network=None)
    with pytest.raises(PlanningError, match="gives vPOD train no control_network"):
        plan_tenant(site, site_locked(site), request, lock)


def test_nova_puts_no_bare_metal_host_into_an_aggregate() -> None:
    site = bare_metal_pod64()
    aggregate = resource(plan_site(site, site_locked(site)), "poplar-hosts")
    assert isinstance(aggregate, Aggregate)
    assert aggregate.hosts == ()


def test_a_share_is_open_to_the_storage_subnet_of_each_of_its_vpods_and_nothing_else() -> None:
    found = [item.resource for item in plans()["data"].of("acme-datasets")]
    opened = {(item.network, item.prefix, item.vip, item.level) for item in found if isinstance(item, ShareAccess)}
    assert opened == {
        ("acme-train-storage", "10.21.0.0/24", "10.21.0.200", "ro"),
        ("acme-serve-storage", "10.21.1.0/24", "10.21.1.200", "ro"),
    }


def test_a_share_without_an_address_of_the_appliance_is_refused() -> None:
    site, request = storing_pod64(), data_request()
    lock = given(given(locked(site, request), storage_vip=None), "serve", storage_vip=None)
    with pytest.raises(PlanningError, match="no storage_vip, and share datasets needs one"):
        plan_tenant(site, site_locked(site), request, lock)


def test_a_bucket_policy_tells_every_key_of_its_users() -> None:
    """Object storage that names keys has to know both while one is changed for another."""
    request = data_request()
    vpods = tuple(vpod.model_copy(update={"s3_keys": (1, 2)} if vpod.name == "serve" else {}) for vpod in request.vpods)
    changed = request.model_copy(update={"vpods": vpods})
    site = storing_pod64()
    policy = resource(plan_tenant(site, site_locked(site), changed, locked(site, changed)), "acme-models-policy")
    assert isinstance(policy, BucketPolicy)
    assert policy.users == ("acme-train-s3", "acme-serve-s3")
    assert policy.keys == ("acme-train-s3-key", "acme-serve-s3-key", "acme-serve-s3-key-2")


def test_a_bucket_policy_names_service_users_and_a_writer_reads_too() -> None:
    policy = resource(plans()["data"], "acme-models-policy")
    assert isinstance(policy, BucketPolicy)
    assert [(item.principals, item.actions) for item in policy.statements] == [
        (("acme-train-s3",), ("read", "write")),
        (("acme-serve-s3",), ("read",)),
        (("*",), ("read",)),
    ]


def test_a_bucket_that_nobody_else_uses_has_no_policy() -> None:
    assert "acme-data-policy" not in plans()["acme"].by_name


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("volumes", {"vpod": "serve", "server": 1}, "volume scratch is for server 1 of vPOD serve"),
        ("volumes", {"vpod": "nowhere"}, "volume scratch is for server 0 of vPOD nowhere"),
        ("shares", {"vpods": ("nowhere",)}, "share datasets is for vPOD nowhere"),
        ("buckets", {"readers": ("nowhere",)}, "bucket models is for nowhere, no vPOD or cluster"),
    ],
)
def test_data_for_what_is_not_asked_for_is_refused(part: str, change: dict[str, object], said: str) -> None:
    site, request = storing_pod64(), data_request()
    first, *rest = getattr(request, part)
    wrong = request.model_copy(update={part: (first.model_copy(update=change), *rest)})
    with pytest.raises(PlanningError, match=said):
        plan_tenant(site, site_locked(site), wrong, locked(site, request))


def test_the_quota_counts_volumes_of_their_own() -> None:
    quota = resource(plans()["data"], "acme-quota")
    assert isinstance(quota, Quota)
    # 10 + 10 of servers, 50 and 500 of their own, and the largest again.
    assert (quota.volumes, quota.volume_gib) == (5, 1070)


def test_a_tenant_that_is_to_go_has_nothing_in_its_plan() -> None:
    plan = plans()["gone"]
    assert (plan.components, plan.resources) == ((), ())
    assert plan.stack == "lyon-acme"


def test_a_tenant_that_is_to_go_and_holds_claims_is_refused() -> None:
    site, request = pod64(), tenant("acme")
    leaving, _ = gone(locked(site, request), request)
    with pytest.raises(PlanningError, match="run `interlock lock acme`"):
        plan_tenant(site, site_locked(site), leaving, locked(site, request))


def test_a_part_of_the_site_that_the_lock_does_not_name_leaves_the_plan_as_it_is() -> None:
    site, request = pod64(), tenant("acme")
    lock = locked(site, request)
    priced = site.model_copy(update={"prices": PriceBook(currency="EUR", prices={"bucket": "1"})})
    assert plan_tenant(priced, site_locked(site), request, lock) == plan_tenant(site, site_locked(site), request, lock)


def _whole_hosts(interfaces: dict[str, tuple[str, ...]], **pools_: VlanPool) -> Plan:
    """Four machines with one whole host that has these interfaces."""
    base = bare_metal_pod64()
    reach = {
        "poplar": interfaces,
        "infra": dict.fromkeys(("mgmt1g", "external", "fabric100g", "beside"), ("eno1",)),
    }
    changed = [item.model_copy(update={"interfaces": reach[item.role]}) for item in base.hosts]
    more = [cable(f"{name}:ens9", f"tor-1:{25 + number}") for number, name in enumerate(POPLAR_HOSTS)]
    names = (*base.physical_networks, PhysicalNetwork(name="beside", switches=("tor-1",)))
    site = bare_metal_pod64(
        hosts=tuple(changed), cables=(*base.cables, *more), physical_networks=names,
        pools=pools(**{"bare_metal_control": base.pools.bare_metal_control} | pools_),
    )  # fmt: skip
    request = tenant("acme", vpods=(bare_metal_vpod(servers=1),))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def _behind_the_host(plan: Plan) -> dict[str, str]:
    """Leg -> interface."""
    ports = {item.name: item.resource for item in plan.resources if isinstance(item.resource, SwitchPort)}
    return {
        name.split("-")[-2]: port.interface for name, port in ports.items() if name.startswith("acme-train-poplar-0")
    }


CONTROL_ON_FABRIC = VlanPool(physical_networks=("fabric100g",), vlans=((3000, 3099),))
THREE = ("ens161f0", "ens161f1", "ens9")


def test_each_leg_of_a_whole_host_has_an_interface_of_its_own() -> None:
    """Also where the control VLANs lie on the network of the data VLANs, and where one network has two names."""
    plan = _whole_hosts({"fabric100g": THREE}, bare_metal_control=CONTROL_ON_FABRIC)
    assert _behind_the_host(plan) == {"data": "ens161f0", "storage": "ens161f1", "control": "ens9"}
    beside = CONTROL_ON_FABRIC.model_copy(update={"physical_networks": ("beside",)})
    plan = _whole_hosts({"fabric100g": THREE, "beside": THREE}, bare_metal_control=beside)
    assert _behind_the_host(plan) == {"data": "ens161f0", "storage": "ens161f1", "control": "ens9"}


def test_a_whole_host_with_an_interface_too_few() -> None:
    with pytest.raises(PlanningError, match=r"interfaces on fabric100g \(3 interfaces\)") as caught:
        _whole_hosts({"fabric100g": THREE[:2]}, bare_metal_control=CONTROL_ON_FABRIC)
    assert "has 2 on fabric100g" in str(caught.value)


def test_the_controllers_quota_takes_no_memory_for_a_large_limit() -> None:
    """A list as long as the limit is large filled it, or ended in a traceback."""
    limits = pod64().limits.model_copy(update={"controller_instances": 2**31 - 1})
    quota = controllers_quota(pod64(limits=limits), "controllers")
    assert (quota.instances, quota.networks, quota.ports) == (2**31 - 1, 2**31, 2**32 - 1)
