"""Everything that a tenant has on the cloud, as the services list it: names with how often each occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from openstack.connection import Connection

from tests.e2e.identity import identity

Listing = dict[str, Counter[str]]


def listing(cloud: Connection, tenant: str) -> Listing:
    """All objects whose name begins with the tenant's id, by service list; in every project."""
    network, compute, users = cloud.network, cloud.compute, identity(cloud)
    lists: dict[str, Iterable[Any]] = {
        "projects": users.projects(),
        "users": users.users(),
        "networks": network.networks(),
        "subnets": network.subnets(),
        "routers": network.routers(),
        "security groups": network.security_groups(),
        "ports": network.ports(),
        "servers": compute.servers(all_projects=True),
        "keypairs": compute.keypairs(),
        "volumes": cloud.block_storage.volumes(all_projects=True),
    }
    found = {what: Counter(item.name for item in items if _of(tenant, item.name)) for what, items in lists.items()}
    return found | _keys(cloud, tenant) | _nameless(cloud, tenant)


def _of(tenant: str, name: str | None) -> bool:
    return name is not None and (name == tenant or name.startswith(f"{tenant}-"))


def _keys(cloud: Connection, tenant: str) -> Listing:
    """S3 keys have no names: they are counted by their user."""
    users = [user for user in cloud.identity.users() if _of(tenant, user.name)]
    return {"s3 keys": Counter(user.name for user in users for _ in _credentials(cloud, user.id))}


def _credentials(cloud: Connection, user: str) -> list[Any]:
    return list(cloud.identity.get(f"/users/{user}/credentials/OS-EC2").json()["credentials"])


def _nameless(cloud: Connection, tenant: str) -> Listing:
    """What has a project and no name of ours: router interfaces and the default security group."""
    project = identity(cloud).find_project(tenant)
    if project is None:
        return {"owners of nameless ports": Counter()}
    ports = cloud.network.ports(project_id=project.id)
    return {"owners of nameless ports": Counter(port.device_owner for port in ports if not port.name)}
