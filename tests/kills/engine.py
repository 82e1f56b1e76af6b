"""What Pulumi's engine does with a stack, as far as a kill can tell: `up`, `up --replace`, `destroy`, and its state.

The state holds what the engine would have recorded: nothing of an operation that did not answer; what was deleted to be
recreated is out of it (`PendingReplacement` is set when a deletion has succeeded, see DeleteStep.Apply in the engine's
pkg/resource/deploy/step.go); what came with an error and an id is in it, and is updated the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.runtime.proto import provider_pb2

from interlock.provider.codec import UNKNOWN, encode
from interlock.resources import Resource
from tests.provider.driver import Program, Refused


@dataclass
class Stack(Program):
    """A program and its state. `half`: names whose last operation left an id and an error."""

    half: set[str] = field(default_factory=set)
    #: Plan name -> kind, also of what the program does not declare any more.
    kinds: dict[str, str] = field(default_factory=dict)

    def declare(self, resources: Mapping[str, Resource]) -> None:
        """From now on the program is this one."""
        self.resources = dict(resources)
        self.kinds |= {name: item.KIND for name, item in resources.items()}

    def urn(self, name: str) -> str:
        return f"urn:pulumi:{self.stack}::clusters::interlock:index:{self.kinds[name]}::{name}"

    def known(self, name: str, gone: Iterable[str]) -> dict[str, Any]:
        """Inputs; a whole one is unknown as soon as one id in it is."""
        item = self.resources[name]
        lost = {
            f"id_of_{where}": UNKNOWN
            for where, reference in item.references()
            if reference in gone and reference != name
        }
        held = {reference: self.state.get(reference, _NOTHING) for _, reference in item.references()}
        shown = Program(self.process, self.stack, self.owner, self.resources, self.site_owner, self.folder, state=held)
        return shown.inputs(name) | lost


@dataclass(frozen=True)
class _Nothing:
    """Stands for what has no id yet; always covered by an unknown."""

    id: str = ""


_NOTHING: Any = _Nothing()


def up(stack: Stack, scope: Iterable[str], forced: str | None = None, *, preflight: bool) -> None:
    """`pulumi up` as far as it comes to the resources in `scope`. Raises `Refused` where the provider stops or dies.

    Without `preflight` the provider is left with what the preview admitted, and reads nothing before it begins.
    """
    names = [name for name in stack.resources if name in set(scope)]
    assert stack.process.admit(stack.admission(), preview=True) == []
    Walk(stack, names, forced, preview=True).run()
    faults = stack.process.admit(stack.admission(), preview=False, previewed=False) if preflight else []
    if faults:
        raise Refused("; ".join(faults))
    Walk(stack, names, forced, preview=False).run()
    for name in [each for each in reversed(stack.state) if each not in stack.resources and each in set(scope)]:
        stack.delete(name)


def destroy(stack: Stack, scope: Iterable[str]) -> None:
    """`pulumi destroy` of these: no program runs, so there is no admission.

    In the order of the program, backwards, as the engine's snapshot has it: here what was recreated stands last.
    """
    place = {name: number for number, name in enumerate(stack.resources)}
    for name in sorted(set(scope) & stack.state.keys(), key=lambda each: place.get(each, len(place)), reverse=True):
        stack.delete(name)


@dataclass
class Walk:
    """One phase: all resources of the scope, in order."""

    stack: Stack
    names: list[str]
    forced: str | None
    preview: bool
    #: Names without an id so far: to be made, or to be recreated.
    gone: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Raises `Refused`."""
        self.gone = {name for name in self.names if name not in self.stack.state}
        for name in self.names:
            if name in self.gone:
                self._create(name)
            elif name == self.forced or any(self._diff(name).values()):
                self._replace(name)
            else:
                self._update(name)

    def _replace(self, root: str) -> None:
        """What rests on it goes first, then it; then it is made. The rest is made when its turn comes."""
        condemned = [root]
        for name in self.names[self.names.index(root) + 1 :]:
            if name in self.gone:
                continue
            inputs = self.stack.known(name, [*self.gone, *condemned])
            if UNKNOWN in inputs.values() and any(self._diff(name, inputs).values()):
                condemned.append(name)
        for name in reversed(condemned):
            if not self.preview:
                self.stack.delete(name)
            self.gone.add(name)
        self._create(root)

    def _create(self, name: str) -> None:
        inputs = self._inputs(name)
        self._check(name, inputs, {})
        if self.preview:
            self.stack.create(name, inputs=inputs, preview=True)
            return
        self._keeping(name, lambda: self.stack.create(name, inputs=inputs))
        self.gone.discard(name)

    def _update(self, name: str) -> None:
        inputs = self._inputs(name)
        self._check(name, inputs, self.stack.state[name].inputs)
        if not self.preview and (self._diff(name, inputs) or name in self.stack.half):
            self._keeping(name, lambda: self.stack.update(name, inputs=inputs))

    def _keeping(self, name: str, call: Callable[[], object]) -> None:
        """What comes with an error and an id is recorded."""
        try:
            call()
        except Refused as refused:
            if refused.partial is not None:
                self.stack.state[name] = refused.partial
                self.stack.half.add(name)
            raise
        self.stack.half.discard(name)

    def _inputs(self, name: str) -> dict[str, Any]:
        return self.stack.known(name, self.gone)

    def _check(self, name: str, inputs: dict[str, Any], olds: dict[str, Any]) -> None:
        request = provider_pb2.CheckRequest(urn=self.stack.urn(name), olds=encode(olds), news=encode(inputs))
        faults = [fault.reason for fault in self.stack.process.call("Check", request).failures]
        if faults:
            raise Refused("; ".join(faults))

    def _diff(self, name: str, inputs: dict[str, Any] | None = None) -> dict[str, bool]:
        old = self.stack.state[name]
        request = provider_pb2.DiffRequest(
            urn=self.stack.urn(name), id=old.id, olds=encode(old.outputs), old_inputs=encode(old.inputs),
            news=encode(self._inputs(name) if inputs is None else inputs),
        )  # fmt: skip
        answer = self.stack.process.call("Diff", request)
        return {field: field in answer.replaces for field in answer.diffs}
