"""The hash that locks and plans record of a request, which stays as it is while keys that came later say nothing."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from interlock.model.tenant.request import (
    Access,
    BucketRequest,
    Cluster,
    ShareRequest,
    Tenant,
    VolumeRequest,
    Volumes,
    VPod,
)
from interlock.resources import Frozen, digest_of

#: Keys of requests that came after the first locks. At its default, which says what a request of before meant, each
#: is left out of hashes, so that these locks stay as they are.
YOUNGER: tuple[tuple[type[Frozen], frozenset[str]], ...] = (
    (Volumes, frozenset({"encrypted"})),
    (VolumeRequest, frozenset({"encrypted"})),
    (ShareRequest, frozenset({"mount"})),
    (VPod, frozenset({"s3_keys"})),
    (BucketRequest, frozenset({"lifecycle", "cors", "object_lock", "encryption", "public_access_block"})),
    (Access, frozenset({"ca", "accounts", "public"})),
    (Tenant, frozenset({"clusters"})),
    (Cluster, frozenset({"state", "without", "roll"})),
)

#: Keys of requests that no plan rests on: who gets certificates makes no lock old.
UNPLANNED_OF_REQUESTS: tuple[tuple[type[Frozen], frozenset[str]], ...] = ((Access, frozenset({"people"})),)


def request_hash(tenant: Tenant) -> str:
    """`sha256:` of a request in full form, but for what no plan rests on, and younger keys at their defaults."""
    return digest_of(_as_requested(tenant))


def _as_requested(part: Any) -> Any:
    """A part of a request as JSON, without younger keys at their defaults."""
    match part:
        case Frozen():
            kind = type(part)
            hidden = next((names for of, names in UNPLANNED_OF_REQUESTS if kind is of), frozenset[str]())
            young = next((names for of, names in YOUNGER if kind is of), frozenset[str]())
            fields = {name: getattr(part, name) for name in kind.model_fields if name not in hidden}
            return {
                name: _as_requested(value)
                for name, value in fields.items()
                if name not in young or value != kind.model_fields[name].default
            }
        case tuple() | list():
            return [_as_requested(item) for item in part]
        case dict():
            return {key: _as_requested(value) for key, value in part.items()}
    return to_jsonable_python(part)
