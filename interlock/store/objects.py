"""The small interface behind which a folder and an S3 bucket are the same: objects with versions, changed on condition.

A key is a kind and a name, `claims/segment:L:tor-1:110`; the name may hold any character. A body is never empty.
Every change is conditional: nothing is ever written over something that the writer has not seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

from interlock.vocabulary import InterlockError

#: File names end at 255 bytes almost everywhere.
_LONGEST = 200


class Stored(NamedTuple):
    """A body, and the version that a change of it has to name."""

    body: bytes
    version: str


class Exists(Exception):
    """The key that was to be new is there already."""


class Changed(Exception):
    """The object is no more, or is not yet, at the version that the change named."""


class StoreFailed(InterlockError):
    """The store itself failed: says what, where, and what to do next. Nothing is known of the claims."""

    LEAD = "next"


class ObjectStore(Protocol):
    """Objects by key. All methods may be called from several threads, and raise `StoreFailed`."""

    @property
    def name(self) -> str:
        """What people know the store by: its URL."""

    def get(self, key: str) -> Stored | None:
        """The object, whole, or None."""

    def put_new(self, key: str, body: bytes) -> str:
        """Write a key that is not there and return its version. Raises `Exists`; of many writers one succeeds."""

    def put_over(self, key: str, body: bytes, version: str) -> str:
        """Write over this very version and return the new one. Raises `Changed`."""

    def remove(self, key: str, version: str) -> None:
        """Remove this very version. Raises `Changed`; a key that is absent is fine."""

    def items(self, prefix: str) -> Iterator[tuple[str, Stored]]:
        """Everything whose key begins so, sorted by key. The name of a long key is the hash in its address."""


def address(key: str) -> str:
    """The key as folders and buckets spell it: one level, no character that a file system or a URL takes apart."""
    kind, name = key.split("/", 1)
    quoted = quote(name, safe="")
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    if len(quoted) > _LONGEST:
        # No quoted name holds an equals sign.
        quoted = "sha256=" + hashlib.sha256(name.encode()).hexdigest()
    return f"{kind}/{quoted}"


def key_at(place: str) -> str:
    """The key that lies at an address; of a long one, the address itself."""
    return unquote(place)
