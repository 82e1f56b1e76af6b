"""S3 as a tenant speaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from openstack.connection import Connection

STYLE = Config(signature_version="s3v4", s3={"addressing_style": "path"}, request_checksum_calculation="when_required")


def client(cloud: Connection, access: str, secret: str) -> Any:
    """A client with these keys at the cloud's object storage."""
    address = cloud.object_store.get_endpoint()
    assert address is not None
    endpoint = address.split("/v1")[0]
    return boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id=access, aws_secret_access_key=secret,
        region_name="RegionOne", config=STYLE,
    )  # fmt: skip


def refusal(call: Callable[[], object]) -> str | None:
    """The code with which a call is refused, or None."""
    try:
        call()
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return None
