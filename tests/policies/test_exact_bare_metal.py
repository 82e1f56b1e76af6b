"""ISO-17, ISO-18, L3-13 and SEC-16: what is said, for one host that is given out whole and for several."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.about import SiteDevice, SiteFact
from policies.rules.bare_metal import ISO_17, ISO_18, L3_13, SEC_16
from policies.rules.rule import Rule
from tests.builders.pod64 import bare_metal_pod64, site_locked
from tests.policies.one_rule import Said, answer, said
from tests.policies.workspace import NA, N, P, V, assumptions, full_site, sharing

CLAIMS: dict[str, tuple[Rule, str]] = {
    "neutron_interface": (ISO_17, "every whole host has the network interface `neutron`"),
    "service_networks_closed": (
        ISO_18,
        "tenants are kept off the provisioning, cleaning and inspection networks",
    ),
    "ramdisk_endpoints_closed": (L3_13, "Ironic's ramdisk endpoints are closed to tenants and outside"),
    "operator_owns_nodes": (
        SEC_16,
        "the operator alone owns Ironic nodes, without consoles, anaconda deploys and iDRAC molds",
    ),
    "consoles_disabled": (
        SEC_16,
        "the operator alone owns Ironic nodes, without consoles, anaconda deploys and iDRAC molds",
    ),
}


def whole(count: int, **guards: bool | None) -> Site:
    """The first `count` Poplar hosts are given out whole."""
    every = bare_metal_pod64()
    kept = {item.name for item in every.hosts if item.provisioning == "bare-metal"} - {
        f"poplar-{number}" for number in range(1, count + 1)
    }
    hosts = tuple(
        item.model_copy(update={"provisioning": "hypervisor"}) if item.name in kept else item for item in every.hosts
    )
    return bare_metal_pod64(hosts=hosts, assumptions=assumptions(**guards), sharing=sharing())


@cache
def plan() -> Plan:
    site = bare_metal_pod64(sharing=sharing())
    return plan_site(site, site_locked(site))


@pytest.mark.parametrize("guard", CLAIMS)
@pytest.mark.parametrize(
    ("count", "hosts"),
    [(1, "poplar-1 is"), (2, "poplar-1 and 1 more are"), (4, "poplar-1 and 3 more are")],
)
@pytest.mark.parametrize(("value", "words"), [(False, "false"), (None, "not known")])
def test_what_is_said_of_whole_hosts(guard: str, count: int, hosts: str, value: bool | None, words: str) -> None:
    rule, claim = CLAIMS[guard]
    fact = f"assumptions.A14.{guard}"
    found = answer(rule, whole(count, **{guard: value}), plan())
    message = f"whether {claim} is {words}, and {hosts} given out whole"
    verdict, missing = (V, ()) if value is False else (N, (fact,))
    assert said(found) == [Said(verdict, message, ("root on poplar-1", fact), missing, 90)]
    assert found.count == count
    # What to correct: the fact that nobody states, else the host of which it is said.
    assert found.findings[0].subjects == ((SiteDevice("poplar-1"),) if value is False else (SiteFact(fact),))


@pytest.mark.parametrize("guard", CLAIMS)
def test_a_rule_asks_for_its_own_guards_alone(guard: str) -> None:
    others = {name: False for name, (rule, _) in CLAIMS.items() if rule is not CLAIMS[guard][0]}
    assert answer(CLAIMS[guard][0], whole(4, **others), plan()).verdict is P


def test_one_of_two_guards_that_fails_decides() -> None:
    (found,) = said(answer(SEC_16, whole(1, operator_owns_nodes=False, consoles_disabled=None), plan()))
    assert (found.verdict, found.witness) == (V, ("root on poplar-1", "assumptions.A14.operator_owns_nodes"))


@pytest.mark.parametrize(("rule", "verdict"), [(rule, NA) for rule in (ISO_17, ISO_18, L3_13, SEC_16)])
def test_without_whole_hosts_nothing_is_asked(rule: Rule, verdict: Verdict) -> None:
    closed = dict.fromkeys(CLAIMS, False)
    assert answer(rule, full_site(assumptions=assumptions(**closed)), plan()).verdict is verdict
