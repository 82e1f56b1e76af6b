"""Acts, entries and differences for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from infra.program.break_glass import tenant_of_stack
from interlock.model.evidence.signers import Signers
from interlock.store.break_glass import GlassEntry

from .differences import DifferenceVerdict, ManualDifference
from .manual_act import ManualAct
from .signing import why_unsigned

#: What nobody changes by hand, whatever happens: the proof, adoption and the next apply rest on it, or it joins.
KEEP_OFF = (
    "the claims store, and the locks and requests of the site: what is claimed stays claimed",
    "the state: no `pulumi state delete`, no `pulumi stack import`",
    "markers, `interlock:<owner id>:<name>` in descriptions, names, metadata and properties: objects are known by them",
    "names, projects, hosts, segment ids, subnets and addresses of what is planned; projects and users themselves",
    "anything else that is there: nothing is deleted but what an act above deletes",
    "whatever joins: roles, rules that open, RBAC policies, allowed address pairs, port security, routes",
    "whatever is at a wire: VLANs of ports and trunks, GUIDs in partitions, machines in allocations",
    "whose a disk is: no volume or share at another server or network",
)


def acts_text(stack: str, notes: Sequence[str], acts: Iterable[ManualAct]) -> str:
    """Each act with its commands, what it does, and how it is taken back; then what is not touched."""
    lines = [f"{stack}: acts by hand, from files alone", *(f"note: {note}" for note in notes)]
    lines.append(f"first: `interlock break-glass open {tenant_of_stack(stack)} --reason …`")
    for act in acts:
        lines += ["", f"{act.act} {act.objects[0]}" + (f" (at {act.where})" if act.where else "")]
        lines += [f"    {command}" for command in act.commands]
        lines += [f"  does: {act.does}", f"  isolation: {act.isolation}"]
        if act.back:
            lines += ["  back:", *(f"    {command}" for command in act.back)]
        else:
            lines.append("  back: `pulumi up --refresh` of the stack, once the entry is closed")
        lines.append(f"  afterwards: {act.found_by}")
    return "\n".join([*lines, "", "do not touch:", *(f"  - {item}" for item in KEEP_OFF)]) + "\n"


def acts_document(stack: str, notes: Sequence[str], acts: Iterable[ManualAct]) -> dict[str, Any]:
    """The JSON form."""
    return {
        "stack": stack,
        "notes": list(notes),
        "acts": [{**asdict(act), "found_by": act.found_by.name.lower()} for act in acts],
        "keep_off": list(KEEP_OFF),
    }


def entries_text(stack: str, entries: Iterable[GlassEntry], now: datetime, signers: Signers | None) -> Iterator[str]:
    """Entries of one stack, a line each and one for how it ended."""
    for entry in entries:
        opening, closing = entry.opening, entry.closing
        state = "closed" if closing else "expired" if entry.is_expired(now) else "open"
        late = f", written {opening.written}" if opening.written > opening.since else ""
        yield f"{stack} {opening.number}: {state}, by {opening.by}, {opening.since} to {opening.until}{late}"
        yield f"  reason: {opening.reason}"
        if wrong := why_unsigned(entry, signers):
            yield f"  {wrong}"
        if closing is not None:
            yield f"  closed {closing.at} by {closing.by}"
            yield from (f"  {one.decision}: {one.object}: {one.found}" for one in closing.left)
            yield from (f"  looked at: {closing.looked}",) if closing.looked else ()


def entry_document(entry: GlassEntry, now: datetime, signers: Signers | None) -> dict[str, Any]:
    """The JSON form of one entry."""
    return {
        **entry.opening.model_dump(mode="json"),
        "open": entry.is_open,
        "expired": entry.is_expired(now),
        "unsigned": why_unsigned(entry, signers),
        "closing": None if entry.closing is None else entry.closing.model_dump(mode="json"),
    }


def differences_text(found: Iterable[ManualDifference], decided: Iterable[str]) -> Iterator[str]:
    """What each difference is, what the rules say of it, and what can become of it."""
    named = set(decided)
    for item in found:
        word = "named" if item.object in named and item.verdict.can_wait else str(item.verdict).upper()
        yield f"{word} {item.object}: {item.what}"
        yield from (f"    {finding}" for finding in item.findings)
        yield f"  undo: {item.undo}" if item.verdict is not DifferenceVerdict.LEAK else f"  undo now: {item.undo}"
        if item.take_over:
            yield f"  take over: {item.take_over}"
