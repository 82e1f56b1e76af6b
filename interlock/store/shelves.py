"""Records of one kind in a store: read with their versions, many at a time; changed on condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from interlock.resources import Frozen, canonical_json

from .objects import ObjectStore, Stored, StoreFailed

R = TypeVar("R", bound=Frozen)

#: Reads at a time; a store answers each in milliseconds, and a stack has hundreds.
READERS = 16

#: Times that one record is tried: each time lost, somebody else got on.
ROUNDS = 100


class Found(NamedTuple, Generic[R]):
    """A record, and the version that a change of it has to name."""

    record: R
    version: str


@dataclass(frozen=True)
class RecordFolder(Generic[R]):
    """All records of one type, under `kind/`."""

    store: ObjectStore
    kind: str
    type: type[R]
    #: The name that a record says it has: one that was copied to another's place is refused. None: it says none.
    own_name: Callable[[R], str] | None = None

    def get(self, name: str) -> Found[R] | None:
        """The record of this name, or None."""
        stored = self.store.get(self._key(name))
        return None if stored is None else self._found(self._key(name), stored)

    def get_all(self, names: Iterable[str]) -> dict[str, Found[R] | None]:
        """The records of these names, sorted by name."""
        wanted = sorted(set(names))
        if len(wanted) < 2:
            return {name: self.get(name) for name in wanted}
        with ThreadPoolExecutor(min(READERS, len(wanted))) as readers:
            return dict(zip(wanted, readers.map(self.get, wanted), strict=True))

    def put(self, name: str, record: R, version: str | None) -> str:
        """Write over this version, or a new record if it is None. Raises `Changed` or `Exists`."""
        body = canonical_json(record.model_dump(mode="json")).encode()
        if version is None:
            return self.store.put_new(self._key(name), body)
        return self.store.put_over(self._key(name), body, version)

    def remove(self, name: str, version: str) -> None:
        """Remove this version; what is absent is fine. Raises `Changed`."""
        self.store.remove(self._key(name), version)

    def __iter__(self) -> Iterator[R]:
        """Every record, sorted by name."""
        return (self._found(key, stored).record for key, stored in self.store.items(f"{self.kind}/"))

    def _key(self, name: str) -> str:
        return f"{self.kind}/{name}"

    def _found(self, key: str, stored: Stored) -> Found[R]:
        try:
            record = self.type.model_validate_json(stored.body)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise StoreFailed(
                f"claims store {self.store.name}, {key}: not a record that this interlock reads: {why}",
                "use the version of interlock that wrote it, or newer; if it was damaged, restore it from a backup",
            ) from error
        own = key if self.own_name is None else self._key(self.own_name(record))
        if own != key:
            raise StoreFailed(
                f"claims store {self.store.name}, {key}: the record in this place is that of {own}",
                "somebody copied or moved it: restore both from a backup, or remove it from where it does not belong",
            )
        return Found(record, stored.version)


def keeps_changing(store: str, name: str) -> StoreFailed:
    """The failure of a record that somebody else changed at each of all tries."""
    return StoreFailed(
        f"claims store {store}, {name}: it changed {ROUNDS} times while it was being written",
        "run again when fewer runs are under way; if it persists, the server's versions (ETags) are not stable",
    )
