"""`interlock settle`: what a tenant gave up is free once state, store, cloud and switches have let go."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from infra.commands.options import Site
from infra.engine import Engine
from infra.exits import Exit
from infra.gate import Gate
from infra.lock_making import keep, settled
from infra.settling import SWITCHES, Evidence, freed, of_owner
from interlock.model.lock import Lock
from interlock.provider.census import census
from interlock.provider.clouds import Cloud
from interlock.store.ledger import Ledger
from interlock.store.places import open_store


def settle(
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="The tenant that gave something up.")],
    site: Site = "lyon",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Look, and change nothing.")] = False,
) -> None:
    """Release what a tenant gave up, once nothing holds it any more.

    A claim that a lock gave up counts until this has looked at four places: the engine's state (PULUMI_BACKEND_URL),
    the claims store, the cloud (every object with the tenant's owner id) and the switches. If all have let go, the
    claims leave the lock and the store. If one has not, that is said, and nothing changes.

    \b
    Exit code:
      0  settled, or there was nothing to settle
      1  something still holds what was given up
      2  the input is wrong: a file, or a lock that is missing or old
      4  a place could not be looked at: backend, store or cloud

    \b
    Examples:
      interlock settle acme --dry-run
      interlock settle acme
    """
    gate = Gate.open(site)
    name = gate.tenant(tenant).id
    plan, lock = gate.plan(name), gate.workspace.locks[name]
    if not lock.released:
        print(f"{name}: nothing to settle", file=sys.stderr)
        return
    evidence = _look(gate, name, lock)
    if obstacles := evidence.obstacles():
        _refuse(plan.stack, obstacles)
    for entry in lock.released:
        print(f"{name}/{entry.vpod}: {entry.claim} {entry.value}")
    print(SWITCHES, file=sys.stderr)
    if not dry_run:
        _settle(gate, plan.stack, lock)


def _look(gate: Gate, tenant: str, lock: Lock) -> Evidence:
    plan, site = gate.plan(tenant), gate.workspace.site
    return Evidence(
        plan=plan,
        lock=lock,
        deployment=_deployment(plan.stack),
        record=_ledger(gate).stack(plan.stack),
        objects=of_owner(census(Cloud(site.cloud)), lock.owner),
    )


def _deployment(stack: str) -> dict[str, object] | None:
    engine = Engine.here()
    if not engine.has(stack):
        return None
    found: dict[str, object] = json.loads(engine.ask("stack", "export", "--stack", stack))["deployment"]
    return found


def _settle(gate: Gate, stack: str, lock: Lock) -> None:
    """The store first: if this ends in between, the lock still says what is to be settled."""
    new = settled(gate, lock)
    _ledger(gate).release(stack, freed(lock, new))
    keep(gate, lock, new)
    print(f"{lock.id}: settled, lock serial {new.serial}; commit it", file=sys.stderr)


def _ledger(gate: Gate) -> Ledger:
    site = gate.workspace.site
    return Ledger(open_store(site.claims, site.name))


def _refuse(stack: str, obstacles: list[str]) -> None:
    said = "\n".join(f"  - {line}" for line in obstacles)
    print(f"{stack}: not settled, nothing was changed:\n{said}", file=sys.stderr)
    print("next: run `pulumi up` on it; what is left then on the cloud is to be removed by hand", file=sys.stderr)
    raise typer.Exit(Exit.VIOLATED)
