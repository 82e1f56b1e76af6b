"""SEC-08 and SEC-21: fences of flavours and hosts, and who shares a host."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Aggregate
from policies.rules.hypervisors import SEC_08, SEC_21
from policies.rules.rule import RuleAnswer
from tests.builders.pod64 import bare_metal_pod64, site_locked, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.workspace import Made, assumptions, changed, edited, full_site, made

KEY = "aggregate_instance_extra_specs:interlock_role"


def of_site(site: Site) -> Plan:
    return plan_site(site, site_locked(site))


def without(plan: Plan, kind: str) -> Plan:
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    kept = tuple(item for item in plan.resources if kind not in item.resource.KIND)
    return Plan(**(fields | {"resources": kept}))


# SEC-08.


def test_all_that_is_said_of_a_flavour_without_a_fence() -> None:
    """Once, also where there is no aggregate at all: it asks for none."""
    site = full_site()
    plan = edited(of_site(site), "poplar.half", extra_specs={"hw:cpu_policy": "dedicated"})
    why = "has no fence: its servers may start on any host"
    expected = [f"V 37: flavour poplar.half {why}", f"  witness: flavour poplar.half / {why}", "  about: poplar.half"]
    assert told(answered(SEC_08, site, plan)) == expected
    bare = [line for line in messages(answered(SEC_08, site, without(plan, "Aggregate"))) if "poplar.half" in line]
    assert bare == [f"V flavour poplar.half {why}"]


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ({KEY: "poplar"}, []),
        ({KEY: "other"}, ["asks for interlock_role=other, which no aggregate has"]),
        (
            {KEY: "poplar", "aggregate_instance_extra_specs:rack": "1"},
            ["asks for interlock_role=poplar, rack=1, which no aggregate has"],
        ),
    ],
)
def test_one_aggregate_has_all_that_a_flavour_asks_for(specs: dict[str, str], expected: list[str]) -> None:
    plan = edited(of_site(full_site()), "poplar.half", extra_specs=specs)
    assert messages(answered(SEC_08, full_site(), plan)) == [f"V flavour poplar.half {why}" for why in expected]


def test_what_an_aggregate_on_the_cloud_may_mend_is_a_warning() -> None:
    """Other objects of the cloud mend nothing."""
    site = changed(full_site(), existing={"Aggregate/infra-hosts": "5d0c", "Network/external": "5d0d"})
    plan = edited(of_site(site), "poplar.half", extra_specs={KEY: "other"})
    why = "asks for interlock_role=other, which no aggregate has"
    answer = answered(SEC_08, site, plan)
    assert told(RuleAnswer(0, answer.violated, answer.unknown[:1])) == [
        f"N W 37: flavour poplar.half {why}",
        f"  witness: flavour poplar.half / {why}",
        "  missing: existing.Aggregate/infra-hosts",
        "  about: poplar.half",
    ]


def test_a_host_in_no_aggregate_and_one_in_two() -> None:
    plan = edited(of_site(full_site()), "poplar-hosts", hosts=("poplar-2", "poplar-3", "poplar-4", "infra-1"))
    assert told(answered(SEC_08, full_site(), plan)) == [
        "V 37: poplar-1 stands in no aggregate: every flavour without a fence lands there",
        "  witness: poplar-1 / stands in no aggregate: every flavour without a fence lands there",
        "  about: poplar-1",
        "V 37: infra-1 stands in aggregates with interlock_role infra and poplar",
        "  witness: infra-1 / stands in aggregates with interlock_role infra and poplar",
        "  about: infra-1",
    ]


def test_hosts_and_flavours_are_counted() -> None:
    assert answered(SEC_08, full_site(), of_site(full_site())).count == 6 + 3


# SEC-21.


@cache
def three() -> tuple[Made, Made, Made]:
    """acme on poplar-1, globex and carol on poplar-2."""
    acme = made(full_site(), tenant("acme", servers=1), hosts=("poplar-1",))
    globex = made(full_site(), tenant("globex", machines=4, servers=1), [acme.lock], hosts=("poplar-2",))
    locks = [acme.lock, globex.lock]
    return acme, globex, made(full_site(), tenant("carol", machines=1, servers=1), locks, hosts=("poplar-2",))


@pytest.mark.parametrize(
    ("value", "letter", "word", "missing"),
    [(False, "V", "false", []), (None, "N", "not known", ["  missing: assumptions.A5.mitigations"])],
)
def test_all_that_is_said_of_two_owners_on_a_host(
    value: bool | None, letter: str, word: str, missing: list[str]
) -> None:
    acme, globex, carol = three()
    site = full_site(assumptions=assumptions(mitigations=value))
    guests = ("carol-train-poplar-0", "globex-train-poplar-0")
    expected = [
        f"{letter} 65: poplar-2 runs servers of carol and globex, and whether processors are kept apart is {word}",
        f"  witness: {guests[0]} [carol] / {guests[1]} [globex]",
        *missing,
        f"  about: {guests[0]}, {guests[1]}, carol, globex, poplar-2",
    ]
    assert told(answered(SEC_21, site, globex.plan, acme, carol)) == expected
    assert told(answered(SEC_21, site, of_site(site), acme, globex, carol)) == expected


def test_a_tenant_is_asked_about_its_own_hosts() -> None:
    """Its server's and its controller's; the operator about all of them."""
    acme, globex, carol = three()
    site = full_site(assumptions=assumptions(mitigations=False))
    own = {"poplar-1", acme.lock.allocation.vpods["train"].controller_host}
    answer = answered(SEC_21, site, acme.plan, globex, carol)
    assert [item.key for item in answer.violated if item.key not in own] == []
    assert answer.count == len(own)
    plan = edited(acme.plan, "acme-train-poplar-0", host="poplar-2")
    assert {item.key for item in answered(SEC_21, site, plan, globex, carol).violated} >= {"poplar-2"}


def test_a_host_that_is_given_out_whole_needs_no_fence() -> None:
    """No flavour lands there: it is in no aggregate, is not told, and is not counted."""
    site = bare_metal_pod64()
    plan = of_site(site)
    whole = [host.name for host in site.hosts if host.provisioning == "bare-metal"]
    fenced = {name for item in plan.resources if isinstance(item.resource, Aggregate) for name in item.resource.hosts}
    assert whole
    assert fenced.isdisjoint(whole)
    answer = answered(SEC_08, site, plan)
    flavors = [item for item in plan.resources if item.resource.KIND == "Flavor"]
    assert (messages(answer), answer.count) == ([], len(site.hosts) - len(whole) + len(flavors))
