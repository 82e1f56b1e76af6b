"""What the line of a bucket tells in a plan for people: its settings, and where a server was only seen to keep one."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.object_storage import Capability, Support, object_storage
from interlock.resources import Bucket


def bucket_details(bucket: Bucket) -> list[tuple[str, str]]:
    """(field, text) of everything that is asked of it, in the order in which a request says it."""
    return list(_details(bucket))


def _details(bucket: Bucket) -> Iterator[tuple[str, str]]:
    if bucket.storage:
        yield "storage", f"on {bucket.storage}{f' at {bucket.address}' if bucket.address else ''}"
    yield "versioning", f"versioning {'yes' if bucket.versioning else 'no'}"
    yield from (("lifecycle", text + _doubt(bucket, "lifecycle")) for text in _lifecycle(bucket))
    for rule in bucket.cors:
        who = "pages of anybody" if "*" in rule.origins else f"pages of {' '.join(rule.origins)}"
        yield "cors", f"{who} may {' '.join(rule.methods)}{_doubt(bucket, 'cors')}"
    if bucket.object_lock is not None:
        days = _days(bucket.object_lock.days)
        yield "object_lock", f"locked for {days} ({bucket.object_lock.mode}){_doubt(bucket, 'object_lock')}"
    if bucket.encryption:
        yield "encryption", f"encrypted{_doubt(bucket, 'encryption')}"
    if bucket.public_access_block:
        yield "public_access_block", f"never open to everybody{_doubt(bucket, 'public_access_block')}"
    yield "on_delete", f"on delete {bucket.on_delete}"


def _lifecycle(bucket: Bucket) -> Iterator[str]:
    if bucket.lifecycle is None:
        return
    for item in bucket.lifecycle.expire:
        yield f"{item.prefix or 'everything'} expires after {_days(item.days)}"
    if bucket.lifecycle.noncurrent_days is not None:
        yield f"old versions go after {_days(bucket.lifecycle.noncurrent_days)}"
    if bucket.lifecycle.abort_multipart_days is not None:
        yield f"unfinished uploads go after {_days(bucket.lifecycle.abort_multipart_days)}"


def _doubt(bucket: Bucket, setting: str) -> str:
    """What is to be said where a server took a setting and nobody has seen it work."""
    kept = object_storage(bucket.storage).capabilities.get(Capability(setting)) is Support.KEPT
    return " (kept by it; nobody saw the effect)" if kept else ""


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"
