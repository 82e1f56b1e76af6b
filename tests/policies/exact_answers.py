"""What one rule alone says of a plan: its verdict, how many things it looked at, and each finding in full."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from interlock.model.lock.record import Premise
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import RULES, Finding
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment
from policies.facts import identities as ids
from policies.facts.kinds import PlanFacts
from policies.facts.site import SiteFacts
from policies.graph.model import Model, Resolved
from policies.graph.naming import Names
from policies.judging import model_of
from policies.proof import RuleResult
from policies.rules.rule import cause_hash
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


def plan_of(owner: str = "acme", **fields: object) -> PlanFacts:
    """A plan of an owner with these facts and no others."""
    kinds = ("networks", "subnets", "ports", "servers", "routers", "switch_ports", "vpods")
    known: dict[str, object] = {"owner": owner, "is_tenant": owner != ids.OPERATOR} | dict.fromkeys(kinds, ())
    return PlanFacts(**(known | fields))  # type: ignore[arg-type]


def share(
    owner: str,
    edges: Iterable[Edge] = (),
    labels: Mapping[str, str] | None = None,
    premises: Iterable[Premise] = (),
    exclusive: Iterable[str] = (),
) -> GraphFragment:
    """What one owner brings: edges, nodes with the owners of each (`acme, op`), premises, what it has alone."""
    held = {node: frozenset(words.split(", ")) for node, words in (labels or {}).items()}
    return GraphFragment(owner, tuple(edges), held, tuple(premises), frozenset(exclusive))


def drawn(site: SiteFacts, plan: PlanFacts, own: GraphFragment, *others: GraphFragment) -> Model:
    """A graph of these edges alone: the site brings names, and neither edges nor owners."""
    return Model(site, plan, own, others, resolved=Resolved((), {}))


def answer(rule: str, model: Model) -> RuleResult:
    """The answer of one rule about a model."""
    return RULE[rule].judge(model, Names(model))


def switch_vlan(switch: str, number: int) -> str:
    """A VLAN of a switch of the small site, by the switch's name."""
    return ids.vlan_segment(ids.switch_bridge(f"SN-{switch}"), number)


def host_vlan(host: str, interface: str, number: int) -> str:
    """A VLAN of the bridge behind an interface of a host of the small site."""
    return ids.vlan_segment(ids.host_bridge(f"SN-{host}", interface), number)


def rnic(number: int) -> str:
    """The RNIC of a machine of the small site, by its position."""
    return ids.part(f"SN-ipum-{number:02}", "rnic")


def identified(rule: str, model: Model, *key: Hashable) -> str:
    """The id of the finding that a rule tells of what goes by this key; of one word, by the word itself."""
    stack = f"{model.site.site.name}/{model.plan.owner}"
    return f"{rule}-{cause_hash(stack, key if len(key) > 1 else key[0])}"


def messages(result: RuleResult) -> list[str]:
    """The messages of an answer, in its order."""
    return [item.message for item in result.findings]


def only(result: RuleResult) -> Finding:
    """The one finding of an answer. Raises ValueError if there is another number of them."""
    (found,) = result.findings
    return found
