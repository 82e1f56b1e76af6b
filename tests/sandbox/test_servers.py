"""Nova on the stand-in hosts: pinning, virtual functions, capacity, and state that outlives its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openstack import exceptions

from sandbox.launcher import processes
from sandbox.launcher.catalogue import processes_of
from sandbox.launcher.layout import Instance
from sandbox.rack.reading import named
from tests.sandbox.cloud import Cloud, Running, Tenant, until

SUPERVISOR = Path(__file__).resolve().parents[2] / "sandbox" / "supervisor.py"
WHOLE = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB", "hw:numa_nodes": "8"}
Boot = Callable[..., Any]


@pytest.fixture(scope="module")
def operator(cloud: Cloud, tenant: Tenant) -> Any:
    """The administrator, scoped to the tenant's project with unlimited quota."""
    cloud.grant(cloud.admin.identity.find_user("admin"), tenant, "admin")
    for name in ("cores", "ram", "instances"):
        cloud.admin.compute.update_quota_set(tenant.id, **{name: -1})
    return cloud.login("admin", tenant.id)


@pytest.fixture(scope="module")
def flavors(cloud: Cloud) -> Iterator[dict[str, Any]]:
    """A whole Poplar host, and a small controller."""
    compute = cloud.admin.compute
    whole = compute.create_flavor(name=f"whole-{cloud.tag}", ram=464 * 1024, vcpus=224, disk=100)
    compute.create_flavor_extra_specs(whole, WHOLE)
    small = compute.create_flavor(name=f"small-{cloud.tag}", ram=1024, vcpus=1, disk=1)
    yield {"whole": whole, "small": small}
    for flavor in (whole, small):
        compute.delete_flavor(flavor)


@pytest.fixture(scope="module")
def image(cloud: Cloud) -> Iterator[Any]:
    """Four kilobytes that nobody boots."""
    made = cloud.admin.image.create_image(
        name=f"image-{cloud.tag}",
        container_format="bare",
        disk_format="raw",
        visibility="public",
        data=b"x" * 4096,
        validate_checksum=False,
    )
    yield made
    cloud.admin.image.delete_image(made)


@pytest.fixture
def boot(operator: Any, flavors: dict[str, Any], image: Any) -> Iterator[Boot]:
    """Boots servers and waits for ACTIVE or ERROR; deletes them afterwards."""
    made: list[Any] = []

    def one(flavor: str, networks: Any, conn: Any = None, **more: Any) -> Any:
        client = conn or operator
        server = client.compute.create_server(
            name="test", flavor_id=flavors[flavor].id, image_id=image.id, networks=networks, **more
        )
        made.append((client, server))
        return until(lambda: settled(client, server.id), 60)

    yield one
    for client, server in made:
        client.compute.delete_server(server, ignore_missing=True)
    for client, server in made:
        wait_gone(client, server.id)


def settled(client: Any, server: str) -> Any:
    found = client.compute.get_server(server)
    return found if found.status in ("ACTIVE", "ERROR") else None


def gone(client: Any, server: str) -> bool:
    try:
        client.compute.get_server(server)
    except exceptions.NotFoundException:
        return True
    return False


def wait_gone(client: Any, server: str) -> None:
    until(lambda: gone(client, server), 60)


def free_poplar_hosts(cloud: Cloud) -> list[str]:
    """Poplar hosts on which no dedicated CPU is taken."""
    free = []
    for provider in cloud.admin.placement.resource_providers():
        if provider.name.startswith("poplar-"):
            path = f"/resource_providers/{provider.id}/usages"
            used = cloud.admin.placement.get(path, microversion="1.9").json()["usages"]
            free += [provider.name] if used.get("PCPU", 0) == 0 else []
    return sorted(free)


def test_a_server_with_virtual_functions_pinned_to_a_host(cloud: Cloud, operator: Any, boot: Boot) -> None:
    host = free_poplar_hosts(cloud)[-1]
    with cloud.vlan(4011) as data, cloud.vlan(4012) as storage:
        ports = [operator.network.create_port(network_id=one.id, binding_vnic_type="direct") for one in (data, storage)]
        server = boot("whole", [{"port": port.id} for port in ports], host=host)
        assert (server.status, server.compute_host) == ("ACTIVE", host), server.fault
        bound = [wait_active(cloud, port.id) for port in ports]
        operator.compute.delete_server(server)
        wait_gone(operator, server.id)
    assert [port.binding_vif_type for port in bound] == ["hw_veb", "hw_veb"]
    assert [port.binding_vif_details["vlan"] for port in bound] == ["4011", "4012"]
    assert len({port.binding_profile["pci_slot"] for port in bound}) == 2
    assert {port.binding_host_id for port in bound} == {host}


def active(cloud: Cloud, port: str) -> Any:
    found = cloud.admin.network.get_port(port)
    return found if found.status == "ACTIVE" else None


def wait_active(cloud: Cloud, port: str) -> Any:
    return until(lambda: active(cloud, port))


def test_no_more_whole_hosts_than_there_are(cloud: Cloud, boot: Boot) -> None:
    free = free_poplar_hosts(cloud)
    servers = [boot("whole", "none") for _ in range(len(free) + 1)]
    assert [server.status for server in servers] == ["ACTIVE"] * len(free) + ["ERROR"]
    assert sorted(cloud.admin.compute.get_server(server.id).compute_host for server in servers[:-1]) == free
    assert "No valid host" in servers[-1].fault["message"]


def test_a_virtual_function_needs_a_host_that_has_one(cloud: Cloud, operator: Any, boot: Boot) -> None:
    with cloud.vlan(4013) as data:
        port = operator.network.create_port(network_id=data.id, binding_vnic_type="direct")
        server = boot("small", [{"port": port.id}], host="infra-2")
        assert server.status == "ERROR"
        assert "No valid host" in server.fault["message"]


def test_a_controller_of_the_operator_on_a_tenants_network(cloud: Cloud, tenant: Tenant, boot: Boot) -> None:
    """The operator's project owns server and port; the network is the tenant's."""
    control = cloud.admin.network.create_network(name=f"control-{cloud.tag}", project_id=tenant.id)
    cloud.admin.network.create_subnet(network_id=control.id, ip_version=4, cidr="192.168.7.0/24")
    operations = cloud.tenant("operations")
    cloud.grant(cloud.admin.identity.find_user("admin"), operations, "admin")
    client = cloud.login("admin", operations.id)
    port = cloud.admin.network.create_port(network_id=control.id, project_id=operations.id)
    server = boot("small", [{"port": port.id}], conn=client, host="infra-1")
    assert (server.status, server.compute_host, server.project_id) == ("ACTIVE", "infra-1", operations.id)
    bound = wait_active(cloud, port.id)
    assert (bound.project_id, bound.binding_vif_type) == (operations.id, "ovs")
    client.compute.delete_server(server)
    until(lambda: gone(client, server.id))
    cloud.admin.network.delete_port(port)
    cloud.admin.network.delete_network(control)


def test_state_outlives_processes_that_are_killed(cloud: Cloud, sandbox: Running, operator: Any, boot: Boot) -> None:
    network = operator.network.create_network(name=f"kept-{cloud.tag}")
    operator.network.create_subnet(network_id=network.id, ip_version=4, cidr="10.1.0.0/24")
    server = boot("small", [{"uuid": network.id}], host="infra-1")
    volume = operator.block_storage.create_volume(size=1, name="kept")
    operator.block_storage.wait_for_status(volume, "available", interval=0.2, wait=30)
    operator.object_store.create_container("kept")
    operator.object_store.upload_object("kept", "object", data=b"hello")
    kill_all(sandbox)
    command = [sys.executable, str(SUPERVISOR), "up", "--dir", str(sandbox.dir)]
    subprocess.run(command, check=True, capture_output=True)

    again = operator.compute.get_server(server.id)
    assert (again.status, again.compute_host) == ("ACTIVE", "infra-1")
    assert [port.status for port in operator.network.ports(device_id=server.id)] == ["ACTIVE"]
    assert operator.block_storage.get_volume(volume.id).status == "available"
    assert operator.object_store.download_object("object", container="kept") == b"hello"
    operator.compute.stop_server(server)  # the new nova-compute knows the guest
    until(lambda: operator.compute.get_server(server.id).status == "SHUTOFF")
    operator.object_store.delete_object("object", container="kept")
    operator.object_store.delete_container("kept")
    operator.block_storage.delete_volume(volume)
    operator.compute.delete_server(server)
    until(lambda: gone(operator, server.id))
    operator.network.delete_network(network)


def kill_all(sandbox: Running) -> None:
    """SIGKILL to every process of the instance, and to nothing else."""
    running = processes.running(Instance(sandbox.dir))
    assert len(running) == len(processes_of(named("lyon")))
    for pid in running.values():
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while processes.running(Instance(sandbox.dir)) and time.monotonic() < deadline:
        time.sleep(0.05)
