"""Costs: what is counted, that nothing unknown counts as free, and the budget beside it."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import pytest

from infra.reports.plan_cost import cost_text
from interlock.hardware.prices import PRICE_ITEMS
from interlock.model.site.inventory import PriceBook
from interlock.model.tenant.request import Budget
from interlock.planning import plan_tenant
from interlock.planning.costs import ITEMS, Cost, cost_of
from interlock.resources import BareMetalServer
from tests.builders.gpu_sites import gpu_site
from tests.builders.pod64 import bare_metal_vpod, locked, pod64, priced, site_locked, tenant
from tests.planning.golden import plans

ALL = {
    "ipu_machine": "2.50", "poplar_vcpu": "0.01", "poplar_ram_gib": "0.002", "bare_metal_host": "3",
    "controller": "0.1", "volume_gib": "0.08", "share_gib": "0.05", "bucket": "1",
}  # fmt: skip


def cost(plan: str, prices: PriceBook | None, budget: Budget | None = None) -> Cost:
    return cost_of(pod64(prices=prices), plans()[plan], budget)


def test_every_item_that_may_have_a_price_is_counted() -> None:
    assert {item: f"per {period}" for item, period, _ in ITEMS} == PRICE_ITEMS


def test_a_months_cost_is_exact() -> None:
    found = cost("acme", priced(**ALL))
    assert [(line.item, line.quantity, line.per_month) for line in found.lines] == [
        ("ipu-machine", 4, Decimal("7300.00")),
        ("poplar-vcpu", 224, Decimal("1635.20")),
        ("poplar-ram-gib", 464, Decimal("677.44")),
        ("controller", 1, Decimal("73.00")),
        ("volume-gib", 20, Decimal("1.60")),
        ("bucket", 1, Decimal("1.00")),
    ]
    assert (found.total, found.at_least, found.currency) == (Decimal("9688.24"), False, "EUR")


@pytest.mark.parametrize(
    ("plan", "item", "quantity"),
    [
        ("bare-metal", "bare-metal-host", 2),
        ("data", "share-gib", 1000),
        ("data", "volume-gib", 570),
        ("data", "controller", 2),
    ],
)
def test_what_a_plan_holds_is_counted(plan: str, item: str, quantity: int) -> None:
    assert {line.item: line.quantity for line in cost(plan, None).lines}[item] == quantity


def test_a_bare_metal_host_is_not_counted_by_its_cpus() -> None:
    assert "poplar-vcpu" not in {line.item for line in cost("bare-metal", None).lines}


def test_a_missing_price_is_unknown_and_the_total_at_least() -> None:
    found = cost("acme", priced(**{key: price for key, price in ALL.items() if key != "controller"}))
    assert found.unknown == ("controller",)
    assert (found.total, found.at_least) == (Decimal("9615.24"), True)


def test_without_a_price_book_all_is_unknown() -> None:
    found = cost("acme", None)
    assert len(found.unknown) == len(found.lines) == 6
    assert (found.currency, found.at_least) == (None, True)


def test_a_tenant_that_is_to_go_costs_nothing() -> None:
    found = cost("gone", None)
    assert (found.lines, found.total, found.at_least) == ((), Decimal("0.00"), False)


def test_cents_of_many_are_not_lost() -> None:
    assert cost("acme", priced(ipu_machine="0.0000001")).lines[0].per_month == Decimal("0.00")
    assert cost("acme", priced(ipu_machine="0.00001")).lines[0].per_month == Decimal("0.03")


@pytest.mark.parametrize(
    ("limit", "currency", "known", "verdict"),
    [
        ("9688.24", "EUR", "all", "within"),
        ("9688.23", "EUR", "all", "over"),
        ("9688.24", "USD", "all", "unknown"),
        ("20000", "EUR", "some", "unknown"),
        ("100", "EUR", "some", "over"),
        ("100", "EUR", "none", "unknown"),
    ],
)
def test_the_budget_is_within_only_if_all_is_known(
    limit: str, currency: str, known: Literal["all", "some", "none"], verdict: str
) -> None:
    books = {"all": priced(**ALL), "some": priced(ipu_machine="2.50"), "none": None}
    found = cost("acme", books[known], Budget(per_month=limit, currency=currency))
    assert found.budget is not None
    assert found.budget.verdict == verdict


def test_gpus_are_paid_by_the_minute_and_their_nodes_by_nothing_else() -> None:
    site = gpu_site(prices=priced(gpu_dgx_h100="0.05", bare_metal_host="1"))
    request = tenant("acme", vpods=(bare_metal_vpod(servers=2),))
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    nodes = iter(("su01-n01", "su01-n02"))
    on_nodes = tuple(
        item.model_copy(update={"resource": item.resource.model_copy(update={"node": next(nodes)})})
        if isinstance(item.resource, BareMetalServer)
        else item
        for item in plan.resources
    )
    before, after = (cost_of(site, made) for made in (plan, plan.model_copy(update={"resources": on_nodes})))
    assert [(line.quantity, line.per) for line in before.lines if line.item == "bare-metal-host"] == [(2, "hour")]
    found = {line.item: line for line in after.lines}
    assert "bare-metal-host" not in found
    assert found["gpu-dgx-h100"].quantity == 16
    # 16 GPUs for 730 hours of 60 minutes.
    assert found["gpu-dgx-h100"].per_month == Decimal("35040.00")
    assert "16 × 43800 min × 0.05 = 35,040.00 EUR" in cost_text(after)
