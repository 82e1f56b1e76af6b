"""The objects of one stack as files know them: the engine's state first, since that is what is applied, then the plan.

Neither cloud nor claims store is asked, so this works while they are down.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from infra.cli.exits import EnvironmentFailed
from infra.program.places import PROJECT
from infra.stack.engine import Engine
from interlock.planning import Plan
from interlock.resources import KINDS, Claims, Resource
from interlock.vocabulary.urns import TypeToken, Urn


@dataclass(frozen=True)
class KnownObject:
    """One object. `id`: as the state has it; empty if the state has no such object, or cannot be read."""

    kind: str
    name: str
    spec: Resource
    id: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class KnownStack:
    """All of one stack, in the order in which it is made."""

    stack: str
    objects: tuple[KnownObject, ...]
    #: What could not be read, and what follows from that, for people.
    notes: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, KnownObject]:
        """Plan name -> object."""
        return {item.name: item for item in self.objects}

    def of(self, kind: str) -> Iterator[KnownObject]:
        """The objects of one kind."""
        return (item for item in self.objects if item.kind == kind)


def known_stack(
    stack: str, plan: Plan | None, deployment: Mapping[str, Any] | None, notes: Iterable[str] = ()
) -> KnownStack:
    """What state and plan have. `notes`: why one of them is missing."""
    found = {item.name: item for item in _in_state(deployment or {})}
    planned = plan.resources if plan is not None else ()
    for item in planned:
        found.setdefault(item.name, KnownObject(item.resource.KIND, item.name, item.resource))
    said = list(notes)
    if deployment is not None and plan is not None:
        new = [item.name for item in planned if item.resource.is_declared and not found[item.name].id]
        said += [f"planned, and not in the state: {', '.join(new)}"] if new else []
    objects = (item for item in found.values() if item.kind != Claims.KIND)
    return KnownStack(stack, tuple(objects), tuple(said))


def deployment_of(stack: str, engine: Engine) -> Mapping[str, Any] | None:
    """The stack in the engine's state; None if the backend has no such stack. Raises `EnvironmentFailed`.

    A local backend is read as a file: that needs no `pulumi`.
    """
    if engine.environment.get("PULUMI_BACKEND_URL", "").startswith("file:"):
        folder = engine.backend.folder / "stacks" / PROJECT
        for file, opened in ((folder / f"{stack}.json", open), (folder / f"{stack}.json.gz", gzip.open)):
            if file.exists():
                try:
                    with opened(file, "rb") as text:
                        latest = json.load(text)["checkpoint"].get("latest")
                except (OSError, ValueError, KeyError, EOFError) as error:
                    raise EnvironmentFailed(f"{file} cannot be read: {error}") from None
                return latest or {}
        return None
    found: dict[str, Any] = json.loads(engine.ask("stack", "export", "--stack", stack))["deployment"]
    return found


def _in_state(deployment: Mapping[str, Any]) -> Iterator[KnownObject]:
    for item in deployment.get("resources") or ():
        kind = TypeToken.kind_of(str(item.get("type", "")))
        if kind not in KINDS or item.get("delete"):
            continue
        values = item.get("inputs") or {}
        fields = {name: value for name, value in values.items() if name in KINDS[kind].model_fields}
        try:
            spec = KINDS[kind].model_validate(fields)
        except ValidationError:
            # Of another version. Its id alone names no act.
            continue
        yield KnownObject(kind, Urn.parse(str(item["urn"])).name, spec, str(item.get("id", "")))
