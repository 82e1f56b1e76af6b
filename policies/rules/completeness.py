"""FACT-01: nothing of a plan is overlooked. A kind of resource that the proof cannot read is no pass."""

from __future__ import annotations

from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Answer, Cause, Polarity, Rule


def _everything_read(model: Model, _: Names) -> Answer:
    causes = tuple(_unread_cause(kind, name) for kind, name in model.plan.unread)
    return Answer(model.plan.resources, unknown=causes)


def _unread_cause(kind: str, name: str) -> Cause:
    return Cause(
        key=name,
        message=f"nobody says what tenants could meet in {name}, a {kind}",
        witness=(f"{kind} {name}",),
        hint=f"give {kind} a line in policies/facts/readings.py: how the proof reads it, or why nothing can meet there",
        missing=(f"reading of {kind}",),
        specificity=99,
    )


FACT_01 = Rule(
    id="FACT-01",
    title="everything planned is read by the proof",
    severity=Severity.BLOCK,
    polarity=Polarity.PRESENCE,
    why="what the proof does not look at may join two owners, whatever the other rules say",
    source="docs/design/semantics.md §8: an absent record is absent only if its table is declared complete",
    needs=("every resource of the plan",),
    ask=_everything_read,
)
