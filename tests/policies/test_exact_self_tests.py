"""LIF-13: a device with another serial than before is told until somebody has seen its self-test."""

from __future__ import annotations

from interlock.model.lock.record import Replaced
from interlock.planning import plan_site, plan_tenant
from interlock.planning.plan import Plan, UntestedDevice
from policies import Severity
from policies.about import PlanComponent, SiteDevice
from policies.rules.self_tests import LIF_13
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, site_locked, tenant
from tests.policies.asking import answered
from tests.policies.workspace import N, P, full_site, judged, made, pair, verdicts

SITE = full_site()
ACME, GLOBEX = pair(SITE)
NEW = UntestedDevice(vpod="train", device="ipum-03", serial="M-NEW", before="M-OLD")


def untested(plan: Plan, *devices: UntestedDevice) -> Plan:
    return plan.model_copy(update={"untested": devices})


def test_what_is_as_it_was_is_looked_at_and_found_tested() -> None:
    answer = answered(LIF_13, SITE, ACME.plan, GLOBEX)
    # Poplar servers run on hypervisors here: those are nobody's devices.
    assert (answer.count, answer.violated, answer.unknown) == (4, (), ())
    whole = bare_metal_pod64()
    metal = made(whole, tenant("acme", vpods=(bare_metal_vpod(),)))
    assert answered(LIF_13, whole, metal.plan).count == 6


def test_what_replaced_another_is_told_with_both_serials() -> None:
    (cause,) = answered(LIF_13, SITE, untested(ACME.plan, NEW), GLOBEX).unknown
    assert cause.message == (
        "ipum-03 of vPOD train is another device than before, and nobody is known to have tested it"
    )
    assert cause.witness == ("ipum-03 was M-OLD", "ipum-03 is M-NEW")
    assert [str(fact) for fact in cause.missing] == ["that M-NEW passed its self-test"]
    assert cause.hint == (
        "test it, write its step `self-tested` into the site's evidence, and run `interlock settle acme`"
    )
    assert cause.about == (PlanComponent("train"), SiteDevice("ipum-03"))


def test_a_node_that_came_back_is_told_as_such() -> None:
    """Both serials are one: nothing stood in its place."""
    back = NEW.model_copy(update={"before": "M-NEW"})
    (cause,) = answered(LIF_13, SITE, untested(ACME.plan, back), GLOBEX).unknown
    assert cause.message == (
        "ipum-03 of vPOD train left the site file and is back, and nobody is known to have tested it"
    )
    assert cause.witness == ("M-NEW was not in the site file", "ipum-03 is M-NEW")


def test_the_plan_is_not_provable_and_nothing_else_speaks_of_it() -> None:
    judgement = judged(SITE, untested(ACME.plan, NEW), GLOBEX)
    assert (verdicts(judgement)["LIF-13"], judgement.exit_code) == (N, 3)
    assert [(item.rule, item.severity) for item in judgement.findings] == [("LIF-13", Severity.ERROR)]
    assert verdicts(judged(SITE, ACME.plan, GLOBEX))["LIF-13"] == P


def test_the_operators_own_stack_is_not_asked() -> None:
    assert "LIF-13" not in verdicts(judged(SITE, plan_site(SITE, site_locked(SITE))))


def test_the_plan_takes_it_from_the_lock_and_its_hash_says_so() -> None:
    note = Replaced(
        vpod="train", claim="machines", device="ipum-03", before="M-OLD", serial="M-NEW", since="2026-11-23T10:00:00Z"
    )
    other = note.model_copy(update={"device": "ipum-16"})
    lock = ACME.lock.model_copy(update={"replaced": (note, other)})
    plan = plan_tenant(SITE, site_locked(SITE), tenant("acme"), lock)
    assert plan.untested == (NEW,)
    assert plan.hash != ACME.plan.hash
    assert "untested" not in ACME.plan.canonical()
