"""What the tests of the embedded cloud share: connections, projects of their own, waits."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import boto3
import openstack
from botocore.client import Config
from botocore.exceptions import ClientError
from openstack import exceptions

PASSWORD = "secret"
ALLOWED = 0


class Running(Protocol):
    """The `sandbox` fixture, as far as these tests need it."""

    @property
    def clouds_yaml(self) -> Path: ...
    @property
    def dir(self) -> Path: ...
    @property
    def cloud(self) -> str: ...


def outcome(call: Callable[[], object]) -> int | str:
    """How a call ends: 0 when it is allowed, else its HTTP status, or S3's error code."""
    try:
        call()
    except exceptions.HttpException as error:
        return int(error.status_code or 0)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return ALLOWED


def until(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Poll until a condition gives something true; that is returned."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {condition}")


@dataclass(frozen=True)
class Tenant:
    """A project of a test."""

    name: str
    id: str


class Cloud:
    """The administrator's view, and the makers of what a test needs."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.tag = uuid.uuid4().hex[:6]
        ports = json.loads((running.dir / "ports.json").read_text(encoding="utf-8"))
        self.keystone = f"http://127.0.0.1:{ports['keystone']}/v3"
        self.swift = f"http://127.0.0.1:{ports['swift']}"
        config = openstack.config.OpenStackConfig(config_files=[str(running.clouds_yaml)])
        self.admin: Any = openstack.connection.Connection(config=config.get_one(running.cloud))

    def login(self, user: str, project: str, **more: Any) -> Any:
        """A connection as somebody else. The SDK must not mix the one cloud of clouds.yaml into it."""
        return openstack.connect(
            auth_url=self.keystone,
            username=user,
            password=PASSWORD,
            project_id=project,
            user_domain_id="default",
            region_name="RegionOne",
            load_yaml_config=False,
            load_envvars=False,
            **more,
        )

    def tenant(self, name: str) -> Tenant:
        """A new project."""
        project = self.admin.identity.create_project(name=f"{name}-{self.tag}", domain_id="default")
        return Tenant(name, project.id)

    def role(self, name: str) -> Any:
        """A role, made when the cloud does not have it."""
        identity = self.admin.identity
        return identity.find_role(name) or identity.create_role(name=name)

    def grant(self, user: Any, tenant: Tenant, role: str) -> None:
        """Give a user a role in a project."""
        project = self.admin.identity.get_project(tenant.id)
        self.admin.identity.assign_project_role_to_user(project, user, self.role(role))

    def user(self, name: str, tenant: Tenant, role: str) -> Any:
        """A new user with one role in one project."""
        words = {"name": f"{name}-{self.tag}", "password": PASSWORD, "domain_id": "default"}
        user = self.admin.identity.create_user(**words)
        self.grant(user, tenant, role)
        return user

    def as_role(self, tenant: Tenant, role: str) -> Any:
        """A connection of a new user with one role."""
        return self.login(self.user(f"{role}-{tenant.name}", tenant, role).name, tenant.id)

    def ec2(self, session: Any, user: str, tenant: Tenant) -> Any:
        """Keystone's answer to "make this user an S3 key for this project"."""
        return session.post(
            f"{self.keystone}/users/{user}/credentials/OS-EC2", json={"tenant_id": tenant.id}, raise_exc=False
        )

    def s3(self, key: dict[str, str]) -> Any:
        """An S3 client with such a key."""
        style = Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            request_checksum_calculation="when_required",
        )
        return boto3.client(
            "s3",
            endpoint_url=self.swift,
            region_name="RegionOne",
            config=style,
            aws_access_key_id=key["access"],
            aws_secret_access_key=key["secret"],
        )

    @contextmanager
    def vlan(self, segment: int, **more: Any) -> Iterator[Any]:
        """A provider network with a subnet on the fabric; gone afterwards."""
        network = self.admin.network
        made = network.create_network(
            name=f"vlan-{segment}-{self.tag}",
            provider_network_type="vlan",
            provider_physical_network="fabric100g",
            provider_segmentation_id=segment,
            **more,
        )
        try:
            network.create_subnet(
                network_id=made.id, ip_version=4, cidr="10.20.0.0/16", gateway_ip=None, enable_dhcp=False
            )
            yield made
        finally:
            for port in list(network.ports(network_id=made.id)):
                network.delete_port(port)
            network.delete_network(made)
