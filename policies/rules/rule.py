"""What a rule is, and how a rule about absence becomes one of four verdicts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from interlock.resources import digest_of
from interlock.vocabulary.digests import Digest
from policies.about import Alike, Fact, Subject, in_order, with_places
from policies.facts.guards import GuardState
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Finding, RuleResult, Severity, Verdict

if TYPE_CHECKING:
    from policies.graph.search import Graph


class Of(StrEnum):
    """Whose plan a rule is asked about. What only the inventory decides is the site stack's, and said once there."""

    SITE = "site"
    TENANT = "tenant"
    BOTH = "site and tenant"

    def speaks_to(self, *, is_tenant: bool) -> bool:
        """True if the rule is asked about such a plan."""
        return self is Of.BOTH or (self is Of.TENANT) == is_tenant


class Polarity(StrEnum):
    """Which way unknown facts count (docs/design/semantics.md, three values)."""

    #: "There is no path": violated if G_must has one, proved if G_may has none.
    ABSENCE = "absence"
    #: "There is a path": proved if G_must has one, violated if G_may has none.
    PRESENCE = "presence"
    #: Both kinds of claim in one rule.
    BOTH = "absence and presence"
    #: Facts that a plan always states; nothing is unknown.
    STATED = "stated"


@dataclass(frozen=True)
class Cause:
    """One thing wrong, before it is known whether the facts behind it are certain."""

    #: What makes two causes the same.
    key: Hashable
    message: str
    witness: tuple[str, ...]
    hint: str
    missing: tuple[Fact, ...] = ()
    #: Higher speaks first when several rules explain one conflict.
    specificity: int = 0
    #: Only where this cause weighs less than its rule: a figure that nobody stated.
    severity: Severity | None = None
    #: The nodes of the witness, where it is a path: what causes it is read off them (`policies.findings.spec_entries`).
    path: tuple[str, ...] = ()
    #: What it is about, in the order in which entries of it are to be shown: where neither a path nor an unstated fact
    #: of the site file says so.
    about: tuple[Subject, ...] = ()
    #: Where the rule says the same of many things.
    alike: Alike | None = None


@dataclass(frozen=True)
class RuleAnswer:
    """What a rule saw: how many things it looked at, what is wrong for certain, and what may be."""

    count: int
    violated: tuple[Cause, ...] = ()
    unknown: tuple[Cause, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A rule: what it proves and why, and the function that asks the model."""

    id: str
    title: str
    severity: Severity
    polarity: Polarity
    why: str
    #: Where the rule comes from.
    source: str
    #: What of the site and the plan it reads.
    needs: tuple[str, ...]
    ask: Callable[[Model, Names], RuleAnswer]
    of: Of = Of.BOTH

    def judge(self, model: Model, names: Names) -> RuleResult:
        """The rule's verdict, with one finding for each cause."""
        answer = self.ask(model, names)
        stack = f"{model.site.site.name}/{model.plan.owner}"
        findings = tuple(self._finding(cause, Verdict.VIOLATED, stack) for cause in answer.violated)
        findings += tuple(self._finding(cause, Verdict.NOT_PROVABLE, stack) for cause in answer.unknown)
        return RuleResult(
            rule=self.id, title=self.title, severity=self.severity, verdict=_verdict(answer),
            count=answer.count, findings=findings,
        )  # fmt: skip

    def _finding(self, cause: Cause, verdict: Verdict, stack: str) -> Finding:
        return Finding(
            rule=self.id, severity=cause.severity or self.severity, verdict=verdict, message=cause.message,
            witness=cause.witness, missing=tuple(map(str, cause.missing)), hint=cause.hint,
            specificity=cause.specificity, id=f"{self.id}-{cause_hash(stack, cause.key)}", path=cause.path,
            subjects=with_places(cause.missing) or (() if cause.path else cause.about), alike=cause.alike,
        )  # fmt: skip


def cause_hash(stack: str, key: Hashable) -> str:
    """16 digits that stay the same as long as a stack has a cause with this key."""
    return Digest.parse(digest_of([stack, _plain(key)])).hex[:16]


def _plain(key: object) -> object:
    """A key without sets, whose order is another in each run."""
    if isinstance(key, set | frozenset):
        return sorted((_plain(item) for item in key), key=repr)
    return [_plain(item) for item in key] if isinstance(key, tuple) else str(key)


def _verdict(answer: RuleAnswer) -> Verdict:
    if answer.violated:
        return Verdict.VIOLATED
    if answer.unknown:
        return Verdict.NOT_PROVABLE
    return Verdict.PROVED if answer.count else Verdict.NOT_APPLICABLE


def by_facts(count: int, causes: Iterable[Cause]) -> RuleAnswer:
    """What is wrong for certain, and what may be: that which rests on facts that nobody states (`Cause.missing`)."""
    found = tuple(causes)
    certain = tuple(cause for cause in found if not cause.missing)
    return RuleAnswer(count, certain, tuple(cause for cause in found if cause.missing))


def by_guard(count: int, held: GuardState, causes: Iterable[Cause]) -> RuleAnswer:
    """What is wrong unless a guard holds: nothing, or for certain where it is known to fail, or perhaps."""
    found = () if held.value else tuple(causes)
    return RuleAnswer(count, violated=found) if held.value is False else RuleAnswer(count, unknown=found)


def absence(model: Model, count: int, search: Callable[[Graph], Iterable[Cause]]) -> RuleAnswer:
    """Ask a search that must find nothing, first in what is certain, then in what may be."""
    violated = tuple(unique(search(model.must)))
    certain = {cause.key for cause in violated}
    unknown: dict[Hashable, Cause] = {}
    for graph in model.doubtful:
        for cause in search(graph):
            if cause.missing and cause.key not in certain:
                unknown[cause.key] = _merged(unknown.get(cause.key), cause)
    return RuleAnswer(count, violated, tuple(unknown.values()))


def _merged(known: Cause | None, cause: Cause) -> Cause:
    """One cause for one conflict: the first witness, and every unstated fact that would bring it about."""
    if known is None:
        return cause
    return replace(known, missing=in_order((*known.missing, *cause.missing)))


def unique(causes: Iterable[Cause]) -> Iterator[Cause]:
    """Each cause once, the first of its key."""
    seen: set[Hashable] = set()
    for cause in causes:
        if cause.key not in seen:
            seen.add(cause.key)
            yield cause
