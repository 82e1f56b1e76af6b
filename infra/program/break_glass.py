"""An apply is refused while somebody changes objects of the stack by hand: it would set back what was changed."""

from __future__ import annotations

import os

from infra.program.gate import Gate
from interlock.store.break_glass import BreakGlass, GlassEntry, GlassRecord
from interlock.store.places import open_store
from interlock.store.refusals import Refused
from interlock.vocabulary import StackName
from interlock.vocabulary.stacks import OPERATORS

#: Names the entry that whoever applies knows of: its number, or all that are open, with commas between them.
VARIABLE = "INTERLOCK_BREAK_GLASS"


class ChangedByHand(Refused):
    """An entry of the stack is open."""


def break_glass_of(gate: Gate) -> BreakGlass:
    """The records of a site."""
    site = gate.workspace.site
    return BreakGlass(open_store(site.claims, site.name, site.region))


def tenant_of_stack(stack: str) -> str:
    """The word by which commands take a stack."""
    return StackName.parse(stack).tenant or OPERATORS


def require_closed(gate: Gate, tenant: str | None) -> None:
    """Raises `ChangedByHand` if an entry of the stack is open that `INTERLOCK_BREAK_GLASS` does not name.

    One whose time is over counts: what was changed is changed until somebody says what becomes of it. Raises
    `StoreFailed` if the store cannot be read.
    """
    record = break_glass_of(gate).of(gate.stack(tenant))
    known = {word.strip() for word in os.environ.get(VARIABLE, "").split(",")}
    unknown = [entry for entry in record.open_entries if str(entry.opening.number) not in known]
    if unknown:
        raise refusal(record, unknown[0])


def refusal(record: GlassRecord, entry: GlassEntry) -> ChangedByHand:
    """What is said for the first entry that is in the way."""
    opening = entry.opening
    numbers = ",".join(str(one.opening.number) for one in record.open_entries)
    return ChangedByHand(
        f"break-glass {opening.number} of {record.stack} is open: {opening.by} changes its objects by hand since "
        f"{opening.since}, until {opening.until}: {opening.reason}; an apply would set that back",
        f"`interlock break-glass close {tenant_of_stack(record.stack)}` says what was changed, and closes it; with "
        f"{VARIABLE}={numbers} an apply goes on all the same",
    )
