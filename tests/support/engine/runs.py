"""Pulumi's engine with one stack: what `up`, `up --replace`, `refresh` and `destroy` ask of the provider, in order.

Follows the engine's pkg/resource/deploy (`generateStepsFromDiff` and `calculateDependentReplacements` in
step_generator.go, `DeleteStep.Apply` in step.go): a preview in a process of its own; what must be recreated goes
first, with what would be recreated along with it; what is wanted no more goes last; the first failure ends the run.
The state holds what the engine would have recorded: nothing of an operation that did not answer; what was deleted to
be recreated is out of it; what came with an error and an id is in it, and is updated by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from interlock.provider.codec import UNKNOWN
from interlock.resources import KINDS
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack


class Stopped(Refused):
    """A run that ended before its end: at which operation, on which resource, and the provider's words."""

    def __init__(self, operation: str, name: str, refused: Refused) -> None:
        self.words = "\n".join((str(refused), *refused.reasons))
        super().__init__(f"{operation} {name}: {self.words}", refused.partial, refused.reasons)
        self.operation = operation
        self.name = name


@dataclass
class Engine:
    """The runs of one stack. Each generator gives (operation, resource), and does it when it is asked to go on."""

    stack: Stack
    #: Where provider processes come from; None: all is asked of the one that the stack has, which is not ended here.
    processes: Callable[[], Process] | None = Process
    #: Names as far as the run comes; None: all. As with `--target`, but for what rests on a name outside.
    scope: Collection[str] | None = None
    #: What `--replace` names.
    forced: str | None = None
    #: False: an update is left with what the preview admitted, and reads nothing before it begins.
    preflight: bool = True
    #: How many operations asked the provider for a change.
    changes: int = 0
    #: What the last preview would recreate, and what the last update recreated, in order.
    planned: list[str] = field(default_factory=list)
    recreated: list[str] = field(default_factory=list)

    def up(self) -> Iterator[tuple[str, str]]:
        """A preview and an update."""
        tokens = self._previewed()
        self._begin()
        process = self.stack.process
        process.tokens = tokens
        if self.preflight:
            admission = self.stack.admission()
            self._require(self._ask("admit", "", lambda: process.admit(admission, preview=False, previewed=False)))
        self.recreated = []
        for name in self._declared():
            yield from self._register(name)
        for name in reversed(self._held()):
            if name not in self.stack.resources:
                yield from self._do("delete", name, partial(self.stack.delete, name))
        self.end()

    def refresh(self) -> Iterator[tuple[str, str]]:
        """What is gone leaves the state; what is there is written into it."""
        self._begin()
        for name in self._held():
            yield from self._do("read", name, partial(self._read, name))
        self.end()

    def destroy(self) -> Iterator[tuple[str, str]]:
        """Everything goes, the last first. No program runs, and no proof is there."""
        self._begin()
        for name in reversed(self._held()):
            yield from self._do("delete", name, partial(self.stack.delete, name))
        self.end()

    def differences(self) -> dict[str, dict[str, bool]]:
        """What another `up` would change."""
        self._begin()
        assert self.stack.admit() == []
        found = {name: self.stack.diff(name) for name in self._declared()}
        self.end()
        return {name: changed for name, changed in found.items() if changed}

    def end(self) -> None:
        """The provider process goes, however the run ended."""
        if self.processes is not None:
            self.stack.process.close()

    def _begin(self) -> None:
        if self.processes is not None:
            self.stack.process = self.processes()

    def _declared(self) -> list[str]:
        return [name for name in self.stack.resources if self.scope is None or name in self.scope]

    def _held(self) -> list[str]:
        return [name for name in self.stack.held() if self.scope is None or name in self.scope]

    def _previewed(self) -> str:
        """Where the tokens of the preview lie. Nothing is changed by it."""
        self._begin()
        process = self.stack.process
        try:
            self._require(self._ask("admit", "", lambda: self.stack.admit(preview=True)))
            unknown, self.planned = list[str](), []
            for name in self._declared():
                self._preview(name, unknown)
        finally:
            self.end()
        return process.tokens

    def _preview(self, name: str, unknown: list[str]) -> None:
        """One resource. `unknown`: names whose ids are not known so far, which grow by what is to be made."""
        inputs = self.stack.inputs(name, unknown)
        self._check(name, inputs)
        if name in self.stack.state and name not in unknown:
            if not self._is_replaced(name, inputs):
                return
            unknown += [name, *self._condemned(name)]
            self.planned += [each for each in unknown if each in self.stack.state and each not in self.planned]
        elif name not in unknown:
            unknown.append(name)
        self._check(name, inputs, anew=True)
        self._ask("create", name, lambda: self.stack.create(name, inputs=inputs, preview=True))

    def _register(self, name: str) -> Iterator[tuple[str, str]]:
        inputs = self.stack.inputs(name)
        self._check(name, inputs)
        if name in self.stack.state:
            if not self._is_replaced(name, inputs):
                if self._ask("diff", name, lambda: self.stack.diff(name, inputs)) or name in self.stack.unfinished:
                    yield from self._do("update", name, lambda: self.stack.update(name, inputs=inputs))
                else:
                    # A `SameStep`: the engine records the inputs that it was given, and the outputs that there were.
                    self.stack.state[name] = replace(self.stack.state[name], inputs=inputs)
                return
            condemned = [name, *self._condemned(name)]
            self.recreated += condemned
            for gone in reversed(condemned):
                yield from self._do("delete", gone, partial(self.stack.delete, gone))
        self._check(name, inputs, anew=True)
        yield from self._do("create", name, lambda: self.stack.create(name, inputs=inputs))

    def _is_replaced(self, name: str, inputs: dict[str, Any]) -> bool:
        """About what `--replace` names nobody is asked."""
        return name == self.forced or any(self._ask("diff", name, lambda: self.stack.diff(name, inputs)).values())

    def _condemned(self, root: str) -> list[str]:
        """What would be recreated with the root, in order; also what is wanted no more."""
        gone = [root]
        held = self._held()
        for name in held[held.index(root) + 1 :]:
            inputs = self._without(name, gone)
            if inputs != self.stack.state[name].inputs:
                changed = self._ask("diff", name, partial(self.stack.diff, name, inputs))
                gone += [name] if any(changed.values()) else []
        return gone[1:]

    def _without(self, name: str, gone: list[str]) -> dict[str, Any]:
        """The recorded inputs, unknown where they refer to what goes.

        That is told by the id, in a field that may name its kind: a quota has the id of its project.
        """
        kinds, inputs = self.stack.kinds, self.stack.state[name].inputs
        lost = dict(inputs)
        for where, refers in KINDS[kinds[name]].reference_fields().items():
            ids = {self.stack.state[other].id for other in gone if kinds[other] in refers.kinds}
            key = f"id_of_{where}"
            if ids.intersection(_listed(inputs.get(key))):
                lost[key] = UNKNOWN
        return lost

    def _check(self, name: str, inputs: dict[str, Any], *, anew: bool = False) -> None:
        faults = self._ask("check", name, lambda: self.stack.check(name, inputs, anew=anew))
        self._require([f"{where}: {why}" for where, why in faults])

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
                self.stack.unfinished.add(name)
            raise Stopped(operation, name, refused) from refused
        self.stack.unfinished.discard(name)


def up(stack: Stack, scope: Collection[str], forced: str | None = None, *, preflight: bool) -> None:
    """`pulumi up` as far as it comes to `scope`, all asked of the stack's process. Raises `Refused`."""
    for _ in Engine(stack, None, scope, forced, preflight).up():
        pass


def destroy(stack: Stack, scope: Collection[str]) -> None:
    """`pulumi destroy` of these, asked of the stack's process. Raises `Refused`."""
    for _ in Engine(stack, None, scope).destroy():
        pass


def force(stack: Stack, root: str) -> list[str]:
    """`pulumi up --replace` of one resource; what was recreated, which the preview foresaw. Raises `Refused`."""
    engine = Engine(replace(stack), forced=root)
    try:
        for _ in engine.up():
            pass
    finally:
        engine.end()
    assert engine.recreated == engine.planned
    return engine.recreated


def _listed(value: Any) -> list[str]:
    """One id or several, without those that are unknown."""
    ids = value if isinstance(value, list) else [value]
    return [ident for ident in ids if isinstance(ident, str)]
