"""`./run demo`: the embedded cloud, the operator's stack and one tenant, through every check."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from infra.cli.exits import EnvironmentFailed, Interrupted
from infra.commands.sandbox import supervise
from infra.commands.unlock import mend
from infra.program.gate import Gate
from infra.program.places import SANDBOX
from infra.reports.demo_summary import summary
from infra.stack.engine import Engine

SITE, TENANT = "lyon", "acme"


def demo() -> None:
    """Bring up the sandbox, the operator's stack and a tenant's.

    Applies `lyon-site` and `lyon-acme` with the policy pack, and says what exists then.

    Everything it makes lies in .interlock/. A second run changes nothing and says so.

    Exit code: 0 everything exists, 2 the input is wrong, 4 the sandbox or `pulumi up` failed, 130 Ctrl-C.

    \b
    Example:
      ./run demo
    """
    try:
        _bring_up()
    except KeyboardInterrupt:
        raise Interrupted("what exists is kept; run `./run demo` again, and it continues from there") from None


def _bring_up() -> None:
    begun = time.monotonic()
    engine, gate = Engine.of_the_demo(), Gate.open(SITE)
    with _step("sandbox: a real OpenStack on this machine's loopback"):
        if code := supervise("up", "--dir", str(SANDBOX)):
            raise EnvironmentFailed(f"the sandbox did not start (exit {code}); its own messages are above")
    for tenant in (None, TENANT):
        _apply(engine, gate.stack(tenant))
    if all(engine.last_changes(gate.stack(tenant)).keys() <= {"same"} for tenant in (None, TENANT)):
        _say("nothing was changed: everything existed already")
    print(summary(gate, TENANT, engine.outputs(gate.stack(TENANT))), flush=True)
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
