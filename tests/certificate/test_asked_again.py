"""Rules that `verify --site` asks again answer as those of the proof do; a forger who writes *proved* is refused."""

from __future__ import annotations

import json
from functools import cache

import pytest

from infra.checker import complaints
from infra.verifying.answers import ANEW, not_asked, untrue
from infra.verifying.granted import NOT_MADE
from interlock.resources import KINDS
from policies import RULES
from policies.judging import judge
from policies.proof import Judgement, Verdict
from tests.builders.states import out
from tests.certificate.test_compared import derived
from tests.certificate.test_forgeries import Found, beside, certified, grown
from tests.oracle.generator import told
from tests.policies.workspace import Made, edited, full_site, pair, with_footprint
from tests.support.sampling import Sampling

AGAIN = tuple(rule for rule in RULES if rule.id in ANEW)
#: Half of L3-04 is not asked again: who else the appliance would take for a client.
_AT_APPLIANCE = "meet at the storage appliance"
#: Of ISO-22 only groups that are not all of a GPU node are: whose a partition is, edges and labels say.
_OF_A_NODE = "take the partition of all GPUs of the node"
FOUND = (Verdict.VIOLATED, Verdict.NOT_PROVABLE)


def _finding(judgement: Judgement) -> set[str]:
    found = (item for item in judgement.findings if item.verdict in FOUND and _AT_APPLIANCE not in item.message)
    return {item.rule for item in found if item.rule != "ISO-22" or item.hint.startswith(_OF_A_NODE)}


def test_in_random_worlds_they_find_what_the_proof_finds(sampling: Sampling) -> None:
    for seed in sampling.cases("derivations of worlds"):
        _, world = told(seed)
        locks, comparing = derived(world)
        for tenant, plan in world.plans.items():
            found = _finding(judge(world.site, plan, locks, AGAIN))
            assert found == comparing.ground.answers[tenant].keys(), (seed, tenant)


@cache
def clean() -> tuple[Made, Made]:
    return pair(full_site())


def _altered(rule: str) -> Made:
    """acme's plan, in which this rule finds something."""
    plan, made = clean()[0].plan, clean()[0]
    if rule == "L3-04":
        (data,) = (item.resource for item in plan.resources if item.name == "acme-train-ipu-data-subnet")
        plan = edited(plan, "acme-train-storage-subnet", cidr=data.model_dump()["cidr"])
    elif rule == "EXPO-01":
        plan = plan.model_copy(update={"public": ("acme-data",)})
    elif rule == "TOP-02":
        dropped = next(item.name for item in plan.resources if item.resource.KIND == "SwitchPort" and item.vpod)
        device = next(item.resource for item in plan.resources if item.name == dropped).model_dump()["device"]
        kept = [item for item in plan.resources if item.resource.model_dump().get("device") != device]
        plan = plan.model_copy(update={"resources": tuple(kept)})
    return with_footprint(full_site(), plan, made.lock)


@pytest.mark.parametrize("rule", ["EXPO-01", "L3-04", "TOP-02"])
def test_a_forged_answer_is_refused(rule: str) -> None:
    """TOP-03 is forged in `leaky/machines-with-a-hole`, L3-08 in random worlds."""
    acme, globex = _altered(rule), clean()[1]
    found: Found = grown(json.loads(json.dumps(certified(full_site(), acme, globex))))
    assert list(complaints(found)) == [], "alone it is sound"
    compared = beside(full_site(), acme, globex).compare(found, "acme")
    assert any(text.startswith(f"{rule} is proved in it, and does not show: ") for text in compared.complaints)


def test_a_hole_is_found_again_and_an_end_is_none() -> None:
    """TOP-28 rests on the site file and no fact: a certificate of before the failure is refused with it."""
    acme, globex = clean()
    found: Found = grown(json.loads(json.dumps(certified(full_site(), acme, globex))))
    told = {
        failed: [
            text
            for text in beside(out(full_site(), failed), acme, globex).compare(found, "acme").complaints
            if text.startswith("TOP-28 is proved in it, and does not show: what is left of acme-train is in pieces: ")
        ]
        for failed in ("ipum-01", "ipum-02")
    }
    assert {failed: len(texts) for failed, texts in told.items()} == {"ipum-01": 0, "ipum-02": 1}
    assert told["ipum-02"][0].endswith("ipum-01, ipum-03, ipum-04")


def test_where_nothing_is_left_that_is_found_again() -> None:
    acme, globex = clean()
    found: Found = grown(json.loads(json.dumps(certified(full_site(), acme, globex))))
    gone = out(full_site(), "ipum-01", "ipum-02", "ipum-03", "ipum-04")
    told = beside(gone, acme, globex).compare(found, "acme").complaints
    words = "nothing is left of acme-train: ipum-01, ipum-02, ipum-03, ipum-04"
    assert f"TOP-28 is proved in it, and does not show: {words}" in told


@pytest.mark.parametrize("verdict", ["proved", "not applicable", "violated", "not provable"])
@pytest.mark.parametrize("findings", [[], ["proved"], ["not applicable"], ["violated"], ["not provable", "proved"]])
def test_what_is_found_here_is_found_there(verdict: str, findings: list[str]) -> None:
    """Neither the word for a rule nor the word for its finding may say that it finds nothing."""
    results = [{"rule": "TOP-02", "verdict": verdict, "findings": [{"verdict": item} for item in findings]}]
    is_told = {"violated", "not provable"} & {*findings} and verdict in ("violated", "not provable")
    words = [f"TOP-02 is {verdict} in it, and does not show: {item}" for item in ("one", "two")]
    assert list(untrue({"TOP-02": ["one", "two"], "TOP-03": ["three"]}, results)) == ([] if is_told else words)
    assert list(untrue({"TOP-03": ["three"]}, results)) == []


def test_the_rules_that_a_stack_is_asked_about_are_those_of_the_proof() -> None:
    for is_tenant in (True, False):
        asked = [{"rule": rule.id} for rule in RULES if rule.of.speaks_to(is_tenant=is_tenant)]
        assert list(not_asked(asked, is_tenant=is_tenant)) == []
        assert len(list(not_asked(asked[1:], is_tenant=is_tenant))) == 1
        assert len(list(not_asked([*asked, {"rule": "ISO-99"}], is_tenant=is_tenant))) == 1


def test_what_nothing_can_make_is_what_has_no_actuator() -> None:
    kinds = {kind.KIND for kind in KINDS.values() if not kind.HAS_ACTUATOR}
    assert kinds == NOT_MADE
