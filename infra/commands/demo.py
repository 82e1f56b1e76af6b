"""`./run demo`: an embedded cloud, the operator's stack and tenants' stacks, through every check."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.exits import EnvironmentFailed, Interrupted
from infra.commands.sandbox import supervise
from infra.commands.unlock import mend
from infra.program.gate import Gate
from infra.program.places import GPU_SANDBOX, SANDBOX
from infra.reports.demo_summary import summary
from infra.reports.gpu_demo_summary import gpu_summary
from infra.stack.engine import Engine
from infra.stack.nodes_file import write_nodes
from infra.stack.partitions import partitions_of
from interlock.ufm.loading import NAME as FABRICS


class DemoName(StrEnum):
    """Which demo."""

    POD = "pod"
    GPU = "gpu"


#: (gate, outputs of each tenant's stack) -> what a demo ends with.
Ending = Callable[[Gate, Mapping[str, Mapping[str, Any]]], str]


@dataclass(frozen=True)
class Demo:
    """A site on an embedded cloud of its own, and the tenants that are applied."""

    site: str
    tenants: tuple[str, ...]
    sandbox: Path
    #: What stands in the cloud: a rack of the sandbox.
    rack: str
    #: Whether its hosts are enrolled at Ironic, which the operator does before the first tenant comes.
    enrols: bool
    ending: Ending


def _pod_ending(gate: Gate, outputs: Mapping[str, Mapping[str, Any]]) -> str:
    return summary(gate, "acme", outputs["acme"])


def _gpu_ending(gate: Gate, outputs: Mapping[str, Mapping[str, Any]]) -> str:
    partitions = partitions_of(gate.workspace.site, GPU_SANDBOX / FABRICS)
    return gpu_summary(gate, outputs, partitions, GPU_SANDBOX)


DEMOS = {
    DemoName.POD: Demo("lyon", ("acme",), SANDBOX, "lyon", enrols=False, ending=_pod_ending),
    DemoName.GPU: Demo(
        "hall", ("acme", "globex", "initech", "umbrella"), GPU_SANDBOX, "hall", enrols=True, ending=_gpu_ending
    ),
}


def demo(
    which: Annotated[DemoName, typer.Argument(help="pod: IPU-Machines; gpu: GPU nodes.")] = DemoName.POD,
) -> None:
    """Bring up a sandbox, the operator's stack and tenants' stacks.

    Applies `lyon-site` and `lyon-acme` with the policy pack, and says what exists then. With `gpu`, a hall of GPU
    nodes instead, with a real InfiniBand subnet manager: `hall-site` and four tenants.

    Everything it makes lies in .interlock/. A second run changes nothing and says so.

    Exit code: 0 everything exists, 2 the input is wrong, 4 the sandbox or `pulumi up` failed, 130 Ctrl-C.

    \b
    Examples:
      ./run demo
      ./run demo gpu
    """
    try:
        _bring_up(DEMOS[which])
    except KeyboardInterrupt:
        again = "./run demo" if which is DemoName.POD else f"./run demo {which}"
        raise Interrupted(f"what exists is kept; run `{again}` again, and it continues from there") from None


def _bring_up(wanted: Demo) -> None:
    begun = time.monotonic()
    engine, gate = Engine.of_the_demo(wanted.sandbox), Gate.open(wanted.site)
    with _step("sandbox: a real OpenStack on this machine's loopback"):
        if code := supervise("up", "--dir", str(wanted.sandbox), "--rack", wanted.rack):
            raise EnvironmentFailed(f"the sandbox did not start (exit {code}); its own messages are above")
    _apply(engine, gate.stack(None))
    if wanted.enrols:
        with _step("nodes: enrolled at Ironic, on its fake hardware, and cleaned"):
            file = write_nodes(wanted.site, wanted.sandbox / "nodes.json")
            if code := supervise("enrol", str(file), "--dir", str(wanted.sandbox)):
                raise EnvironmentFailed(f"nodes were not enrolled (exit {code}); the message is above")
    for tenant in wanted.tenants:
        _apply(engine, gate.stack(tenant))
    stacks = [gate.stack(tenant) for tenant in (None, *wanted.tenants)]
    if all(engine.last_changes(stack).keys() <= {"same"} for stack in stacks):
        _say("nothing was changed: everything existed already")
    outputs = {tenant: engine.outputs(gate.stack(tenant)) for tenant in wanted.tenants}
    print(wanted.ending(gate, outputs), flush=True)
    _say(f"demo finished in {time.monotonic() - begun:.1f} s")


def _apply(engine: Engine, stack: str) -> None:
    with _step(f"stack {stack}"):
        made = engine.init(stack)
        _say(f"    {'made' if made else 'is there'} on {engine.environment.get('PULUMI_BACKEND_URL', '')}")
        for line in mend(engine, stack):
            _say(f"    {line}")
    with _step(f"pulumi up --yes --stack {stack} --policy-pack policies/pack"):
        code = engine.up(stack)
        if code:
            raise EnvironmentFailed(f"pulumi up of {stack} ended with {code}; its own messages are above")


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Name a step, and say how long it took, or after how long it failed."""
    _say(f"==> {what}")
    begun = time.monotonic()
    outcome = "failed"
    try:
        yield
        outcome = "done"
    finally:
        _say(f"    {outcome} after {time.monotonic() - begun:.1f} s")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
