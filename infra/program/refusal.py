"""Names the resources of a plan that no actuator can create yet. `pulumi up` stops with it, other commands note it."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.planning import NotMakeable, Plan, not_makeable
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class CannotBeMade(InterlockError):
    """A proved plan holds what no actuator can make; nothing has been touched. The text lists all of it."""

    kind = ErrorKind.INPUT


def require_makeable(plan: Plan) -> None:
    """Raises `CannotBeMade` if anything that the request asks for cannot be made."""
    missing = not_makeable(plan)
    if missing:
        raise CannotBeMade(_refusal(plan, missing))


def note(plan: Plan, *, proved: bool) -> str:
    """What commands that touch nothing say of it; empty if everything can be made."""
    missing = not_makeable(plan)
    if not missing:
        return ""
    state = "planned and proved" if proved else "planned"
    head = f"note: {plan.stack}: {state}, but nothing can make it yet: `pulumi up` refuses"
    return "\n".join([head, *_lines(missing)])


def _refusal(plan: Plan, missing: Sequence[NotMakeable]) -> str:
    head = (
        f"{plan.stack} is proved, and {len(missing)} of its {len(plan.resources)} resources cannot be made yet: "
        "nothing has been touched"
    )
    after = f"run `interlock lock {plan.tenant}`, then try again" if plan.tenant else "then try again"
    return "\n".join([head, "", *_lines(missing), "", f"next: take them out of the request, {after}"])


def _lines(missing: Sequence[NotMakeable]) -> list[str]:
    return [f"  {item}" for item in missing]
