"""`./run demo`: the embedded cloud, the operator's stack and one tenant, through every fence."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from infra.commands.unlock import mend
from infra.demo_summary import summary
from infra.engine import Engine
from infra.exits import EnvironmentFailed
from infra.gate import Gate
from infra.places import ROOT, SANDBOX

SITE, TENANT = "lyon", "acme"


def demo() -> None:
    """Start the sandbox, apply `lyon-site` and `lyon-acme` with the policy pack, and say what exists now.

    Everything it makes lies in .interlock/. A second run changes nothing and says so.

    Example:

      ./run demo
    """
    begun = time.monotonic()
    engine = Engine.here()
    with _step("sandbox: a real OpenStack on this machine's loopback"):
        _sandbox_up()
    gate = Gate.open(SITE)
    for tenant in (None, TENANT):
        _apply(engine, gate.stack(tenant))
    print(summary(gate, TENANT, engine), flush=True)
    _say(f"demo finished in {time.monotonic() - begun:.1f} s")


def _apply(engine: Engine, stack: str) -> None:
    with _step(f"stack {stack}"):
        engine.init(stack)
        for line in mend(engine, stack):
            _say(f"  {line}")
    with _step(f"pulumi up --yes --stack {stack} --policy-pack policies/pack"):
        code = engine.up(stack)
    if code:
        raise EnvironmentFailed(f"pulumi up of {stack} ended with {code}; its own words are above. Run ./run demo again")


def _sandbox_up() -> None:
    command = [sys.executable, str(ROOT / "sandbox" / "supervisor.py"), "up", "--dir", str(SANDBOX)]
    if code := subprocess.run(command, check=False).returncode:
        raise EnvironmentFailed(f"the sandbox did not start (exit {code}); its own words are above")


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Name a step, and say how long it took."""
    _say(f"==> {what}")
    begun = time.monotonic()
    yield
    _say(f"    done in {time.monotonic() - begun:.1f} s")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


