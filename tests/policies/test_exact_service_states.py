"""TOP-24: which machines and hosts a plan has that are out of service, and that it is a warning."""

from __future__ import annotations

from interlock.planning import plan_site
from policies import Severity
from policies.about import PlanComponent, SiteDevice
from policies.facts.kinds import ServerFact, VPodFact
from policies.rules.service_states import TOP_24
from tests.builders.pod64 import site_locked
from tests.builders.states import DEAD, out
from tests.policies.asking import answered
from tests.policies.exact_answers import asked_of_facts, plan_of
from tests.policies.workspace import NA, P, V, full_site, judged, pair, verdicts

SITE = full_site()
ACME, GLOBEX = pair(SITE)
MACHINES = ACME.lock.allocation.vpods["train"].machines


def test_each_device_of_a_plan_is_looked_at_once() -> None:
    answer = answered(TOP_24, SITE, ACME.plan, GLOBEX)
    train = ACME.lock.allocation.vpods["train"]
    assert answer.count == len(train.machines) + len({*train.hosts, train.controller_host})
    assert (answer.violated, answer.unknown) == ((), ())


def test_what_is_out_of_service_is_told_with_its_reason() -> None:
    train = ACME.lock.allocation.vpods["train"]
    worn = out(SITE, "ipum-03", train.hosts[0])
    site = out(worn, train.controller_host, state="maintenance", reason="new kernel")
    answer = answered(TOP_24, site, ACME.plan, GLOBEX)
    assert {cause.message for cause in answer.violated} == {
        f"ipum-03 of vPOD acme-train has failed: {DEAD}",
        f"{train.hosts[0]} of vPOD acme-train has failed: {DEAD}",
        f"{train.controller_host} of vPOD acme-train is in maintenance: new kernel",
    }
    first = answer.violated[0]
    assert first.witness == ("vPOD acme-train", "ipum-03 has failed")
    assert first.hint == "mend it and take its `state` out of the site file, or pin another and run `interlock lock`"
    assert first.about == (PlanComponent("acme-train"), SiteDevice("ipum-03"))


def test_what_others_have_and_what_is_free_is_nothing_of_this_plan() -> None:
    others = GLOBEX.lock.allocation.vpods["train"].machines
    free = [name for name in SITE.machine if name not in (*MACHINES, *others)]
    assert answered(TOP_24, out(SITE, *others, *free), ACME.plan, GLOBEX).violated == ()


def test_it_stops_nobody_and_speaks_first_where_nothing_else_is_wrong() -> None:
    judgement = judged(out(SITE, "ipum-04"), ACME.plan, GLOBEX)
    assert (verdicts(judgement)["TOP-24"], judgement.exit_code) == (V, 0)
    assert [(item.rule, item.severity) for item in judgement.findings] == [("TOP-24", Severity.WARN)]
    assert verdicts(judged(SITE, ACME.plan, GLOBEX))["TOP-24"] == P


def test_whole_hosts_count_once_and_what_the_site_does_not_list_not_at_all() -> None:
    server = ServerFact("acme-train-poplar-0", frozenset({"acme"}), "poplar-1", "acme-train", (), False, True)
    vpod = VPodFact("acme-train", ("ipum-01", "ipum-99"), ("poplar-1", "poplar-99"))
    site = out(SITE, "poplar-1")
    result = asked_of_facts("TOP-24", site, plan_of(vpods=(vpod,), servers=(server,)))
    assert (result.verdict, result.count, len(result.findings)) == (V, 2, 1)
    assert asked_of_facts("TOP-24", site, plan_of()).verdict == NA


def test_the_operators_own_stack_is_not_asked() -> None:
    site = out(SITE, "ipum-03")
    assert "TOP-24" not in verdicts(judged(site, plan_site(site, site_locked(site))))
