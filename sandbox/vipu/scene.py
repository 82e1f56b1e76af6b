"""What a call is answered from, and what comes of it. Handlers are functions from a scene and a call to an outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from .clock import Durations
from .objects import Agent, Allocation, Cluster, ControllerState, VipuPartition, VipuUser
from .racks import Racks
from .refusals import VipuRefused

ApiName = Literal["user", "admin"]
OptionValue = str | int | bool | tuple[str, ...]
T = TypeVar("T")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


@dataclass(frozen=True)
class Call:
    """One command: a verb, a noun, an id where it takes one, and what its flags say."""

    verb: str
    noun: str
    id: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """A flag that takes a number; None if it was not given."""
        value = self.options.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, name: str) -> str | None:
        """A flag that takes a word."""
        value = self.options.get(name)
        return value if isinstance(value, str) else None

    def listed(self, name: str) -> tuple[str, ...] | None:
        """A flag that takes a list."""
        value = self.options.get(name)
        return value if isinstance(value, tuple) else None

    def given(self, name: str) -> bool:
        """True if a flag without a value was given."""
        return self.options.get(name) is True

    def required(self, name: str) -> Any:
        """A flag that has to be given. Raises VipuRefused."""
        if name not in self.options:
            raise VipuRefused("missing", flag=f"--{name}")
        return self.options[name]

    def word(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """A flag that takes one of some words. Raises VipuRefused."""
        value = self.text(name)
        if value is not None and value not in allowed:
            raise VipuRefused("word", flag=f"--{name}", value=value, allowed=", ".join(allowed))
        return default if value is None else value


@dataclass(frozen=True)
class VipuCaller:
    """Who asks. Without secure mode everybody is `ANYBODY`."""

    user: str | None
    admin: bool
    #: None: all of them.
    allocations: tuple[str, ...] | None

    def sees(self, allocation: str | None) -> bool:
        """True if objects of an allocation, or of none, are shown and may be used."""
        return self.allocations is None or allocation in self.allocations


ANYBODY = VipuCaller(None, admin=True, allocations=None)


@dataclass(frozen=True)
class Scene:
    """State, hardware and time at one call, and who asks."""

    state: ControllerState
    racks: Racks
    now: float
    durations: Durations
    caller: VipuCaller

    def agent(self, name: str) -> Agent:
        """Raises VipuRefused if there is none; so do the others."""
        return _found(self.state.agents, "agent", name)

    def cluster(self, name: str) -> Cluster:
        """A cluster by its id."""
        return _found(self.state.clusters, "cluster", name)

    def allocation(self, name: str) -> Allocation:
        """An allocation by its id, which the caller has access to."""
        found = _found(self.state.allocations, "allocation", name)
        if not self.caller.sees(found.id):
            raise VipuRefused("not-yours", user=self.caller.user, noun="allocation", id=name)
        return found

    def user(self, name: str) -> VipuUser:
        """A user by its id."""
        return _found(self.state.users, "user", name)

    def partition(self, name: str) -> VipuPartition:
        """A partition by its id, in an allocation that the caller has access to."""
        found = _found(self.state.partitions, "partition", name)
        if not self.caller.sees(found.allocation):
            raise VipuRefused("not-yours", user=self.caller.user, noun="partition", id=name)
        return found


@dataclass(frozen=True)
class Outcome:
    """The state after a call, and what is answered: JSON, as `--showjson` prints it."""

    state: ControllerState
    value: Any


def _found(objects: Mapping[str, T], noun: str, name: str) -> T:
    if name not in objects:
        raise VipuRefused("absent", noun=noun, id=name)
    return objects[name]


def checked_new(objects: Mapping[str, object], noun: str, name: str) -> str:
    """An id that is one and is free. Raises VipuRefused."""
    if not _ID.fullmatch(name):
        raise VipuRefused("bad-id", id=name)
    if name in objects:
        raise VipuRefused("exists", noun=noun, id=name)
    return name


def without(objects: Mapping[str, T], name: str) -> dict[str, T]:
    """All but one."""
    return {key: value for key, value in objects.items() if key != name}


def checked_list(agents: tuple[str, ...]) -> tuple[str, ...]:
    """Agents of which none stands twice: a public script names one twice and forgets another. Raises VipuRefused."""
    for name in agents:
        if agents.count(name) > 1:
            raise VipuRefused("listed-twice", agent=name)
    return agents
