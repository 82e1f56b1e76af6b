"""One writer at a time for what several stacks write and nothing else orders: whose turn it is stands in the store.

Clocks of two machines are never compared. A holder writes its record anew before and after each step; whoever waits
looks whether that happens, by its own clock, and takes over a record that has not changed for `LEASE`. So a holder
that was killed blocks nobody for ever, and one that was only slow finds out at its next step that it has lost its turn.
A run of the same stack need not wait for one that was killed: the backend keeps two runs of a stack apart.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from interlock.resources import Frozen
from interlock.retry import RetryPolicy

from .objects import Changed, Exists, ObjectStore, StoreFailed
from .refusals import IdentityTaken
from .shelves import Found, RecordFolder
from .writer import writer

#: Seconds without a change after which a holder counts as gone: more than one request takes with all its attempts, and
#: a job of UFM besides.
LEASE = 300.0
#: Seconds that a turn is waited for: more than `LEASE`, so that a killed holder lets nobody down.
PATIENCE = 900.0
#: Seconds between two looks.
_LOOK = 0.5

#: This process, as turns have it: threads of one process wait for each other.
_PROCESS = secrets.token_hex(8)


class TurnRecord(Frozen):
    """Who writes something, until it is given back."""

    subject: str
    stack: str
    process: str
    #: Counts the holder's steps, so that no two records are alike.
    step: int
    #: For people: user@host, process id, UTC time.
    written_by: str


@dataclass
class Turn:
    """A turn that is held. `still` stands before each step, and after the last one."""

    folder: RecordFolder[TurnRecord]
    record: TurnRecord
    version: str

    def still(self) -> None:
        """Say that the holder is at work. Raises `IdentityTaken` if somebody else has the turn by now."""
        record = self.record.model_copy(update={"step": self.record.step + 1, "written_by": writer()})
        try:
            self.version = self.folder.put(record.subject, record, self.version)
        except Changed:
            found = self.folder.get(record.subject)
            who = f"stack {found.record.stack} ({found.record.written_by})" if found else "somebody, who is done,"
            raise IdentityTaken(
                f"this run took longer than {LEASE:.0f} s for one step at {record.subject}, and {who} went on",
                "run `pulumi up` again: it looks at what is there, and completes it",
            ) from None
        self.record = record

    def end(self) -> None:
        """Give it back. One that cannot be given back is taken over after `LEASE`."""
        with contextlib.suppress(Changed, StoreFailed):
            self.folder.remove(self.record.subject, self.version)


@dataclass(frozen=True)
class Turns:
    """The turns of one site. `lease` and `patience` in seconds."""

    store: ObjectStore
    retry_policy: RetryPolicy
    lease: float = LEASE
    patience: float = PATIENCE
    process: str = _PROCESS

    @contextmanager
    def turn(self, subject: str, stack: str) -> Iterator[Turn]:
        """Hold the turn. Raises `IdentityTaken` if others have it for longer than `patience`, or still have it when the
        run is cancelled, and `StoreFailed`.
        """
        found = self._taken(subject, stack)
        try:
            yield found
        finally:
            found.end()

    def _taken(self, subject: str, stack: str) -> Turn:
        folder, clock = RecordFolder(self.store, "turns", TurnRecord), self.retry_policy.clock
        wanted = TurnRecord(subject=subject, stack=stack, process=self.process, step=0, written_by=writer())
        start = since = clock()
        seen: Found[TurnRecord] | None = None
        while True:
            found = folder.get(subject)
            if found is not None and (seen is None or found.version != seen.version):
                seen, since = found, clock()
            if found is None or self._is_gone(found.record, stack, clock() - since):
                with contextlib.suppress(Changed, Exists):
                    return Turn(folder, wanted, folder.put(subject, wanted, found.version if found else None))
            if clock() - start >= self.patience:
                raise _not_yet(subject, found.record if found else None, f"was so for {self.patience:.0f} s")
            if not self.retry_policy.wait(_LOOK):
                raise _not_yet(subject, found.record if found else None, "the run was cancelled while it waited")

    def _is_gone(self, record: TurnRecord, stack: str, unchanged: float) -> bool:
        return unchanged >= self.lease or (record.stack == stack and record.process != self.process)


def _not_yet(subject: str, record: TurnRecord | None, why: str) -> IdentityTaken:
    who = f"stack {record.stack} ({record.written_by})" if record else "several stacks in turn"
    return IdentityTaken(
        f"{subject} is being written by {who}, and {why}", "wait until that run has ended, then run again"
    )
