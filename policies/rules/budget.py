"""CST-01: what a plan costs per month is within the budget of its request."""

from __future__ import annotations

from decimal import Decimal

from interlock.planning.costs import Cost, cost_of
from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SaidFact, SiteFact, components
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer


def _within(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan.to_pay
    if plan is None or plan.budget is None:
        return RuleAnswer(0)
    unpriced = _unpriced(model)
    if unpriced:
        # Its CPUs and memory are in no price list, so not even what is known can be added up.
        return RuleAnswer(1, unknown=(_cause(model, "is not known", (), unpriced),))
    site = model.site.site
    cost = cost_of(site, plan, plan.budget)
    limit = f"its budget is {_amount(Decimal(plan.budget.per_month))} {plan.budget.currency}"
    if cost.budget is not None and cost.budget.verdict == "over":
        # Amounts are compared in one currency only.
        total = f"{'at least ' if cost.at_least else ''}{_amount(cost.total)} {plan.budget.currency}"
        return RuleAnswer(1, violated=(_cause(model, f"is {total}: {limit}", _lines(cost), ()),))
    missing = tuple(SiteFact(f"prices.{item}") for item in cost.unknown)
    if cost.currency != plan.budget.currency:
        missing = (SiteFact("prices.currency"), *missing)
    if missing:
        return RuleAnswer(1, unknown=(_cause(model, f"is not known: {limit}", _lines(cost), missing),))
    return RuleAnswer(1)


def _unpriced(model: Model) -> tuple[Fact, ...]:
    known = model.site.site.flavor
    servers = (item for item in model.plan.servers if not item.is_bare_metal)
    return tuple(
        SaidFact(f"the flavour of {item.name}")
        for item in servers
        if Reference.name_in(item.flavor, Scheme.SITE, Flavor.KIND) not in known
    )


def _amount(value: Decimal) -> str:
    return f"{value:.2f}"


def _lines(cost: Cost) -> tuple[str, ...]:
    return tuple(
        f"{line.quantity} {line.item}: {'no price' if line.per_month is None else _amount(line.per_month)}"
        for line in cost.lines
    )


def _cause(model: Model, what: str, lines: tuple[str, ...], missing: tuple[Fact, ...]) -> Cause:
    owner = model.plan.owner
    return Cause(
        key=owner,
        message=f"what {owner} pays per month {what}",
        witness=lines or (owner,),
        hint="state the prices in the site file" if missing else "raise `budget:`, or ask for less",
        missing=missing,
        specificity=12,
        about=components(owner),
    )


CST_01 = Rule(
    id="CST-01",
    title="a plan costs no more than the budget of its request",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a budget that nobody compares with the price list is found to be spent when the bill comes",
    source="docs/reference/tenant-file.md, budget; interlock/planning/costs.py: 730 hours to a month, exact decimals",
    needs=("budget", "prices", "machines, servers, volumes, shares and buckets"),
    ask=_within,
    of=Of.TENANT,
)
