"""`interlock recover`: take over a stack whose state was lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.exits import EnvironmentFailed, Exit
from infra.commands.options import OneStack, Site, tenant_of
from infra.commands.unlock import mend
from infra.program.gate import Gate
from infra.program.places import RUNTIME
from infra.stack.engine import Engine
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import StackRecord


def recover(
    tenant: OneStack,
    site: Site = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take over a stack whose state was lost or is an old copy.

    The claims store records from which state a stack is applied, and refuses every other. This command puts the
    state of the backend in use in its place: its content is copied to a file and removed, then `pulumi up` finds
    everything that carries the stack's owner id, and adopts it. Keys of S3 users are created again, because a
    secret is shown once.

    Ask everybody who may hold the other state first: from now on it is refused.

    Exit code: 0 recovered, 1 not taken over, 2 the input is wrong, 4 the store or `pulumi up` failed.

    \b
    Examples:
      interlock recover acme
      interlock recover site --site paris --yes
    """
    gate = Gate.open(site)
    name = tenant_of(tenant)
    stack = gate.stack(None if name is None else gate.tenant(name).id)
    found = gate.workspace.site
    ledger = Ledger(open_store(found.claims, found.name, found.region))
    record = ledger.stack(stack)
    if record is None:
        raise EnvironmentFailed(f"the claims store {ledger.store.name} has no record of {stack}: run `pulumi up`")
    if not yes:
        _ask(record)
    engine = Engine.here()
    _empty(engine, stack)
    ledger.recover(stack, record.owner)
    print(f"{stack}: `pulumi up` adopts what carries its owner id", file=sys.stderr)
    if code := engine.up(stack):
        raise EnvironmentFailed(f"pulumi up of {stack} ended with {code}; run it again: it continues from there")


def _ask(record: StackRecord) -> None:
    question = (
        f"{record.stack} is applied from another state (last written by {record.written_by}). Take over from here, "
        "so that the other is refused?"
    )
    if not sys.stdin.isatty():
        print(f"{question}\nthere is no terminal to ask on: use --yes", file=sys.stderr)
        raise typer.Exit(Exit.VIOLATED)
    if not typer.confirm(question, err=True):
        raise typer.Exit(Exit.VIOLATED)


def _empty(engine: Engine, stack: str) -> None:
    """Take out what the backend's state holds; a copy of it stays."""
    engine.init(stack)
    mend(engine, stack)
    document = json.loads(engine.ask("stack", "export", "--stack", stack))
    deployment = document["deployment"]
    if not deployment.get("resources"):
        return
    copy = _keep(stack, document)
    print(f"{stack}: a copy of this state is in {copy}", file=sys.stderr)
    deployment["resources"] = []
    deployment.pop("pending_operations", None)
    engine.ask("stack", "import", "--stack", stack, given=json.dumps(document))


def _keep(stack: str, document: object) -> Path:
    folder = RUNTIME / "recovered"
    folder.mkdir(parents=True, exist_ok=True)
    number = sum(1 for _ in folder.glob(f"{stack}.*.json")) + 1
    path = folder / f"{stack}.{number}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    path.chmod(0o600)
    return path
