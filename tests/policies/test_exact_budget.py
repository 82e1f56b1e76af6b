"""CST-01: what each finding says, with prices that the site states, does not state, or cannot state."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from interlock.model.site.inventory import PriceBook, Site
from interlock.model.tenant.request import Budget
from interlock.planning.plan import Plan
from policies import Verdict
from policies.facts.plan import plan_facts
from policies.rules.budget import CST_01
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, priced, tenant
from tests.policies.one_rule import Said, answer, findings, of_facts, said
from tests.policies.workspace import NA, N, P, V, edited, full_site, made, sharing

ALL = {
    "ipu_machine": "2.50", "poplar_vcpu": "0.01", "poplar_ram_gib": "0.002", "bare_metal_host": "3",
    "controller": "0.1", "volume_gib": "0.08", "share_gib": "0.05", "bucket": "1",
}  # fmt: skip
LINES = (
    "4 ipu-machine: 7300.00", "224 poplar-vcpu: 1635.20", "464 poplar-ram-gib: 677.44", "1 controller: 73.00",
    "20 volume-gib: 1.60", "1 bucket: 1.00",
)  # fmt: skip
HEAD = "what acme pays per month is"


@cache
def plan(budget: str | None) -> Plan:
    wish = tenant("acme", budget=None if budget is None else Budget(per_month=budget, currency="EUR"))
    return made(full_site(), wish).plan


def site(prices: PriceBook | None) -> Site:
    return full_site(prices=prices)


@pytest.mark.parametrize(
    ("prices", "budget", "expected"),
    [
        (priced(**ALL), "9688.24", None),
        (priced(**ALL), "10.5", Said(V, f"{HEAD} 9688.24 EUR: its budget is 10.50 EUR", LINES, (), 12)),
        (
            priced(ipu_machine="2.50"),
            "10",
            Said(
                V,
                f"{HEAD} at least 7300.00 EUR: its budget is 10.00 EUR",
                (LINES[0], *(f"{line.partition(':')[0]}: no price" for line in LINES[1:])),
                (),
                12,
            ),
        ),
        (
            priced(**{name: price for name, price in ALL.items() if name != "bucket"}),
            "100000",
            Said(
                N,
                f"{HEAD} not known: its budget is 100000.00 EUR",
                (*LINES[:-1], "1 bucket: no price"),
                ("prices.bucket",),
                12,
            ),
        ),
        (
            PriceBook(currency="CHF", prices=dict(priced(**ALL).prices)),
            "10",
            Said(N, f"{HEAD} not known: its budget is 10.00 EUR", LINES, ("prices.currency",), 12),
        ),
    ],
)
def test_what_is_said_of_a_budget(prices: PriceBook, budget: str, expected: Said | None) -> None:
    found = answer(CST_01, site(prices), plan(budget))
    assert said(found) == ([expected] if expected else [])
    assert (found.count, found.verdict) == (1, expected.verdict if expected else P)


def test_what_to_do() -> None:
    hints = {answer(CST_01, site(prices), plan("10")).findings[0].hint for prices in (priced(**ALL), None)}
    assert hints == {"raise `budget:`, or ask for less", "state the prices in the site file"}


@pytest.mark.parametrize("flavor", ["cloud:Flavor/huge", "site:Flavor/nobody"])
def test_a_flavour_that_is_in_no_price_list(flavor: str) -> None:
    """Not even what is known can be added up then, so no line of a bill is shown."""
    found = answer(CST_01, site(priced(**ALL)), edited(plan("10"), "acme-train-poplar-0", flavor=flavor))
    missing = ("the flavour of acme-train-poplar-0",)
    assert said(found) == [Said(N, f"{HEAD} not known", ("acme",), missing, 12)]
    assert found.count == 1


@pytest.mark.parametrize(("budget", "verdict"), [("100000", P), ("10", V)])
def test_whole_hosts_have_a_price_and_no_flavour(budget: str, verdict: Verdict) -> None:
    whole = bare_metal_pod64(sharing=sharing(), prices=priced(**ALL))
    wish = tenant("acme", vpods=(bare_metal_vpod(servers=1),), budget=Budget(per_month=budget, currency="EUR"))
    found = answer(CST_01, whole, made(whole, wish).plan)
    assert found.verdict is verdict
    assert not any(item.missing for item in found.findings)


def test_a_plan_without_a_budget() -> None:
    assert answer(CST_01, site(None), plan(None)).verdict is NA
    # Nor is one that states none although its facts hold the whole plan.
    facts = replace(plan_facts(plan(None)), to_pay=plan(None))
    assert of_facts(CST_01, site(None), facts).verdict is NA
    assert findings(CST_01, site(None), plan("1")) != []
