"""Buckets of a request: what contradicts itself in one, and what the site's object storage is not known to do."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.text.errors import Code
from interlock.object_storage import Capability, refusal
from interlock.resources import Bucket
from interlock.resources.bucket_settings import BucketLifecycle, CorsRule, Expiry, ObjectLock

from .bucket_file import ANY_ORIGIN, BucketFile, CorsRuleFile, LifecycleFile
from .reading import Path, RequestReading
from .request import BucketRequest


def read_buckets(reading: RequestReading) -> tuple[BucketRequest, ...]:
    """Buckets, in the order of the file."""
    return tuple(_bucket(reading, name, file) for name, file in reading.file.buckets.items())


def _bucket(reading: RequestReading, name: str, file: BucketFile) -> BucketRequest:
    path = ("buckets", name)
    reading.note_left_out(path, file, "versioning", "readers", "writers", "public")
    for index, part in enumerate(file.readers):
        if part in file.writers:
            message = f"`{part}` stands under `writers:` too"
            reading.faults.add(Code.TWICE, (*path, "readers", index), message, "who writes may read")
    found = BucketRequest(
        name=name,
        versioning=file.versioning,
        on_delete=reading.on_delete(path, file.on_delete),
        readers=reading.part_names((*path, "readers"), file.readers),
        writers=reading.part_names((*path, "writers"), file.writers),
        public=file.public,
        lifecycle=None if file.lifecycle is None else _lifecycle(reading, path, file.lifecycle),
        cors=tuple(_cors(reading, (*path, "cors", index), rule) for index, rule in enumerate(file.cors)),
        object_lock=None if file.object_lock is None else ObjectLock(**file.object_lock.model_dump()),
        encryption=file.encryption,
        public_access_block=file.public_access_block,
    )
    for key, message, hint in _contradictions(found):
        reading.faults.add(Code.CONTRADICTION, (*path, key), message, hint)
    _hold_against_storage(reading, path, found)
    return found


def _lifecycle(reading: RequestReading, path: Path, file: LifecycleFile) -> BucketLifecycle:
    found = BucketLifecycle(
        expire=tuple(Expiry(prefix=prefix, days=days) for prefix, days in file.expire_days.items()),
        noncurrent_days=file.noncurrent_days,
        abort_multipart_days=file.abort_multipart_days,
    )
    if found == BucketLifecycle() and not reading.faults.lost(*path, "lifecycle"):
        hint = "add `expire_days:`, `noncurrent_days:` or `abort_multipart_days:`, or leave it out"
        reading.faults.add(Code.VALUE, (*path, "lifecycle"), "a `lifecycle` in which nothing goes", hint)
    return found


def _cors(reading: RequestReading, path: Path, file: CorsRuleFile) -> CorsRule:
    for key, said in (("origins", file.origins), ("methods", file.methods)):
        if not said and not reading.faults.lost(*path, key):
            reading.faults.add(Code.VALUE, (*path, key), f"no {key}, so the rule lets nothing", "leave the rule out")
        reading.each_once((*path, key), said)
    if ANY_ORIGIN in file.origins and len(file.origins) > 1:
        hint = f'leave the others out, or the "{ANY_ORIGIN}"'
        message = f"`{ANY_ORIGIN}` stands for all other origins"
        reading.faults.add(Code.TWICE, (*path, "origins", file.origins.index(ANY_ORIGIN)), message, hint)
    return CorsRule(
        origins=tuple(file.origins), methods=tuple(file.methods), headers=tuple(file.headers),
        expose=tuple(file.expose), max_age=file.max_age,
    )  # fmt: skip


def _contradictions(found: BucketRequest) -> Iterator[tuple[str, str, str]]:
    """(key, what is wrong, what to do) of wishes of which one undoes another."""
    if found.public and found.public_access_block:
        yield "public_access_block", "a bucket that is `public: true`", "leave one of the two out"
    if found.object_lock is not None and not found.versioning:
        hint = "leave `versioning: false` out: versions are what is locked"
        yield "object_lock", "objects are locked, and have no versions", hint
    if found.object_lock is not None and found.on_delete == "erase":
        hint = "say `on_delete: keep`: what is locked cannot be erased"
        yield "object_lock", "objects are locked, and to be erased with the bucket", hint
    if found.lifecycle is not None and found.lifecycle.noncurrent_days and not found.versioning:
        hint = "leave `noncurrent_days:` out: there is one version of each object"
        yield "lifecycle", "versions go after some days, and there are none", hint


def _hold_against_storage(reading: RequestReading, path: Path, found: BucketRequest) -> None:
    """Readers, writers and `public` are not here: they are a policy, a resource of its own that the proof covers."""
    for key in (name for name in Bucket.SETTINGS if getattr(found, name)):
        refused = refusal(reading.offered.storage_kind, Capability(key))
        if refused is not None and not reading.faults.lost(*path, key):
            why, hint = refused
            reading.faults.add(Code.CONTRADICTION, (*path, key), f"`{key}`: {why}", hint)
