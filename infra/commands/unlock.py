"""`interlock unlock`: after a kill, remove what the engine left behind."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infra.engine import BackendLock, Engine
from infra.exits import EnvironmentFailed


def unlock(
    stack: Annotated[str, typer.Argument(help="Name of the stack, such as lyon-acme.")],
) -> None:
    """Remove the lock of a dead `pulumi` process, and the creates that it left pending.

    A lock goes only if its process ran on this host and exists no more. What pending creates made on the
    cloud is found and adopted by the next `pulumi up`. Safe to run at any time; nothing to do is no error.

    Example:

      interlock unlock lyon-acme
    """
    said = mend(Engine.here(), stack)
    for line in said or [f"{stack}: nothing to unlock"]:
        print(line, file=sys.stderr)


def mend(engine: Engine, stack: str) -> list[str]:
    """Unlock a stack; what was done, a line each. Raises `EnvironmentFailed` for a lock that is in use."""
    said = [_remove(stack, lock) for lock in engine.locks(stack)]
    dropped = engine.drop_pending_creates(stack)
    if dropped:
        said.append(f"{stack}: {len(dropped)} interrupted create(s) dropped; `pulumi up` finds what they made")
    return said


def _remove(stack: str, lock: BackendLock) -> str:
    if not lock.dead:
        raise EnvironmentFailed(
            f"{stack} is locked by process {lock.pid} on {lock.host} since {lock.since}, which may be running: "
            "wait for it, or if you know that it is gone, `pulumi cancel`"
        )
    lock.path.unlink(missing_ok=True)
    return f"{stack}: removed the lock of process {lock.pid}, which is gone"
