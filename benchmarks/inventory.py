"""What a tenant has on the cloud, without ids and marks: two ways to make it must leave the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import openstack

from benchmarks.bare_operator import Connection
from benchmarks.measure import BenchmarkFailed
from sandbox.vipu.census import vipu_census
from tests.e2e.project import Project

Inventory = frozenset[str]

#: Service's list -> the fields of an object that both sides must agree in.
FIELDS: dict[str, tuple[str, ...]] = {
    "networks": ("name", "provider_network_type", "provider_physical_network", "provider_segmentation_id", "mtu"),
    "subnets": ("name", "cidr", "gateway_ip", "is_dhcp_enabled", "allocation_pools"),
    "ports": ("name", "device_owner", "fixed_addresses", "binding_vnic_type", "status", "binding_vif_type"),
    "routers": ("name", "status"),
    "servers": ("name", "status", "hypervisor_hostname", "key"),
    "volumes": ("name", "status", "size", "volume_type"),
    "keypairs": ("public_key",),
}


#: The same of what V-IPU controllers are told.
TOLD: dict[str, tuple[str, ...]] = {
    "agents": ("host", "port"),
    "clusters": ("agents", "topology", "domains"),
    "allocations": ("cluster", "agents"),
    "users": ("admin", "allocations"),
    "partitions": ("allocation", "ipus", "num_gcds", "num_replicas", "sync_type"),
}


def inventory(project: Project, tenant: str) -> Inventory:
    """One line per object of a tenant, in every project."""
    # OS_CLIENT_CONFIG_FILE of the prepared shell, which names another sandbox, would win over the argument.
    config = openstack.config.OpenStackConfig(config_files=[str(project.clouds_yaml)], load_envvars=False)
    cloud = openstack.connection.Connection(config=config.get_one(cloud="sandbox"), app_name="benchmark-inventory")
    with cloud:
        found = [*_lines(cloud, tenant), *_rules(cloud, tenant), *_access(cloud, tenant), *_outside(cloud, tenant)]
        return frozenset([*found, *_told(project.clouds_yaml.parent, tenant)])


def require_same(script: Inventory, ours: Inventory) -> None:
    """Raises `BenchmarkFailed` if the two have not made the same."""
    if script != ours:
        only = [f"script only: {line}" for line in sorted(script - ours)]
        only += [f"pulumi only: {line}" for line in sorted(ours - script)]
        raise BenchmarkFailed("the two did not make the same objects:\n" + "\n".join(only))


def _lines(cloud: Connection, tenant: str) -> Iterator[str]:
    lists: dict[str, Iterable[Any]] = {
        "networks": cloud.network.networks(),
        "subnets": cloud.network.subnets(),
        "ports": cloud.network.ports(),
        "routers": cloud.network.routers(),
        "servers": cloud.compute.servers(all_projects=True),
        "volumes": cloud.block_storage.volumes(all_projects=True),
        "keypairs": cloud.compute.keypairs(),
    }
    for what, items in lists.items():
        for item in items:
            if item.name.startswith(f"{tenant}-"):
                yield f"{what} {[_value(item, field) for field in FIELDS[what]]}"


def _value(item: Any, field: str) -> Any:
    if field == "fixed_addresses":
        return [address["ip_address"] for address in item.fixed_ips]
    if field == "key":
        return bool(item.key_name)
    return getattr(item, field)


def _rules(cloud: Connection, tenant: str) -> Iterator[str]:
    for group in cloud.network.security_groups():
        if group.name.startswith(f"{tenant}-"):
            for rule in group.security_group_rules:
                shown = [rule[key] for key in ("direction", "ethertype", "protocol", "port_range_min",
                                               "port_range_max", "remote_ip_prefix")]  # fmt: skip
                yield f"rule of {group.name} {shown}"


def _access(cloud: Connection, tenant: str) -> Iterator[str]:
    owner = cloud.identity.find_project(tenant, ignore_missing=False)
    users = {user.id: user.name for user in cloud.identity.users()}
    roles = {role.id: role.name for role in cloud.identity.roles()}
    for grant in cloud.identity.role_assignments(scope_project_id=owner.id):
        yield f"role {roles[grant.role['id']]} of {users[grant.user['id']]}"
    for ident, name in users.items():
        keys = cloud.identity.get(f"/users/{ident}/credentials/OS-EC2").json()["credentials"]
        yield from (f"S3 key of {name}" for key in keys if key["tenant_id"] == owner.id)
    buckets = cloud.connect_as_project({"id": owner.id}).object_store.containers()
    yield from (f"bucket {bucket.name}" for bucket in buckets)
    for service, quotas in _quotas(cloud, owner.id):
        yield f"quota {service} {quotas}"


def _outside(cloud: Connection, tenant: str) -> Iterator[str]:
    """Floating IPs, whose addresses Neutron chooses, and shares."""
    for port in cloud.network.ports():
        if port.name.startswith(f"{tenant}-"):
            yield from (f"floating IP to {port.name}" for _ in cloud.network.ips(port_id=port.id))
    for share in cloud.shared_file_system.shares(details=True, all_projects=True):
        if share.name.startswith(f"{tenant}-"):
            yield f"share {[share.name, share.status, share.size]}"


def _told(instance: Path, tenant: str) -> Iterator[str]:
    """What V-IPU controllers have, without states that pass."""
    for controller, nouns in vipu_census(instance).items():
        if controller.startswith(f"{tenant}-"):
            for noun, objects in nouns.items():
                for name, item in objects.items():
                    shown = {key: item[key] for key in TOLD.get(noun, ())}
                    yield f"{noun} {name} at {controller} {shown}"


def _quotas(cloud: Connection, owner: str) -> Iterator[tuple[str, dict[str, Any]]]:
    names = {
        "compute": ("instances", "cores", "ram"),
        "network": ("networks", "subnets", "ports", "routers", "security_groups", "security_group_rules"),
        "volume": ("volumes", "gigabytes"),
    }
    answers = {
        "compute": cloud.compute.get_quota_set(owner),
        "network": cloud.network.get_quota(owner),
        "volume": cloud.block_storage.get_quota_set(owner),
    }
    for service, answer in answers.items():
        yield service, {name: getattr(answer, name) for name in names[service]}
