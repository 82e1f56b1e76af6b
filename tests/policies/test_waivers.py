"""Waivers: what they let pass, up to when, and what nobody may waive."""

from __future__ import annotations

from datetime import date

import pytest

from interlock.model.waivers import Waiver
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import RULES, Judgement, NotProved, Severity, judge, prove
from policies.findings.report import as_json, as_message, as_table, outcome
from policies.findings.waivers import NotWaivable, is_fixed, not_waivable
from policies.proof import WaiverState
from policies.rules import Of
from tests.builders.pod64 import site_locked
from tests.policies.workspace import Made, edited, full_site, pair, verdicts

SITE = full_site()
TODAY = date(2026, 11, 21)
#: A subnet that is too small: severity E, and no owner meets another by it.
RULE = "CAP-05"


def waiver(rule: str = RULE, expires: str = "2026-12-31") -> Waiver:
    return Waiver(rule=rule, owner="ops@lyon.example", reason="two weeks of a demo", expires=expires)


def narrow() -> tuple[Plan, Made]:
    acme, globex = pair(SITE)
    return edited(acme.plan, "acme-train-ipu-data-subnet", cidr="10.20.0.8/30"), globex


def waived(*waivers: Waiver, today: date = TODAY) -> Judgement:
    plan, globex = narrow()
    return judge(SITE, plan, [globex.lock], waivers=waivers, today=today)


def errors(judgement: Judgement) -> set[str]:
    return {item.rule for item in judgement.findings if item.severity in (Severity.BLOCK, Severity.ERROR)}


def test_without_a_waiver_the_rule_counts() -> None:
    assert errors(waived()) == {RULE}
    assert waived().exit_code == 1
    assert outcome(waived()) == "violated"


def test_a_waiver_lets_its_rule_pass_and_says_so() -> None:
    judgement = waived(waiver())
    assert judgement.exit_code == 0
    assert outcome(judgement) == "proved with 1 waiver"
    # The verdict of the rule stays what it is.
    assert verdicts(judgement)[RULE] == "violated"
    (kept,) = judgement.waivers
    assert (kept.rule, kept.owner, kept.state) == (RULE, "ops@lyon.example", WaiverState.USED)
    assert "waived up to 2026-12-31 by ops@lyon.example: two weeks of a demo" in as_table(judgement)
    told = as_json(judgement)
    assert told["result"] == "proved with 1 waiver"
    assert {item["waived"] for item in told["findings"] if item["rule"] == RULE} == {True}
    assert told["waivers"][0]["reason"] == "two weeks of a demo"


def test_a_proof_carries_its_waivers() -> None:
    plan, globex = narrow()
    with pytest.raises(NotProved):
        prove(SITE, plan, [globex.lock])
    one, other = (
        prove(SITE, plan, [globex.lock], waivers=[waiver(expires=day)], today=TODAY)
        for day in ("2026-12-31", "2027-01-31")
    )
    assert one.judgement.waivers[0].expires == "2026-12-31"
    assert one.hash != other.hash
    assert as_message(one.judgement).endswith("proved with 1 waiver")


@pytest.mark.parametrize(("today", "code"), [(date(2026, 12, 30), 0), (date(2026, 12, 31), 0), (date(2027, 1, 1), 1)])
def test_the_last_day_counts_and_the_day_after_does_not(today: date, code: int) -> None:
    assert waived(waiver(), today=today).exit_code == code


def test_an_expired_waiver_fails_as_before_and_says_so() -> None:
    judgement = waived(waiver(expires="2026-11-20"))
    assert judgement.exit_code == 1
    assert outcome(judgement) == "violated"
    assert judgement.waivers[0].state is WaiverState.EXPIRED
    assert "expired, so the rule counts" in as_table(judgement)
    assert "expired, so the rule counts" in as_message(judgement)


def test_an_unused_waiver_warns() -> None:
    judgement = waived(waiver(), waiver("SEC-12"))
    unused = judgement.waivers[1]
    assert (unused.state, unused.findings) == (WaiverState.UNUSED, 0)
    assert "waiver of SEC-12 by ops@lyon.example up to 2026-12-31: warning: unused" in as_table(judgement)
    assert outcome(judgement) == "proved with 1 waiver"


def test_a_waiver_where_its_rule_is_not_asked_says_where_it_is() -> None:
    of_site = next(rule.id for rule in RULES if rule.of is Of.SITE and rule.severity is Severity.ERROR)
    of_tenants = next(rule.id for rule in RULES if rule.of is Of.TENANT and rule.severity is Severity.ERROR)
    (in_request,) = waived(waiver(of_site)).waivers
    (in_site,) = judge(SITE, plan_site(SITE, site_locked(SITE)), [], waivers=[waiver(of_tenants)], today=TODAY).waivers
    assert (in_request.state, in_site.state) == (WaiverState.UNUSED, WaiverState.UNUSED)
    assert "the site's own plan alone, and waived in site.yaml" in in_request.hint
    assert "plans of tenants alone, and waived in a tenant's request" in in_site.hint


def test_a_rule_that_does_not_exist_is_told_with_the_nearest() -> None:
    judgement = waived(waiver("CAP-50"))
    assert judgement.exit_code == 1
    assert judgement.waivers[0].state is WaiverState.UNKNOWN
    assert judgement.waivers[0].hint == "did you mean `CAP-05`?"


def test_a_waiver_of_one_rule_lets_no_other_pass() -> None:
    assert waived(waiver("CAP-03"), waiver("ISO-07")).exit_code == 1


@pytest.mark.parametrize("rule", [rule.id for rule in RULES if rule.severity is Severity.BLOCK])
def test_what_keeps_owners_apart_cannot_be_waived(rule: str) -> None:
    plan, globex = narrow()
    with pytest.raises(NotWaivable, match=f"{rule} cannot be waived: it "):
        judge(SITE, plan, [globex.lock], waivers=[waiver(rule)], today=TODAY)


def test_every_rule_that_cannot_be_waived_is_named_at_once() -> None:
    listed = not_waivable([waiver("ISO-01"), waiver(), waiver("ISO-02")], RULES)
    assert [item.rule.id for item in listed] == ["ISO-01", "ISO-02"]


def test_the_theorems_are_never_waived() -> None:
    """Sep, Expo, Auth, Excl and completeness each have a rule that stands behind all of their views."""
    by_id = {rule.id: rule for rule in RULES}
    for rule in ("ISO-02", "EXPO-01", "AUTH-01", "TOP-06", "FACT-01"):
        assert is_fixed(by_id[rule]), rule


def test_with_all_waivers_there_are_two_tenants_on_one_vlan_are_refused() -> None:
    acme, globex = pair(SITE, globex={"ipu_data_vlan": 1000}, acme={"ipu_data_vlan": 1000})
    every = [waiver(rule.id) for rule in RULES if not is_fixed(rule)]
    judgement = judge(SITE, globex.plan, [acme.lock], waivers=every, today=TODAY)
    assert judgement.exit_code == 1
