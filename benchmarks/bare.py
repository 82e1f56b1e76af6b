"""The other side of the comparison: a script as a careful operator writes it, with openstacksdk and nothing of ours.

    python -m benchmarks.bare VALUES     their kinds and ids go to stdout, as JSON; VALUES: see benchmarks/values.py

It starts every object as soon as those that it needs are there, with no more calls at once per service than
the file says. It reads nothing back, adopts nothing, marks nothing and keeps no state; what Neutron refuses for a quota
that would do is asked for again, as we do. It waits for what others need to be ready (volumes, servers, attachments),
and looks four times a second.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import openstack
from botocore.config import Config
from openstack.exceptions import ConflictException

from benchmarks import bare_network, bare_shares, bare_vipu
from benchmarks.bare_operator import Connection, Ids, Operator, Spec

#: Seconds between two looks at what is on its way, and until patience ends.
LOOK, PATIENCE = 0.25, 300

#: Seconds for which a creation is tried that Neutron refuses for its quota.
TRIED = 60


def _project(operator: Operator, spec: Spec, _ids: Ids) -> str:
    more = {"domain_id": spec["domain"], "description": spec["description"]}
    return str(operator.cloud.identity.create_project(name=spec["name"], **more).id)


def _role_assignment(operator: Operator, spec: Spec, ids: Ids) -> str:
    named = ids[spec["project"]], ids[spec["user"]], ids[spec["role"]]
    operator.cloud.identity.assign_project_role_to_user(*named)
    return "/".join(named)


def _quota(operator: Operator, spec: Spec, ids: Ids) -> str:
    owner, cloud = ids[spec["project"]], operator.cloud
    cloud.compute.update_quota_set(owner, instances=spec["instances"], cores=spec["cores"], ram=spec["ram_mib"])
    cloud.network.update_quota(
        owner, networks=spec["networks"], subnets=spec["subnets"], ports=spec["ports"], routers=spec["routers"],
        security_groups=spec["security_groups"], security_group_rules=spec["security_group_rules"],
        floating_ips=spec["floating_ips"],
    )  # fmt: skip
    cloud.block_storage.update_quota_set(owner, volumes=spec["volumes"], gigabytes=spec["volume_gib"])
    return owner


def _keypair(operator: Operator, spec: Spec, _ids: Ids) -> str:
    made = operator.cloud.compute.create_keypair(name=spec["name"], public_key=spec["public_key"], type="ssh")
    return str(made.name)


def _service_user(operator: Operator, spec: Spec, ids: Ids) -> str:
    made = operator.cloud.identity.create_user(
        name=spec["name"], domain_id=spec["domain"], default_project_id=ids[spec["project"]]
    )
    return str(made.id)


def _s3_credential(operator: Operator, spec: Spec, ids: Ids) -> str:
    user = ids[spec["user"]]
    answer = operator.cloud.identity.post(f"/users/{user}/credentials/OS-EC2", json={"tenant_id": ids[spec["project"]]})
    made = answer.json()["credential"]
    operator.secrets[made["access"]] = made["secret"]
    return f"{user}/{made['access']}"


def _volume(operator: Operator, spec: Spec, ids: Ids) -> str:
    made = operator.within(ids[spec["project"]]).block_storage.create_volume(
        name=spec["name"], size=spec["size_gib"], volume_type=ids[spec["volume_type"]]
    )
    return str(made.id)


def _server(operator: Operator, spec: Spec, ids: Ids) -> str:
    made = operator.within(ids[spec["project"]]).compute.create_server(
        name=spec["name"],
        flavor_id=ids[spec["flavor"]],
        image_id=ids[spec["image"]],
        host=spec["host"],
        networks=[{"port": ids[port]} for port in spec["ports"]],
        user_data=base64.b64encode(spec["user_data"].encode()).decode(),
        **({"key_name": ids[spec["keypair"]]} if spec["keypair"] else {}),
    )
    return str(made.id)


def _volume_attachment(operator: Operator, spec: Spec, ids: Ids) -> str:
    server, volume = ids[spec["server"]], ids[spec["volume"]]
    operator.within(ids[spec["project"]]).compute.create_volume_attachment(server, volume_id=volume)
    return f"{server}/{volume}"


def _bucket(operator: Operator, spec: Spec, ids: Ids) -> str:
    access = ids[spec["credential"]].split("/")[1]
    s3 = s3_client(operator.cloud, access, operator.secrets[access])
    s3.create_bucket(Bucket=spec["name"])
    if spec["versioning"]:
        s3.put_bucket_versioning(Bucket=spec["name"], VersioningConfiguration={"Status": "Enabled"})
    return str(spec["name"])


def s3_client(cloud: Connection, access: str, secret: str) -> Any:
    """A client of the object store's S3 interface, which answers at the root of its address."""
    address = urlsplit(cloud.object_store.get_endpoint())
    return boto3.client(
        "s3",
        endpoint_url=f"{address.scheme}://{address.netloc}",
        aws_access_key_id=access,
        aws_secret_access_key=secret,
        region_name=cloud.config.region_name,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


Make = Callable[[Operator, Spec, Ids], str]

#: Kind -> (service whose threads it takes, how it is made).
MAKERS: dict[str, tuple[str, Make]] = {
    "Project": ("identity", _project),
    "RoleAssignment": ("identity", _role_assignment),
    "Quota": ("identity", _quota),
    "Keypair": ("compute", _keypair),
    "ServiceUser": ("identity", _service_user),
    "S3Credential": ("identity", _s3_credential),
    "Network": ("network", bare_network.network),
    "Subnet": ("network", bare_network.subnet),
    "Router": ("network", bare_network.router),
    "RouterInterface": ("network", bare_network.router_interface),
    "SecurityGroup": ("network", bare_network.security_group),
    "Port": ("network", bare_network.port),
    "SwitchPort": ("network", bare_network.switch_port),
    "FloatingIp": ("network", bare_network.floating_ip),
    "Volume": ("block-storage", _volume),
    "Server": ("compute", _server),
    "VolumeAttachment": ("compute", _volume_attachment),
    "Bucket": ("object-store", _bucket),
    "ShareQuota": ("shared-file-system", bare_shares.share_quota),
    "Share": ("shared-file-system", bare_shares.share),
    "ShareAccess": ("shared-file-system", bare_shares.share_access),
    "VipuAgent": ("vipu", bare_vipu.agent),
    "VipuCluster": ("vipu", bare_vipu.cluster),
    "VipuAllocation": ("vipu", bare_vipu.allocation),
    "VipuUser": ("vipu", bare_vipu.user),
    "VipuPartition": ("vipu", bare_vipu.partition),
}


def _wait_for_volume(cloud: Connection, ident: str, status: str) -> None:
    volume = cloud.block_storage.get_volume(ident)
    cloud.block_storage.wait_for_status(volume, status, failures=["error"], interval=LOOK, wait=PATIENCE)


def _wait_for_server(cloud: Connection, ident: str) -> None:
    cloud.compute.wait_for_server(cloud.compute.get_server(ident), interval=LOOK, wait=PATIENCE)


#: Kind -> how to wait until it is ready. What is not here is ready when the request is answered.
WAITS: dict[str, Callable[[Connection, str], None]] = {
    "Volume": lambda cloud, ident: _wait_for_volume(cloud, ident, "available"),
    "Server": _wait_for_server,
    "VolumeAttachment": lambda cloud, ident: _wait_for_volume(cloud, ident.split("/")[1], "in-use"),
    "Share": lambda cloud, ident: bare_shares.wait_for_share(cloud, ident, interval=LOOK, wait=PATIENCE),
}


def _share_type(cloud: Connection, name: str) -> Any:
    return next(item for item in cloud.shared_file_system.share_types() if item.name == name)


#: Kind -> the id of something that is there already, by its name; with the service.
FINDERS: dict[str, tuple[str, Callable[[Connection, str], Any]]] = {
    "Project": ("identity", lambda cloud, name: cloud.identity.find_project(name, ignore_missing=False)),
    "Role": ("identity", lambda cloud, name: cloud.identity.find_role(name, ignore_missing=False)),
    "User": ("identity", lambda cloud, name: cloud.identity.find_user(name, ignore_missing=False)),
    "Network": ("network", lambda cloud, name: cloud.network.find_network(name, ignore_missing=False)),
    "Flavor": ("compute", lambda cloud, name: cloud.compute.find_flavor(name, ignore_missing=False)),
    "Image": ("image", lambda cloud, name: cloud.image.find_image(name, ignore_missing=False)),
    "VolumeType": ("block-storage", lambda cloud, name: cloud.block_storage.find_type(name, ignore_missing=False)),
    "ShareType": ("shared-file-system", _share_type),
}


class Run:
    """A thread for each object, and per service a limit on how many of them call it at once."""

    def __init__(self, operator: Operator, values: dict[str, Any]) -> None:
        self._operator = operator
        self._values = values
        self._limits = {service: threading.Semaphore(count) for service, count in values["threads"].items()}

    def make(self) -> dict[str, str]:
        """Makes everything; ids by name. Raises the first failure, when what had begun has ended."""
        existing, objects = self._values["existing"], self._values["objects"]
        futures: dict[str, Future[str]] = {}
        with ThreadPoolExecutor(len(existing) + len(objects)) as threads:
            for reference, item in existing.items():
                futures[reference] = threads.submit(self._find, item)
            for item in objects:
                needs = {name: futures[name] for name in item["needs"]}
                futures[item["name"]] = threads.submit(self._one, item, needs)
        return {item["name"]: futures[item["name"]].result() for item in objects}

    def _find(self, item: dict[str, str]) -> str:
        if item["name"] == "@operator":
            return str(self._operator.cloud.current_user_id)
        service, find = FINDERS[item["kind"]]
        with self._limits[service]:
            return str(find(self._operator.cloud, item["name"]).id)

    def _one(self, item: dict[str, Any], needs: dict[str, Future[str]]) -> str:
        ids = {name: future.result() for name, future in needs.items()}
        service, make = MAKERS[item["kind"]]
        with self._limits[service]:
            ident = _within_quota(lambda: make(self._operator, item["spec"], ids))
        if item["kind"] in WAITS:
            WAITS[item["kind"]](self._operator.cloud, ident)
        return ident


def _within_quota(make: Callable[[], str]) -> str:
    """Neutron counts what other requests have reserved at this moment, and refuses one although all fit.

    A port of a switch keeps its reservation until the driver is done, and all wait for each other there.
    """
    until = time.monotonic() + TRIED
    while True:
        try:
            return make()
        except ConflictException as refused:
            if time.monotonic() > until or "Quota exceeded" not in str(refused):
                raise
        time.sleep(LOOK)


def main(words: list[str]) -> None:
    """Make what the file named by the one argument holds; print kinds and ids."""
    values = json.loads(Path(words[0]).read_text())
    kinds = {item["name"]: item["kind"] for item in values["objects"]}
    made = Run(Operator(openstack.connect(app_name="benchmark-script")), values).make()
    json.dump([{"kind": kinds[name], "id": ident} for name, ident in made.items()], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
