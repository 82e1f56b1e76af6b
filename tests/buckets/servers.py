"""The real S3 servers of tests: Swift of the embedded cloud, and the Versity gateway; each with two tenants' keys."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.sandbox.cloud import Cloud
from tests.support import versity

from .probe import Server

SERVICE = "s3_service"


def swift_of(cloud: Cloud) -> Server:
    """Swift, with the keys of service users of two projects."""
    with urlopen(f"{cloud.swift}/info", timeout=30) as answer:
        release = json.load(answer)["swift"]["version"]
    one, two = (swift_user(cloud, cloud.tenant(name)) for name in ("acme", "globex"))
    return Server("swift", f"swift {release}", cloud.swift, one.s3, two.s3, two.access)


@dataclass(frozen=True)
class Key:
    """An S3 key, and a client with it."""

    access: str
    s3: Any


def swift_user(cloud: Cloud, tenant: Any) -> Key:
    """A new service user of a project, with a key."""
    user = cloud.user(f"s3-{tenant.name}-{secrets.token_hex(3)}", tenant, SERVICE)
    made = cloud.ec2(cloud.admin.session, user.id, tenant).json()["credential"]
    return Key(made["access"], cloud.s3(made))


@contextmanager
def versity_in(folder: Path) -> Iterator[tuple[versity.Versity, Server]]:
    """A Versity gateway with an account of each of two tenants."""
    with versity.running(folder) as gateway:
        one, two = (versity_account(gateway, name) for name in ("acme", "globex"))
        yield gateway, Server("versity", gateway.release, gateway.endpoint, one.s3, two.s3, two.access)


def versity_account(gateway: versity.Versity, name: str) -> Key:
    """A new account."""
    access, secret = f"{name}{secrets.token_hex(4)}", secrets.token_hex(16)
    gateway.add_account(access, secret)
    return Key(access, gateway.s3(access, secret))
