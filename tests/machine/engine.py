"""Pulumi's engine with one stack, one operation at a time: what `up`, `refresh` and `destroy` ask of the provider.

Follows the engine's pkg/resource/deploy: a preview in a process of its own; what must be recreated goes first, with
what would be recreated along with it; what is wanted no more goes last; the first failure ends the run; a resource
that came back as partial is updated by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pulumi.runtime.proto import provider_pb2

from interlock.provider.codec import UNKNOWN, encode
from interlock.resources import Resource
from tests.provider.driver import Process, Program, Recorded, Refused


@dataclass
class Stack(Program):
    """A program whose state may hold what it no longer declares. `ever`: all that it ever may, in order."""

    ever: dict[str, Resource] = field(default_factory=dict)

    def urn(self, name: str) -> str:
        return f"urn:pulumi:{self.stack}::clusters::interlock:index:{self.ever[name].KIND}::{name}"

    def held(self) -> list[str]:
        """What the state holds, each after what it refers to."""
        return [name for name in self.ever if name in self.state]


class Stopped(Exception):
    """A run that ended before its end: at which operation, on which resource, and the provider's words."""

    def __init__(self, operation: str, name: str, refused: Refused) -> None:
        self.words = "\n".join((str(refused), *refused.reasons))
        super().__init__(f"{operation} {name}: {self.words}")
        self.operation = operation
        self.name = name


@dataclass
class Engine:
    """The runs of one stack. Each generator gives (operation, resource), and does it when it is asked to go on."""

    stack: Stack
    #: What the state holds although it was reported as not as it should be.
    unfinished: set[str] = field(default_factory=set)
    #: How many operations asked the provider for a change.
    changes: int = 0

    def up(self) -> Iterator[tuple[str, str]]:
        """A preview and an update."""
        notes = self._preview()
        self._begin()
        self.stack.process._notes = notes
        admission = self.stack.admission()
        admit = self.stack.process.admit
        self._require(self._ask("admit", "", lambda: admit(admission, preview=False, previewed=False)))
        for name in self.stack.resources:
            yield from self._register(name)
        for name in reversed(self.stack.held()):
            if name not in self.stack.resources:
                yield from self._do("delete", name, partial(self.stack.delete, name))
        self.end()

    def refresh(self) -> Iterator[tuple[str, str]]:
        """What is gone leaves the state; what is there is written into it as it is."""
        self._begin()
        for name in self.stack.held():
            yield from self._do("read", name, partial(self._read, name))
        self.end()

    def destroy(self) -> Iterator[tuple[str, str]]:
        """Everything goes, the last first. No program runs, and no proof is there."""
        self._begin()
        for name in reversed(self.stack.held()):
            yield from self._do("delete", name, partial(self.stack.delete, name))
        self.end()

    def differences(self) -> dict[str, dict[str, bool]]:
        """What another `up` would change."""
        self._begin()
        assert self.stack.admit() == []
        found = {name: self.stack.diff(name) for name in self.stack.resources}
        self.end()
        return {name: changed for name, changed in found.items() if changed}

    def end(self) -> None:
        """The provider process goes, however the run ended."""
        self.stack.process.close()

    def _begin(self) -> None:
        self.stack.process = Process()

    def _preview(self) -> str:
        """Where the notes of the preview lie. Nothing is changed by it."""
        self._begin()
        process = self.stack.process
        try:
            self._require(self._ask("admit", "", lambda: self.stack.admit(preview=True)))
            unknown = list[str]()
            for name in self.stack.resources:
                self._preview_one(name, unknown)
        finally:
            process.close()
        return process._notes

    def _preview_one(self, name: str, unknown: list[str]) -> None:
        inputs = self._inputs(name, unknown)
        self._check(name, inputs)
        if name in self.stack.state and name not in unknown:
            if not any(self._ask("diff", name, lambda: self._diff(name, inputs)).values()):
                return
            unknown += [name, *self._condemned(name)]
        else:
            unknown += [name]
        self._ask("create", name, lambda: self.stack.create(name, inputs=inputs, preview=True))

    def _register(self, name: str) -> Iterator[tuple[str, str]]:
        inputs = self._inputs(name, [])
        self._check(name, inputs)
        if name in self.stack.state:
            changed = self._ask("diff", name, lambda: self._diff(name, inputs))
            if not any(changed.values()):
                if changed or name in self.unfinished:
                    yield from self._do("update", name, lambda: self.stack.update(name, inputs=inputs))
                return
            for gone in reversed([name, *self._condemned(name)]):
                yield from self._do("delete", gone, partial(self.stack.delete, gone))
        yield from self._do("create", name, lambda: self.stack.create(name, inputs=inputs))

    def _condemned(self, root: str) -> list[str]:
        """What would be recreated with the root, in order; also what is wanted no more."""
        gone = [root]
        held = self.stack.held()
        for name in held[held.index(root) + 1 :]:
            inputs = self._without(name, gone)
            if inputs != self.stack.state[name].inputs:
                changed = self._ask("diff", name, partial(self._diff, name, inputs))
                gone += [name] if any(changed.values()) else []
        return gone[1:]

    def _without(self, name: str, gone: list[str]) -> dict[str, Any]:
        """The recorded inputs, unknown where they hold the id of what goes."""
        lost = {self.stack.state[other].id for other in gone}
        inputs = self.stack.state[name].inputs
        return {key: UNKNOWN if _holds(key, value, lost) else value for key, value in inputs.items()}

    def _inputs(self, name: str, unknown: list[str]) -> dict[str, Any]:
        """As the program hands them over; an id of what is to be made is not known in a preview."""
        item, state = self.stack.resources[name], self.stack.state
        known = {other: state.get(other) or Recorded("", {}, {}) for other in self.stack.ever}
        self.stack.state = known
        try:
            inputs = self.stack.inputs(name)
        finally:
            self.stack.state = state
        lost = {f"id_of_{where}" for where, other in item.references() if other in unknown and other != name}
        return inputs | dict.fromkeys(lost, UNKNOWN)

    def _check(self, name: str, inputs: dict[str, Any]) -> None:
        faults = self._ask("check", name, lambda: self.stack.check(name, inputs))
        self._require([f"{where}: {why}" for where, why in faults])

    def _diff(self, name: str, inputs: dict[str, Any]) -> dict[str, bool]:
        old = self.stack.state[name]
        request = provider_pb2.DiffRequest(
            urn=self.stack.urn(name), id=old.id, olds=encode(old.outputs), news=encode(inputs),
            old_inputs=encode(old.inputs),
        )  # fmt: skip
        answer = self.stack.process.call("Diff", request)
        return {field: field in answer.replaces for field in answer.diffs}

    def _read(self, name: str) -> None:
        if self.stack.read(name) is None:
            del self.stack.state[name]

    def _require(self, faults: list[str]) -> None:
        if faults:
            raise Stopped("check", "", Refused("; ".join(faults)))

    def _ask(self, operation: str, name: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Refused as refused:
            raise Stopped(operation, name, refused) from refused

    def _do(self, operation: str, name: str, call: Callable[[], Any]) -> Iterator[tuple[str, str]]:
        """One operation, of which the state keeps what the engine would."""
        yield operation, name
        self.changes += operation != "read"
        try:
            call()
        except Refused as refused:
            if refused.partial is not None:
                self.stack.state[name] = refused.partial
                self.unfinished.add(name)
            raise Stopped(operation, name, refused) from refused
        self.unfinished.discard(name)


def _holds(key: str, value: Any, lost: set[str]) -> bool:
    ids = value if isinstance(value, list) else [value]
    return key.startswith("id_of_") and bool(lost.intersection(ident for ident in ids if isinstance(ident, str)))
