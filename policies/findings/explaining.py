"""Rules and findings at length: what a rule claims and reads, and a witness step by step with what puts it there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from interlock.planning.plan import Plan
from interlock.resources import Frozen
from policies.edges.plan import PLAN_EDGES, PlanOnSite
from policies.edges.shape import Edge
from policies.edges.union import UNION_EDGES
from policies.footprints.applied import APPLIED
from policies.footprints.boundary import PARTITION
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Entry, Finding, Severity, Verdict
from policies.rules import RULES, Of, Polarity, Rule

from .spec_entries import SpecEntries
from .waivers import is_fixed

#: What an unknown fact does to a rule.
UNKNOWN = {
    Polarity.ABSENCE: "that something is not there: a fact that nobody states counts as if it were against it",
    Polarity.PRESENCE: "that something is there: a fact that nobody states does not count as if it were there",
    Polarity.BOTH: "that some things are there and others are not: unstated facts count against it either way",
    Polarity.STATED: "something of facts that every plan states: nothing of it can be unknown",
}
SEVERITIES = {
    Severity.BLOCK: "B: nothing is applied, and it cannot be waived",
    Severity.ERROR: "E: nothing is applied, unless it is waived for a tenant",
    Severity.WARN: "W: a warning, which changes no exit code",
    Severity.INFO: "I: for information, which changes no exit code",
}
_ASKED = {
    Of.SITE: "the operator's stack",
    Of.TENANT: "every tenant's stack",
    Of.BOTH: "the operator's stack and every tenant's",
}
_TO_DO = {
    Severity.BLOCK: "change what the places of the finding say, or declare the sharing and hold its guards",
    Severity.ERROR: "change what the places of the finding say; or let it pass under `waivers` of the request, with "
    "owner, reason and last day",
    Severity.WARN: "nothing has to be done; change what the places of the finding say when there is time",
    Severity.INFO: "nothing has to be done",
}
#: Edges that are in no table: what stands for several of them.
_STANDING_IN = {
    PARTITION: "by its lock another tenant joins these",
    APPLIED: "what is applied joins these",
}


class RuleText(Frozen):
    """A rule in words."""

    id: str
    title: str
    severity: str
    polarity: str
    why: str
    source: str
    looks_at: tuple[str, ...]
    asked_of: str
    to_do: str

    @classmethod
    def of(cls, rule: Rule) -> RuleText:
        """The words of a rule."""
        return cls(
            id=rule.id, title=rule.title, severity=SEVERITIES[rule.severity], polarity=UNKNOWN[rule.polarity],
            why=rule.why, source=rule.source, looks_at=rule.needs, asked_of=_ASKED[rule.of],
            to_do=_TO_DO[Severity.BLOCK if is_fixed(rule) else rule.severity],
        )  # fmt: skip

    def lines(self) -> list[str]:
        """For people."""
        return [
            f"{self.id}  {self.title}",
            "",
            f"severity  {self.severity}",
            f"claims    {self.polarity}",
            f"why       {self.why}",
            f"source    {self.source}",
            f"looks at  {', '.join(self.looks_at)}",
            f"asked of  {self.asked_of}",
            f"to do     {self.to_do}",
        ]


class Step(Frozen):
    """One step of a witness: where it leads, by which row of the table of edges, and what puts that edge there."""

    node: str
    #: Empty for the first step.
    rule: str = ""
    title: str = ""
    about: tuple[Entry, ...] = ()
    not_stated: tuple[str, ...] = ()
    not_held: tuple[str, ...] = ()


def rule_of(name: str) -> Rule | None:
    """The rule of this id, in capitals or not."""
    return next((rule for rule in RULES if rule.id == name.upper()), None)


def steps(model: Model, plan: Plan, finding: Finding) -> tuple[Step, ...]:
    """The path of a finding, step by step; where it has none, the witness as it is."""
    if not finding.path:
        return tuple(Step(node=text) for text in finding.witness)
    graph = model.must if finding.verdict is Verdict.VIOLATED else model.may
    names, entries = Names(model), SpecEntries(model, plan)
    shown = names.path(graph, finding.path, marked=False)
    found = [Step(node=shown[0], about=entries.along(graph, finding.path) if len(finding.path) == 1 else ())]
    for index, (a, b) in enumerate(pairwise(finding.path), start=1):
        facts = graph.edges[a, b]
        found.append(
            Step(
                node=shown[index],
                rule=facts["rule"],
                title=title_of(model, facts["rule"], a, b),
                about=entries.along(graph, (a, b)),
                not_stated=tuple(map(str, facts["missing"])),
                not_held=tuple(map(str, facts["broken"])),
            )
        )
    return tuple(found)


def title_of(model: Model, rule: str, a: str, b: str) -> str:
    """What the row of the table of edges says that put an edge there."""
    if rule in _STANDING_IN:
        return _STANDING_IN[rule]
    rows = list(_rows(model, rule))
    pair = {a, b}
    said = (title for title, edges in rows if any({edge.a, edge.b} == pair and not edge.held for edge in edges))
    return next(said, rows[0][0] if rows else "")


def _rows(model: Model, rule: str) -> Iterator[tuple[str, Iterable[Edge]]]:
    """(title, edges) of every row with this id."""
    own = PlanOnSite(model.site, model.plan)
    yield from ((row.title, row.edges(own)) for row in PLAN_EDGES if row.id == rule)
    yield from ((row.title, row.edges(model.union)) for row in UNION_EDGES if row.id == rule)
