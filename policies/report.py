"""A judgement for people and programs: a table, JSON, and the short message of `pulumi up`.

Everything here is the operator's view: findings call other tenants by their ids.
"""

from __future__ import annotations

from typing import Any

from .proof import Finding, Judgement, Severity, Verdict

#: ANSI colours of verdicts, used only if the caller asks for colour.
_COLOURS = {
    Verdict.PROVED: "32",
    Verdict.VIOLATED: "31",
    Verdict.NOT_PROVABLE: "33",
    Verdict.NOT_APPLICABLE: "2",
}
_BLOCKING = (Severity.BLOCK, Severity.ERROR)
_WORST_FIRST = (Verdict.VIOLATED, Verdict.NOT_PROVABLE)


def by_specificity(judgement: Judgement) -> tuple[Finding, ...]:
    """Findings with the one that explains most first: blocking, violated, most specific; then by rule id."""
    return tuple(sorted(judgement.findings, key=_rank))


def _rank(finding: Finding) -> tuple[bool, int, int, str, str]:
    blocking = finding.severity in _BLOCKING
    verdict = _WORST_FIRST.index(finding.verdict)
    return (not blocking, verdict, -finding.specificity, finding.rule, finding.message)


def verdict(judgement: Judgement) -> str:
    """The whole judgement in one word: proved, violated, not provable."""
    return {0: "proved", 1: "violated", 3: "not provable"}[judgement.exit_code]


def as_table(judgement: Judgement, *, colour: bool = False) -> str:
    """One line for each rule, then each finding with its witness. The same judgement gives the same text."""
    lines = [f"{judgement.stack}: {_painted(verdict(judgement), judgement, colour)}"]
    lines.append(f"plan {judgement.plan_hash}, footprints of others {judgement.footprints}")
    lines.append(f"applied state: {judgement.applied_state}")
    if judgement.without_actuator:
        count = len(judgement.without_actuator)
        lines.append(f"planned and proved, no actuator yet: {count} ({', '.join(judgement.without_actuator)})")
    width = max((len(result.title) for result in judgement.results), default=0)
    for result in judgement.results:
        word = _colour(f"{result.verdict} ({result.count})", result.verdict, colour)
        lines.append(f"  {result.rule:<7} {result.severity}  {result.title:<{width}}  {word}")
    for finding in by_specificity(judgement):
        lines += ["", *_lines(finding, colour)]
    return "\n".join(lines) + "\n"


def _lines(finding: Finding, colour: bool) -> list[str]:
    word = _colour(str(finding.verdict), finding.verdict, colour)
    lines = [f"{finding.rule} {word}: {finding.message}"]
    lines += [f"    {'– ' if index else ''}{step}" for index, step in enumerate(finding.witness)]
    lines += [f"    not stated: {fact}" for fact in finding.missing]
    if finding.hint:
        lines.append(f"    next: {finding.hint}")
    return lines


def _painted(word: str, judgement: Judgement, colour: bool) -> str:
    return _colour(
        word, {1: Verdict.VIOLATED, 3: Verdict.NOT_PROVABLE}.get(judgement.exit_code, Verdict.PROVED), colour
    )


def _colour(text: str, verdict: Verdict, colour: bool) -> str:
    return f"\033[{_COLOURS[verdict]}m{text}\033[0m" if colour else text


def as_json(judgement: Judgement) -> dict[str, Any]:
    """The judgement as JSON values: what `--format json` prints."""
    return judgement.model_dump(mode="json") | {
        "verdict": verdict(judgement),
        "exit_code": judgement.exit_code,
        "findings": [finding.model_dump(mode="json") for finding in by_specificity(judgement)],
    }


def as_message(judgement: Judgement) -> str:
    """Why `pulumi up` stops: the most specific finding with its witness, the others in one line each."""
    findings = by_specificity(judgement)
    if not judgement.exit_code:
        return f"{judgement.stack}: proved"
    lines = [
        f"{judgement.stack} is {verdict(judgement)}: nothing has been touched",
        "",
        *_lines(findings[0], False),
    ]
    rest = sorted(findings[1:], key=lambda item: (item.rule, item.message))
    if rest:
        lines += ["", "also:", *(f"  {item.rule} {item.verdict}: {item.message}" for item in rest)]
    return "\n".join([*lines, "", f"exit code {judgement.exit_code}; nothing has been touched"])
