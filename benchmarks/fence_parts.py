"""What the fences of one `pulumi up` take by themselves, in seconds of wall time, as JSON on stdout.

Run in a project's environment as `fence_parts.py TENANT`. `load and plan` is what any program of these files would do;
the others are ours: `prove` reads the claims store and proves beside every lock; `check` is Pulumi's call for every
resource, over gRPC as the engine makes it; `claims` is taking, confirming and letting go in a folder store of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from infra.program.gate import Gate
from interlock.resources import KINDS, Admission
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import Taking
from tests.support.engine.process import Process, Recorded
from tests.support.engine.stack import Stack

T = TypeVar("T")
SITE = "lyon"


class Clock:
    """Seconds of each part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    def timed(self, part: str, call: Callable[[], T]) -> T:
        """Do it and add up how long it took."""
        begun = time.monotonic()
        result = call()
        self.parts[part] = self.parts.get(part, 0.0) + time.monotonic() - begun
        return result


def main(tenant: str) -> dict[str, float]:
    """Every part once: an `up` does all but `claims` twice, for its preview and for the update."""
    clock = Clock()
    gate, _ = clock.timed("load and plan", lambda: _planned(tenant))
    gate = clock.timed("prove", gate.with_applied)
    proof = clock.timed("prove", lambda: gate.prove(tenant))
    admission = clock.timed("prove", lambda: gate.admission(proof))
    taking = gate.taking(proof)
    assert taking is not None  # the gate has looked at the store
    clock.timed("claims", lambda: _claim(taking))
    _check(clock, admission)
    return clock.parts


def _planned(tenant: str) -> tuple[Gate, object]:
    gate = Gate.open(SITE)
    return gate, gate.plan(tenant)


def _claim(taking: Taking) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(open_store(Path(folder).as_uri(), SITE))
        lineage = ledger.take(taking, None).lineage
        ledger.confirm(taking.stack, lineage)
        ledger.drop(taking.stack, lineage, taking.entry.digest)


def _check(clock: Clock, admission: Admission) -> None:
    """Ids are the engine's unknown in a preview, and none here: nothing is asked of the cloud."""
    resources = {item.name: KINDS[item.kind].model_validate(item.spec) for item in admission.resources}
    process = Process()
    program = Stack(
        process, admission.stack, admission.owner, resources, admission.site_owner, Path(admission.site_folder)
    )
    assert process.admit(admission) == []
    program.state = {name: Recorded("", {}, {}) for name in resources}
    inputs = {name: _known(program.inputs(name)) for name in resources}
    program.state.clear()
    clock.timed("check", lambda: _check_all(program, inputs))
    process.close()


def _check_all(program: Stack, inputs: Mapping[str, dict[str, object]]) -> None:
    faults = [program.check(name, values) for name, values in inputs.items()]
    assert not any(faults), faults


def _known(inputs: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in inputs.items() if not name.startswith("id_of_")}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
