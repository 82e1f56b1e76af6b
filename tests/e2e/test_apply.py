"""What stands on the cloud after `pulumi up`: looked at by the services' own APIs, as operator and as tenant."""

from __future__ import annotations

import json
import time
from pathlib import Path

import openstack
import pytest
from openstack import exceptions
from openstack.connection import Connection

from tests.conftest import Sandbox
from tests.e2e.identity import identity
from tests.e2e.project import Project, changes
from tests.e2e.s3 import client, refusal
from tests.sandbox.switch_sessions import clients

POOLS = {"fabric100g": range(1000, 3000), "mgmt1g": range(110, 200), None: range(10000, 15000)}
FORBIDDEN = 403


def as_user(cloud: Connection, user: str, project_id: str) -> Connection:
    """A connection as one of the people of the embedded identity provider."""
    auth = cloud.config.get_auth_args() | {"username": user, "password": "secret", "project_id": project_id}
    auth.pop("project_name", None)
    return openstack.connection.Connection(auth=auth, region_name="RegionOne", identity_api_version="3")


def project_id(cloud: Connection, name: str) -> str:
    return str(identity(cloud).find_project(name, ignore_missing=False).id)


@pytest.mark.parametrize("stack", ["lyon-site", "lyon-acme", "lyon-globex"])
def test_a_second_up_and_a_refresh_change_nothing(applied: Project, stack: str) -> None:
    again = changes(applied.must(applied.up(stack)))
    assert set(again) == {"unchanged"}, again
    fresh = changes(applied.must(applied.pulumi("refresh", stack, "--yes")))
    assert set(fresh) == {"unchanged"}, fresh


def test_no_network_that_names_no_id_gets_one_of_the_pools(applied: Project, cloud: Connection) -> None:
    for item in cloud.network.network_segment_ranges():
        taken = range(item.minimum, item.maximum + 1)
        pool = POOLS.get(item.physical_network, range(0))
        assert not set(taken) & set(pool), f"{item.name} overlaps the pool on {item.physical_network}"
    for options in (
        {"provider_network_type": "vxlan"},
        {"provider_physical_network": "fabric100g", "provider_network_type": "vlan"},
    ):
        network = cloud.network.create_network(name="chance", **options)
        cloud.network.delete_network(network)
        assert network.provider_segmentation_id not in POOLS[options.get("provider_physical_network")]


def test_the_external_subnet_is_in_a_scope_that_no_tenant_may_join(applied: Project, cloud: Connection) -> None:
    external = cloud.network.find_network("external", ignore_missing=False)
    subnet = cloud.network.get_subnet(external.subnet_ids[0])
    pool = cloud.network.get_subnet_pool(subnet.subnet_pool_id)
    assert pool.address_scope_id
    assert not pool.is_shared
    assert not cloud.network.get_address_scope(pool.address_scope_id).is_shared


def test_poplar_servers_stand_on_their_locked_hosts_with_the_locked_vlans(applied: Project, cloud: Connection) -> None:
    lock = json.loads((applied.folder / "stacks/lyon/tenants/acme.lock.json").read_text())
    claims = lock["allocation"]["vpods"]["train"]
    for index, host in enumerate(claims["hosts"]):
        server = next(iter(cloud.compute.servers(all_projects=True, name=f"^acme-train-poplar-{index}$")))
        assert (server.status, server.compute_host) == ("ACTIVE", host)
        ports = {port.name: port for port in cloud.network.ports(device_id=server.id)}
        data = ports[f"acme-train-poplar-{index}-ipu-data"]
        storage = ports[f"acme-train-poplar-{index}-storage"]
        control = ports[f"acme-train-poplar-{index}-control"]
        assert {port.status for port in ports.values()} == {"ACTIVE"}
        assert data.binding_vif_details["vlan"] == str(claims["ipu_data_vlan"])
        assert storage.binding_vif_details["vlan"] == str(claims["storage_vlan"])
        assert (data.binding_vnic_type, storage.binding_vnic_type, control.binding_vnic_type) == (
            "direct", "direct", "normal",
        )  # fmt: skip
        assert data.is_port_security_enabled
        assert data.security_group_ids == []
        assert [item["volumeId"] for item in _attachments(cloud, server.id)] == [
            _volume(cloud, f"acme-train-poplar-{index}-data")
        ]


def _attachments(cloud: Connection, server: str) -> list[dict[str, str]]:
    answer = cloud.compute.get(f"/servers/{server}/os-volume_attachments").json()
    return list(answer["volumeAttachments"])


def _volume(cloud: Connection, name: str) -> str:
    return next(
        str(item.id) for item in cloud.block_storage.volumes(details=True, all_projects=True) if item.name == name
    )


def test_guests_have_dedicated_cpus_and_large_pages(applied: Project, cloud: Connection) -> None:
    server = next(iter(cloud.compute.servers(all_projects=True, name="^acme-train-poplar-0$")))
    topology = cloud.compute.get(f"/servers/{server.id}/topology", microversion="2.78").json()
    assert topology["pagesize_kb"] == 1024 * 1024
    assert [len(node["cpu_pinning"]) for node in topology["nodes"]] == [28] * 4


def test_the_controller_is_the_operators_and_opens_one_port_to_poplar(applied: Project, cloud: Connection) -> None:
    server = next(iter(cloud.compute.servers(all_projects=True, name="^acme-train-controller$")))
    assert server.project_id == project_id(cloud, "lyon-controllers")
    assert server.status == "ACTIVE"
    ports = {port.name: port for port in cloud.network.ports(device_id=server.id)}
    assert set(ports) == {"acme-train-controller-control", "acme-train-controller-management"}
    groups = ports["acme-train-controller-control"].security_group_ids
    rules = [rule for group in groups for rule in cloud.network.get_security_group(group).security_group_rules]
    ingress = [rule for rule in rules if rule["direction"] == "ingress"]
    assert [(rule["protocol"], rule["port_range_min"], rule["port_range_max"]) for rule in ingress] == [
        ("tcp", 8090, 8090)
    ]
    management = cloud.network.get_network(ports["acme-train-controller-management"].network_id)
    assert (management.provider_physical_network, management.provider_segmentation_id) == ("mgmt1g", 110)
    assert cloud.network.get_subnet(management.subnet_ids[0]).gateway_ip is None


def test_members_look_and_change_nothing(applied: Project, cloud: Connection) -> None:
    acme = project_id(cloud, "acme")
    alice = as_user(cloud, "alice", acme)
    names = {server.name for server in alice.compute.servers()}
    assert names == {"acme-train-poplar-0", "acme-train-poplar-1"}
    control = alice.network.find_network("acme-train-control", ignore_missing=False)
    flavor, image = next(iter(alice.compute.flavors())), next(iter(alice.image.images()))
    attempts = (
        lambda: alice.network.create_port(network_id=control.id),
        lambda: alice.network.create_network(name="mine"),
        lambda: alice.network.update_network(control, description="mine"),
        lambda: alice.compute.create_server(name="mine", flavor_id=flavor.id, image_id=image.id, networks="none"),
        lambda: alice.block_storage.create_volume(size=1),
    )
    for attempt in attempts:
        with pytest.raises(exceptions.HttpException) as caught:
            attempt()
        assert caught.value.status_code == FORBIDDEN


def _keys(project: Project, tenant: str, pod: str) -> tuple[str, str]:
    found = project.output(f"lyon-{tenant}", "--show-secrets")["vpods"][f"{tenant}-{pod}"]
    return found["s3_access_key"], found["s3_secret_key"]


def test_the_s3_key_opens_its_own_bucket_and_nothing_else(applied: Project, cloud: Connection) -> None:
    access, secret = _keys(applied, "acme", "train")
    mine, other = client(cloud, access, secret), client(cloud, *_keys(applied, "globex", "research"))
    other.create_bucket(Bucket="globex-private")
    try:
        mine.put_object(Bucket="acme-checkpoints", Key="step", Body=b"1")
        mine.put_object(Bucket="acme-checkpoints", Key="step", Body=b"2")
        assert len(mine.list_object_versions(Bucket="acme-checkpoints")["Versions"]) == 2
        assert refusal(lambda: mine.put_object(Bucket="globex-private", Key="x", Body=b"")) in (
            "AccessDenied",
            "NoSuchBucket",
        )
        assert refusal(lambda: other.get_object(Bucket="acme-checkpoints", Key="step")) in (
            "AccessDenied",
            "NoSuchBucket",
        )
    finally:
        other.delete_bucket(Bucket="globex-private")


def test_the_s3_service_user_may_not_touch_networks_or_servers(applied: Project, cloud: Connection) -> None:
    """Its role is known to object storage alone; a login as it, which nobody has, is tried by a fresh password."""
    acme = project_id(cloud, "acme")
    user = identity(cloud).find_user("acme-train-s3", ignore_missing=False)
    identity(cloud).update_user(user, password="secret")
    time.sleep(2)  # a new password revokes all tokens of the second in which it is set
    service = as_user(cloud, "acme-train-s3", acme)
    control = cloud.network.find_network("acme-train-control", ignore_missing=False)
    flavor, image = next(iter(cloud.compute.flavors())), next(iter(cloud.image.images()))
    for attempt in (
        lambda: service.network.create_port(network_id=control.id),
        lambda: service.network.create_network(name="mine"),
        lambda: service.compute.create_server(name="mine", flavor_id=flavor.id, image_id=image.id, networks="none"),
    ):
        with pytest.raises(exceptions.HttpException) as caught:
            attempt()
        assert caught.value.status_code == FORBIDDEN


def test_secrets_are_nowhere_in_clear(applied: Project) -> None:
    secrets = [_keys(applied, "acme", "train")[1], _keys(applied, "globex", "research")[1]]
    for path in _written(applied.folder):
        text = path.read_text(errors="replace")
        assert not any(secret in text for secret in secrets), f"{path.relative_to(applied.folder)} shows a secret"


def _written(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_is_reserved_with_the_machines_is_listed_as_not_wired(applied: Project) -> None:
    """What the V-IPU controller is told, by hand on this site; switch ports are Neutron's."""
    agents = [f"acme-train-agent-ipum-0{number}" for number in range(1, 5)]
    users = [f"acme-train-poplar-{number}-vipu" for number in range(2)]
    wanted = [*agents, "acme-train-cluster", "acme-train-allocation", *users]
    assert applied.output("lyon-acme")["not_wired"] == wanted


def test_switches_say_what_was_planned(applied: Project, sandbox: Sandbox) -> None:
    """RNICs on the data VLAN, BMCs and gateways on the management VLAN, of each tenant its own."""
    said = clients(sandbox.dir)
    text = (applied.folder / "stacks" / "lyon" / "tenants" / "acme.lock.json").read_text(encoding="utf-8")
    lock = json.loads(text)["allocation"]["vpods"]["train"]
    numbers = [int(machine.removeprefix("ipum-")) for machine in lock["machines"]]
    assert len(numbers) == 4
    for number in numbers:
        assert said["tor-1"].vlan_of(f"Ethernet{number}/1") == ("access", lock["ipu_data_vlan"])
        assert said["mgmt-1"].vlan_of(f"Ethernet{number}") == ("access", lock["management_vlan"])
