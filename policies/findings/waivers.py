"""Waivers: rules that the operator lets pass for one stack, with a name, a reason and a last day.

What keeps owners apart has severity B and is never waived: an operator who wants to share declares it, and the
declaration is proved (docs/design/semantics.md, assumptions).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from difflib import get_close_matches

from interlock.model.waivers import Waiver
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind
from policies.proof import RuleResult, Severity, Waived, WaiverState
from policies.rules import Rule


class NotWaivable(InterlockError, ValueError):
    """A waiver of a rule that nobody may waive."""

    kind = ErrorKind.INPUT

    def __init__(self, waiver: Waiver, rule: Rule) -> None:
        super().__init__(
            f"{rule.id} cannot be waived: it has severity {rule.severity}, and so nothing that it finds may pass"
        )
        self.waiver = waiver
        self.rule = rule


def require_waivable(waivers: Sequence[Waiver], rules: Sequence[Rule]) -> None:
    """Raises NotWaivable for the first waiver of a rule that nobody may waive."""
    for error in not_waivable(waivers, rules):
        raise error


def not_waivable(waivers: Sequence[Waiver], rules: Sequence[Rule]) -> tuple[NotWaivable, ...]:
    """The waivers of rules of severity B."""
    by_id = {rule.id: rule for rule in rules}
    known = ((waiver, by_id[waiver.rule]) for waiver in waivers if waiver.rule in by_id)
    return tuple(NotWaivable(waiver, rule) for waiver, rule in known if is_fixed(rule))


def without_rule(waivers: Sequence[Waiver], rules: Sequence[Rule]) -> dict[str, str]:
    """Rule that a waiver names and that there is not -> what may be meant."""
    known = [rule.id for rule in rules]
    return {waiver.rule: _meant(waiver.rule, known) for waiver in waivers if waiver.rule not in known}


def is_fixed(rule: Rule) -> bool:
    """True if nobody may waive the rule."""
    return rule.severity is Severity.BLOCK


def waived(
    waivers: Sequence[Waiver], results: Sequence[RuleResult], rules: Sequence[Rule], today: date | None = None
) -> tuple[Waived, ...]:
    """What became of each waiver. It counts up to its last day, and from the day after no more; days are of UTC."""
    if not waivers:
        return ()
    now = today or datetime.now(UTC).date()
    found = {result.rule: len(result.findings) for result in results}
    known = [rule.id for rule in rules]
    return tuple(_waived(waiver, found.get(waiver.rule, 0), known, now) for waiver in waivers)


def _waived(waiver: Waiver, findings: int, known: Collection[str], today: date) -> Waived:
    state, hint = WaiverState.USED, ""
    if waiver.rule not in known:
        state, hint = WaiverState.UNKNOWN, _meant(waiver.rule, known)
    elif today > date.fromisoformat(waiver.expires):
        state, hint = WaiverState.EXPIRED, "mend what the rule finds, or have it waived again, with a later day"
    elif not findings:
        state, hint = WaiverState.UNUSED, "take it out: the rule finds nothing"
    return Waived(**waiver.model_dump(), state=state, findings=findings, hint=hint)


def _meant(rule: str, known: Collection[str]) -> str:
    close = get_close_matches(rule, known, n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else "`interlock explain` lists the rules"
