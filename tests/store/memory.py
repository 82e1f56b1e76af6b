"""A store in memory that counts its calls, and fails or dies at one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from interlock.store.objects import Changed, Exists, ObjectStore, Stored

WRITES = ("put_new", "put_over", "remove")
#: When something goes wrong around a call: before it is carried out, or after it, its answer lost.
BEFORE, AFTER = "before", "after"


@dataclass
class MemoryStore:
    """Objects in a dictionary; versions are hashes, as those of S3."""

    name: str = "memory:"
    objects: dict[str, bytes] = field(default_factory=dict)
    turn: Lock = field(default_factory=Lock)

    def get(self, key: str) -> Stored | None:
        with self.turn:
            return self._at(key)

    def put_new(self, key: str, body: bytes) -> str:
        with self.turn:
            if key in self.objects:
                raise Exists(key)
            return self._put(key, body)

    def put_over(self, key: str, body: bytes, version: str) -> str:
        with self.turn:
            self._require(key, version)
            return self._put(key, body)

    def remove(self, key: str, version: str) -> None:
        with self.turn:
            if key in self.objects:
                self._require(key, version)
                del self.objects[key]

    def items(self, prefix: str) -> Iterator[tuple[str, Stored]]:
        with self.turn:
            found = [(key, self._at(key)) for key in sorted(self.objects) if key.startswith(prefix)]
        return iter([(key, stored) for key, stored in found if stored])

    def _at(self, key: str) -> Stored | None:
        body = self.objects.get(key)
        return None if body is None else Stored(body, _version(body))

    def _put(self, key: str, body: bytes) -> str:
        assert body, f"{key} gets an empty body"
        self.objects[key] = body
        return _version(body)

    def _require(self, key: str, version: str) -> None:
        found = self._at(key)
        if found is None or found.version != version:
            raise Changed(key)


def _version(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


class WatchedStore:
    """Another store, with something that happens before and after each of its calls.

    `watch` is told the number of the call from 0, its name and key, and `before` or `after`; it may raise or kill.
    """

    def __init__(self, store: ObjectStore, watch: Callable[[int, str, str, str], None]) -> None:
        self.store, self.watch, self.calls, self.turn = store, watch, 0, Lock()
        self.name = store.name

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)

        def call(key: str, *arguments: Any) -> Any:
            with self.turn:
                number = self.calls
                self.calls += 1
            self.watch(number, name, key, BEFORE)
            answer = method(key, *arguments)
            self.watch(number, name, key, AFTER)
            return answer

        return call
