"""One rule asked about one plan, without the others: all that it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.edges.shape import GraphFragment
from policies.facts.kinds import PlanFacts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.judging import asked as asked_of
from policies.judging import model_of
from policies.proof import RuleResult
from policies.rules import Rule
from tests.policies.workspace import Made


class Said(NamedTuple):
    """A finding: what it says, what shows it, and before which others it is told (higher speaks first)."""

    verdict: Verdict
    message: str
    witness: tuple[str, ...]
    missing: tuple[str, ...]
    order: int


def answer(rule: Rule, site: Site, plan: Plan, *others: Made) -> RuleResult:
    """What the rule says of this plan beside the locks of others. Raises ValueError if it is not asked about it."""
    (result,) = asked_of(model_of(site, plan, [other.lock for other in others]), [rule])
    return result


def findings(rule: Rule, site: Site, plan: Plan, *others: Made) -> list[Said]:
    """Each finding of the rule, in its order."""
    return said(answer(rule, site, plan, *others))


def said(result: RuleResult) -> list[Said]:
    """The findings of a result."""
    return [Said(item.verdict, item.message, item.witness, item.missing, item.specificity) for item in result.findings]


def of_facts(rule: Rule, site: Site, plan: PlanFacts) -> RuleResult:
    """What the rule says of a plan's facts alone: they join nothing and claim nothing."""
    return by_hand(rule, site, plan, GraphFragment(plan.owner, (), {}, ()))


def by_hand(
    rule: Rule, site: Site, plan: PlanFacts, own: GraphFragment, others: Sequence[GraphFragment] = ()
) -> RuleResult:
    """What the rule says of a plan that brings this share beside those of others, whatever its facts would bring."""
    model = Model(SiteFacts.of(site), plan, own, others)
    return rule.judge(model, Names(model))


def messages(rule: Rule, site: Site, plan: Plan, *others: Made) -> list[str]:
    """What each finding of the rule says."""
    return [item.message for item in findings(rule, site, plan, *others)]
