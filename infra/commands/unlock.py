"""`interlock unlock`: after a kill, remove what the engine left behind."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import Annotated

import typer

from infra.cli.exits import EnvironmentFailed
from infra.cli.formats import Format, format_option, print_json
from infra.stack.backend import BackendLock
from infra.stack.engine import Engine
from infra.stack.leftovers import leftovers

#: Stacks that a message names.
MOST_LISTED = 30


def _stacks(incomplete: str) -> list[str]:
    """Stacks of the backend, for shell completion; none where it cannot be read."""
    try:
        return [name for name in Engine.here().backend.stacks() if name.startswith(incomplete)]
    except EnvironmentFailed:
        return []


def unlock(
    stack: Annotated[
        str,
        typer.Argument(metavar="STACK", help="Name of the stack, such as lyon-acme.", autocompletion=_stacks),
    ],
    form: Annotated[Format, format_option("unlock")] = Format.TEXT,
) -> None:
    """Unlock a stack that a killed `pulumi` left locked.

    Removes the lock of a dead process, the operations that it left pending, and what it left half-written.

    A lock is removed only if its process ran on this host and has ended. What pending creates made on the
    cloud is found and adopted by the next `pulumi up`. Safe to run at any time; nothing to do is no error.

    Exit code: 0 the stack is free, 2 there is no such stack, 4 a process that may be running holds it.

    \b
    Examples:
      interlock unlock lyon-acme
      interlock unlock lyon-acme --format json
    """
    engine = Engine.here()
    _require_stack(engine, stack)
    said = mend(engine, stack)
    if form is Format.JSON:
        print_json({"stack": stack, "done": said})
    for line in said or [f"{stack}: nothing to unlock"]:
        print(line, file=sys.stderr)


def _require_stack(engine: Engine, stack: str) -> None:
    """Raises `typer.BadParameter`, naming what exists, if nothing on the backend has this name."""
    known = engine.backend.stacks()
    if stack not in known and not any(engine.backend.locks(stack)):
        close = get_close_matches(stack, known, n=1)
        there = ", ".join(known[:MOST_LISTED]) or "none"
        hint = f"did you mean `{close[0]}`? There are: {there}" if close else f"there are: {there}"
        raise typer.BadParameter(f"the backend has no stack `{stack}`: {hint}", param_hint="STACK")


def mend(engine: Engine, stack: str) -> list[str]:
    """Unlock a stack; what was done, a line each. Raises `EnvironmentFailed` if it may be in use."""
    # Before the locks: what an engine writes that begins meanwhile is not among it.
    left = leftovers(engine.backend.folder, stack)
    locks = list(engine.backend.locks(stack))
    for lock in locks:
        _require_dead(stack, lock)
    for lock in locks:
        lock.remove()
    said = [f"{stack}: removed the lock of process {lock.pid}, which is gone" for lock in locks]
    for path in left:
        path.unlink(missing_ok=True)
    if left:
        said.append(f"{stack}: removed {len(left)} half-written file(s); the state is the one that was written before")
    dropped = engine.drop_pending(stack)
    if dropped.creates:
        said.append(f"{stack}: dropped {len(dropped.creates)} interrupted create(s); `pulumi up` finds what they made")
    if dropped.others:
        # An object that a plain `up` has no wish about, as after `--replace` or `destroy`, may be gone unnoticed.
        said.append(
            f"{stack}: the update or deletion of {', '.join(dropped.others)} was interrupted: run the same command "
            "again, or `pulumi up --refresh`"
        )
    return said


def _require_dead(stack: str, lock: BackendLock) -> None:
    if not lock.dead:
        raise EnvironmentFailed(
            f"{stack} is locked by process {lock.pid} on {lock.host} since {lock.since}, which may be "
            "running: wait for it, or, if you know that it is gone, run `pulumi cancel`"
        )
