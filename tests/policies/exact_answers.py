"""What one rule alone says of a plan: its verdict, how many things it looked at, and each finding in full."""

from __future__ import annotations

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import RULES, Finding
from policies.edges.plan_fragment import plan_fragment
from policies.facts.kinds import PlanFacts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.judging import model_of
from policies.proof import RuleResult
from tests.policies.workspace import Made

RULE = {rule.id: rule for rule in RULES}


def asked(rule: str, site: Site, plan: Plan, *others: Made) -> RuleResult:
    """The answer of one rule about a plan beside the locks of others."""
    model = model_of(site, plan, [item.lock for item in others])
    return RULE[rule].judge(model, Names(model))


def asked_of_facts(rule: str, site: Site, plan: PlanFacts) -> RuleResult:
    """The answer of one rule about a plan that is there as facts alone, beside nobody."""
    facts = SiteFacts(site)
    model = Model(facts, plan, plan_fragment(facts, plan))
    return RULE[rule].judge(model, Names(model))


def messages(result: RuleResult) -> list[str]:
    """The messages of an answer, in its order."""
    return [item.message for item in result.findings]


def only(result: RuleResult) -> Finding:
    """The one finding of an answer. Raises ValueError if there is another number of them."""
    (found,) = result.findings
    return found
