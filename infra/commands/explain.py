"""`interlock explain`: a rule, or one finding of a site, at length."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import MaybeSite, Stacks, site_of, tenant_of
from infra.program.gate import Gate, Judged
from interlock.model.text.validation import nearest
from policies import RULES, Finding, Judgement
from policies.findings.explaining import RuleText, Step, rule_of, steps
from policies.findings.report import Where, by_specificity, finding_json, fix_words, place_lines, shown


def _rules(incomplete: str) -> list[str]:
    """Ids of rules, for shell completion."""
    return [rule.id for rule in RULES if rule.id.startswith(incomplete)]


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE or FINDING",
            help="`ISO-05`, or `ISO-05-3f2a` as `interlock check` has it.",
            autocompletion=_rules,
        ),
    ] = None,
    tenants: Stacks = None,
    site: MaybeSite = "",
    form: Annotated[Format, format_option("explain")] = Format.TEXT,
) -> None:
    """Explain a rule, or a finding with its whole witness.

    For a rule: what it proves, why, its source, what it looks at, what to do. For a finding: the site is judged
    again (with TENANTS only their stacks), and each step of the witness is shown with the row of the table of edges
    that causes it, and with the lines of the files that it comes from. Without a name all rules are listed.

    \b
    Exit code: 0 shown, 2 there is no such rule or finding, or a file is wrong.

    \b
    Examples:
      interlock explain ISO-05
      interlock explain ISO-05-3f2a --site leaky/poplar-on-management
      interlock explain ISO-05-3f2a acme
      interlock explain ISO-05-3f2a --format json
    """
    if name is None:
        _print({"rules": [RuleText.of(rule).model_dump(mode="json") for rule in RULES]}, _list(), form)
        return
    rule = rule_of(name)
    if rule is not None:
        text = RuleText.of(rule)
        _print(text.model_dump(mode="json"), text.lines(), form)
        return
    if rule_of(name.rpartition("-")[0]) is None:
        _stop(f"there is no rule `{name}`: {_meant(name)}")
    site = site_of(site)
    gate = Gate.open(site)
    _explain_finding(gate, [tenant_of(word) for word in tenants or ()] or gate.stacks(), site, name, form)


def _meant(name: str) -> str:
    """A hint; `ISO-5` is nearer to ISO-05 than to ISO-25."""
    kind, _, number = name.upper().rpartition("-")
    return nearest(f"{kind}-{number:0>2}" if kind else name.upper(), [rule.id for rule in RULES])


def _list() -> list[str]:
    return [f"{rule.id:<8} {rule.severity}  {rule.title}" for rule in RULES]


def _print(document: dict[str, Any], lines: list[str], form: Format) -> None:
    if form is Format.JSON:
        print_json(document)
    else:
        print_text("\n".join(lines))


def _stop(message: str) -> None:
    print(message, file=sys.stderr)
    raise typer.Exit(Exit.INPUT)


def _explain_finding(gate: Gate, stacks: Iterable[str | None], site: str, name: str, form: Format) -> None:
    found: dict[str, None] = {}
    for tenant in stacks:
        judged, seen = gate.look(tenant)
        for finding in by_specificity(judged.judgement):
            found[finding.id] = None
            if finding.id.lower() == name.lower():
                _tell(gate, judged, steps(seen.model, judged.plan, finding), finding, form)
                return
    hint = nearest(name, found) if found else "nothing is found there at all"
    _stop(f"{site} has no finding `{name}` (any more): {hint}")


def _tell(gate: Gate, judged: Judged, path: tuple[Step, ...], finding: Finding, form: Format) -> None:
    judgement, where = judged.judgement, gate.places(judged.plan)
    rule = rule_of(finding.rule)
    document = finding_json(judgement, finding, where) | {
        "stack": judgement.stack,
        "steps": [
            step.model_dump(mode="json") | {"places": [place.model_dump(mode="json") for place in where(step.about)]}
            for step in path
        ],
        "why": rule.why if rule is not None else "",
    }
    _print(document, list(_lines(judgement, finding, path, where)), form)


def _lines(judgement: Judgement, finding: Finding, path: tuple[Step, ...], where: Where) -> Iterator[str]:
    rule = rule_of(finding.rule)
    yield f"{finding.id}  {judgement.stack}, {finding.verdict}"
    yield finding.message
    if rule is not None:
        yield f"rule: {rule.title}; {rule.why}"
    yield ""
    for number, step in enumerate(path, start=1):
        yield from _step_lines(number, step, where)
    yield from (f"not stated: {fact}" for fact in finding.missing)
    yield from place_lines(where(finding.about) if not finding.path else ())
    yield f"next: {finding.hint}"
    if finding.fix:
        yield f"{fix_words(finding)}, after which no path joins the two:"
        places = {place.entry: place.position for place in where(finding.fix)}
        yield from (f"  {shown(entry)} at {places.get(entry, 'no file')}" for entry in finding.fix)
    waiver = judgement.waiver(finding)
    if waiver is not None:
        yield f"waived up to {waiver.expires} by {waiver.owner}: {waiver.reason}"


def _step_lines(number: int, step: Step, where: Where) -> Iterator[str]:
    if step.rule:
        yield f"       {step.rule}: {step.title}"
        yield from (f"       not stated: {fact}" for fact in step.not_stated)
        yield from (f"       not held: {fact}" for fact in step.not_held)
        yield from (f"       {line}" for line in place_lines(where(step.about)))
    yield f"  {number:>2}  {step.node}"
