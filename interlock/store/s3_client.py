"""The S3 client of the store of claims and of the provider's buckets: one configuration for every server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from interlock import __version__

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_s3 import S3Client


#: Clients may be used by several threads; sessions, which make them, may not.
_MAKING = Lock()


@dataclass(frozen=True)
class S3Access:
    """Where a server is and with which key it is asked. Absent values are those that boto3 finds by itself."""

    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    access_key: str | None = None
    secret_key: str | None = None


def s3_client(access: S3Access, *, connect: float, read: float, connections: int = 10) -> S3Client:
    """A client that tries each call once: what is tried again, and when, is `interlock.retry`'s to say.

    `connect` and `read` are in seconds, without an answer. It may be used by several threads. Making one does no I/O
    with the server. Raises what boto3 raises of a profile or an endpoint that it cannot use.
    """
    # Imported here: it takes a third of a second, and most stacks have no bucket.
    import boto3
    from botocore.config import Config

    config = Config(
        signature_version="s3v4",
        # A server of one's own seldom answers to names of buckets.
        s3={"addressing_style": "path" if access.endpoint else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=connect,
        read_timeout=read,
        max_pool_connections=connections,
        user_agent_extra=f"interlock/{__version__}",
    )
    with _MAKING:
        session = _session_for_keys() if access.access_key else boto3.Session(profile_name=access.profile)
        return session.client(
            "s3",
            endpoint_url=access.endpoint,
            aws_access_key_id=access.access_key,
            aws_secret_access_key=access.secret_key,
            region_name=access.region or session.region_name or "us-east-1",
            config=config,
        )


@cache
def _session_for_keys() -> boto3.Session:
    """For callers with keys of their own: the description of S3 is read once. It holds nobody's credential."""
    import boto3

    return boto3.Session()
