"""Rules about one vPOD's storage network, controller and ports: ISO-04, ISO-06, ISO-07, ISO-09, ISO-10."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.tenant.request import Pins
from interlock.planning import allocate, plan_site, plan_tenant
from interlock.planning.plan import Plan
from interlock.resources import Port, Trunk, TrunkSubPort
from policies import Severity
from policies.findings.report import by_specificity
from tests.builders.pod64 import given, site_locked, tenant, vpod
from tests.policies.test_data_rules import both as sharing_tenants
from tests.policies.test_data_rules import site_of as storing_site
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    sharing,
    text,
    verdicts,
)

SITE = full_site()


# ISO-04


@cache
def two_vpods() -> Plan:
    wish = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    return made(SITE, wish).plan


def field(plan: Plan, name: str, key: str) -> object:
    return getattr(plan.by_name[name].resource, key)


def test_two_vpods_with_storage_of_their_own() -> None:
    judgement = judged(SITE, two_vpods())
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-04"] == P


def test_one_storage_vlan_for_two_vpods() -> None:
    vlan = field(two_vpods(), "acme-a-storage", "segmentation_id")
    found = first(judged(SITE, edited(two_vpods(), "acme-b-storage", segmentation_id=vlan)))
    assert (found.rule, found.verdict) == ("ISO-04", V)
    assert f"acme-a and acme-b have one storage VLAN: VLAN {vlan} on fabric100g" in found.message


def test_one_storage_subnet_for_two_vpods() -> None:
    """Nothing routes between them, so only grants by address suffer."""
    plan = two_vpods()
    for name, key in (("storage-subnet", "cidr"), ("poplar-0-storage", "address")):
        plan = edited(plan, f"acme-b-{name}", **{key: field(plan, f"acme-a-{name}", key)})
    judgement = judged(SITE, plan)
    assert {item.rule for item in judgement.findings} == {"ISO-04"}
    assert "one storage subnet" in first(judgement).message


def test_one_address_of_the_appliance_for_two_tenants() -> None:
    acme, globex = sharing_tenants()
    name = "globex-models-access-train"
    assert verdicts(judged(storing_site(), globex.plan, acme))["ISO-04"] == P
    plan = edited(globex.plan, name, vip=field(acme.plan, "acme-models-access-train", "vip"))
    found = [item for item in judged(storing_site(), plan, acme).findings if item.rule == "ISO-04"]
    assert [item.verdict for item in found] == [V]
    assert "globex-train and acme have one address of the appliance" in found[0].message


# ISO-06


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def off_management() -> Plan:
    """The controller's second network is none that machines' management hangs on, so ISO-05 has nothing to say."""
    return edited(clean()[0].plan, "acme-train-management", segmentation_id=150)


@pytest.mark.parametrize("guard", ["ipv4_forwarding_off", "ipv6_forwarding_off", "no_proxying", "no_tenant_login"])
def test_a_controller_that_passes_on(guard: str) -> None:
    judgement = judged(full_site(sharing=sharing(**{guard: False})), off_management())
    assert first(judgement).rule == "ISO-06"
    assert "acme-train-controller" in first(judgement).message
    assert "mgmt-1 VLAN 150" in text(first(judgement))
    unknown = judged(full_site(sharing=sharing(**{guard: None})), off_management())
    assert verdicts(unknown)["ISO-06"] == N
    assert first(unknown).missing == (f"sharing.vipu-controller.guards.{guard}",)


def test_a_controller_that_passes_nothing_on() -> None:
    assert verdicts(judged(SITE, off_management()))["ISO-06"] == P


def test_example_17_a_controller_of_the_tenants_own() -> None:
    acme, globex = clean()
    plan = edited(acme.plan, "acme-train-controller", project="acme-project")
    assert verdicts(judged(SITE, plan, globex))["ISO-06"] == V


# ISO-07


def test_example_19_controllers_on_one_management_vlan() -> None:
    acme, globex = clean()
    assert verdicts(judged(SITE, globex.plan, acme))["ISO-07"] == P
    flat = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], management_vlan=110)
    for plan, other in ((flat.plan, acme), (acme.plan, flat)):
        judgement = judged(SITE, plan, other)
        assert (verdicts(judgement)["ISO-02"], verdicts(judgement)["ISO-07"]) == (P, V)
        assert first(judgement).rule == "ISO-07"
        assert "acme and globex" in first(judgement).message
    of_site = judged(SITE, plan_site(SITE, site_locked(SITE)), acme, flat)
    assert verdicts(of_site)["ISO-07"] == V


def test_controllers_behind_a_switch_that_may_route() -> None:
    acme, globex = clean()
    switch = SITE.switch["mgmt-1"].model_copy(update={"routed_vlans": (110, 111), "ip_routing": None})
    site = full_site(switches=(SITE.switch["tor-1"], switch))
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["ISO-07"] == N
    assert first(judgement).missing == ("switches.mgmt-1.ip_routing",)


# ISO-09, ISO-10


@pytest.mark.parametrize("pairs", [("0.0.0.0/0",), ("10.21.0.0/24", "10.22.0.0/24")])
def test_a_function_that_may_send_as_others(pairs: tuple[str, ...]) -> None:
    acme, globex = clean()
    assert verdicts(judged(SITE, acme.plan, globex))["ISO-09"] == P
    plan = edited(acme.plan, "acme-train-poplar-0-storage", allowed_address_pairs=pairs)
    found = first(judged(SITE, plan, globex))
    assert (found.rule, found.verdict) == ("ISO-09", V)
    assert pairs[0] in text(found)


def test_a_function_without_its_spoof_check() -> None:
    """ISO-08 says the worse thing: it sees every VLAN."""
    acme, globex = clean()
    judgement = judged(SITE, edited(acme.plan, "acme-train-storage", port_security=False), globex)
    assert [item.rule for item in by_specificity(judgement)[:1]] == ["ISO-08"]
    assert verdicts(judgement)["ISO-09"] == V


def test_a_trunk_on_a_function() -> None:
    acme, globex = clean()
    parent, sub = "acme-train-poplar-0-ipu-data", "acme-train-poplar-0-storage"
    trunk = Trunk(name="trunk", project="acme-project", port=parent, sub_ports=(TrunkSubPort(port=sub, vlan=7),))
    found = first(judged(SITE, added(acme.plan, "acme-trunk", "acme-train-poplar-0", trunk), globex))
    assert found.rule == "ISO-08"
    assert "parent of acme-trunk" in found.message


def test_security_groups_on_a_function_are_a_warning() -> None:
    acme, globex = clean()
    assert verdicts(judged(SITE, acme.plan, globex))["ISO-10"] == P
    control = acme.plan.by_name["acme-train-poplar-0-control"].resource
    assert isinstance(control, Port)
    plan = edited(acme.plan, "acme-train-poplar-0-storage", security_groups=control.security_groups)
    judgement = judged(SITE, plan, globex)
    assert (first(judgement).rule, first(judgement).severity) == ("ISO-10", Severity.WARN)
    assert judgement.exit_code == 0


def test_the_hint_about_two_vpods_with_one_subnet_is_what_helps() -> None:
    """A lock keeps what it has, so that locking again changes nothing: only a pin does."""
    request = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    first_lock = made(SITE, request).lock
    theirs = first_lock.allocation.vpods["a"].storage_subnet
    twice = given(first_lock, "b", storage_subnet=theirs)
    again, _ = allocate(SITE, request, [], twice)
    assert again.vpods["b"].storage_subnet == theirs
    judgement = judged(SITE, plan_tenant(SITE, site_locked(SITE), request, twice))
    found = next(item for item in judgement.findings if item.rule == "ISO-04")
    assert (
        found.hint == "pin another for one of the two and run `interlock lock`: without a pin a lock keeps what it has"
    )
    other = request.model_copy(update={"pins": {"b": Pins(storage_subnet="10.21.200.0/24")}})
    pinned, _ = allocate(SITE, other, [], twice)
    assert pinned.vpods["b"].storage_subnet == "10.21.200.0/24"
