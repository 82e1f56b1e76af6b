"""`pulumi up --replace URN` as the engine does it: what rests on the object goes first, then it; both again after.

Follows `generateStepsFromDiff` and `calculateDependentReplacements` in the engine's pkg/resource/deploy/
step_generator.go: about the object itself nobody is asked, about each resource that rests on it once, with unknown
ids in place of those that go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pulumi.runtime.proto import provider_pb2

from interlock.provider.codec import UNKNOWN, encode
from tests.provider.driver import Process, Program


@dataclass
class Run:
    """A preview or an update of one stack in a process of its own; the state is the program's."""

    program: Program
    preview: bool

    def walk(self, root: str) -> list[str]:
        """Registers all resources in order; returns what was recreated. Raises `Refused`."""
        condemned: list[str] = []
        for name in self.program.resources:
            if name == root:
                condemned = self._condemned(root)
                self._delete([root, *condemned])
            if name == root or name in condemned:
                self._create(name, [*condemned, root])
            else:
                self._update(name, [*condemned, root])
        return [root, *condemned]

    def _condemned(self, root: str) -> list[str]:
        """What would be replaced with the root, in order."""
        gone = [root]
        names = list(self.program.resources)
        for name in names[names.index(root) + 1 :]:
            inputs = self._inputs(name, gone)
            if UNKNOWN in inputs.values() and any(self._diff(name, inputs).values()):
                gone.append(name)
        return gone[1:]

    def _delete(self, names: list[str]) -> None:
        for name in reversed(names):
            if not self.preview:
                self.program.delete(name)

    def _create(self, name: str, gone: list[str]) -> None:
        inputs = self._inputs(name, gone if self.preview else [])
        assert self._check(name, inputs, {}) == []
        self.program.create(name, inputs=inputs, preview=self.preview)

    def _update(self, name: str, gone: list[str]) -> None:
        inputs = self._inputs(name, gone if self.preview else [])
        assert self._check(name, inputs, self.program.state[name].inputs) == []
        changed = self._diff(name, inputs)
        assert not any(changed.values()), f"{name} would be replaced, too: {changed}"
        if changed and not self.preview:
            self.program.update(name, inputs=inputs)

    def _check(self, name: str, inputs: dict[str, Any], olds: dict[str, Any]) -> list[str]:
        request = provider_pb2.CheckRequest(urn=self.program.urn(name), olds=encode(olds), news=encode(inputs))
        return [fault.reason for fault in self.program.process.call("Check", request).failures]

    def _diff(self, name: str, inputs: dict[str, Any]) -> dict[str, bool]:
        old = self.program.state[name]
        request = provider_pb2.DiffRequest(
            urn=self.program.urn(name), id=old.id, olds=encode(old.outputs), news=encode(inputs),
            old_inputs=encode(old.inputs),
        )  # fmt: skip
        answer = self.program.process.call("Diff", request)
        return {field: field in answer.replaces for field in answer.diffs}

    def _inputs(self, name: str, gone: list[str]) -> dict[str, Any]:
        """A whole input is unknown as soon as one id in it is."""
        item = self.program.resources[name]
        lost = {f"id_of_{field}" for field, reference in item.references() if reference in gone and reference != name}
        held = replace(self.program, state={**self.program.state})
        return held.inputs(name) | dict.fromkeys(lost, UNKNOWN)


def force(program: Program, root: str) -> list[str]:
    """Preview and update with `--replace` of one resource; what was recreated. Raises `Refused`."""
    processes = [Process(), Process()]
    # The two processes of one engine share its folder of notes.
    processes[1]._notes = processes[0]._notes
    try:
        first = replace(program, process=processes[0])
        assert first.admit(preview=True) == []
        planned = Run(first, preview=True).walk(root)
        second = replace(program, process=processes[1])
        faults = second.process.admit(second.admission(), preview=False, previewed=False)
        assert faults == []
        done = Run(second, preview=False).walk(root)
        assert done == planned
        return done
    finally:
        for process in processes:
            process.close()
