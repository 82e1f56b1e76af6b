"""Rule CAP-02: what a host has is promised once, by one tenant and by several together."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Server
from policies import RULES, Severity, judge
from policies.footprints.neighbours import Neighbours
from tests.builders.pod64 import hosts, site_locked, tenant
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    verdicts,
    with_footprint,
)

SITE = full_site()
HOST = "poplar-1"


def with_host(**has: int) -> Site:
    """The site whose first host has this."""
    changed = [item.model_copy(update=has) if item.name == HOST else item for item in hosts()]
    return full_site(hosts=tuple(changed))


@cache
def on_one_host() -> tuple[Made, Made]:
    """Each tenant has a half of the same host."""
    return pair(SITE, acme={"hosts": (HOST, "poplar-2")}, globex={"hosts": (HOST,)})


def moved(plan: Plan) -> Plan:
    """Every Poplar server of a plan on the first host."""
    for item in plan.resources:
        if isinstance(item.resource, Server) and "-poplar-" in item.name:
            plan = edited(plan, item.name, host=HOST)
    return plan


def test_a_host_that_is_full() -> None:
    acme, globex = on_one_host()
    assert verdicts(judged(SITE, acme.plan, globex))["CAP-02"] == P
    assert verdicts(judged(SITE, plan_site(SITE, site_locked(SITE)), acme, globex))["CAP-02"] == P


def test_promised_by_two_together() -> None:
    """Either plan is good for itself; the neighbour is known by its lock alone."""
    acme, globex = on_one_host()
    alone = judged(SITE, moved(acme.plan))
    assert verdicts(alone)["CAP-02"] == P
    for judgement in (
        judged(SITE, moved(acme.plan), globex),
        judged(SITE, globex.plan, with_footprint(SITE, moved(acme.plan), acme.lock)),
        judge(SITE, moved(acme.plan), Neighbours.of(SITE, [globex.lock, acme.lock])),
    ):
        found = first(judgement)
        assert (found.rule, found.verdict, found.severity) == ("CAP-02", V, Severity.ERROR)
        assert "host poplar-1 has 224 dedicated CPUs" in found.message
        assert "3 servers of acme and globex" in found.message


def test_promised_by_one_alone() -> None:
    acme = made(SITE, tenant("acme", servers=3))
    found = first(judged(SITE, moved(acme.plan)))
    assert (found.rule, "3 servers of acme" in found.message) == ("CAP-02", True)


@pytest.mark.parametrize(
    ("has", "words"),
    [
        ({"dedicated_cpus": 223}, "has 223 dedicated CPUs"),
        ({"huge_pages_gib": 463}, "has 463 pages of 1 GiB"),
        ({"virtual_functions": 3}, "has 3 virtual functions"),
    ],
)
def test_each_quantity(has: dict[str, int], words: str) -> None:
    """The locks were made when the host had more."""
    acme, globex = on_one_host()
    found = [item for item in judged(with_host(**has), acme.plan, globex).findings if item.rule == "CAP-02"]
    assert [words in item.message for item in found] == [True]


def test_memory_of_the_hosts_of_controllers() -> None:
    """Each tenant answers for its own, and the operator for all."""
    acme, globex = pair(SITE, acme={"controller_host": "infra-1"}, globex={"controller_host": "infra-1"})
    full = [item.model_copy(update={"ram_gib": 15}) if item.name == "infra-1" else item for item in hosts()]
    site = full_site(hosts=tuple(full))
    assert verdicts(judged(site, acme.plan, globex))["CAP-02"] == P
    found = first(judged(site, plan_site(site, site_locked(site)), acme, globex))
    assert (found.rule, found.verdict) == ("CAP-02", V)
    assert "has 15 GiB of memory" in found.message


def test_a_flavour_that_the_site_does_not_state() -> None:
    acme, globex = on_one_host()
    plan = edited(acme.plan, "acme-train-poplar-0", flavor="cloud:Flavor/huge")
    judgement = judged(SITE, plan, globex)
    found = [item for item in judgement.findings if item.rule == "CAP-02"]
    assert [(item.verdict, item.missing) for item in found] == [(N, ("the flavour of acme-train-poplar-0",))]
    assert judgement.exit_code


def test_a_server_that_is_replaced_is_there_once() -> None:
    """What is applied of a plan counts with it, and a server is not beside itself."""
    acme, globex = on_one_host()
    judgement = judge(SITE, acme.plan, [globex.lock], applied=acme.lock.footprint)
    assert verdicts(judgement)["CAP-02"] == P


def test_with_the_rule_off_nobody_else_says_it() -> None:
    acme, globex = on_one_host()
    rest = tuple(rule for rule in RULES if rule.id != "CAP-02")
    assert judge(SITE, moved(acme.plan), [globex.lock], rest).exit_code == 0
