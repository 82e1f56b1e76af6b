"""What each tenant's stack was given and gave back. It stays in the store when its claims are gone.

A report for the tenant's file is made from it, a year later too. Nothing is decided by it: no claim and no proof reads
it. It has names and identities, and no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic import Field

from interlock.resources import Frozen
from interlock.vocabulary.owners import OwnerId

from .objects import Changed, Exists, ObjectStore
from .records import StackRecord, Taking
from .shelves import ROUNDS, RecordFolder, keeps_changing
from .writer import moment, writer


class GivenObject(Frozen):
    """An object that a stack may have made. `on_delete`: of one that holds data, as it was applied last."""

    kind: str
    name: str
    on_delete: str = ""


class SeenRecord(Frozen):
    """A step that counted when something was settled: who saw it, and where that stood."""

    step: str = Field(description="which step")
    at: str = Field(description="when it was seen, in UTC")
    by: str = Field(description="who saw it")
    position: str = Field(description="`file:line:column` of the entry; of what was asked just then, who said so")
    signed_by: tuple[str, ...] = Field(
        default=(), description="whose listed keys had signed the file; empty: nobody had to, or it was asked"
    )


class SettledThing(Frozen):
    """An exclusive identity that was handed out again. `about`: what evidence calls it, empty where it needs none."""

    identity: str
    about: dict[str, str | int] = {}
    steps: tuple[SeenRecord, ...] = ()


class Settlement(Frozen):
    """One run of `interlock settle` that freed something."""

    at: str
    things: tuple[SettledThing, ...]
    #: True if the engine's state and the cloud held nothing of the stack just then, and its plan has nothing in it.
    nothing_left: bool = False


class Stay(Frozen):
    """From the first object that a stack was to make until its last claims were let go."""

    #: Empty: a version that did not record objects made the first of them.
    since: str
    objects: tuple[GivenObject, ...] = ()
    #: Exclusive identity that it has claimed meanwhile -> when it is last known to have held it, in UTC.
    identities: dict[str, str] = {}
    #: When the engine let the last claims go, after every object that rests on them. Empty: it has not.
    left: str = ""


class HistoryRecord(Frozen):
    """What is known of the past of one stack of one owner."""

    stack: str
    tenant: str
    owner: OwnerId
    #: Oldest first; another one begins when a tenant that was gone comes back.
    stays: tuple[Stay, ...] = ()
    settlements: tuple[Settlement, ...] = ()
    #: Who wrote this last, for people: no two writes are alike.
    written_by: str = ""

    @property
    def last_known(self) -> tuple[bool, str]:
        """Orders pasts of one name by when they are last known of; one that did not end comes last."""
        left = self.stays[-1].left if self.stays else ""
        return bool(self.stays) and not left, max((left, *(one.at for one in self.settlements)))


@dataclass(frozen=True)
class History:
    """The past of the stacks of one site. Methods raise `StoreFailed` when the store is in trouble."""

    store: ObjectStore

    def of(self, stack: str, owner: OwnerId) -> HistoryRecord | None:
        """That of a stack, as this owner id knows it."""
        found = self._records.get(_key(stack, owner))
        return found.record if found else None

    def all_of(self, stack: str) -> tuple[HistoryRecord, ...]:
        """Those of every owner that this name has had."""
        return tuple(record for record in self._records if record.stack == stack)

    def given(self, taking: Taking, objects: Iterable[GivenObject], *, had_others: bool = False) -> None:
        """Before the first object is made: whatever comes after, this is what there may be.

        `had_others`: the stack had made objects already, so that a past which only begins here does not list all.
        """
        wanted, since = tuple(objects), "" if had_others else moment()
        if taking.tenant is not None:
            self._change(taking.stack, taking.tenant, taking.owner, lambda old: _with_given(old, taking, wanted, since))

    def left(self, record: StackRecord, at: str = "") -> None:
        """Before the last claims of a stack are let go: if this ends in between, the claims still stand.

        `at`: when it was seen to have nothing, where that was before this moment.
        """
        since = at or moment()
        held = {identity for entry in record.entries for identity in entry.held}
        if record.tenant is not None:
            self._change(record.stack, record.tenant, record.owner, lambda old: _without_claims(old, held, since))

    def settled(self, stack: str, tenant: str, owner: OwnerId, settlement: Settlement) -> None:
        """Before anything is handed out: the lock still says what was not settled, if this ends in between."""
        self._change(
            stack,
            tenant,
            owner,
            lambda old: old.model_copy(update={"settlements": (*old.settlements, settlement)}),
        )

    @property
    def _records(self) -> RecordFolder[HistoryRecord]:
        return RecordFolder(self.store, "history", HistoryRecord, lambda record: _key(record.stack, record.owner))

    def _change(
        self, stack: str, tenant: str, owner: OwnerId, change: Callable[[HistoryRecord], HistoryRecord]
    ) -> None:
        key = _key(stack, owner)
        for _ in range(ROUNDS):
            found = self._records.get(key)
            old = found.record if found else HistoryRecord(stack=stack, tenant=tenant, owner=owner)
            new = change(old)
            if found and new == old:
                return
            try:
                self._records.put(
                    key, new.model_copy(update={"written_by": writer()}), found.version if found else None
                )
            except (Changed, Exists):
                continue
            return
        raise keeps_changing(self.store.name, f"history of {stack}")


def _key(stack: str, owner: OwnerId) -> str:
    return f"{stack}@{owner}"


def _with_given(old: HistoryRecord, taking: Taking, objects: tuple[GivenObject, ...], since: str) -> HistoryRecord:
    earlier = old.stays if old.stays and old.stays[-1].left else old.stays[:-1]
    if earlier == old.stays:
        stay = Stay(since=moment() if old.stays else since)
    else:
        stay = old.stays[-1]
    known = {(item.kind, item.name): item for item in (*stay.objects, *objects)}
    new = stay.model_copy(
        update={
            "objects": tuple(known[key] for key in sorted(known)),
            "identities": _held(stay, taking.entry.held, moment()),
        }
    )
    return old.model_copy(update={"stays": (*earlier, new)})


def _without_claims(old: HistoryRecord, held: Iterable[str], now: str) -> HistoryRecord:
    """A stay that a version of before began is not recorded: then what it claimed last is all that is known."""
    begun = old.stays and not old.stays[-1].left
    stay = old.stays[-1] if begun else Stay(since="")
    new = stay.model_copy(update={"identities": _held(stay, held, now), "left": now})
    return old.model_copy(update={"stays": (*(old.stays[:-1] if begun else old.stays), new)})


def _held(stay: Stay, held: Iterable[str], at: str) -> dict[str, str]:
    return dict(sorted({**stay.identities, **dict.fromkeys(held, at)}.items()))
