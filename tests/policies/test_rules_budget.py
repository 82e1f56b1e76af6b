"""Rule CST-01: what a plan costs is compared with the budget of its request."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import PriceBook
from interlock.model.tenant.request import Budget
from interlock.planning.plan import Plan
from policies import RULES, Judgement, Severity, Verdict, judge
from tests.builders.pod64 import priced, tenant
from tests.policies.workspace import NA, N, P, V, edited, full_site, judged, made

ALL = {
    "ipu_machine": "2.50", "poplar_vcpu": "0.01", "poplar_ram_gib": "0.002", "bare_metal_host": "3",
    "controller": "0.1", "volume_gib": "0.08", "share_gib": "0.05", "bucket": "1",
}  # fmt: skip
#: What the plan costs with these prices.
TOTAL = "9688.24"


@cache
def plan(budget: str | None, currency: str = "EUR") -> Plan:
    wish = tenant("acme", budget=None if budget is None else Budget(per_month=budget, currency=currency))
    return made(full_site(prices=priced(**ALL)), wish).plan


def asked(prices: PriceBook | None, of: Plan) -> Judgement:
    return judged(full_site(prices=prices), of)


@pytest.mark.parametrize(
    ("budget", "verdict"),
    [("9688.24", P), ("9688.23", V), ("10", V), ("1000000", P), (None, NA)],
    ids=["to the cent", "a cent", "ten", "plenty", "none"],
)
def test_the_total_beside_the_budget(budget: str | None, verdict: Verdict) -> None:
    judgement = asked(priced(**ALL), plan(budget))
    assert next(item.verdict for item in judgement.results if item.rule == "CST-01") is verdict
    assert judgement.exit_code == (1 if verdict is V else 0)


def test_what_is_said() -> None:
    (found,) = [item for item in asked(priced(**ALL), plan("10")).findings if item.rule == "CST-01"]
    assert found.message == f"what acme pays per month is {TOTAL} EUR: its budget is 10.00 EUR"
    assert found.witness[0] == "4 ipu-machine: 7300.00"
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("prices", "missing"),
    [
        (priced(**{key: value for key, value in ALL.items() if key != "bucket"}), ("prices.bucket",)),
        (
            priced(),
            tuple(f"prices.{key.replace('_', '-')}" for key in ALL if key not in ("bare_metal_host", "share_gib")),
        ),
    ],
    ids=["one price", "no price"],
)
def test_an_unknown_price_is_never_nothing(prices: PriceBook, missing: tuple[str, ...]) -> None:
    """Nor does it take an excess away."""
    judgement = asked(prices, plan("1000000"))
    (found,) = [item for item in judgement.findings if item.rule == "CST-01"]
    assert (found.verdict, found.missing, judgement.exit_code) == (N, missing, 3)


def test_over_is_over_whatever_is_unknown_besides() -> None:
    known = priced(ipu_machine="2.50")
    (found,) = [item for item in asked(known, plan("7299")).findings if item.rule == "CST-01"]
    assert (found.verdict, "is at least 7300.00 EUR" in found.message) == (V, True)


def test_no_price_list_or_one_in_another_currency() -> None:
    for prices, of in ((None, plan("1000000")), (priced(**ALL), plan("1000000", "CHF"))):
        judgement = asked(prices, of)
        (found,) = [item for item in judgement.findings if item.rule == "CST-01"]
        assert (found.verdict, found.missing[0], judgement.exit_code) == (N, "prices.currency", 3)


def test_a_flavour_that_the_site_does_not_state() -> None:
    of = edited(plan("1000000"), "acme-train-poplar-0", flavor="cloud:Flavor/huge")
    found = [item for item in asked(priced(**ALL), of).findings if item.rule == "CST-01"]
    assert [(item.verdict, item.missing) for item in found] == [(N, ("the flavour of acme-train-poplar-0",))]


def test_with_the_rule_off_nobody_else_says_it() -> None:
    rest = tuple(rule for rule in RULES if rule.id != "CST-01")
    assert judge(full_site(prices=priced(**ALL)), plan("10"), [], rest).exit_code == 0


def test_a_plan_without_a_budget_keeps_its_hash() -> None:
    """The field came into plans after their hashes stood in states."""
    assert "budget" not in plan(None).canonical()
    assert plan(None).hash != plan("10").hash != plan("11").hash
