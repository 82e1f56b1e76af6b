"""What a plan costs per month, from the site's own price list. A price that is not stated is unknown, never 0.

A month is 730 hours, or 43800 minutes. Amounts are exact decimals; only what is shown is rounded, to the hundredth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal

from interlock.hardware.gpu import NODE_TYPES, OFFERED
from interlock.hardware.prices import GPU_ITEM, HOURS_PER_MONTH, MINUTES_PER_MONTH
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Budget
from interlock.resources import BareMetalServer, Bucket, Frozen, Resource, Server, Share, VipuAllocation, Volume
from interlock.vocabulary import Reference

from .plan import ComponentType, Plan

CENT = Decimal("0.01")

Period = Literal["minute", "hour", "month"]
#: How often a period is in a month.
IN_A_MONTH: dict[Period, int] = {"minute": MINUTES_PER_MONTH.value, "hour": HOURS_PER_MONTH.value, "month": 1}
#: How much of an item one resource takes, given the type of the component that it lies in.
Amount = Callable[[Site, ComponentType, Resource], int]


def _machines(_: Site, __: ComponentType, resource: Resource) -> int:
    return len(resource.machines) if isinstance(resource, VipuAllocation) else 0


def _vcpus(site: Site, component: ComponentType, resource: Resource) -> int:
    return _flavor(site, component, resource)[0]


def _ram_gib(site: Site, component: ComponentType, resource: Resource) -> int:
    return _flavor(site, component, resource)[1]


def _flavor(site: Site, component: ComponentType, resource: Resource) -> tuple[int, int]:
    """(CPUs, GiB) of a Poplar server on a hypervisor, or of a head of a cluster, which stands there too."""
    if component not in ("PoplarServer", "ClusterHead") or not isinstance(resource, Server):
        return (0, 0)
    flavor = site.flavor[Reference.parse(resource.flavor).name]
    return (flavor.vcpus, flavor.ram_gib)


def _hosts(site: Site, _: ComponentType, resource: Resource) -> int:
    return int(isinstance(resource, BareMetalServer) and resource.node not in site.gpu_node)


def _host_of(resource: Resource) -> str:
    match resource:
        case BareMetalServer():
            return resource.node
        case Server():
            return resource.host
    return ""


def _gpus(node_type: str) -> Amount:
    """GPUs of the nodes of one type: a node is had whole, and paid by its GPUs."""
    gpus = NODE_TYPES[node_type].gpus
    each = gpus.value if gpus else 0

    def amount(site: Site, _: ComponentType, resource: Resource) -> int:
        node = site.gpu_node.get(_host_of(resource))
        return each if node is not None and node.node_type == node_type else 0

    return amount


def _controllers(_: Site, component: ComponentType, resource: Resource) -> int:
    return int(component == "VipuController" and isinstance(resource, Server))


def _volume_gib(_: Site, __: ComponentType, resource: Resource) -> int:
    return resource.size_gib if isinstance(resource, Volume) else 0


def _share_gib(_: Site, __: ComponentType, resource: Resource) -> int:
    return resource.size_gib if isinstance(resource, Share) else 0


def _buckets(_: Site, __: ComponentType, resource: Resource) -> int:
    return int(isinstance(resource, Bucket))


#: Every item that a price book may price, what a price of it is for, and how much of it a resource takes.
ITEMS: tuple[tuple[str, Period, Amount], ...] = (
    ("ipu-machine", "hour", _machines),
    ("poplar-vcpu", "hour", _vcpus),
    ("poplar-ram-gib", "hour", _ram_gib),
    ("bare-metal-host", "hour", _hosts),
    ("controller", "hour", _controllers),
    ("volume-gib", "month", _volume_gib),
    ("share-gib", "month", _share_gib),
    ("bucket", "month", _buckets),
    *((f"{GPU_ITEM}{name}", "minute", _gpus(name)) for name in OFFERED),
)


class CostLine(Frozen):
    """One item: how many of it, the price of one per minute, hour or month, and what all cost per month."""

    item: str
    quantity: int
    per: Period
    #: None: the site states no price.
    price: Decimal | None
    per_month: Decimal | None


class BudgetCheck(Frozen):
    """The total beside the tenant's budget. `unknown`: a price or the currency is missing to say so."""

    per_month: Decimal
    currency: str
    verdict: Literal["within", "over", "unknown"]


class Cost(Frozen):
    """What a plan costs per month. `at_least`: prices of items in it are unknown, and the total is without them."""

    #: None: the site has no price book.
    currency: str | None
    lines: tuple[CostLine, ...]
    total: Decimal
    at_least: bool
    budget: BudgetCheck | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Items of the plan that the site has no price for."""
        return tuple(line.item for line in self.lines if line.price is None)


def cost_of(site: Site, plan: Plan, budget: Budget | None = None) -> Cost:
    """The cost of a tenant's plan, items in the order of `ITEMS`, those that it has none of left out."""
    lines = tuple(line for line in _lines(site, plan) if line.quantity)
    total = sum((line.per_month for line in lines if line.per_month is not None), Decimal(0)).quantize(CENT)
    currency = site.prices.currency if site.prices else None
    at_least = any(line.price is None for line in lines)
    check = _against(budget, total, currency, at_least) if budget else None
    return Cost(currency=currency, lines=lines, total=total, at_least=at_least, budget=check)


def _lines(site: Site, plan: Plan) -> Iterable[CostLine]:
    prices = site.prices.prices if site.prices else {}
    for item, per, amount in ITEMS:
        quantity = sum(amount(site, plan.component[it.component].type, it.resource) for it in plan.resources)
        price = Decimal(prices[item]) if item in prices else None
        yield CostLine(item=item, quantity=quantity, per=per, price=price, per_month=_monthly(quantity, per, price))


def _monthly(quantity: int, per: Period, price: Decimal | None) -> Decimal | None:
    if price is None:
        return None
    months = quantity * price * IN_A_MONTH[per]
    return months.quantize(CENT, ROUND_HALF_EVEN)


def _against(budget: Budget, total: Decimal, currency: str | None, at_least: bool) -> BudgetCheck:
    """Over is over, whatever is unknown besides; within is said only if everything is known."""
    limit = Decimal(budget.per_month)
    verdict: Literal["within", "over", "unknown"]
    if budget.currency != currency:
        verdict = "unknown"
    elif total > limit:
        verdict = "over"
    else:
        verdict = "unknown" if at_least else "within"
    return BudgetCheck(per_month=limit, currency=budget.currency, verdict=verdict)
