"""Exclusive identities in the store: each is one object that is there or not, and says whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import refusals
from .objects import Exists, ObjectStore
from .records import ClaimRecord, StackRecord, Taking
from .shelves import ROUNDS, Found, RecordFolder, keeps_changing


@dataclass(frozen=True)
class ClaimedIdentities:
    """The claims of identities of one site."""

    store: ObjectStore

    def see(self, taking: Taking) -> dict[str, Found[ClaimRecord] | None]:
        """The claims of all identities that a taking is about; None of those that are free."""
        return self._claims.get_all(taking.entry.held)

    def require_ours(self, taking: Taking, claims: Mapping[str, Found[ClaimRecord] | None]) -> None:
        """Raises `IdentityTaken` where another stack has one."""
        for claim in claims.values():
            if claim:
                refusals.require_ours(taking, claim.record)

    def claim(self, taking: Taking, seen: Mapping[str, Found[ClaimRecord] | None]) -> None:
        """In sorted order, one by one: of two that want several, the first common one decides."""
        for identity in taking.entry.held:
            if seen[identity] is None:
                self._claim_one(taking, identity)

    def let_go(self, record: StackRecord, identities: Iterable[str]) -> None:
        """Remove the claims that are this stack's. Raises `Changed` if one is written at the same time."""
        for identity, found in self._claims.get_all(identities).items():
            if found and (found.record.stack, found.record.owner) == (record.stack, record.owner):
                self._claims.remove(identity, found.version)

    @property
    def _claims(self) -> RecordFolder[ClaimRecord]:
        return RecordFolder(self.store, "claims", ClaimRecord)

    def _claim_one(self, taking: Taking, identity: str) -> None:
        record = ClaimRecord(identity=identity, stack=taking.stack, owner=taking.owner)
        for _ in range(ROUNDS):
            try:
                self._claims.put(identity, record, None)
            except Exists:
                found = self._claims.get(identity)
                if found is None:
                    continue
                refusals.require_ours(taking, found.record)
            return
        raise keeps_changing(self.store.name, identity)
