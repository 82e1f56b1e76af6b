"""Findings of one judgement, with what causes each, what would mend it, and a short name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from interlock.model.site.rests import renewed_by
from interlock.planning.plan import Plan
from policies.graph.model import Model
from policies.proof import Finding, RuleResult, Severity, Verdict

from .fixes import fix_of
from .spec_entries import SpecEntries

#: Digits of a finding's id: as few as tell the findings of a judgement apart.
DIGITS = (4, 8, 16)
#: Findings of one judgement for which a set of changes is looked for.
MOST_MENDED = 10
#: Devices whose evidence a finding speaks of before it only counts.
MOST_DEVICES = 4


def explained(model: Model, plan: Plan, results: Sequence[RuleResult], *, suggest: bool) -> tuple[RuleResult, ...]:
    """The results with each finding's entries and short id; with `suggest` also the entries to change."""
    findings = [finding for result in results for finding in result.findings]
    if not findings:
        return tuple(results)
    short = _short_ids(findings)
    entries = SpecEntries(model, plan)
    mended = {id(finding) for finding in _worst(findings)[:MOST_MENDED]} if suggest else set[int]()

    def told(finding: Finding) -> Finding:
        about = entries.of_finding(finding)
        fix = fix_of(entries, finding) if id(finding) in mended else None
        changes: dict[str, object] = {"fix": fix[0], "fix_kind": fix[1]} if fix is not None else {}
        if why := _without_evidence(model, finding):
            changes["hint"] = f"{why}; else {finding.hint}" if finding.hint else why
        return finding.model_copy(update={"id": short[finding.id], "about": about, "subjects": (), **changes})

    return tuple(
        result.model_copy(update={"findings": tuple(map(told, result.findings))}) if result.findings else result
        for result in results
    )


def _without_evidence(model: Model, finding: Finding) -> str:
    """Why guards that this rests on do not hold, though evidence could say so, and the command; empty if none does."""
    found = {guard: why for guard, why in model.site.lacking.items() if guard in finding.missing}
    commands = dict.fromkeys(map(renewed_by, found))
    why = tuple(dict.fromkeys(words for each in found.values() for words in each))
    more = f"; and of {len(why) - MOST_DEVICES} more" if len(why) > MOST_DEVICES else ""
    run = " and ".join(f"`{command}`" for command in commands)
    return f"{'; '.join(why[:MOST_DEVICES])}{more}: run {run}" if why else ""


def _worst(findings: Iterable[Finding]) -> list[Finding]:
    """What is violated by a path, the most specific first."""
    found = (item for item in findings if item.path and item.verdict is Verdict.VIOLATED)
    blocking = (item for item in found if item.severity in (Severity.BLOCK, Severity.ERROR))
    return sorted(blocking, key=lambda item: (-item.specificity, item.id))


def _short_ids(findings: Iterable[Finding]) -> dict[str, str]:
    """Whole id -> as much of it as no other finding's id begins with."""
    whole = {finding.id for finding in findings}
    alike = {digits: Counter(_cut(name, digits) for name in whole) for digits in DIGITS}
    return {name: next((_cut(name, n) for n in DIGITS if alike[n][_cut(name, n)] == 1), name) for name in whole}


def _cut(name: str, digits: int) -> str:
    rule, _, rest = name.rpartition("-")
    return f"{rule}-{rest[:digits]}"
