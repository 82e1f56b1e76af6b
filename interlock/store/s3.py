"""A bucket as a store of objects, by conditional writes: of S3 itself, or of a server that honours them as S3 does.

What is removed is written over with nothing, and reads as absent: conditional deletion is not to be had everywhere.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from typing import Any

from botocore.exceptions import ClientError

from interlock.retry import RetryPolicy

from .objects import Changed, Exists, Stored, StoreFailed, address, key_at
from .s3_calls import PATIENCE, READERS, BucketUrl, Calls, ConditionFailed, Unanswered, code

_PROBE = "probe/conditions"
_PROBE_BODY = b"interlock asks here whether the server honours conditional writes\n"
#: Reads that agree, seconds apart, before a version that is no hash is believed to belong to the body.
_AGREEING, _BETWEEN = 3, 0.02
#: Not the version of anything: nothing has this hash.
_NO_VERSION = '"' + "0" * 32 + '"'


class S3Store:
    """Objects below `s3://bucket/prefix/<part>/`. Opening makes no call; before the first write the server is tried."""

    def __init__(self, url: str, part: str = "", retry_policy: RetryPolicy = PATIENCE) -> None:
        self._bucket = BucketUrl.at(url, part)
        self._calls = Calls(self._bucket, retry_policy)
        self._base = f"{self._bucket.prefix}/" if self._bucket.prefix else ""
        self._tried = False
        self._trying = Lock()

    @property
    def name(self) -> str:
        """Bucket and prefix as a URL, with the endpoint where there is one."""
        return self._bucket.url

    def get(self, key: str) -> Stored | None:
        """The object, or None."""
        found = self._raw(self._at(key))
        return found if found is not None and found.body else None

    def put_new(self, key: str, body: bytes) -> str:
        """Write a key that is not there and return its version. Raises `Exists`."""
        self._require_conditions()
        place = self._at(key)
        try:
            return self._put(place, body, IfNoneMatch="*")
        except Changed:
            found = self._raw(place)
        if found is None or found.body:
            raise Exists(key)
        try:
            # Something was here and was removed.
            return self._put(place, body, IfMatch=found.version)
        except Changed:
            raise Exists(key) from None

    def put_over(self, key: str, body: bytes, version: str) -> str:
        """Write over this very version and return the new one. Raises `Changed`."""
        self._require_conditions()
        return self._put(self._at(key), body, IfMatch=version)

    def remove(self, key: str, version: str) -> None:
        """Remove this very version. Raises `Changed`; a key that is absent is fine."""
        self._require_conditions()
        try:
            self._put(self._at(key), b"", IfMatch=version)
        except Changed:
            if self.get(key) is not None:
                raise

    def items(self, prefix: str) -> Iterator[tuple[str, Stored]]:
        """Everything whose key begins so, sorted by key."""
        kind, slash, _ = prefix.partition("/")
        places = self._calls.ask(kind, lambda: list(self._listed(kind + slash)))
        named = ((key_at(place.removeprefix(self._base)), place) for place in places)
        found = sorted(item for item in named if item[0].startswith(prefix))
        with ThreadPoolExecutor(READERS) as readers:
            bodies = list(readers.map(self._raw, (place for _, place in found)))
        for (key, _), stored in zip(found, bodies, strict=True):
            # What went since the listing is no more there.
            if stored is not None and stored.body:
                yield key, stored

    def _at(self, key: str) -> str:
        return self._base + address(key)

    def _listed(self, start: str) -> Iterator[str]:
        pages = self._calls.client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket.name, Prefix=self._base + start):
            yield from (item["Key"] for item in page.get("Contents", []) if item["Size"])

    def _raw(self, place: str) -> Stored | None:
        """What lies there, removed or not."""
        return self._calls.ask(place, lambda: self._got(place))

    def _got(self, place: str) -> Stored | None:
        """The body with its own version. A server that keeps them apart may give an old body with a new version.

        Where the version is not the body's hash, it is read again until it is, or is the same several times: then
        the server makes its versions in another way.
        """
        seen: list[Stored] = []
        while len(seen) < _AGREEING:
            try:
                answer = self._calls.client.get_object(Bucket=self._bucket.name, Key=place)
            except ClientError as error:
                if code(error) == "NoSuchKey":
                    return None
                raise
            found = Stored(answer["Body"].read(), answer["ETag"])
            if _is_hash(found) or "kms" in answer.get("ServerSideEncryption", ""):
                return found
            seen = [*seen, found] if found in seen else [found]
            time.sleep(_BETWEEN)
        return seen[0]

    def _put(self, place: str, body: bytes, **condition: str) -> str:
        """One conditional write, done once. Raises `Changed` if the condition does not hold.

        An attempt without an answer may have been carried out, and then the next one fails on its own work: so
        after any doubt the object is read back, and our own body there means success.
        """
        try:
            return self._written(place, body, **condition)
        except ConditionFailed as failed:
            if failed.unsure and (version := self._version_of_ours(place, body)):
                return version
            raise Changed(place) from None
        except Unanswered:
            if version := self._version_of_ours(place, body):
                return version
            raise

    def _written(self, place: str, body: bytes, **condition: str) -> str:
        arguments: dict[str, Any] = {"Bucket": self._bucket.name, "Key": place, "Body": body, **condition}
        return self._calls.ask(place, lambda: str(self._calls.client.put_object(**arguments)["ETag"]))

    def _version_of_ours(self, place: str, body: bytes) -> str | None:
        found = self._raw(place)
        return found.version if found is not None and found.body == body else None

    def _require_conditions(self) -> None:
        """Raises `StoreFailed` if the server writes although a condition does not hold: nothing is exclusive then."""
        with self._trying:
            if self._tried:
                return
            place = self._base + _PROBE
            if self._raw(place) is None:
                self._race()
                self._takes(place, IfNoneMatch="*")
            if self._takes(place, IfNoneMatch="*"):
                raise self._unconditional("If-None-Match is not honoured")
            if self._takes(place, IfMatch=_NO_VERSION):
                raise self._unconditional("If-Match is not honoured")
            self._tried = True

    def _race(self) -> None:
        """Once in a store's life: a server that looks, then writes, honours conditions until two writers meet."""
        place = f"{self._base}probe/{secrets.token_hex(16)}"
        self._run(place, IfNoneMatch="*")
        found = self._raw(place)
        self._run(place, IfMatch=found.version if found else _NO_VERSION)

    def _run(self, place: str, **condition: str) -> None:
        start = Barrier(READERS)

        def writer(number: int) -> bool:
            start.wait()
            # Never the body that is there already: the version would stay the same, and the next writer succeed too.
            return self._takes(place, f"{list(condition)} {number}".encode(), **condition)

        with ThreadPoolExecutor(READERS) as writers:
            winners = sum(writers.map(writer, range(READERS)))
        if winners > 1:
            raise self._unconditional(f"of {READERS} writers at once, {winners} succeeded")

    def _takes(self, place: str, body: bytes = _PROBE_BODY, **condition: str) -> bool:
        try:
            self._written(place, body, **condition)
        except ConditionFailed:
            return False
        return True

    def _unconditional(self, seen: str) -> StoreFailed:
        return StoreFailed(
            f"claims store {self.name}: the server does not honour conditional writes: {seen}",
            "use a server that does: S3 itself, or the Versity gateway, 1.8.0 or newer",
        )


def _is_hash(stored: Stored) -> bool:
    return stored.version.strip('"') == hashlib.md5(stored.body, usedforsecurity=False).hexdigest()
