"""The S3 key of a vPOD or GPU cluster, as its people are shown it."""

from __future__ import annotations

from interlock.resources import S3Credential

from .base import PlannedComponent
from .declaration import CloudObject


def s3_key_in_use(part: PlannedComponent) -> CloudObject | None:
    """Of two keys, while one is rotated, the one with the higher number; None where there is none."""
    planned = part.declaration.proof.plan.of(part.name)
    found = ((item.name, item.resource) for item in planned if isinstance(item.resource, S3Credential))
    keys = {key.number: name for name, key in found if key.opens == "s3"}
    return part.objects[keys[max(keys)]] if keys else None
