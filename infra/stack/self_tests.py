"""Self-tests of devices that stand where others stood: evidence of them, and the note of it in the lock (LIF-13)."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

from infra.locking.making import keep
from infra.program.gate import Gate
from infra.stack.handing_over import Handover, identity_of, tests_before_use
from infra.stack.signatures import signatures_of
from interlock.model.lock.record import Lock, SiteLock


def tests(gate: Gate, lock: Lock) -> Handover:
    """The devices of a lock that want a self-test, with the evidence of the site."""
    workspace = gate.workspace
    return Handover(
        workspace.site,
        lock.id,
        tests_before_use(workspace.site, lock.replaced),
        workspace.evidence,
        datetime.now(UTC),
        signatures_of(workspace),
    )


def noted(gate: Gate, lock: Lock, untested: Handover, *, dry_run: bool) -> tuple[Lock, SiteLock | None]:
    """The lock, and the operator's, without the notes about devices seen tested; written, unless `dry_run`.

    The operator's lock is written first: a note that is left in the other one is taken away by the next run.
    """
    lacking = {one.demand.identity for one in untested.lacking()}
    passed = tuple(one for one in lock.replaced if identity_of(one) not in lacking)
    for one in passed:
        print(f"{lock.id}: {one.device} ({one.serial}) was seen self-tested", file=sys.stderr)
    operators = gate.workspace.site_lock
    if not dry_run:
        operators = _noted_by_operator(gate, {identity_of(one) for one in passed})
    if not passed or dry_run:
        return lock, operators
    left = tuple(one for one in lock.replaced if one not in passed)
    new = lock.model_copy(update={"replaced": left, "serial": lock.serial + 1}).sealed()
    keep(gate, lock, new)
    print(f"{lock.id}: lock serial {new.serial}; commit it", file=sys.stderr)
    return new, operators


def _noted_by_operator(gate: Gate, passed: Collection[str]) -> SiteLock | None:
    """The same of the operator's lock, and of devices that nobody has: evidence of their tests is looked at as well."""
    workspace, lock = gate.workspace, gate.workspace.site_lock
    if lock is None or not lock.untested:
        return lock
    # Whoever it is released by: a test is one of the device, and nobody may have it.
    seen = tuple(replace(one, released_by=lock.id) for one in workspace.evidence)
    asked = Handover(
        workspace.site,
        lock.id,
        tests_before_use(workspace.site, lock.untested),
        seen,
        datetime.now(UTC),
        signatures_of(workspace),
    )
    lacking = {one.demand.identity for one in asked.lacking()}
    left = tuple(one for one in lock.untested if identity_of(one) in lacking and identity_of(one) not in passed)
    if left == lock.untested:
        return lock
    for one in lock.untested:
        if one not in left and identity_of(one) not in passed:
            print(f"{lock.id}: {one.device} ({one.serial}) was seen self-tested", file=sys.stderr)
    new = lock.model_copy(update={"untested": left, "serial": lock.serial + 1}).sealed()
    keep(gate, lock, new)
    print(f"{lock.id}: lock serial {new.serial}; commit it", file=sys.stderr)
    return new
