"""An audit for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from infra.break_glass.open_entries import OpenGlass
from infra.cli import colour as paint
from infra.program.gate import Gate
from interlock.provider.audit.standing import Standing
from interlock.provider.audit.unmanaged import UnmanagedResource
from interlock.provider.existing import Comparison
from interlock.ufm.findings import CableFinding
from policies import Finding
from policies.findings.report import outcome

from .comparison import Audit, Live, StackAudit

#: How many facts of one kind are told in the table; the JSON form has them all.
TOLD = 6


#: What to do about a switch that is not as stated.
SWITCH_HINT = (
    "`pulumi up --refresh` sets ports of plans again; what nothing states, whoever set it takes back, or the site "
    "states it"
)
#: What to do about a subnet manager that is not set as the site says.
MANAGER_HINT = "set it in UFM's configuration (`gv.cfg`, `opensm.conf`); until then the site file states too much of A6"


def as_table(audit: Audit, gate: Gate, *, colour: bool = False) -> str:
    """A line for each stack, then everything that is not as it was proved, with the reason and what to do."""
    lines = [line for stack in audit.stacks for line in _stack(stack, gate, colour)]
    lines += [line for item in audit.break_glass for line in _open(item, colour)]
    lines += [line for resource in audit.unmanaged for line in _unmanaged(resource, colour)]
    lines += [line for item in audit.existing if item.has_drifted for line in _existing(item, gate, colour)]
    lines += [f"{_red('SWITCH', colour)} {finding}" for finding in audit.switches]
    if audit.switches:
        lines.append(f"  next: {SWITCH_HINT}")
    lines += [line for one in audit.cables for line in _cable(one, colour)]
    lines += [f"{_red('SUBNET MANAGER', colour)} {finding}" for finding in audit.managers]
    if audit.managers:
        lines.append(f"  next: {MANAGER_HINT}")
    lines += [f"{note.word} {note.controller}: {note.text}" for note in audit.notes]
    lines += [f"UNCHECKED {audit.unchecked}"] if audit.unchecked else []
    lines += [f"{_red('UNREAD', colour)} {what}: {why}" for what, why in audit.unread.items()]
    lines.append(f"{audit.site}: {verdict(audit)}; {audit.objects} objects of {audit.cloud} in {audit.requests} lists")
    return "\n".join(lines) + "\n"


def verdict(audit: Audit) -> str:
    """The whole audit in a few words."""
    if audit.has_drifted:
        return "drift"
    return "not readable" if audit.unread else "no drift"


def _stack(stack: StackAudit, gate: Gate, colour: bool) -> Iterator[str]:
    name = stack.plan.stack
    if not stack.is_applied:
        yield f"{name}: not applied"
        return
    looked_at = [item for item in stack.standings if not item.unread]
    drift, digest = stack.drift, stack.judgement.statement
    count = f"{len(looked_at) - len(drift)} of {len(looked_at)} objects are as planned"
    held = "and its certificate is about others" if drift else _beside(stack)
    yield f"{name}: {count}, {held} ({outcome(stack.judgement)}, {digest[:19]})"
    if stack.is_behind:
        yield f"  {_red('BEHIND', colour)} the claims store says that another footprint is applied, or may be"
        yield f"    next: `git pull`, or `pulumi up` on {name}"
    places = gate.places(stack.plan)
    for item in drift:
        yield f"  {_red('DRIFT', colour)} {item.kind} {item.name}{_ids(item)}: {what_differs(item)}"
        yield f"    planned at {places.planned(item.name)}"
        if item.hint:
            yield f"    next: {item.hint}"
    for item in stack.made_by_earlier_plans:
        yield f"  {item.kind} {item.name}{_ids(item)} keeps what it was made with: {', '.join(item.differs)}"
    if drift or stack.made_by_earlier_plans or stack.unmanaged:
        yield from _live(stack.live)
    if any(not item.hint for item in drift):
        yield f"    next: `pulumi up --refresh` on {name} puts it back; look first at who changed it"


def _beside(stack: StackAudit) -> str:
    if stack.unmanaged:
        return f"and {len(stack.unmanaged)} unmanaged that its certificate does not cover"
    if unread := sum(bool(item.unread) for item in stack.standings):
        return f"and {unread} could not be read, so nobody knows whether its certificate holds"
    return f"and so its certificate holds{', but for what V-IPU was told by hand' if stack.unchecked else ''}"


def _ids(item: Standing) -> str:
    return f" ({', '.join(item.ids)})" if item.ids else ""


def what_differs(item: Standing) -> str:
    """In which way an object is not as planned."""
    if not item.ids:
        return item.reason or "it is not there"
    if len(item.ids) > 1:
        return "several objects carry its marker or its identity"
    told = [_field(field, planned, seen) for field, (planned, seen) in item.differs.items()]
    return "; ".join([*told, *([item.reason] if item.reason else [])])


def _field(field: str, planned: Any, seen: Any) -> str:
    """How one field differs; of two lists only what one of them has alone."""
    if not isinstance(planned, list) or not isinstance(seen, list):
        return f"{field} is {json.dumps(seen)}, planned {json.dumps(planned)}"
    besides = [f"has {_short(one)} as well" for one in seen if one not in planned]
    lacks = [f"lacks {_short(one)}" for one in planned if one not in seen]
    return f"{field} " + (", ".join((*lacks, *besides)) or "differs in how often an element is listed")


def _short(value: Any) -> str:
    """An element of a list, without what it says nothing about."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one is not None)
    return str(value)


def _live(live: Live | None) -> Iterator[str]:
    if live is None:
        yield "    not supported: an observed plan of these objects; the rules did not judge them"
        return
    yield f"    observed plan: {outcome(live.judgement)}; {_changed(live)}"
    if live.not_expressible:
        yield f"    not judged, because a plan cannot express it: {', '.join(live.not_expressible)}"
    yield from _some([_finding(finding) for finding in live.judgement.findings], "findings")
    yield from _some([f"    + {fact}" for fact in live.new], "new facts")
    yield from _some([f"    - {fact}" for fact in live.gone], "facts that are gone")


def _finding(finding: Finding) -> str:
    witness = (f"      {'– ' if index else ''}{step}" for index, step in enumerate(finding.witness))
    return "\n".join((f"    {finding.rule} {finding.verdict}: {finding.message}", *witness))


def _some(told: list[str], what: str) -> Iterator[str]:
    yield from told[:TOLD]
    if len(told) > TOLD:
        yield f"    and {len(told) - TOLD} more {what} (--format json has all)"


def _changed(live: Live) -> str:
    if not live.new and not live.gone:
        return "no fact that the proof rests on has changed"
    return f"facts that the proof rests on: {len(live.new)} new, {len(live.gone)} gone"


def _open(item: OpenGlass, colour: bool) -> Iterator[str]:
    yield f"{_red('BREAK-GLASS', colour) if item.is_finding else 'BREAK-GLASS'} {item}"
    yield f"  next: {item.hint}"


def _unmanaged(resource: UnmanagedResource, colour: bool) -> Iterator[str]:
    word = _red("ORPHAN" if resource.orphan else "FOREIGN", colour)
    yield f"{word} {resource}{f' at {resource.stack}' if resource.stack else ''}: {resource.why}"
    yield f"    next: {resource.hint}"


def _cable(finding: CableFinding, colour: bool) -> Iterator[str]:
    yield f"{_red('CABLE', colour) if finding.is_difference else 'OFF'} {finding}"
    yield f"  next: {finding.hint}"


def _existing(item: Comparison, gate: Gate, colour: bool) -> Iterator[str]:
    yield f"{_red('EXISTING', colour)} {item.object} ({item.id}): {item.wrong}"
    yield f"    named at {existing_place(item, gate)}"
    yield "    next: correct the id or what the site file states, or mend the object: the proof rests on it"


def existing_place(item: Comparison, gate: Gate) -> str:
    """Where the site file names an object of `existing:`."""
    return gate.workspace.position("existing", str(item.object))


def _red(text: str, colour: bool) -> str:
    return paint.painted(text, paint.RED, colour)


def as_json(audit: Audit, gate: Gate) -> dict[str, Any]:
    """Everything, for a scheduled job."""
    return {
        "site": audit.site,
        "cloud": audit.cloud,
        "verdict": verdict(audit),
        "requests": audit.requests,
        "objects": audit.objects,
        "stacks": [_stack_json(stack, gate) for stack in audit.stacks],
        "break_glass": [item.document() for item in audit.break_glass],
        "unmanaged": [_unmanaged_json(resource) for resource in audit.unmanaged],
        "existing": [_existing_json(item, gate) for item in audit.existing],
        "switches": [{**asdict(one), "found": str(one.found)} for one in audit.switches],
        "cables": [_cable_json(one) for one in audit.cables],
        "subnet_managers": list(audit.managers),
        "controllers": [asdict(note) for note in audit.notes],
        "unchecked": audit.unchecked or None,
        "unread": dict(audit.unread),
    }


def _cable_json(finding: CableFinding) -> dict[str, Any]:
    return {**asdict(finding), "found": str(finding.found), "drift": finding.is_difference, "next": finding.hint}


def _stack_json(stack: StackAudit, gate: Gate) -> dict[str, Any]:
    places, live = gate.places(stack.plan), stack.live
    return {
        "stack": stack.plan.stack,
        "plan": stack.plan.hash,
        "statement": stack.judgement.statement,
        "committed": outcome(stack.judgement),
        "applied": stack.is_applied,
        "behind": stack.is_behind,
        "objects": len(stack.standings),
        "drift": [
            {
                "kind": item.kind,
                "name": item.name,
                "ids": list(item.ids),
                "what": what_differs(item),
                "differs": {name: {"planned": planned, "seen": seen} for name, (planned, seen) in item.differs.items()},
                "planned_at": places.planned(item.name),
            }
            for item in stack.drift
        ],
        "beside": [_unmanaged_json(resource) for resource in stack.unmanaged],
        "live": None if live is None else _live_json(live),
    }


def _live_json(live: Live) -> dict[str, Any]:
    return {
        "verdict": outcome(live.judgement),
        "statement": live.judgement.statement,
        "findings": [item.model_dump(mode="json") for item in live.judgement.findings],
        "new_facts": list(live.new),
        "gone_facts": list(live.gone),
        "not_judged": list(live.not_expressible),
    }


def _existing_json(item: Comparison, gate: Gate) -> dict[str, Any]:
    return {
        "object": str(item.object),
        "id": item.id,
        "differs": {name: {"stated": stated, "seen": seen} for name, (stated, seen) in item.differs.items()},
        "reasons": list(item.reasons),
        "unread": list(item.unread),
        "named_at": existing_place(item, gate),
    }


def _unmanaged_json(resource: UnmanagedResource) -> dict[str, Any]:
    return {
        "kind": resource.kind,
        "id": resource.id,
        "name": resource.name,
        "class": "orphan" if resource.orphan else "foreign",
        "stack": resource.stack or None,
        "why": resource.why,
        "next": resource.hint,
    }
