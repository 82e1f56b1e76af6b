"""Who may change a stack's objects by hand, why, and until when: written before the first change, kept for good.

No claim and no proof rests on it. `pulumi up` of the stack is refused while an entry is open, since it would set back
what was changed by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from interlock.model.evidence.values import moment
from interlock.resources import Frozen, canonical_json

from .objects import Changed, Exists, ObjectStore, StoreFailed
from .shelves import ROUNDS, RecordFolder, keeps_changing
from .writer import writer


class MaybeRecorded(StoreFailed):
    """A record was sent, and neither that nor the look at what became of it got an answer."""


class SignedBy(Frozen):
    """Whose listed key signed, and the signature as `ssh-keygen` made it."""

    name: str
    signature: str = Field(repr=False)


class GlassOpening(Frozen):
    """What somebody says before changing things by hand. Moments in UTC."""

    site: str
    stack: str
    number: int
    #: The signer's name; where nobody has to sign, user@host.
    by: str
    reason: str
    #: When the changes began, or will. Earlier than `written` where no record could be made at the time.
    since: str
    until: str
    written: str

    @property
    def signable(self) -> bytes:
        """What a signature is about."""
        return _signable("opening", self)


class DecidedDifference(Frozen):
    """A difference that was left when an entry was closed, and what was decided about it."""

    object: str
    found: str
    decision: str


class GlassClosing(Frozen):
    """How an entry ended."""

    site: str
    stack: str
    number: int
    by: str
    at: str
    left: tuple[DecidedDifference, ...] = ()
    #: What a person looked at that no program could read, in that person's words.
    looked: str = ""

    @property
    def signable(self) -> bytes:
        """What a signature is about."""
        return _signable("closing", self)


class GlassEntry(Frozen):
    """One night, from its opening to its closing."""

    opening: GlassOpening
    signed: SignedBy | None = None
    closing: GlassClosing | None = None
    closing_signed: SignedBy | None = None

    @property
    def is_open(self) -> bool:
        """True until it is closed, whether or not its time is over."""
        return self.closing is None

    def is_expired(self, now: datetime) -> bool:
        """True if it is open and its time is over."""
        return self.is_open and moment(self.opening.until) < now


class GlassRecord(Frozen):
    """Every entry of one stack, oldest first; an entry's number is its place, from 1."""

    stack: str
    entries: tuple[GlassEntry, ...] = ()
    #: Who wrote this last, for people: no two writes are alike.
    written_by: str = ""

    @property
    def open_entries(self) -> tuple[GlassEntry, ...]:
        """Those that nobody closed."""
        return tuple(entry for entry in self.entries if entry.is_open)


@dataclass(frozen=True)
class BreakGlass:
    """The records of one site. Methods raise `StoreFailed` when the store is in trouble."""

    store: ObjectStore

    def of(self, stack: str) -> GlassRecord:
        """That of a stack; empty if it has none."""
        found = self._records.get(stack)
        return found.record if found else GlassRecord(stack=stack)

    def all(self) -> tuple[GlassRecord, ...]:
        """Those of every stack of the site."""
        return tuple(self._records)

    def add(self, stack: str, made: Callable[[int], GlassEntry]) -> GlassEntry:
        """One entry more. `made` gets its number; it is asked again if somebody else took that meanwhile.

        Raises `MaybeRecorded` if nobody knows whether it is there.
        """

        def added(old: GlassRecord) -> GlassRecord:
            return old.model_copy(update={"entries": (*old.entries, made(len(old.entries) + 1))})

        return self._change(stack, added).entries[-1]

    def close(self, seen: GlassRecord, closed: tuple[GlassEntry, ...]) -> bool:
        """Put entries with a closing in the place of those that are open in `seen`.

        False, and nothing is written, if the record is another by now: somebody opened or closed one meanwhile.
        Raises `MaybeRecorded` if nobody knows whether they are closed.
        """
        found = self._records.get(seen.stack)
        if found is None or found.record != seen:
            return False
        by_number = {entry.opening.number: entry for entry in closed}
        entries = tuple(by_number.get(entry.opening.number, entry) for entry in seen.entries)
        try:
            self._put(seen.stack, _written(seen.model_copy(update={"entries": entries})), found.version)
        except Changed:
            return False
        return True

    @property
    def _records(self) -> RecordFolder[GlassRecord]:
        return RecordFolder(self.store, "break-glass", GlassRecord)

    def _change(self, stack: str, change: Callable[[GlassRecord], GlassRecord]) -> GlassRecord:
        for _ in range(ROUNDS):
            found = self._records.get(stack)
            new = _written(change(found.record if found else GlassRecord(stack=stack)))
            try:
                self._put(stack, new, found.version if found else None)
            except (Changed, Exists):
                continue
            return new
        raise keeps_changing(self.store.name, f"break-glass of {stack}")

    def _put(self, stack: str, new: GlassRecord, version: str | None) -> None:
        """What failed and is there all the same is written. Raises `Changed`, `Exists` and `MaybeRecorded`."""
        try:
            self._records.put(stack, new, version)
        except StoreFailed as failed:
            if not self._has(stack, new, failed):
                raise

    def _has(self, stack: str, new: GlassRecord, failed: StoreFailed) -> bool:
        """True if every entry of a record is in the store, whoever wrote others behind them meanwhile."""
        try:
            found = self.of(stack)
        except StoreFailed as unread:
            raise MaybeRecorded(f"{failed.what}; and read back: {unread.what}", failed.hint) from failed
        return found.entries[: len(new.entries)] == new.entries


def _written(record: GlassRecord) -> GlassRecord:
    return record.model_copy(update={"written_by": writer()})


def _signable(what: str, record: GlassOpening | GlassClosing) -> bytes:
    return canonical_json({"break-glass": what, **record.model_dump(mode="json")}).encode()
