"""Old and new are proved together, and what the plan leaves counts as touched."""

from __future__ import annotations

from functools import cache
from typing import Literal

import pytest

from interlock.planning.plan import Plan
from policies import NotProved, Verdict, judge, prove
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import GraphFragment
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from tests.builders.pod64 import tenant, vpod
from tests.policies.workspace import Made, added, edited, first, full_site, made, pair, verdicts, with_footprint

SITE = full_site()
OLD, NEW = 1000, 1500


@cache
def moved() -> tuple[Made, Made]:
    """acme as it is applied, on VLAN 1000, and as it is planned, on 1500."""
    return made(SITE, tenant("acme"), ipu_data_vlan=OLD), made(SITE, tenant("acme"), ipu_data_vlan=NEW)


@cache
def taker() -> Made:
    """globex, which takes the VLAN that acme is about to leave."""
    return made(SITE, tenant("globex", machines=8, servers=1), [moved()[1].lock], ipu_data_vlan=OLD)


def share_of(plan: Plan) -> GraphFragment:
    facts = SiteFacts(SITE)
    return plan_fragment(facts, plan_facts(plan))


def test_what_is_still_applied_meets_what_another_plans() -> None:
    old, new = moved()
    globex = taker()
    assert judge(SITE, new.plan, [globex.lock]).exit_code == 0
    found = judge(SITE, new.plan, [globex.lock], applied=old.lock.footprint)
    assert verdicts(found)["ISO-01"] is verdicts(found)["ISO-02"] is Verdict.VIOLATED
    segment = next(finding for finding in found.findings if finding.rule == "ISO-01")
    assert f"VLAN {OLD}" in segment.message
    assert "acme and globex" in segment.message


def test_a_move_with_nobody_in_the_way_is_proved() -> None:
    old, new = moved()
    globex = made(SITE, tenant("globex", machines=8, servers=1), [old.lock, new.lock], ipu_data_vlan=1700)
    proof = prove(SITE, new.plan, [globex.lock], applied=old.lock.footprint)
    assert proof.judgement.exit_code == 0


def test_a_footprint_and_the_whole_share_give_one_verdict() -> None:
    old, new = moved()
    for others in ([taker().lock], []):
        by_footprint = judge(SITE, new.plan, others, applied=old.lock.footprint)
        by_share = judge(SITE, new.plan, others, applied=share_of(old.plan))
        assert verdicts(by_footprint) == verdicts(by_share)


def test_what_is_applied_as_planned_changes_nothing_but_what_is_said_of_it() -> None:
    acme, globex = pair(SITE)
    alone = judge(SITE, acme.plan, [globex.lock])
    together = judge(SITE, acme.plan, [globex.lock], applied=acme.lock.footprint)
    assert alone.applied_state == "not looked at"
    assert together.applied_state.startswith("proved together with the plan, sha256:")
    # The edges that stand for the applied partition are among the facts that the judgement rests on.
    same = {"applied_state": alone.applied_state, "statement": alone.statement}
    assert together.model_copy(update=same) == alone


def test_a_machine_that_is_applied_is_held() -> None:
    old = made(SITE, tenant("acme"), machines=("ipum-01", "ipum-02", "ipum-03", "ipum-04"))
    new = made(SITE, tenant("acme"), machines=("ipum-05", "ipum-06", "ipum-07", "ipum-08"))
    globex = made(SITE, tenant("globex", servers=1), [new.lock], machines=("ipum-01", "ipum-02", "ipum-03", "ipum-04"))
    assert judge(SITE, new.plan, [globex.lock]).exit_code == 0
    with pytest.raises(NotProved) as refused:
        prove(SITE, new.plan, [globex.lock], applied=old.lock.footprint)
    assert verdicts(refused.value.judgement)["TOP-06"] is Verdict.VIOLATED


def test_what_the_plan_leaves_counts_as_touched() -> None:
    """Two others meet where the tenant was; its own lock still says so, its plan does not any more."""
    old, new = moved()
    globex = taker()
    carol = made(SITE, tenant("carol", machines=1, servers=1), [new.lock, globex.lock])
    carol = with_footprint(SITE, edited(carol.plan, rnic_of(carol), vlan=OLD), carol.lock)
    others = [globex.lock, carol.lock]
    assert verdicts(judge(SITE, new.plan, others))["ISO-01"] is not Verdict.VIOLATED
    found = judge(SITE, new.plan, [*others, old.lock])
    assert verdicts(found)["ISO-01"] is Verdict.VIOLATED
    assert "acme" not in first(found).message


def rnic_of(item: Made) -> str:
    return next(resource.name for resource in item.plan.resources if "-rnic-" in resource.name)


@pytest.mark.parametrize("separate", ["vpods", "no"])
def test_vpods_of_one_tenant_are_not_joined_by_what_is_applied(separate: Literal["vpods", "no"]) -> None:
    """A footprint says that they meet, on their control network, and not that they meet on their data segments."""
    pods = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)), separate=separate)
    acme = made(SITE, pods)
    for applied in (acme.lock.footprint, share_of(acme.plan)):
        assert verdicts(judge(SITE, acme.plan, [], applied=applied))["ISO-03"] is Verdict.PROVED


@pytest.mark.parametrize(("separate", "verdict"), [("vpods", Verdict.VIOLATED), ("no", Verdict.PROVED)])
def test_a_tenant_may_say_that_its_vpods_need_not_be_apart(separate: Literal["vpods", "no"], verdict: Verdict) -> None:
    pods = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)), separate=separate)
    acme = made(SITE, pods)
    plan = edited(acme.plan, "acme-a-poplar-0-ipu-data", network="acme-b-ipu-data")
    plan = added(
        plan, "acme-a-poplar-0-more", "acme-a-poplar-0", acme.plan.by_name["acme-a-poplar-0-ipu-data"].resource
    )
    ports = (*plan.by_name["acme-a-poplar-0"].resource.model_dump()["ports"], "acme-a-poplar-0-more")
    plan = edited(plan, "acme-a-poplar-0", ports=ports)
    assert verdicts(judge(SITE, plan, []))["ISO-03"] is verdict
