"""Rights that one project gives to another at Neutron: ISO-24, ISO-25, ISO-26. No request can ask for one yet."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import AddressScope, RbacPolicy
from policies import Severity
from tests.builders.pod64 import site_locked
from tests.policies.workspace import NA, Made, P, V, added, edited, first, full_site, judged, pair, text, verdicts

SITE = full_site()
NETWORK, GROUP = "acme-train-control", "acme-train-poplar-ssh"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def given(target: str, to: str = NETWORK, action: str = "access_as_shared") -> Plan:
    """acme's plan with one right."""
    right = RbacPolicy.model_validate({"project": "acme-project", "object": to, "action": action, "target": target})
    return added(clean()[0].plan, "acme-right", "acme", right)


def of_site(target: str, to: str, action: str = "access_as_external") -> Plan:
    plan = plan_site(SITE, site_locked(SITE))
    right = RbacPolicy.model_validate(
        {"project": "site:Project/controllers", "object": to, "action": action, "target": target}
    )
    return added(plan, "right", plan.components[0].name, right)


def test_without_rights() -> None:
    acme, globex = clean()
    found = verdicts(judged(SITE, acme.plan, globex))
    assert [found[f"ISO-{number}"] for number in (24, 25, 26)] == [P, NA, NA]


@pytest.mark.parametrize("to", [NETWORK, GROUP])
def test_example_11_a_right_to_everybody(to: str) -> None:
    judgement = judged(SITE, given("*", to), clean()[1])
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-24", V)
    assert to in first(judgement).message
    assert verdicts(judgement)["ISO-25"] == NA


@pytest.mark.parametrize("action", ["access_as_shared", "access_as_external"])
def test_a_network_that_is_not_external_is_offered_to_nobody(action: str) -> None:
    """A gateway right to a network of servers is a right like any other."""
    found = verdicts(judged(SITE, given("*", NETWORK, action), clean()[1]))
    assert [found[f"ISO-{number}"] for number in (24, 25, 26)] == [V, NA, NA]


def test_a_shared_network_is_a_right_to_everybody() -> None:
    acme, globex = clean()
    found = first(judged(SITE, edited(acme.plan, NETWORK, shared=True), globex))
    assert found.rule == "ISO-24"
    assert "shared: true" in text(found)


def test_a_tenants_scope_that_is_open() -> None:
    acme, globex = clean()
    plan = added(acme.plan, "acme-scope", "acme", AddressScope(name="acme-scope", shared=True))
    judgement = judged(SITE, plan, globex)
    assert verdicts(judgement)["ISO-24"] == V
    closed = added(acme.plan, "acme-scope", "acme", AddressScope(name="acme-scope"))
    assert verdicts(judged(SITE, closed, globex))["ISO-24"] == P


@pytest.mark.parametrize("to", [NETWORK, GROUP])
@pytest.mark.parametrize("target", ["cloud:Project/globex", "cloud:Project/initech", "site:Project/controllers"])
def test_example_11_a_right_to_another(target: str, to: str) -> None:
    judgement = judged(SITE, given(target, to), clean()[1])
    assert (first(judgement).rule, first(judgement).verdict) == ("ISO-25", V)
    assert to in first(judgement).message


@pytest.mark.parametrize("target", ["cloud:Project/acme", "acme-project"])
def test_a_right_to_oneself(target: str) -> None:
    judgement = judged(SITE, given(target), clean()[1])
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-25"] == P


def test_example_12_the_external_network_for_everybody() -> None:
    judgement = judged(SITE, of_site("*", "external"), *clean())
    assert judgement.exit_code == 0
    found = next(item for item in judgement.findings if item.rule == "ISO-26")
    assert (found.severity, found.verdict) == (Severity.WARN, V)
    assert verdicts(judgement)["ISO-24"] == NA


def test_the_external_network_by_name() -> None:
    judgement = judged(SITE, of_site("cloud:Project/acme", "external"), *clean())
    assert judgement.exit_code == 0
    assert [verdicts(judgement)[rule] for rule in ("ISO-24", "ISO-25", "ISO-26")] == [NA, P, P]


def test_ports_on_the_external_network_for_everybody() -> None:
    """Not a right to gateways: whoever has it puts servers there."""
    judgement = judged(SITE, of_site("*", "external", "access_as_shared"), *clean())
    assert verdicts(judgement)["ISO-24"] == V
