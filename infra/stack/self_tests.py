"""Self-tests of devices that stand where others stood: evidence of them, and the note of it in the lock (LIF-13)."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from infra.locking.making import keep
from infra.program.gate import Gate
from infra.stack.handing_over import Handover, identity_of, tests_before_use
from interlock.model.lock.record import Lock


def tests(gate: Gate, lock: Lock) -> Handover:
    """The devices of a lock that want a self-test, with the evidence of the site."""
    workspace = gate.workspace
    return Handover(workspace.site, lock.id, tests_before_use(lock.replaced), workspace.evidence, datetime.now(UTC))


def noted(gate: Gate, lock: Lock, untested: Handover, *, dry_run: bool) -> Lock:
    """The lock without the notes about devices that were seen tested; written, unless `dry_run`."""
    lacking = {one.demand.identity for one in untested.lacking()}
    passed = tuple(one for one in lock.replaced if identity_of(one) not in lacking)
    for one in passed:
        print(f"{lock.id}: {one.device} ({one.serial}) was seen self-tested", file=sys.stderr)
    if not passed or dry_run:
        return lock
    left = tuple(one for one in lock.replaced if one not in passed)
    new = lock.model_copy(update={"replaced": left, "serial": lock.serial + 1}).sealed()
    keep(gate, lock, new)
    print(f"{lock.id}: lock serial {new.serial}; commit it", file=sys.stderr)
    return new
