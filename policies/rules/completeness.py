"""FACT-01: nothing of a plan is overlooked: unread kinds, two resources of one name, a vPOD that is not stated, a
reference that leads nowhere."""

from __future__ import annotations

from itertools import starmap

from policies.about import SaidFact, components, resources
from policies.facts.plan_references import ReferenceFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _everything_read(model: Model, _: Names) -> RuleAnswer:
    unread = tuple(_unread_cause(kind, name) for kind, name in model.plan.unread)
    wrong = (*starmap(_hidden_cause, model.plan.hidden), *starmap(_vpod_cause, model.plan.other_vpod))
    elsewhere = (fact for fact in model.plan.of_site if not model.site.has(fact.reference))
    lost = map(_lost_cause, (*model.plan.unresolved, *elsewhere))
    unsure = (*unread, *map(_no_vpod_cause, model.plan.without_vpod), *lost)
    return RuleAnswer(model.plan.resources, wrong, unsure)


def _unread_cause(kind: str, name: str) -> Cause:
    return Cause(
        key=name,
        message=f"nobody says what tenants could meet in {name}, a {kind}",
        witness=(f"{kind} {name}",),
        hint=f"give {kind} a line in policies/facts/readings.py: how the proof reads it, or why nothing can meet there",
        missing=(SaidFact(f"reading of {kind}"),),
        specificity=99,
        about=resources(name),
    )


def _hidden_cause(name: str, kinds: tuple[str, ...]) -> Cause:
    """Known, and not unknown: no further fact could tell which of them a reference means."""
    return Cause(
        key=name,
        message=f"{len(kinds)} resources of the plan are named {name}, so all but one are overlooked",
        witness=tuple(f"{kind} {name}" for kind in kinds),
        hint="give each resource of a plan a name of its own",
        specificity=99,
        about=resources(name),
    )


def _vpod_cause(name: str, stated: str, above: str | None) -> Cause:
    return Cause(
        key=("vpod", name),
        message=f"{name} is said to be of vPOD {stated}, and it is a part of {above or 'no vPOD'}",
        witness=(f"{name}, vPOD {stated}", f"component tree: {above or 'no vPOD'}"),
        hint="plan the request again: a plan states the vPOD that each resource is a part of",
        specificity=98,
        about=(*resources(name), *components(stated, above)),
    )


def _no_vpod_cause(name: str) -> Cause:
    return Cause(
        key=("vpod", name),
        message=f"nobody states to which vPOD {name} belongs",
        witness=(name,),
        hint="plan the request again: a plan states the vPOD that each resource is a part of",
        missing=(SaidFact(f"vPOD of {name}"),),
        specificity=98,
        about=resources(name),
    )


def _lost_cause(fact: ReferenceFact) -> Cause:
    """Unknown: the reader of such a kind may take it for a stranger's, for the operator's, or for nothing at all."""
    return Cause(
        key=("reference", fact),
        message=f"{fact.name} refers to {fact.reference} ({fact.field}), which neither this plan nor the site has",
        witness=(f"{fact.name}, {fact.field}", fact.reference),
        hint=_LOST,
        missing=(SaidFact(f"what {fact.reference} is"),),
        specificity=12,
        about=resources(fact.name),
    )


_LOST = "name a resource of this plan by its plan name, or an object of the site as site:<kind>/<name>"

FACT_01 = Rule(
    id="FACT-01",
    title="the proof reads every planned resource",
    severity=Severity.BLOCK,
    polarity=Polarity.PRESENCE,
    why="what the proof does not look at may join two owners, whatever the other rules say",
    source="docs/design/semantics.md §8: an absent record is absent only if its table is declared complete",
    needs=("every resource of the plan",),
    ask=_everything_read,
)
