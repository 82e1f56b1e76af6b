"""Exclusive identities of two tenants, as the judgement of the operator's stack and its certificate see them."""

from __future__ import annotations

from interlock.model.lock.record import Lock, Released
from interlock.planning import plan_site
from interlock.vocabulary.nodes import HeldMachine
from policies import Verdict, footprint, judge
from policies.judging import seen_by
from policies.statement import statement
from tests.builders.pod64 import site_locked, ssh_key
from tests.policies.workspace import edited, full_site, pair, verdicts, with_footprint

SITE = full_site()
PLAN = plan_site(SITE, site_locked(SITE))


def sharing_a_machine(released: bool = False) -> tuple[str, list[Lock]]:
    """A machine that is in acme's lock besides, in nothing that packets take."""
    acme, globex = pair(SITE)
    machine = globex.lock.allocation.vpods["train"].machines[0]
    held = str(HeldMachine(SITE.machine[machine].serial))
    mark = acme.lock.footprint.model_copy(update={"exclusive": (*acme.lock.footprint.exclusive, held)})
    lock = acme.lock.model_copy(update={"footprint": mark}).sealed()
    if released:
        entry = Released(vpod="old", claim="machines", value=machine)
        gone = acme.lock.model_copy(update={"released": (entry,)})
        lock = gone.model_copy(update={"footprint": footprint(SITE, acme.plan, (entry,))}).sealed()
    return machine, [lock, globex.lock]


def test_the_operators_judgement_sees_a_machine_of_two() -> None:
    machine, locks = sharing_a_machine()
    judgement = judge(SITE, PLAN, locks)
    found = [item for item in judgement.findings if item.rule == "TOP-06"]
    assert [item.message for item in found] == [f"acme takes what globex holds: {machine}"]
    assert verdicts(judgement)["TOP-06"] is Verdict.VIOLATED
    assert judgement.exit_code == 1


def test_whoever_released_it_is_not_the_one_who_takes_it() -> None:
    machine, locks = sharing_a_machine(released=True)
    found = next(item for item in judge(SITE, PLAN, locks).findings if item.rule == "TOP-06")
    assert found.message == f"globex takes what acme has released but is not seen to have let go: {machine}"


def test_its_certificate_names_both() -> None:
    machine, locks = sharing_a_machine()
    held = str(HeldMachine(SITE.machine[machine].serial))
    said = statement(seen_by(SITE, PLAN, locks).model).exclusive
    assert said[held] == ("acme", "globex")
    assert held not in statement(seen_by(SITE, PLAN, [item.lock for item in pair(SITE)]).model).exclusive


def test_the_operators_judgement_sees_an_ssh_key_of_two() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-key", public_key=ssh_key("globex"))
    judgement = judge(SITE, PLAN, [with_footprint(SITE, plan, acme.lock).lock, globex.lock])
    found = [item.message for item in judgement.findings if item.rule == "SEC-05"]
    assert found == ["one ssh key is acme's and globex's: whoever has it logs in to the servers of both"]


def test_what_each_holds_alone_is_looked_at_and_proved() -> None:
    judgement = judge(SITE, PLAN, [item.lock for item in pair(SITE)])
    results = {result.rule: result for result in judgement.results}
    assert all(results[rule].verdict is Verdict.PROVED and results[rule].count for rule in ("TOP-06", "SEC-05"))
