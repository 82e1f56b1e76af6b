"""What has to let go before a claim that was given up is free: the state, the store, the cloud and the switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.model.lock import Lock
from interlock.planning import Plan
from interlock.provider.census import Counted
from interlock.resources import Claims
from interlock.store.records import StackRecord

from .claiming import version

OBJECT = "interlock:index:"

#: What is said of the switches: no kind of ours is wired that sets one.
SWITCHES = "switches: nothing here sets switch ports yet, so nothing of ours is on them"


@dataclass(frozen=True)
class Evidence:
    """What was looked at. `record`: of the stack in the claims store, if there is one."""

    plan: Plan
    lock: Lock
    #: The deployment in the engine's state; None: the backend in use has no such stack.
    deployment: Mapping[str, Any] | None
    record: StackRecord | None
    #: Everything on the cloud that carries the stack's owner id.
    objects: tuple[Counted, ...]

    def obstacles(self) -> list[str]:
        """Everything that has not let go, or may not have; a sentence each. Empty: all claims given up are free."""
        return [*self._of_state(), *self._of_store(), *self._of_cloud()]

    def _of_state(self) -> Iterator[str]:
        if self.deployment is None:
            if self.record is not None:
                yield f"state: the backend in use has no stack {self.plan.stack}, and the store says that it is applied"
            return
        resources = self.deployment.get("resources") or ()
        for item in resources:
            kind, name = _kind_and_name(item)
            if item.get("delete"):
                yield f"state: {kind} {name} is still to be deleted"
            elif kind and kind != Claims.KIND and name not in self.plan.by_name:
                yield f"state: {kind} {name} is there and not in the plan"
        if self.deployment.get("pending_operations"):
            yield "state: an interrupted run left operations pending"

    def _of_store(self) -> Iterator[str]:
        entries = self.record.entries if self.record else ()
        wanted = version(self.lock.footprint) if self.plan.resources else None
        if any(entry.digest != wanted for entry in entries):
            yield "store: another footprint than the lock's is applied, or may be"

    def _of_cloud(self) -> Iterator[str]:
        planned = {(item.resource.KIND, item.name) for item in self.plan.resources}
        for found in self.objects:
            if (found.kind, found.name) not in planned:
                yield f"cloud: {found} is there and not in the plan"
            elif self.record is None:
                yield f"cloud: {found} is there, and the store knows of no apply: the plan may not be what is applied"


def freed(old: Lock, new: Lock) -> list[str]:
    """The exclusive identities that a lock holds no more."""
    return sorted(set(old.footprint.exclusive) - set(new.footprint.exclusive))


def of_owner(objects: Iterable[Counted], owner: str) -> tuple[Counted, ...]:
    """What carries one owner id."""
    return tuple(item for item in objects if item.owner == owner)


def _kind_and_name(item: Mapping[str, Any]) -> tuple[str, str]:
    """Kind (empty for what is no object of ours) and plan name of a resource in a state."""
    token = str(item.get("type", ""))
    kind = token.removeprefix(OBJECT) if token.startswith(OBJECT) else ""
    return kind, str(item["urn"]).rsplit("::", 1)[-1]
