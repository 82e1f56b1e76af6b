"""Waivers: rules that the operator lets pass for one stack, with a name, a reason and a last day.

What keeps owners apart has severity B and is never waived: an operator who wants to share declares it, and the
declaration is proved (docs/design/semantics.md, assumptions).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from difflib import get_close_matches

from interlock.model.waivers import Waiver
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind
from policies.proof import RuleResult, Severity, Waived, WaiverState
from policies.rules import Of, Rule


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
    by_id = {rule.id: rule for rule in rules}
    return tuple(_waived(waiver, found.get(waiver.rule), by_id, now) for waiver in waivers)


def _waived(waiver: Waiver, count: int | None, rules: Mapping[str, Rule], today: date) -> Waived:
    """`count`: of its rule's findings; None if no such rule was asked about this plan."""
    state, hint, findings = WaiverState.USED, "", count or 0
    if waiver.rule not in rules:
        state, hint = WaiverState.UNKNOWN, _meant(waiver.rule, [*rules])
    elif today > date.fromisoformat(waiver.expires):
        state, hint = WaiverState.EXPIRED, "mend what the rule finds, or have it waived again, with a later day"
    elif count is None:
        state, hint = WaiverState.UNUSED, _ELSEWHERE[rules[waiver.rule].of]
    elif not findings:
        state, hint = WaiverState.UNUSED, "take it out: the rule finds nothing"
    return Waived(**waiver.model_dump(), state=state, findings=findings, hint=hint)


#: Of a rule that is not asked about the plan at hand: whose plan it is asked about, and so where a waiver of it counts.
_ELSEWHERE = {
    Of.SITE: "take it out: this rule is asked about the site's own plan alone, and waived in site.yaml",
    Of.TENANT: "take it out: this rule is asked about plans of tenants alone, and waived in a tenant's request",
    Of.BOTH: "take it out: this rule was not asked",
}


def _meant(rule: str, known: Collection[str]) -> str:
    close = get_close_matches(rule, known, n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else "`interlock explain` lists the rules"
