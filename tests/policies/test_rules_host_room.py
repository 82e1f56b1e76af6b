"""Rule CAP-02: what a host has is promised once, by one tenant and by several together."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site
from interlock.planning import allocate, plan_site
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


# What was released and is not settled may still be there.


def given_up(item: Made, *hosts: str, claim: str = "hosts", flavor: str = "") -> Made:
    """The lock after servers on these hosts were given up, with what it then brings."""
    released = tuple(Released(vpod="old", claim=claim, value=host, flavor=flavor) for host in hosts)
    return with_footprint(SITE, item.plan, item.lock.model_copy(update={"released": released}))


def carol(*others: Made) -> Made:
    """Somebody without a server on the first host."""
    return made(SITE, tenant("carol", machines=1, servers=1), [item.lock for item in others], hosts=("poplar-3",))


@pytest.mark.parametrize("with_classes", [False, True])
def test_a_released_server_counts_until_it_is_settled(with_classes: bool) -> None:
    """The host is full without it."""
    acme, globex = on_one_host()
    third = carol(acme, globex)
    before = [globex.lock, third.lock, acme.lock]
    assert judge(SITE, acme.plan, Neighbours.of(SITE, before) if with_classes else before).exit_code == 0
    locks = [globex.lock, given_up(third, HOST, flavor="poplar.half").lock, acme.lock]
    judgement = judge(SITE, acme.plan, Neighbours.of(SITE, locks) if with_classes else locks)
    assert (judgement.exit_code, verdicts(judgement)["CAP-02"]) == (3, N)
    found = first(judgement)
    assert "up to 112 more until it is seen to be gone" in found.message
    assert found.missing == (f"whether released hosts {HOST} 1 of carol is gone",)
    assert verdicts(judge(SITE, plan_site(SITE, site_locked(SITE)), locks))["CAP-02"] == N


@pytest.mark.parametrize(("flavor", "verdict"), [("poplar.half", P), ("poplar.whole", N), ("", N), ("gone", N)])
def test_a_released_server_is_as_large_as_its_flavour(flavor: str, verdict: str) -> None:
    """Earlier locks record none, and a flavour may have left the site: then it may be the largest."""
    acme = made(SITE, tenant("acme", servers=1), hosts=(HOST,))
    assert verdicts(judged(SITE, acme.plan, given_up(carol(acme), HOST, flavor=flavor)))["CAP-02"] == verdict
    assert verdicts(judged(SITE, acme.plan, given_up(carol(acme), "poplar-2", flavor=flavor)))["CAP-02"] == P


def test_each_released_server_takes_room_of_its_own() -> None:
    acme = made(SITE, tenant("acme", servers=1), hosts=(HOST,))
    assert verdicts(judged(SITE, acme.plan, given_up(carol(acme), HOST, HOST, flavor="poplar.half")))["CAP-02"] == N


def test_too_much_without_what_is_released_is_violated() -> None:
    acme, globex = on_one_host()
    assert verdicts(judged(SITE, moved(acme.plan), globex, given_up(carol(acme, globex), HOST)))["CAP-02"] == V


def test_a_released_server_that_is_known_to_be_applied_counts_once() -> None:
    """The tenant goes from two servers to one; the second is applied, and released."""
    before = made(SITE, tenant("acme", servers=2), hosts=(HOST, HOST))
    after = made(SITE, tenant("acme", servers=1), hosts=(HOST,))
    for hosts_of, verdict in (((HOST,), P), ((HOST, HOST), N)):
        locks = [given_up(after, *hosts_of, flavor="poplar.half").lock]
        assert verdicts(judge(SITE, after.plan, locks, applied=before.lock.footprint))["CAP-02"] == verdict


def test_a_lock_records_the_flavour_of_what_is_given_up() -> None:
    before = made(SITE, tenant("acme", servers=2), hosts=(HOST, "poplar-2"))
    _, released = allocate(SITE, tenant("acme", servers=1), [], before.lock)
    assert [(item.value, item.flavor) for item in released if item.claim == "hosts"] == [("poplar-2", "poplar.half")]
    assert not any(item.flavor for item in released if item.claim != "hosts")
    assert "flavor" not in Released(vpod="old", claim="hosts", value=HOST).model_dump()


def test_a_released_controller_takes_memory() -> None:
    """The operator's judgement knows all controllers; a host with memory for one has none for two."""
    acme = made(SITE, tenant("acme"))
    assert SITE.controller is not None
    host, ram = acme.lock.allocation.vpods["train"].controller_host, SITE.flavor[SITE.controller.flavor].ram_gib
    fields = {"ram_gib": ram, "huge_pages_gib": 0}
    narrow = full_site(hosts=tuple(item.model_copy(update=fields if item.name == host else {}) for item in hosts()))
    for item, verdict in ((acme, P), (given_up(acme, host, claim="controller_host"), N)):
        lock = with_footprint(narrow, item.plan, item.lock).lock
        assert verdicts(judge(narrow, plan_site(narrow, site_locked(narrow)), [lock]))["CAP-02"] == verdict
