"""Deletes what the bare script made. Not measured: it only makes room for the next round.

python -m benchmarks.removal IDS     what the script printed
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openstack

from benchmarks.bare import s3_client
from benchmarks.bare_operator import Connection
from benchmarks.bare_shares import delete_share

#: What the script printed: [{"kind", "id"}, …] in the order in which it was made.
Made = list[dict[str, str]]


def remove(cloud: Connection, made: Made) -> None:
    """Delete everything, last made first; what is gone already counts as deleted."""
    for item in reversed(made):
        if item["kind"] == "Bucket":
            _bucket(cloud, item["id"], next(other["id"] for other in made if other["kind"] == "S3Credential"))
        elif item["kind"] in REMOVERS:
            REMOVERS[item["kind"]](cloud, item["id"])


def _bucket(cloud: Connection, name: str, credential: str) -> None:
    user, access = credential.split("/")
    key = cloud.identity.get(f"/users/{user}/credentials/OS-EC2/{access}").json()["credential"]
    s3_client(cloud, access, key["secret"]).delete_bucket(Bucket=name)


def _attachment(cloud: Connection, ident: str) -> None:
    server, volume = ident.split("/")
    cloud.compute.delete(f"/servers/{server}/os-volume_attachments/{volume}")
    cloud.block_storage.wait_for_status(cloud.block_storage.get_volume(volume), "available", interval=0.5)


def _server(cloud: Connection, ident: str) -> None:
    cloud.compute.delete_server(ident)
    cloud.compute.wait_for_delete(cloud.compute.get_server(ident), interval=0.5)


def _volume(cloud: Connection, ident: str) -> None:
    volume = cloud.block_storage.get_volume(ident)
    cloud.block_storage.delete_volume(volume)
    cloud.block_storage.wait_for_delete(volume, interval=0.5)


def _interface(cloud: Connection, ident: str) -> None:
    router, subnet = ident.split("/")
    cloud.network.remove_interface_from_router(router, subnet_id=subnet)


def _project(cloud: Connection, ident: str) -> None:
    # Neutron made the group `default` for it, and would keep it.
    for group in cloud.network.security_groups(project_id=ident):
        cloud.network.delete_security_group(group)
    cloud.identity.delete_project(ident)


#: Kinds that go with their user, project, share or controller; a bucket is deleted by hand of the key that made it.
WITH_OTHERS = (
    "RoleAssignment", "Quota", "ShareQuota", "ShareAccess", "S3Credential", "Bucket",
    "VipuAgent", "VipuCluster", "VipuAllocation", "VipuUser", "VipuPartition",
)  # fmt: skip

#: Kind -> how one is deleted.
REMOVERS: dict[str, Callable[[Connection, str], Any]] = {
    "VolumeAttachment": _attachment,
    "Server": _server,
    "Volume": _volume,
    "Share": delete_share,
    "Port": lambda cloud, ident: cloud.network.delete_port(ident),
    "SwitchPort": lambda cloud, ident: cloud.network.delete_port(ident),
    "FloatingIp": lambda cloud, ident: cloud.network.delete_ip(ident),
    "SecurityGroup": lambda cloud, ident: cloud.network.delete_security_group(ident),
    "RouterInterface": _interface,
    "Router": lambda cloud, ident: cloud.network.delete_router(ident),
    "Subnet": lambda cloud, ident: cloud.network.delete_subnet(ident),
    "Network": lambda cloud, ident: cloud.network.delete_network(ident),
    "ServiceUser": lambda cloud, ident: cloud.identity.delete_user(ident),
    "Keypair": lambda cloud, ident: cloud.compute.delete_keypair(ident),
    "Project": _project,
}


if __name__ == "__main__":
    remove(openstack.connect(app_name="benchmark-removal"), json.loads(Path(sys.argv[1]).read_text()))
