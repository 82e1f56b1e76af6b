"""The ledger of claims: a stack takes, confirms and releases claims, or takes over those of a lost state.

An identity is one object that is there or not. A boundary node has one record that everybody who has something
there changes by compare-and-swap; only the nodes that a proof met are looked at, so stacks that do not meet never
disturb each other. A stack's own record comes first when something is taken and goes last when it is let go: whatever
is left by a kill in between is in that record, and the next run of the stack goes on over it.

Two runs of one stack are kept apart by the backend's lock on its state. Where two backends have the same stack, the
lineage is what tells them apart; it is minted here and kept in the state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId

from . import refusals, site_objects
from .boundary_nodes import BoundaryNodes
from .changes import by, entered, held, minted, without
from .home import CLOUD, HOME, cloud_of
from .identities import ClaimedIdentities
from .objects import Changed, Exists, ObjectStore, StoreFailed
from .records import ClaimRecord, CloudRecord, FootprintRecord, NodeRecord, StackRecord, Taking
from .refusals import Foreign, IdentityTaken, Outdated, Refused
from .shelves import ROUNDS, Found, RecordFolder, keeps_changing
from .writer import moment

__all__ = ["Foreign", "IdentityTaken", "Ledger", "Outdated", "Refused"]

NOBODY: Mapping[str, str] = MappingProxyType({})


class _Seen(NamedTuple):
    """What was there before anything was written."""

    stack: Found[StackRecord] | None
    claims: Mapping[str, Found[ClaimRecord] | None]
    nodes: Mapping[str, Found[NodeRecord] | None]


@dataclass(frozen=True)
class Ledger:
    """The claims of one site. Methods raise `Refused`, or `StoreFailed` when the store itself is in trouble."""

    store: ObjectStore

    def stacks(self) -> tuple[StackRecord, ...]:
        """What every stack of the site has applied, or may have."""
        return tuple(self._stacks)

    def stack(self, name: str) -> StackRecord | None:
        """What this stack has applied, or may have."""
        found = self._stacks.get(name)
        return found.record if found else None

    def check_cloud(self, present: CloudFingerprint, *, recorded_only: bool = False) -> None:
        """Raises `Foreign` if the claims are about another cloud, or another region of this one. Reads only.

        `recorded_only`: also if nothing says what they are about, as of claims that are older than this record.
        """
        recorded = cloud_of(self.store)
        if recorded is not None and not recorded.may_be(present):
            raise refusals.other_cloud(self.store.name, recorded, present)
        if recorded_only and (recorded is None or not recorded.region):
            raise refusals.no_region(self.store.name)

    def check(self, taking: Taking, persons: Mapping[str, str] = NOBODY) -> None:
        """Raises `Refused` as `take` would, lineage excepted. Reads only."""
        self._require(taking, self._see(taking), persons)

    def take(
        self,
        taking: Taking,
        lineage: str | None,
        cloud: CloudFingerprint | None = None,
        persons: Mapping[str, str] = NOBODY,
    ) -> StackRecord:
        """Claim everything, or nothing: a refusal or failure takes back what this call wrote.

        `lineage` is the one that the stack's state holds, None if it holds none. `cloud`: where it is claimed; the
        first to claim anything in a store fixes the cloud and region that the store is about. `persons`: all whom the
        stack gives a right, with the ids that they have now; others are forgotten.
        """
        if cloud is not None:
            self.keep_cloud(cloud)
        seen = self._see(taking)
        self._require(taking, seen, persons)
        if seen.stack:
            refusals.require_state(seen.stack.record, lineage)
        before = seen.stack.record if seen.stack else None
        record = by(entered(taking, before, lineage), persons=dict(persons), **site_objects.recorded(taking, before))
        try:
            self._put_stack(record, seen.stack.version if seen.stack else None)
            self._identities.claim(taking, seen.claims)
            self._nodes.mark(taking, seen.nodes)
            # After the marks: of two that each have something where the other only looks, one sees the other.
            self._nodes.look(taking)
            site_objects.require(taking, before, self._stacks)
        except BaseException as error:
            self._take_back(taking.entry, record, seen.stack, error)
            raise
        return record

    def confirm(self, stack: str, lineage: str, serial: int = 0, persons: Mapping[str, str] = NOBODY) -> None:
        """Something was made after the claims: from now on only the state with this lineage may go on.

        And only a lock of this serial or a newer one: not every change of a lock changes what is claimed. `persons`
        whom nobody recorded yet are added.
        """
        for _ in range(ROUNDS):
            found = self._with_lineage(stack, lineage)
            refusals.require_persons(found.record, persons)
            newest = max(serial, found.record.serial)
            known = {**persons, **found.record.persons}
            now = {"confirmed": True, "recovered": False, "serial": newest, "persons": known}
            wanted = found.record.model_copy(update=now)
            if found.record == wanted:
                return
            try:
                self._stacks.put(stack, by(wanted), found.version)
            except Changed:
                continue
            return
        raise keeps_changing(self.store.name, stack)

    def check_state(self, stack: str, lineage: str, digest: str) -> None:
        """Raises `Foreign` if a state with this lineage and this version of the footprint is not the stack's own."""
        record = self._with_lineage(stack, lineage).record
        if all(entry.digest != digest for entry in record.entries):
            raise refusals.other_state(record, f"this one is older, of footprint {digest}")

    def drop(self, stack: str, lineage: str, digest: str) -> None:
        """One entry is no more applied. The record goes with its last entry."""
        found = self._stacks.get(stack)
        if found is None:
            return
        refusals.require_lineage(found.record, lineage)
        self._drop(found, {digest})

    def forget(self, seen: StackRecord, digests: Iterable[str]) -> None:
        """Entries that runs left behind which did not end well, and of which nothing can exist.

        `seen`: the record that this was found out from. Raises `Refused` if another run has changed it since.
        """
        found = self._stacks.get(seen.stack)
        if found is None or found.record != seen:
            raise refusals.in_flight(seen.stack, found.record if found else None)
        self._drop(found, set(digests))

    def recover(self, stack: str, owner: OwnerId) -> str:
        """A new lineage for a stack whose state was lost: the next that takes its claims goes on. Entries stay."""
        found = self._stacks.get(stack)
        if found is None:
            raise refusals.unknown_stack(stack)
        refusals.require_owner(found.record, owner)
        record = by(found.record, lineage=minted(), recovered=True)
        self._put_stack(record, found.version)
        return record.lineage

    def settle_objects(self, taking: Taking, lineage: str) -> None:
        """What of the operator's stack the plan does not use, or not offer, is gone from it."""
        site_objects.settle(self._stacks, taking, lineage)

    def release(self, stack: str, identities: Iterable[str]) -> None:
        """Identities that were settled: free for others, although no entry of the stack was applied again."""
        found, free = self._stacks.get(stack), set(identities)
        if found is None:
            return
        entries = tuple(without(entry, free) for entry in found.record.entries)
        if entries != found.record.entries:
            self._put_stack(by(found.record, entries=entries), found.version)
        self._let_go(found.record, free)

    def keep_cloud(self, present: CloudFingerprint) -> None:
        """Before anything is claimed: whoever opens the store in another region then finds whose it is."""
        folder, record = RecordFolder(self.store, CLOUD, CloudRecord), CloudRecord(cloud=str(present))
        for _ in range(ROUNDS):
            found = folder.get(HOME)
            self.check_cloud(present)
            if found and found.record == record:
                return
            with contextlib.suppress(Changed, Exists):
                folder.put(HOME, record, found.version if found else None)
        raise keeps_changing(self.store.name, CLOUD)

    @property
    def _stacks(self) -> RecordFolder[StackRecord]:
        return RecordFolder(self.store, "stacks", StackRecord)

    @property
    def _identities(self) -> ClaimedIdentities:
        return ClaimedIdentities(self.store)

    @property
    def _nodes(self) -> BoundaryNodes:
        return BoundaryNodes(self.store)

    def _see(self, taking: Taking) -> _Seen:
        return _Seen(self._stacks.get(taking.stack), self._identities.see(taking), self._nodes.see(taking))

    def _require(self, taking: Taking, seen: _Seen, persons: Mapping[str, str]) -> None:
        if seen.stack:
            refusals.require_persons(seen.stack.record, persons)
            refusals.require_stack(taking, seen.stack.record)
        self._identities.require_ours(taking, seen.claims)
        self._nodes.require_known(taking, seen.nodes)
        site_objects.require(taking, seen.stack.record if seen.stack else None, self._stacks)

    def _put_stack(self, record: StackRecord, version: str | None) -> str:
        try:
            return self._stacks.put(record.stack, record, version)
        except (Changed, Exists):
            raise refusals.in_flight(record.stack, self.stack(record.stack)) from None

    def _drop(self, found: Found[StackRecord], digests: set[str]) -> None:
        gone = [entry for entry in found.record.entries if entry.digest in digests]
        kept = tuple(entry for entry in found.record.entries if entry.digest not in digests)
        if gone:
            self._leave(found, gone, by(found.record, entries=kept, changed=moment()) if kept else None)

    def _take_back(
        self, entry: FootprintRecord, ours: StackRecord, before: Found[StackRecord] | None, reason: BaseException
    ) -> None:
        """Put back what was there before. If that fails, the record stands and lists whatever is left."""
        try:
            found = self._stacks.get(ours.stack)
            # Anything else than what was just written is another run's, and so are the marks by now.
            if found and found.record == ours:
                self._leave(found, [entry], before.record if before else None)
        except (StoreFailed, Refused) as error:
            reason.add_note(f"what was claimed stays so until the next run of {ours.stack}: {error.what}; {error.hint}")

    def _leave(self, found: Found[StackRecord], gone: Iterable[FootprintRecord], after: StackRecord | None) -> None:
        """Undo the marks of entries, then put `after` in the record's place: nodes, identities, the record last."""
        stack, kept = found.record.stack, after.entries if after else ()
        # Whoever has read the record before this cannot write it any more.
        version = self._put_stack(by(found.record), found.version)
        digests = {entry.digest for entry in gone} - {entry.digest for entry in kept}
        if digests:
            self._nodes.unmark(stack, gone, digests)
        self._let_go(found.record, held(gone) - held(kept))
        try:
            if after:
                self._stacks.put(stack, after, version)
            else:
                self._stacks.remove(stack, version)
        except Changed:
            raise refusals.in_flight(stack, self.stack(stack)) from None

    def _let_go(self, record: StackRecord, identities: Iterable[str]) -> None:
        try:
            self._identities.let_go(record, identities)
        except Changed:
            raise refusals.in_flight(record.stack, self.stack(record.stack)) from None

    def _with_lineage(self, stack: str, lineage: str) -> Found[StackRecord]:
        found = self._stacks.get(stack)
        if found is None:
            raise refusals.unknown_stack(stack)
        refusals.require_lineage(found.record, lineage)
        return found
