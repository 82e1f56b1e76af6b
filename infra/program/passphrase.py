"""The demo's passphrase is public, so no other cloud than the sandbox may be managed with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pulumi

from interlock.deferred_imports import defer
from interlock.provider.redaction import quote_no_files

from .places import DEMO_PASSPHRASE

if TYPE_CHECKING:
    from openstack.config import OpenStackConfig

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def refuse_demo_passphrase(cloud: str, environment: Mapping[str, str] = os.environ) -> None:
    """Raise `pulumi.RunError` if the state of a real cloud would be encrypted with the public passphrase."""
    if is_demo_passphrase(environment) and not is_sandbox(cloud):
        raise pulumi.RunError(
            f"cloud {cloud} is not the sandbox, and the demo passphrase is public: set "
            "PULUMI_CONFIG_PASSPHRASE (or a secrets provider) of your own, then run `pulumi stack init`"
        )


def is_sandbox(cloud: str) -> bool:
    """True if the cloud's Keystone listens on this machine's loopback only.

    Raises `pulumi.RunError` if clouds.yaml has no such cloud: nobody can tell then.
    """
    reader, cannot_be_read = cloud_reader()
    quote_no_files()
    try:
        region = reader().get_one(cloud=cloud)
    except cannot_be_read as error:
        raise pulumi.RunError(
            f"there is no usable cloud {cloud}: {error}. For the embedded one run "
            "`./run interlock sandbox up`; for your own name its clouds.yaml in OS_CLIENT_CONFIG_FILE"
        ) from None
    return urlsplit(region.get_auth_args().get("auth_url", "")).hostname in LOOPBACK


def is_demo_passphrase(environment: Mapping[str, str] = os.environ) -> bool:
    """True if states are encrypted with the public passphrase."""
    return _passphrase(environment) == DEMO_PASSPHRASE


def cloud_reader() -> tuple[type[OpenStackConfig], type[Exception]]:
    """What reads clouds.yaml, and the error if it cannot.

    Imported here: only the demo's passphrase needs it; and without the services, which take the longest.
    """
    defer("openstack")
    from openstack.config import OpenStackConfig
    from openstack.exceptions import ConfigException

    return OpenStackConfig, ConfigException


def _passphrase(environment: Mapping[str, str]) -> str | None:
    """What Pulumi takes: the variable, else the file that the other one names."""
    given, file = (
        environment.get("PULUMI_CONFIG_PASSPHRASE"),
        environment.get("PULUMI_CONFIG_PASSPHRASE_FILE"),
    )
    if given is None and file and Path(file).is_file():
        return Path(file).read_text().strip()
    return given
