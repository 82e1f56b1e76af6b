"""The object storage of a site: its kind, where it answers, and who makes the keys to it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.validation import FileModel
from interlock.model.text.values import shown
from interlock.object_storage import asked_kinds
from interlock.resources import Frozen

#: Who makes keys to it, and the one way in which this version has them made.
KEYSTONE, _KEYS = "keystone", ("keystone", "admin")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?")


def _kind(value: Any) -> str:
    """A kind of which a server was asked: of others nobody knows what they do with a bucket's settings."""
    kinds = asked_kinds()
    if not isinstance(value, str) or value not in kinds:
        message = f"{shown(value)}: no server of this kind was asked what it does with settings of buckets"
        raise fault(Code.NO_SUCH, message, f"those that were asked: {', '.join(kinds)}; without `object_storage` "
                    "buckets have versioning alone")  # fmt: skip
    return value


def _address(value: Any) -> str:
    """Scheme, host and perhaps port."""
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        hint = "write scheme, host and port alone, as in https://s3.example.net:8080"
        raise fault(Code.VALUE, f"{shown(value)} is no address of object storage", hint)
    return value


def _keys(value: Any) -> str:
    if value not in _KEYS:
        raise fault(Code.VALUE, f"{shown(value)} is no maker of keys", f"write {KEYSTONE}, or leave it out")
    if value != KEYSTONE:
        message = f"{shown(value)}: nothing here makes keys at an admin interface of object storage"
        raise fault(Code.VALUE, message, f"use storage that takes EC2 credentials of Keystone (`keys: {KEYSTONE}`)")
    return str(value)


class ObjectStorageFile(FileModel):
    """Where buckets are. Without it they are at the cloud's own object store, and have versioning alone."""

    kind: Annotated[str, BeforeValidator(_kind), WithJsonSchema({"enum": list(asked_kinds())})] = Field(
        description="what answers there; tenants' wishes for buckets are held against what a server of that kind did"
    )
    endpoint: (
        Annotated[
            str, BeforeValidator(_address), WithJsonSchema({"type": "string", "pattern": f"^{_ADDRESS.pattern}$"})
        ]
        | None
    ) = Field(default=None, description="address of its S3 interface; without it that of the cloud's catalogue")
    keys: Annotated[str, BeforeValidator(_keys), WithJsonSchema({"enum": [KEYSTONE]})] = Field(
        default=KEYSTONE, description="who makes S3 keys: `keystone`, as EC2 credentials"
    )


class ObjectStorage(Frozen):
    """The same in full form. `endpoint` empty: that of the cloud's catalogue."""

    kind: str
    endpoint: str = ""
    keys: str = KEYSTONE


def object_storage_of(file: ObjectStorageFile | None) -> ObjectStorage | None:
    """None if the site file states none."""
    if file is None:
        return None
    return ObjectStorage(kind=file.kind, endpoint=file.endpoint or "", keys=file.keys)
