"""The demo's passphrase is public, so no other cloud than the sandbox may be managed with it."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pulumi
from openstack.config import OpenStackConfig
from openstack.exceptions import ConfigException

from .places import DEMO_PASSPHRASE

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def refuse_demo_passphrase(cloud: str) -> None:
    """Raise `pulumi.RunError` if the state of a real cloud would be encrypted with the public passphrase."""
    if os.environ.get("PULUMI_CONFIG_PASSPHRASE") == DEMO_PASSPHRASE and not is_sandbox(cloud):
        raise pulumi.RunError(
            f"cloud {cloud} is not the sandbox, and the demo passphrase is public: "
            "set PULUMI_CONFIG_PASSPHRASE (or a secrets provider) of your own, then `pulumi stack init`"
        )


def is_sandbox(cloud: str) -> bool:
    """True if the cloud's Keystone listens on this machine's loopback only."""
    try:
        region = OpenStackConfig().get_one(cloud=cloud)
    except ConfigException:
        return False
    return urlsplit(region.get_auth_args().get("auth_url", "")).hostname in LOOPBACK
