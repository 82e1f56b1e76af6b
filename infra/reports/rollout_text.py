"""The order in which stacks are to be applied, as text: a numbered command each, and what it does below it."""

from __future__ import annotations

from collections.abc import Iterator

from infra.program.rollout import Rollout, RolloutStep
from interlock.planning.site_uses import Move

NOTHING = "nothing is left: every applied stack uses what its plan does, and nothing is kept\n"


def rollout_text(found: Rollout) -> str:
    """The whole report; says so where no step is left."""
    if not found.steps:
        return f"{found.site}: {NOTHING}"
    count = len(found.steps)
    lines = [f"{found.site}: {count} step{'' if count == 1 else 's'} left, in this order; ask again after each"]
    for number, step in enumerate(found.steps, 1):
        lines += ["", f"{number}. {step.command}", *(f"     {line}" for line in _lines(step))]
    if found.kept:
        lines += ["", "kept until then, though the site file no longer has it:"]
        lines += [f"  {name}: used by {', '.join(stacks)}" for name, stacks in found.kept.items()]
    return "\n".join(lines) + "\n"


def _lines(step: RolloutStep) -> Iterator[str]:
    yield from (f"+ {name}" for name in step.adds)
    yield from (f"~ {name}" for name in step.changes)
    yield from (f"- {name}" for name in step.goes)
    yield from (_move(move) for move in step.moves)
    if step.note:
        yield step.note
    yield from (f"! refused: {reason}" for reason in step.refused)


def _move(move: Move) -> str:
    before, after = (", ".join(names) or "nothing" for names in (move.before, move.after))
    return f"{move.kind} {move.resource}: {move.field} {before} → {after}: {move.does}"
