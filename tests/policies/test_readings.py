"""Nothing is overlooked: every kind has a line in the table of readings, and without its line nothing is proved."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan, Planned
from interlock.resources import KINDS, Resource
from policies.edges.plan_fragment import plan_fragment
from policies.facts.plan import plan_facts
from policies.facts.readings import READINGS, KindReading
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.rules.completeness import FACT_01
from tests.builders.pod64 import site_locked, tenant
from tests.policies.workspace import N, P, V, added, first, full_site, judged, made

SITE = full_site()


def test_every_kind_has_a_line() -> None:
    assert list(READINGS) == list(KINDS)


def asked(plan: Plan, readings: dict[str, KindReading]) -> tuple[str, tuple[str, ...]]:
    """The verdict of FACT-01 and the messages of its findings."""
    facts = plan_facts(plan, readings)
    model = Model(SiteFacts(SITE), facts, plan_fragment(SiteFacts(SITE), facts))
    result = FACT_01.judge(model, Names(model))
    return result.verdict, tuple(finding.message for finding in result.findings)


def of_kind(kind: str) -> Plan:
    """acme's plan with one more resource, of this kind, that refers to nothing."""
    fields: dict[str, Any] = {name: () if name == "ports" else "" for name in KINDS[kind].model_fields}
    return added(made(SITE, tenant("acme")).plan, "acme-stranger", "acme", KINDS[kind].model_construct(**fields))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_without_a_line_is_not_provable(kind: str) -> None:
    rest = {name: line for name, line in READINGS.items() if name != kind}
    verdict, messages = asked(of_kind(kind), rest)
    assert verdict == N
    assert f"nobody says what tenants could meet in acme-stranger, a {kind}" in messages


def test_a_kind_that_nobody_has_heard_of() -> None:
    class Tunnel(Resource):
        KIND = "Tunnel"

    plan = made(SITE, tenant("acme")).plan
    strange = plan.model_copy(update={"resources": (*plan.resources, _planned(Tunnel()))})
    assert asked(strange, READINGS)[0] == N


def _planned(resource: Resource) -> Planned:
    return Planned(name="acme-tunnel", component="acme", resource=resource)


def test_plans_of_today_are_read_whole() -> None:
    for plan in (made(SITE, tenant("acme")).plan, plan_site(SITE, site_locked(SITE))):
        assert asked(plan, READINGS) == (P, ())


def test_a_line_says_what_it_is_for() -> None:
    for line in READINGS.values():
        assert line.tells
        assert not (line.fact and line.tells.startswith("nothing"))


# Names.


@pytest.mark.parametrize("kind", ["Port", "Router"])
def test_two_resources_of_one_name(kind: str) -> None:
    """Of one kind or of two: what a reference finds hides the other."""
    plan = made(SITE, tenant("acme")).plan
    port = plan.by_name["acme-train-poplar-0-control"].resource
    other = port if kind == "Port" else plan.by_name["acme-router"].resource
    judgement = judged(SITE, added(plan, "acme-train-poplar-0-control", "acme", other))
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("FACT-01", V, 1)
    assert found.witness == ("Port acme-train-poplar-0-control", f"{kind} acme-train-poplar-0-control")
