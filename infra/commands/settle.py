"""`interlock settle`: frees what a tenant released, once state, store, cloud and switches no longer hold it."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.commands.options import OneTenant, Site
from infra.locking.making import keep, settled
from infra.program.gate import Gate
from infra.stack.engine import Engine
from infra.stack.settling import SWITCHES, Evidence, freed, of_owner, only_of, others
from interlock.model.lock.record import Lock
from interlock.provider.census import census
from interlock.provider.clouds import Cloud
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import StackRecord
from interlock.vocabulary import Claimant


def settle(
    tenant: OneTenant,
    site: Site = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Read only; change nothing.")] = False,
    form: Annotated[Format, format_option("settle")] = Format.TEXT,
) -> None:
    """Settle what a tenant released, once nothing holds it any more.

    A released claim stays reserved until this command has checked four places: the engine's state
    (PULUMI_BACKEND_URL), the claims store, the cloud (every object with the tenant's owner id) and the switches. If
    none of them holds it, it is removed from the lock and the store. Otherwise what holds it is named, and nothing
    changes.

    The same is done for what a killed run claimed and no later run knows of, because the request was edited
    meanwhile: its footprint is removed from the store when nothing of it can exist; for that
    `pulumi preview --refresh` is run as well.

    \b
    Exit code:
      0  settled, or there was nothing to settle
      1  something still holds what was released
      2  the input is wrong: a file, or a lock that is missing or old
      4  a place could not be read: backend, store or cloud

    \b
    Examples:
      interlock settle acme --dry-run
      interlock settle acme
      interlock settle acme --dry-run --format json
    """
    gate = Gate.open(site)
    name = gate.tenant(tenant).id
    plan, lock = gate.plan(name), gate.workspace.locks[name]
    record = _ledger(gate).stack(plan.stack)
    evidence = _look(gate, name, lock, record) if lock.released or others(record, plan, lock) else None
    if evidence is None or not (lock.released or evidence.leftover):
        print(f"{name}: nothing to settle", file=sys.stderr)
        if form is Format.JSON:
            print_json(_document(plan.stack, None, []))
        return
    obstacles = [*evidence.obstacles(), *_disagreement(evidence)]
    if form is Format.JSON:
        print_json(_document(plan.stack, evidence, obstacles))
    if obstacles:
        _refuse(plan.stack, obstacles)
    if form is Format.TEXT:
        _tell(evidence)
    print(SWITCHES, file=sys.stderr)
    if not dry_run:
        _settle(gate, evidence)


def _look(gate: Gate, tenant: str, lock: Lock, record: StackRecord | None) -> Evidence:
    plan, site = gate.plan(tenant), gate.workspace.site
    return Evidence(
        plan=plan,
        lock=lock,
        deployment=_deployment(plan.stack),
        record=record,
        objects=of_owner(census(Cloud(site.cloud)), lock.owner),
        running=_running(plan.stack),
    )


def _deployment(stack: str) -> dict[str, object] | None:
    engine = Engine.here()
    if not engine.has(stack):
        return None
    found: dict[str, object] = json.loads(engine.ask("stack", "export", "--stack", stack))["deployment"]
    return found


def _running(stack: str) -> tuple[str, ...]:
    """Whose locks lie on the state; none are seen on a backend that is no folder."""
    engine = Engine.here()
    if not engine.environment.get("PULUMI_BACKEND_URL", "").startswith("file:"):
        return ()
    return tuple(f"process {lock.pid} on {lock.host}" for lock in engine.backend.locks(stack))


def _disagreement(evidence: Evidence) -> list[str]:
    """What a killed run changed in place has the names of the plan: only the whole of it tells."""
    if not evidence.leftover or evidence.is_empty or not evidence.is_applied or _agrees(evidence.plan.stack):
        return []
    return ["cloud: `pulumi preview --refresh --expect-no-changes` finds something that is not as planned"]


def _agrees(stack: str) -> bool:
    return Engine.here().agrees(stack)


def _tell(evidence: Evidence) -> None:
    lock, leftover = evidence.lock, evidence.leftover
    for given_up in lock.released:
        print(f"{Claimant(lock.id, given_up.vpod)}: {given_up.claim} {given_up.value}")
    stay = [entry for entry in evidence.record.entries if entry not in leftover] if evidence.record else []
    for entry in leftover:
        print(f"{lock.id}: footprint {entry.digest} of an interrupted run", *only_of(entry, stay))


def _document(stack: str, evidence: Evidence | None, obstacles: list[str]) -> dict[str, object]:
    """The JSON form: what is given up, and what still holds it. With `--dry-run` it is the same."""
    released = evidence.lock.released if evidence else ()
    leftover = evidence.leftover if evidence else ()
    return {
        "stack": stack,
        "released": [{"vpod": one.vpod, "claim": one.claim, "value": one.value} for one in released],
        "leftover": [entry.digest for entry in leftover],
        "obstacles": obstacles,
    }


def _settle(gate: Gate, evidence: Evidence) -> None:
    """The store first: if this ends in between, the lock still says what is to be settled."""
    lock, ledger = evidence.lock, _ledger(gate)
    if evidence.record and evidence.leftover:
        ledger.forget(evidence.record, [entry.digest for entry in evidence.leftover])
    if not lock.released:
        print(f"{lock.id}: settled in the store; the lock stays as it is", file=sys.stderr)
        return
    new = settled(gate, lock)
    ledger.release(evidence.plan.stack, freed(lock, new))
    keep(gate, lock, new)
    print(f"{lock.id}: settled, lock serial {new.serial}; commit it", file=sys.stderr)


def _ledger(gate: Gate) -> Ledger:
    site = gate.workspace.site
    return Ledger(open_store(site.claims, site.name))


def _refuse(stack: str, obstacles: list[str]) -> None:
    said = "\n".join(f"  - {line}" for line in obstacles)
    print(f"{stack}: not settled, nothing was changed:\n{said}", file=sys.stderr)
    print("next: run `pulumi up` on it; then remove by hand what is left on the cloud", file=sys.stderr)
    raise typer.Exit(Exit.VIOLATED)
