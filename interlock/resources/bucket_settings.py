"""Settings of a bucket as requests, plans and the provider share them. Days are whole days, as S3 counts them."""

from __future__ import annotations

from typing import Literal

from .base import Frozen

#: What a page in a browser may be let do; S3 knows no other methods.
Method = Literal["GET", "HEAD", "PUT", "POST", "DELETE"]
#: `compliance`: nobody may shorten it, whatever rights they have; `governance`: whoever has a right of its own may.
LockMode = Literal["governance", "compliance"]


class Expiry(Frozen):
    """Objects whose keys begin with `prefix` expire that many days after they were written; empty: all objects."""

    prefix: str
    days: int


class BucketLifecycle(Frozen):
    """What goes by itself. With versioning, an object that expires leaves its versions behind."""

    #: Each prefix once, in the order of the request.
    expire: tuple[Expiry, ...] = ()
    #: Days that a version is kept after a newer one took its place; None: for good.
    noncurrent_days: int | None = None
    #: Days after which an upload in parts that nobody finished is dropped; None: never.
    abort_multipart_days: int | None = None
    #: Ids of rules that were found on a bucket and that no plan makes; no request asks for any.
    beside: tuple[str, ...] = ()


class CorsRule(Frozen):
    """Pages of which origins a browser lets use the bucket. It keeps nobody out who is no browser."""

    #: `https://host`, or `*`: pages of anybody.
    origins: tuple[str, ...]
    methods: tuple[Method, ...]
    #: Headers that such a page may send, and those of answers that it may read.
    headers: tuple[str, ...] = ()
    expose: tuple[str, ...] = ()
    #: Seconds that a browser remembers the answer; None: as long as it likes.
    max_age: int | None = None


class ObjectLock(Frozen):
    """How long each version that is written can be neither deleted nor overwritten."""

    mode: LockMode
    days: int
