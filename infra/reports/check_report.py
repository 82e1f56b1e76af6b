"""What `interlock check` says to people: a line for each stack, the findings worst first, and a count of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from infra.cli import colour as paint
from policies import Finding, Judgement
from policies.findings.report import Where, counts, lines_of, outcome, rank, verdict, waiver_line, why_not_counted
from policies.proof import RuleResult, Verdict, WaiverState

#: The order in which verdicts of rules are counted.
_ORDER = {Verdict.VIOLATED: 0, Verdict.NOT_PROVABLE: 1, Verdict.PROVED: 2, Verdict.NOT_APPLICABLE: 3}
_STYLES = {0: paint.GREEN, 1: paint.RED, 3: paint.YELLOW}


@dataclass(frozen=True)
class Checked:
    """A judgement, where the entries of its plan stand, and what of it somebody else has to wire."""

    judgement: Judgement
    where: Where
    #: What is said of switch ports that Neutron does not wire, and how many of the plan there are.
    wiring: tuple[str, ...] = ()
    switch_ports: int = 0


def summary(checked: Sequence[Checked], *, colour: bool = False, site: str = "") -> str:
    """The report. The same judgements give the same text.

    Findings that decide a verdict are told with their witness, the others in one line, those that say the same of
    several things in one for all. `site`: the folder that `interlock explain` is to be told, if not the usual one.
    """
    found = sorted(
        ((item, finding) for item in checked for finding in item.judgement.findings),
        key=lambda pair: (rank(pair[0].judgement, pair[1]), pair[0].judgement.stack),
    )
    several = len(checked) > 1
    lines = list(_stacks(checked, colour))
    for item, finding in found:
        if counts(item.judgement, finding):
            told = lines_of(item.judgement, finding, colour=colour, where=item.where, site=site)
            lines += ["", told[0], *([f"    in {item.judgement.stack}"] if several else []), *told[1:]]
    others = [pair for pair in found if not counts(pair[0].judgement, pair[1])]
    lines += ["", *_folded(others, several)] if others else []
    return "\n".join([*lines, "", *_closing([item.judgement for item in checked])]) + "\n"


def _stacks(checked: Sequence[Checked], colour: bool) -> Iterator[str]:
    """One line for each, and one for each of its waivers."""
    judgements = [item.judgement for item in checked]
    name, word = (_width(judgements, said) for said in (lambda one: one.stack, outcome))
    for one in checked:
        judgement = one.judgement
        painted = paint.painted(f"{outcome(judgement):<{word}}", _STYLES[judgement.exit_code], colour)
        yield f"{judgement.stack:<{name}}  {painted}  {_rules(one)}"
        yield from (f"  {waiver_line(item)}" for item in judgement.waivers)


def _width(judgements: Sequence[Judgement], said: Callable[[Judgement], str]) -> int:
    return max((len(said(one)) for one in judgements), default=0)


def _rules(checked: Checked) -> str:
    """What the rules say, counted: those that looked at something; and what no `pulumi up` makes."""
    judgement = checked.judgement
    said = Counter((result.verdict, _lightly(judgement, result)) for result in judgement.results)
    told = [
        f"{count} {one}{f' ({light})' if light else ''}"
        for (one, light), count in sorted(said.items(), key=lambda item: (_ORDER[item[0][0]], item[0][1]))
        if one is not Verdict.NOT_APPLICABLE
    ]
    parts = [f"rules: {', '.join(told)}" if told else "no rule had anything to look at"]
    others = len(judgement.without_actuator) - checked.switch_ports
    if others:
        parts.append(f"{others} planned that `pulumi up` does not make")
    return "; ".join([*parts, *checked.wiring])


def _lightly(judgement: Judgement, result: RuleResult) -> str:
    """Why what a rule found does not count; empty if it does, or if it found nothing."""
    reasons = {why_not_counted(judgement, finding) for finding in result.findings}
    return "" if "" in reasons else "; ".join(sorted(reasons))


#: Things of which one thing is said that a line names before it only counts.
SHOWN = 3


def _folded(found: Sequence[tuple[Checked, Finding]], several: bool) -> Iterator[str]:
    """A line for each finding that decides nothing; one for all that say the same of several things."""
    groups: dict[Hashable, list[tuple[Judgement, Finding]]] = {}
    for number, (item, finding) in enumerate(found):
        judgement, alike = item.judgement, finding.alike
        same = (finding.rule, finding.verdict, why_not_counted(judgement, finding), alike.why) if alike else number
        groups.setdefault((judgement.stack, same), []).append((judgement, finding))
    for group in groups.values():
        judgement, first = group[0]
        things = [finding.alike.of for _, finding in group if finding.alike]
        if first.alike is None or len(group) == 1:
            yield _short(judgement, first, several)
        else:
            yield _once(judgement, first, first.alike.why, things, several)


def _once(judgement: Judgement, first: Finding, why: str, things: Sequence[str], several: bool) -> str:
    """What several findings say, the first few things that they say it of, and how to see all."""
    where = f" in {judgement.stack}" if several else ""
    more = f" and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    of = ", ".join(things[:SHOWN]) + more
    head = f"{first.rule} {first.verdict} {len(things)} times ({why_not_counted(judgement, first)}){where}"
    return f"{head}: {why}: {of}; the first is {first.id or first.rule}, --verbose tells all"


def _short(judgement: Judgement, finding: Finding, several: bool) -> str:
    """A finding that decides nothing, in one line."""
    where = f" in {judgement.stack}" if several else ""
    name = finding.id or finding.rule
    return f"{name} {finding.verdict} ({why_not_counted(judgement, finding)}){where}: {finding.message}"


def _closing(judgements: Sequence[Judgement]) -> Iterator[str]:
    """How many stacks and findings there are, and what was not looked at."""
    by_verdict = Counter(map(verdict, judgements))
    told = ", ".join(f"{by_verdict[one]} {one}" for one in ("violated", "not provable", "proved") if by_verdict[one])
    weights = Counter(counts(one, finding) for one in judgements for finding in one.findings)
    light = f"; {_many(weights[False], 'finding')} of severity W or I, or waived, not counted" if weights[False] else ""
    yield f"{_many(len(judgements), 'stack')}: {told}; {_many(weights[True], 'finding')}{light}"
    states = {one.applied_state for one in judgements}
    for state in sorted(states):
        names = [one.stack for one in judgements if one.applied_state == state]
        of = f" of {', '.join(names)}" if len(states) > 1 else ""
        yield f"applied state{of}: {state}" + (" (add --store)" if state == NOT_LOOKED_AT else "")
    if any(item.state is not WaiverState.USED for one in judgements for item in one.waivers):
        yield "some waivers are not in use: see above"


#: What a judgement says where nobody asked the claims store.
NOT_LOOKED_AT = "not looked at"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
