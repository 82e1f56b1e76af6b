"""From what is applied to what the files say: which stacks are to be applied, in which order, and what each step does.

New objects of the operator's stack first, then the tenants that move to them, then the old objects go. Nothing is
recorded of it: the steps follow from the store's records and the files, so a step that is done is not listed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.planning import Plan
from interlock.planning.differences import recreated_with
from interlock.planning.site_uses import Move, moves_between, uses_of
from interlock.resources import Admitted, Effect
from interlock.store.records import StackRecord
from interlock.store.site_objects import needed, reference_to
from interlock.vocabulary import StackName

from .gate import Gate
from .site_objects import SiteStanding


@dataclass(frozen=True)
class RolloutStep:
    """One `pulumi up`, and what it does to objects of the operator's stack or to their users."""

    stack: str
    adds: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    #: Why it cannot be done, or not whole; empty: it can.
    refused: tuple[str, ...] = ()
    #: What else is to be known of it.
    note: str = ""

    @property
    def command(self) -> str:
        """What does it."""
        return f"pulumi up --stack {self.stack}"

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "stack": self.stack,
            "command": self.command,
            "adds": list(self.adds),
            "changes": list(self.changes),
            "goes": list(self.goes),
            "moves": [
                {
                    "kind": move.kind,
                    "resource": move.resource,
                    "field": move.field,
                    "before": list(move.before),
                    "after": list(move.after),
                    "does": move.does,
                }
                for move in self.moves
            ],
            "refused": list(self.refused),
            "note": self.note,
        }


@dataclass(frozen=True)
class Rollout:
    """The steps that are left, and what is kept meanwhile: reference -> stacks that use it."""

    site: str
    steps: tuple[RolloutStep, ...]
    kept: dict[str, tuple[str, ...]]

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        kept = [{"object": name, "used_by": list(stacks)} for name, stacks in self.kept.items()]
        return {"site": self.site, "kept": kept, "steps": [step.document() for step in self.steps]}


def rollout_of(gate: Gate) -> Rollout:
    """Of a gate that has looked at what is applied. Raises `InputErrors` where a lock is older than its inputs."""
    site = gate.workspace.site.name
    now = gate.standing
    kept = {reference_to(item): now.users[reference_to(item)] for item in now.kept}
    last = _operators_last(gate.stack(None), now, _goes_on(gate))
    steps = [*_operators_first(gate.stack(None), now), *_tenants(gate), *last]
    return Rollout(site, tuple(steps), kept)


def _operators_first(stack: str, now: SiteStanding) -> Iterator[RolloutStep]:
    refused = tuple(
        f"{reference_to(item)} would be recreated, for another {', '.join(fields)}, and is used by "
        f"{', '.join(now.users[reference_to(item)])}: state the new one under another name, or put it back"
        for item, fields in now.recreated
    )
    in_use = {reference_to(item) for item, _ in now.recreated}
    adds, goes = _named(now.added), _named(now.free)
    changes = tuple(name for name in _named(now.changed) if name not in in_use)
    if adds or changes or goes or refused:
        yield RolloutStep(stack, adds=adds, changes=changes, goes=goes, refused=refused)


def _operators_last(
    stack: str, now: SiteStanding, goes_on: Mapping[str, Mapping[str, Iterable[str]]]
) -> Iterator[RolloutStep]:
    """`goes_on`: reference -> what of the operator's stands on it and stays in use -> by whom."""
    if not now.kept:
        return
    names = _named(now.kept)
    goes = tuple(name for name in names if name not in goes_on)
    refused = tuple(
        f"{name} stays: {what} rests on it, and stays in use by {', '.join(stacks)}: put it back into the site file"
        for name in names
        for what, stacks in sorted(goes_on.get(name, {}).items())
    )
    note = "once nobody uses them: after the steps before it" if goes else ""
    yield RolloutStep(stack, goes=goes, refused=refused, note=note)


def _goes_on(gate: Gate) -> dict[str, dict[str, list[str]]]:
    """What no step frees, because what rests on it stays in use: of a network that tenants have, a subnet."""
    found: dict[str, dict[str, list[str]]] = {}
    offers = next((record.offers for record in _records(gate) if record.tenant is None), ())
    kept = {*_named(gate.standing.kept)}
    for record in _records(gate):
        if record.tenant is None:
            continue
        is_here = record.tenant in gate.workspace.tenants
        uses = uses_of(gate.plan(record.tenant)) if is_here else record.uses or ()
        for used in sorted({use.reference for use in uses} - kept):
            for name in needed((used,), offers) & kept:
                found.setdefault(name, {}).setdefault(used, []).append(record.stack)
    return found


def _records(gate: Gate) -> list[StackRecord]:
    """Of this site's stacks, by name."""
    assert gate.applied is not None, "whoever asks for an order looks at what is applied"
    site = gate.workspace.site.name
    return [record for stack, record in sorted(gate.applied.records.items()) if StackName.parse(stack).site == site]


def _tenants(gate: Gate) -> Iterator[RolloutStep]:
    for record in _records(gate):
        if record.tenant is not None and (found := _moving(gate, record)) is not None:
            yield found


def _moving(gate: Gate, record: StackRecord) -> RolloutStep | None:
    """The step of a tenant whose stack is applied; None if it uses what its plan does."""
    assert record.tenant is not None, "only tenants move"
    if record.tenant not in gate.workspace.tenants:
        needs = {use.reference for use in record.uses or ()} & {reference_to(item) for item in gate.standing.kept}
        if record.uses is not None and not needs:
            return None
        return RolloutStep(
            record.stack,
            refused=(f"it has no request here: restore tenants/{record.tenant}.yaml, or `git pull`",),
            note=f"it uses {', '.join(sorted(needs)) or 'what nobody recorded'}",
        )
    planned = uses_of(gate.plan(record.tenant))
    if record.uses is None:
        return RolloutStep(record.stack, note="an older version applied it: this records what it uses")
    moves = tuple(moves_between(record.uses, planned))
    refused = tuple(f"{move.kind} {move.resource}: {move.reason}" for move in moves if move.is_refused)
    note = _held_back(gate.plan(record.tenant), moves)
    return RolloutStep(record.stack, moves=moves, refused=refused, note=note) if moves else None


def _held_back(plan: Plan, moves: Iterable[Move]) -> str:
    """What stands on something that moves, and whose request does not let it be made again; empty if nothing does.

    Which of it was applied no record says, so nothing is refused here.
    """
    anew = recreated_with(plan, (move.resource for move in moves if move.does == Effect.REPLACE))
    names = [item.name for item in plan.resources if item.name in anew and item.resource.refuses_replacement()]
    if not names:
        return ""
    return (
        f"{', '.join(names)}: it stands on what is replaced, and `pulumi up` refuses to make it again where it is "
        "there; say `replaceable: true` in its entry, or take it out first"
    )


def _named(items: tuple[Admitted, ...]) -> tuple[str, ...]:
    return tuple(reference_to(item) for item in items)
