"""Buckets, which no list of all accounts shows: one question about each that is planned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.vocabulary.pair_ids import BucketId

from .asked import AT_ONCE, Asked
from .standing import Standing
from .unmanaged import BY_HAND, UnmanagedResource

#: Kinds of storage whose buckets are containers of Swift's; empty: a site that does not say is taken for one.
_SWIFT = ("", "swift")
#: Header of a container that opens it to others -> what they may do. S3 shows neither.
_OPENED = {"X-Container-Read": "read", "X-Container-Write": "write"}


def buckets(cloud: Cloud, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Standing, list[UnmanagedResource]]]:
    """How each stands, and who else may use it. Raises `Failure` if the object store fails."""
    asked = list(asked)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for one, answer in zip(asked, pool.map(lambda one: _headers(cloud, one), asked), strict=True):
            yield one, _standing(one, answer), list(_opened(one, answer))


def _headers(cloud: Cloud, one: Asked) -> Any:
    """Headers of the container, None if there is none, or why nobody can tell."""
    if not one.project:
        return None
    if (kind := one.planned.spec.get("storage", "")) not in _SWIFT:
        return f"nothing here reads what is at object storage of kind {kind} without a tenant's key"
    try:
        path = f"/{one.planned.spec['name']}"
        return cloud.api("object-store", one.project).request("HEAD", path).headers
    except Failure as failure:
        if failure.trouble is Trouble.NOT_FOUND:
            return None
        if failure.trouble is Trouble.FORBIDDEN:
            return failure.message
        raise


def _standing(one: Asked, answer: Any) -> Standing:
    kind, name, spec = one.planned.kind, one.planned.name, one.planned.spec
    if answer is None:
        return Standing(kind, name, ())
    ident = str(BucketId(one.project, spec["name"]))
    if isinstance(answer, str):
        return Standing(kind, name, (ident,), unread=answer)
    versioning = answer.get("X-Versions-Enabled", "").lower() == "true"
    differs = {} if versioning == spec["versioning"] else {"versioning": (spec["versioning"], versioning)}
    return Standing(kind, name, (ident,), differs)


def _opened(one: Asked, answer: Any) -> Iterator[UnmanagedResource]:
    for header, right in _OPENED.items() if answer is not None and not isinstance(answer, str) else ():
        if who := answer.get(header):
            ident = str(BucketId(one.project, one.planned.spec["name"]))
            why = f"{who} may {right} it ({header})"
            yield UnmanagedResource("Bucket", ident, one.planned.name, False, one.stack, why, BY_HAND)
