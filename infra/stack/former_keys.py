"""Decides which former login keys of a tenant are free: those that no server is left with, or may be (SEC-05)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from infra.stack.settling import LookedAt, only_of
from interlock.model.lock.record import FormerKey
from interlock.provider.made_with import OPENED, MadeWith
from interlock.vocabulary.nodes import HeldLoginKey, parse
from interlock.vocabulary.ssh_keys import fingerprints
from interlock.vocabulary.urns import TypeToken, Urn
from policies.facts.user_data import fetches_keys, login_keys


@dataclass(frozen=True)
class StillOpens:
    """A key that is in no plan, and what it opens or may open."""

    fingerprint: str
    #: In words.
    server: str
    #: Why nobody knows; empty: it has the key.
    unknown: str = ""

    def __str__(self) -> str:
        if self.unknown:
            return f"cloud: {self.server} may have ssh key {self.fingerprint}: {self.unknown}"
        return f"cloud: {self.server} was made with ssh key {self.fingerprint}"


@dataclass(frozen=True)
class FormerKeys:
    """What was looked at, of the keys that a lock notes and of those that only interrupted runs had."""

    of_lock: tuple[FormerKey, ...]
    #: Fingerprints that a footprint of an interrupted run has and nothing else.
    of_runs: frozenset[str]
    still: tuple[StillOpens, ...]

    @property
    def held(self) -> tuple[FormerKey, ...]:
        """Those of the lock that stay in it."""
        opened = {one.fingerprint for one in self.still}
        return tuple(one for one in self.of_lock if one.fingerprint in opened)

    @property
    def free(self) -> tuple[FormerKey, ...]:
        """Those that leave it."""
        return tuple(one for one in self.of_lock if one not in self.held)

    def in_the_way(self) -> list[str]:
        """What keeps a footprint of an interrupted run in the store: a sentence each."""
        return [str(one) for one in self.still if one.fingerprint in self.of_runs]

    def of_held(self) -> list[str]:
        """What keeps keys of the lock in it: a sentence each."""
        noted = {one.fingerprint for one in self.of_lock}
        return [str(one) for one in self.still if one.fingerprint in noted]


def keys_of_runs(found: LookedAt) -> frozenset[str]:
    """Login keys that footprints of interrupted runs have, and neither the lock nor what else is applied."""
    stay = [entry for entry in found.record.entries if entry not in found.leftover] if found.record else []
    names = (name for entry in found.leftover for name in only_of(entry, stay))
    held = (parse(name) for name in set(names) - set(found.lock.footprint.exclusive))
    return frozenset(item.fingerprint for item in held if isinstance(item, HeldLoginKey))


def former_keys(found: LookedAt, made: Collection[MadeWith]) -> FormerKeys:
    """Each key against all that people log in to: on the cloud, and in the state what the cloud does not show."""
    of_runs = keys_of_runs(found)
    asked = sorted({*of_runs, *(one.fingerprint for one in found.lock.former_keys)})
    still = tuple(one for key in asked for one in (*_of_cloud(key, made), *_of_state(key, found, made)))
    return FormerKeys(found.lock.former_keys, of_runs, still)


def _of_cloud(key: str, made: Iterable[MadeWith]) -> Iterator[StillOpens]:
    for server in made:
        fetched = "its user data fetches keys from elsewhere" if fetches_keys(server.user_data) else ""
        if key in {*login_keys(server.user_data), *fingerprints(server.public_key)}:
            yield StillOpens(key, str(server))
        elif unknown := server.unknown or fetched:
            yield StillOpens(key, str(server), unknown)


def _of_state(key: str, found: LookedAt, made: Iterable[MadeWith]) -> Iterator[StillOpens]:
    """A whole host that is on its way back, for one: its allocation has ended."""
    there = {(server.kind, server.name) for server in made}
    resources: Iterable[dict[str, object]] = (found.deployment or {}).get("resources") or ()
    for item in resources:
        kind, name = TypeToken.kind_of(str(item.get("type", ""))), Urn.parse(str(item["urn"])).name
        if kind in OPENED and (kind, name) not in there:
            yield StillOpens(key, f"{kind} {name}", "the state has it and the cloud does not show it")
