"""Buckets of a request as a tenant writes them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER, shown
from interlock.resources.bucket_settings import LockMode, Method
from interlock.resources.storage import OnDelete

from .data_words import KEPT_DATA

#: A hundred years: what is kept longer is kept for good, and services compute dates with it.
MOST_DAYS = 36_500
#: Longest key of an object in S3, in bytes.
_LONGEST_KEY = 1024
ANY_ORIGIN = "*"
_ORIGIN = re.compile(r"https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?")
_HEADER = re.compile(r"\*|[A-Za-z0-9][A-Za-z0-9-]{0,126}")

Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]
_PARTS = "vPODs and GPU clusters"


def key_prefix(value: Any) -> str:
    """What keys of objects begin with. No key that people mean begins with a slash."""
    if not isinstance(value, str) or not value.isprintable() or len(value.encode()) > _LONGEST_KEY:
        raise fault(
            Code.VALUE, f"{shown(value)} is no beginning of a key", 'write it as in tmp/, or "" for all objects'
        )
    if value.startswith("/"):
        hint = f"write {value.lstrip('/') or chr(34) * 2}: keys of objects begin with no slash"
        raise fault(Code.VALUE, f"{shown(value)} begins with a slash", hint)
    return value


def origin(value: Any) -> str:
    """Scheme, host and perhaps port of a page; `*`: any."""
    if value != ANY_ORIGIN and (not isinstance(value, str) or not _ORIGIN.fullmatch(value)):
        hint = 'write scheme and host alone, as in https://notebook.example.net, or "*" for pages of anybody'
        raise fault(Code.VALUE, f"{shown(value)} is no origin", hint)
    return str(value)


def header(value: Any) -> str:
    """Name of an HTTP header; `*`: any."""
    if not isinstance(value, str) or not _HEADER.fullmatch(value):
        raise fault(Code.VALUE, f"{shown(value)} is no header", "write its name, as in content-type")
    return value


KeyPrefix = Annotated[str, BeforeValidator(key_prefix), WithJsonSchema({"type": "string"})]
WebOrigin = Annotated[
    str, BeforeValidator(origin), WithJsonSchema({"type": "string", "pattern": rf"^(\*|{_ORIGIN.pattern})$"})
]
HeaderName = Annotated[
    str, BeforeValidator(header), WithJsonSchema({"type": "string", "pattern": f"^({_HEADER.pattern})$"})
]


class LifecycleFile(FileModel):
    """What goes by itself, after so many days."""

    expire_days: dict[KeyPrefix, Days] = Field(
        default_factory=dict,
        description='What the keys of objects begin with, `""` for all → days after which they expire.',
    )
    noncurrent_days: Days | None = Field(
        default=None, description="Days that a version is kept after a newer one took its place; by default for good."
    )
    abort_multipart_days: Days | None = Field(
        default=None, description="Days after which an upload in parts that nobody finished goes; by default never."
    )


class CorsRuleFile(FileModel):
    """Pages of which origins a browser lets use the bucket."""

    origins: list[WebOrigin] = Field(description='Scheme and host of pages; `"*"`: pages of anybody.')
    methods: list[Method] = Field(default=["GET"], description="What such a page may do.")
    headers: list[HeaderName] = Field(default_factory=list, description='Headers that it may send; `"*"`: any.')
    expose: list[HeaderName] = Field(default_factory=list, description="Headers of answers that it may read.")
    max_age: Annotated[int, Field(ge=0, le=MOST_NUMBER)] | None = Field(
        default=None, description="Seconds that a browser remembers it; by default as long as it likes."
    )


class ObjectLockFile(FileModel):
    """How long what is written can be neither deleted nor overwritten."""

    mode: LockMode = Field(
        description="`compliance`: nobody may shorten it; `governance`: whoever has a right of its own may."
    )
    days: Days = Field(description="Days from when a version is written.")


class BucketFile(FileModel):
    """An S3 bucket."""

    versioning: bool = Field(default=True, description="Whether objects that are overwritten are kept.")
    on_delete: OnDelete | None = Field(default=None, description=KEPT_DATA)
    readers: list[str] = Field(default_factory=list, description=f"{_PARTS} that may read it with a key of their own.")
    writers: list[str] = Field(default_factory=list, description=f"{_PARTS} that may write to it, and read.")
    public: bool = Field(default=False, description="Whether everybody may read it, without any key.")
    lifecycle: LifecycleFile | None = Field(
        default=None, description="What goes by itself after some days; by default nothing."
    )
    cors: list[CorsRuleFile] = Field(
        default_factory=list, description="Web pages that a browser lets use it; by default none."
    )
    object_lock: ObjectLockFile | None = Field(
        default=None, description="How long nothing can be deleted; from the bucket's beginning or never."
    )
    encryption: bool = Field(
        default=False, description="Whether the storage has to encrypt what is written, with keys of its own (SSE-S3)."
    )
    public_access_block: bool = Field(
        default=False, description="Whether the storage has to refuse to open it to everybody."
    )
