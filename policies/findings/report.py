"""A judgement for people and programs: a table, JSON, and the short message of `pulumi up`.

Everything here is the operator's view: findings call other tenants by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlock.resources import Frozen
from interlock.vocabulary import Position
from interlock.vocabulary.entries import EntryKind, SpecEntry
from policies.facts.identities import OPERATOR
from policies.proof import Entry, Finding, FixKind, Judgement, RuleResult, Severity, Verdict, Waived, WaiverState

#: ANSI colours of verdicts, used only if the caller asks for colour.
_COLOURS = {
    Verdict.PROVED: "32",
    Verdict.VIOLATED: "31",
    Verdict.NOT_PROVABLE: "33",
    Verdict.NOT_APPLICABLE: "2",
}


class EntryPlace(Frozen):
    """Where an entry of a finding stands. Line and column are those of the nearest thing there is."""

    file: str
    line: int
    column: int
    #: As in `Finding.about`.
    entry: Entry

    @property
    def position(self) -> str:
        """`file:line:column`."""
        return str(Position(self.file, self.line, self.column))


#: Entries -> their places; reports read no files themselves.
Where = Callable[[tuple[SpecEntry, ...]], tuple[EntryPlace, ...]]


def nowhere(_entries: tuple[SpecEntry, ...]) -> tuple[EntryPlace, ...]:
    """For whoever has no files."""
    return ()


_BLOCKING = (Severity.BLOCK, Severity.ERROR)
_WORST_FIRST = (Verdict.VIOLATED, Verdict.NOT_PROVABLE)


def by_specificity(judgement: Judgement) -> tuple[Finding, ...]:
    """Findings with the one that explains most first: blocking, violated, most specific; then by rule id."""
    return tuple(sorted(judgement.findings, key=lambda finding: rank(judgement, finding)))


def counts(judgement: Judgement, finding: Finding) -> bool:
    """True if a finding decides the verdict: it is of severity B or E, and nobody waived it."""
    return finding.severity in _BLOCKING and not judgement.is_waived(finding)


def rank(judgement: Judgement, finding: Finding) -> tuple[bool, int, int, str, str]:
    """What findings are sorted by, the worst first."""
    verdict = _WORST_FIRST.index(finding.verdict)
    return (not counts(judgement, finding), verdict, -finding.specificity, finding.rule, finding.message)


def why_not_counted(judgement: Judgement, finding: Finding) -> str:
    """Why a finding does not decide the verdict: its severity, or a waiver; empty if it does."""
    if counts(judgement, finding):
        return ""
    reason = "waived" if judgement.is_waived(finding) else f"severity {finding.severity}"
    return f"{reason}, does not count"


def verdict(judgement: Judgement) -> str:
    """The whole judgement in one word: proved, violated, not provable."""
    return {0: "proved", 1: "violated", 3: "not provable"}[judgement.exit_code]


def outcome(judgement: Judgement) -> str:
    """The verdict, and how many waivers it took: `proved with 2 waivers`."""
    used = sum(item.state is WaiverState.USED for item in judgement.waivers)
    if judgement.exit_code or not used:
        return verdict(judgement)
    return f"{verdict(judgement)} with {used} waiver{'s' if used > 1 else ''}"


def as_table(judgement: Judgement, *, colour: bool = False, where: Where = nowhere, site: str = "") -> str:
    """One line for each rule, then each finding with its witness. The same judgement gives the same text.

    `where` finds places in files; `site` is the folder that `interlock explain` is to be told, if not the usual one.
    """
    lines = [f"{judgement.stack}: {_painted(outcome(judgement), judgement, colour)}"]
    lines.append(f"plan {judgement.plan_hash}, footprints of others {judgement.footprints}")
    lines.append(f"applied state: {judgement.applied_state}")
    if judgement.without_actuator:
        count = len(judgement.without_actuator)
        lines.append(f"planned and proved, not made by `pulumi up`: {count} ({', '.join(judgement.without_actuator)})")
    words = [_result_words(judgement, result) for result in judgement.results]
    width = max(map(len, words), default=0)
    for result, word in zip(judgement.results, words, strict=True):
        painted = _colour(f"{word:<{width}}", result.verdict, colour)
        lines.append(f"  {result.rule:<7} {result.severity}  {painted}  {result.title}")
    lines += [f"  {waiver_line(item)}" for item in judgement.waivers]
    for finding in by_specificity(judgement):
        lines += ["", *lines_of(judgement, finding, colour=colour, where=where, site=site)]
    return "\n".join(lines) + "\n"


def _result_words(judgement: Judgement, result: RuleResult) -> str:
    """The verdict of a rule; where it is not proved and none of its findings counts, why not."""
    said = f"{result.verdict} ({result.count})"
    reasons = {why_not_counted(judgement, finding) for finding in result.findings}
    return said if not reasons or "" in reasons else f"{said}: {'; '.join(sorted(reasons))}"


def waiver_line(item: Waived) -> str:
    """A waiver in one line; one that is not in use says what to do."""
    head = f"waiver of {item.rule} by {item.owner} up to {item.expires}"
    if item.state is WaiverState.USED:
        return f"{head}: lets {item.findings} pass, since: {item.reason}"
    marks = {WaiverState.EXPIRED: "expired, so the rule counts", WaiverState.UNUSED: "warning: unused"}
    return f"{head}: {marks.get(item.state, 'warning: there is no such rule')}; {item.hint}"


def lines_of(
    judgement: Judgement, finding: Finding, *, colour: bool = False, where: Where = nowhere, site: str = ""
) -> list[str]:
    """A finding in lines: what, the witness, where it comes from, what to do, what to change."""
    word = _colour(str(finding.verdict), finding.verdict, colour)
    why_not = why_not_counted(judgement, finding)
    lines = [f"{finding.rule} {word}{f' ({why_not})' if why_not else ''}: {finding.message}"]
    lines += [f"    {'– ' if index else ''}{step}" for index, step in enumerate(finding.witness)]
    lines += [f"    not stated: {fact}" for fact in finding.missing]
    lines += [f"    {line}" for line in place_lines(where(finding.about))]
    return [*lines, *(f"    {line}" for line in _next_lines(judgement, finding, where, site))]


def _next_lines(judgement: Judgement, finding: Finding, where: Where, site: str) -> Iterator[str]:
    """What to do about a finding."""
    if finding.hint:
        yield f"next: {finding.hint}"
    if finding.fix:
        places = {place.entry: f" at {place.position}" for place in where(finding.fix)}
        changes = ", and ".join(f"{shown(entry)}{places.get(entry, '')}" for entry in finding.fix)
        yield f"{fix_words(finding)}: {changes}"
    waiver = judgement.waiver(finding)
    if waiver is not None:
        yield f"waived up to {waiver.expires} by {waiver.owner}: {waiver.reason}"
    if finding.id:
        yield f"more: interlock explain {finding.id}" + (f" --site {site}" if site else "")


def fix_words(finding: Finding) -> str:
    """What kind of set of changes a finding has."""
    kind = "smallest" if finding.fix_kind is FixKind.SMALLEST else "minimal"
    return f"{kind} change"


def shown(entry: SpecEntry) -> str:
    """An entry for people: `tor-1.ports.33` of the site's, a plan name, another tenant's lock."""
    if entry.kind is EntryKind.LOCK:
        return "the operator's own plan" if entry.name == OPERATOR else f"the lock of {entry.name}"
    return entry.name


def place_lines(places: tuple[EntryPlace, ...]) -> list[str]:
    """`at file:line:column  entries`, one line for each place."""
    by_position: dict[str, list[str]] = {}
    for place in places:
        by_position.setdefault(place.position, []).append(shown(place.entry))
    return [f"at {position}  {', '.join(entries)}" for position, entries in by_position.items()]


def _painted(word: str, judgement: Judgement, colour: bool) -> str:
    return _colour(
        word, {1: Verdict.VIOLATED, 3: Verdict.NOT_PROVABLE}.get(judgement.exit_code, Verdict.PROVED), colour
    )


def _colour(text: str, verdict: Verdict, colour: bool) -> str:
    return f"\033[{_COLOURS[verdict]}m{text}\033[0m" if colour else text


def as_json(judgement: Judgement, *, where: Where = nowhere) -> dict[str, Any]:
    """The judgement as JSON values: what `--format json` prints."""
    return judgement.model_dump(mode="json") | {
        "verdict": verdict(judgement),
        "result": outcome(judgement),
        "exit_code": judgement.exit_code,
        "findings": [finding_json(judgement, finding, where) for finding in by_specificity(judgement)],
    }


def finding_json(judgement: Judgement, finding: Finding, where: Where = nowhere) -> dict[str, Any]:
    """A finding as JSON values, with its places."""
    return finding.model_dump(mode="json") | {
        "waived": judgement.is_waived(finding),
        "places": [place.model_dump(mode="json") for place in where(finding.about)],
        "fix_places": [place.model_dump(mode="json") for place in where(finding.fix)],
    }


def as_message(judgement: Judgement, *, where: Where = nowhere, site: str = "") -> str:
    """Why `pulumi up` stops: the most specific finding with its witness, the others in one line each."""
    findings = by_specificity(judgement)
    if not judgement.exit_code:
        return f"{judgement.stack}: {outcome(judgement)}"
    lines = [
        f"{judgement.stack} is {verdict(judgement)}: nothing has been touched",
        "",
        *lines_of(judgement, findings[0], where=where, site=site),
        *(f"    {waiver_line(item)}" for item in judgement.waivers if item.state is not WaiverState.USED),
    ]
    rest = sorted(findings[1:], key=lambda item: (item.rule, item.message))
    if rest:
        lines += ["", "also:", *(f"  {item.rule} {item.verdict}: {item.message}" for item in rest)]
    return "\n".join([*lines, "", f"exit code {judgement.exit_code}; nothing has been touched"])
