"""Cost of a plan per month as text, with the prices that are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from interlock.model.tenant.request import Default
from interlock.planning.costs import IN_A_MONTH, BudgetCheck, Cost, CostLine

_UNITS = {"minute": "min", "hour": "h"}
VERDICTS = {
    "within": "within it",
    "over": "over it",
    "unknown": "unknown whether it is enough",
}


def cost_text(cost: Cost) -> str:
    """A line for each item, then the total, then the budget if the tenant has one."""
    lines = ["cost per month:"]
    width = max((len(line.item) for line in cost.lines), default=0)
    lines += [f"  {line.item:<{width}}  {_line(line, cost.currency)}" for line in cost.lines]
    lines.append(f"  {_total(cost)}")
    if cost.budget is not None:
        lines.append(f"  {_budget(cost.budget, cost)}")
    return "\n".join(lines)


def _line(line: CostLine, currency: str | None) -> str:
    if line.price is None or line.per_month is None:
        return f"{line.quantity} × unknown: the site states no price"
    often = f" × {IN_A_MONTH[line.per]} {_UNITS[line.per]}" if line.per in _UNITS else ""
    return f"{line.quantity}{often} × {line.price} = {_money(line.per_month)} {currency}"


def _total(cost: Cost) -> str:
    if not cost.lines:
        return "nothing"
    if cost.currency is None or len(cost.unknown) == len(cost.lines):
        return "total unknown: write `prices:` into the site file"
    at_least = "at least " if cost.at_least else ""
    return f"total {at_least}{_money(cost.total)} {cost.currency}"


def _budget(budget: BudgetCheck, cost: Cost) -> str:
    because = ""
    if budget.verdict == "unknown":
        missing = [f"no price for {item}" for item in cost.unknown]
        if cost.currency and budget.currency != cost.currency:
            missing.insert(0, f"prices are in {cost.currency}")
        because = f" ({'; '.join(missing)})"
    return f"budget {_money(budget.per_month)} {budget.currency}: {VERDICTS[budget.verdict]}{because}"


def _money(amount: Decimal) -> str:
    return f"{amount:,.2f}"


def defaults_text(defaults: Sequence[Default]) -> str:
    """Every value that the request did not state."""
    return "\n".join(["defaults, which the request does not state:", *_defaults(defaults)])


def _defaults(defaults: Sequence[Default]) -> Iterator[str]:
    width = max((len(item.path) for item in defaults), default=0)
    for item in defaults:
        yield f"  {item.path:<{width}}  {item.value}  (by {item.origin})"
