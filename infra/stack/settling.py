"""Decides whether a released claim is free: state, store and cloud must no longer hold it.

That switches have let go, and that devices are clean, is for evidence to say: `handing_over`.

The store may also hold a footprint that nobody has any more: of a run that was killed after it had taken its claims,
and whose request was then edited away. No later run knows of it, so it is looked for here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from infra.program.claiming import version
from interlock.model.evidence.values import moment
from interlock.model.lock.record import Lock
from interlock.planning import Plan
from interlock.provider.census import Counted
from interlock.resources import Claims
from interlock.store.records import FootprintRecord, StackRecord
from interlock.vocabulary import ClaimsId
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.urns import TypeToken, Urn

#: The time of a state that nothing was written to yet.
_NEVER = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True)
class LookedAt:
    """What was looked at. `record`: of the stack in the claims store, if there is one."""

    plan: Plan
    lock: Lock
    #: The deployment in the engine's state; None: the backend in use has no such stack.
    deployment: Mapping[str, Any] | None
    record: StackRecord | None
    #: Everything on the cloud that carries the stack's owner id.
    objects: tuple[Counted, ...]
    #: Processes that hold the stack's state, in words.
    running: tuple[str, ...] = ()

    def obstacles(self) -> list[str]:
        """Everything that has not let go, or may not have; a sentence each. Empty: all claims given up are free."""
        return [*self._of_state(), *self._of_store(), *self._of_cloud()]

    @cached_property
    def wanted(self) -> str | None:
        """The version of the footprint that the lock holds; None if nothing is to be there."""
        return _wanted(self.plan, self.lock)

    @cached_property
    def claimed(self) -> frozenset[str]:
        """Versions of the footprints whose claims the state holds."""
        return frozenset(
            ClaimsId.parse(str(item["id"])).version
            for item in self._resources
            if _kind_and_name(item)[0] == Claims.KIND
        )

    @property
    def leftover(self) -> tuple[FootprintRecord, ...]:
        """What the store holds of the stack and neither the lock nor the state knows."""
        return tuple(entry for entry in others(self.record, self.plan, self.lock) if entry.digest not in self.claimed)

    @property
    def is_empty(self) -> bool:
        """True if neither the state nor the cloud holds anything of the stack: so nothing of a leftover either."""
        return not self.objects and not any(_kind_and_name(item)[0] for item in self._resources)

    @property
    def is_applied(self) -> bool:
        """True if the state holds the claims of the lock's footprint, and no others."""
        return self.claimed == {self.wanted}

    @property
    def let_go(self) -> datetime | None:
        """When what is applied last changed, as far as anybody knows; None: nothing of the stack ever was."""
        if self.record is not None and self.record.changed:
            return moment(self.record.changed)
        written = str((self.deployment or {}).get("manifest", {}).get("time", ""))
        if self.record is None and not written and not self._resources:
            return None
        try:
            return max(datetime.fromisoformat(written).astimezone(UTC), _NEVER)
        except ValueError:
            # It is in use, and nobody knows until when: no evidence is younger than now.
            return datetime.now(UTC)

    @property
    def _resources(self) -> Iterable[Mapping[str, Any]]:
        return (self.deployment or {}).get("resources") or ()

    def _of_state(self) -> Iterator[str]:
        yield from (f"state: {process} is using it" for process in self.running)
        if self.deployment is None:
            if self.record is not None:
                yield f"state: the backend in use has no stack {self.plan.stack}, and the store says that it is applied"
            return
        for item in self._resources:
            kind, name = _kind_and_name(item)
            if item.get("delete"):
                yield f"state: {kind} {name} is still to be deleted"
            elif kind and kind != Claims.KIND and name not in self.plan.by_name:
                yield f"state: {kind} {name} exists and is not in the plan"
        if self.deployment.get("pending_operations"):
            yield "state: an interrupted run left operations pending"

    def _of_store(self) -> Iterator[str]:
        if self.claimed - {self.wanted} or (self.leftover and not (self.is_empty or self.is_applied)):
            yield "store: another footprint than the lock's is applied, or may be"

    def _of_cloud(self) -> Iterator[str]:
        planned = {(item.resource.KIND, item.name) for item in self.plan.resources}
        for found in self.objects:
            if (found.kind, found.name) not in planned:
                yield f"cloud: {found} exists and is not in the plan"
            elif self.record is None:
                yield f"cloud: {found} exists, and the store has no record of an update: another plan may be applied"


def others(record: StackRecord | None, plan: Plan, lock: Lock) -> list[FootprintRecord]:
    """What the store holds of a stack besides the footprint of its lock."""
    wanted = _wanted(plan, lock)
    return [entry for entry in record.entries if entry.digest != wanted] if record else []


def freed(old: Lock, new: Lock) -> list[str]:
    """The exclusive identities that a lock holds no more."""
    return sorted(set(old.footprint.exclusive) - set(new.footprint.exclusive))


def of_owner(objects: Iterable[Counted], owner: OwnerId) -> tuple[Counted, ...]:
    """What carries one owner id."""
    return tuple(item for item in objects if item.owner == owner)


def only_of(entry: FootprintRecord, stay: Iterable[FootprintRecord]) -> list[str]:
    """The identities that an entry holds and none of those that stay."""
    return sorted(set(entry.held) - {identity for other in stay for identity in other.held})


def _wanted(plan: Plan, lock: Lock) -> str | None:
    return version(lock.footprint) if plan.resources else None


def _kind_and_name(item: Mapping[str, Any]) -> tuple[str, str]:
    """Kind (empty for what is no object of ours) and plan name of a resource in a state."""
    return TypeToken.kind_of(str(item.get("type", ""))), Urn.parse(str(item["urn"])).name
