"""Whole hosts: their root is on every VLAN of the switch ports behind them, and the hosts are lent like machines.

poplar-1..4 bare metal: ens161f0, ens161f1 at tor-1 17-24, eno1 at mgmt-1 37-40, all without a VLAN until planned
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site, SwitchPortConfig, VlanPool
from interlock.model.tenant.request import Tenant
from interlock.planning.errors import PlanningError
from interlock.resources import SwitchPort
from policies import footprint
from policies.edges.residue import VLAN_CLAIMS
from tests.builders.pod64 import (
    bare_metal_pod64,
    bare_metal_vpod,
    cable,
    cables,
    hosts,
    management_switch,
    pools,
    tenant,
    tor,
)
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    assumptions,
    changed,
    edited,
    first,
    judged,
    made,
    sharing,
    text,
    verdicts,
    with_footprint,
)


def site_of(**overrides: object) -> Site:
    return bare_metal_pod64(**({"sharing": sharing(), "assumptions": assumptions()} | overrides))


def wish(name: str) -> Tenant:
    return tenant(name, vpods=(bare_metal_vpod(servers=1),))


@cache
def both() -> tuple[Made, Made]:
    acme = made(site_of(), wish("acme"))
    return acme, made(site_of(), wish("globex"), [acme.lock])


def with_port(site: Site, switch: str, port: int, **settings: object) -> Site:
    """The site with one switch port set."""
    found = site.switch[switch]
    ports = tuple(item for item in found.ports if item.port != port)
    setting = SwitchPortConfig.model_validate({"port": port, "mode": "trunk"} | settings)
    other = tuple(item for item in site.switches if item.name != switch)
    return changed(site, switches=(*other, found.model_copy(update={"ports": (*ports, setting)})))


def test_two_tenants_on_hosts_of_their_own() -> None:
    acme, globex = both()
    assert judged(site_of(), acme.plan, globex).exit_code == 0
    assert judged(site_of(), globex.plan, acme).exit_code == 0
    assert acme.lock.allocation.vpods["train"].hosts != globex.lock.allocation.vpods["train"].hosts


def test_example_08_a_tagged_vlan_left_over_on_its_port() -> None:
    """The plan puts the port into acme's VLAN; the switch still carries globex's on it."""
    acme, globex = both()
    site = with_port(site_of(), "tor-1", 17, tagged=((1001, 1001),))
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == V
    assert "tor-1 port 17" in text(first(judgement))
    untouched = with_port(site_of(), "tor-1", 17, tagged=((1500, 1501),))
    assert judged(untouched, acme.plan, globex).exit_code == 0


def test_a_second_interface_on_the_operators_vlan() -> None:
    """eno2 has no network of the vPOD, and root uses it nevertheless."""
    acme, _ = both()
    site = with_port(site_of(), "mgmt-1", 33, mode="access", untagged=10)
    site = with_port(site, "mgmt-1", 34, mode="access", untagged=10)
    office = (cable("poplar-1:eno2", "mgmt-1:33"), cable("pdu-1:mgmt", "mgmt-1:34"))
    site = changed(site, cables=(*cables(), *office))
    judgement = judged(site, acme.plan)
    assert verdicts(judgement)["ISO-01"] == V
    assert "poplar-1 eno2" in text(first(judgement))


def test_a_host_that_nobody_has_is_the_operators() -> None:
    """An idle whole host on a tenant's VLAN is the operator on it."""
    acme, _ = both()
    site = with_port(site_of(), "tor-1", 23, mode="access", untagged=1000)
    judgement = judged(site, acme.plan)
    assert verdicts(judgement)["ISO-03"] == V
    assert "poplar-4 ens161f0" in first(judgement).message


def test_its_bmc_needs_a_closed_way() -> None:
    acme, _ = both()
    site = with_port(site_of(), "mgmt-1", 33, mode="access", untagged=20)
    site = changed(site, cables=(*cables(), cable("poplar-1:idrac", "mgmt-1:33")))
    assert judged(site, acme.plan).exit_code == 0
    left_out = tuple(item for item in site.assumptions if item.id != "A13")
    judgement = judged(changed(site, assumptions=left_out), acme.plan)
    assert judgement.exit_code == 3
    assert {fact for item in judgement.findings for fact in item.missing} == {"assumptions.A13.in_band_closed"}
    assert judged(changed(site, assumptions=assumptions(in_band_closed=False)), acme.plan).exit_code == 1


def test_a_host_that_the_site_runs_as_a_hypervisor() -> None:
    acme, _ = both()
    as_hypervisor = tuple(item.model_copy(update={"provisioning": "hypervisor"}) for item in site_of().hosts)
    judgement = judged(changed(site_of(), hosts=as_hypervisor), acme.plan)
    assert verdicts(judgement)["ISO-02"] == V
    found = next(item for item in judgement.findings if item.rule == "ISO-02")
    assert "poplar-1 eno1 [acme, op]" in found.witness


def test_a_host_that_no_file_describes() -> None:
    acme, _ = both()
    judgement = judged(site_of(), edited(acme.plan, "acme-train-poplar-0", node="poplar-99"))
    assert verdicts(judgement)["ISO-02"] == V


def test_a_virtual_server_on_a_whole_host() -> None:
    """Nothing there holds a virtual function to its VLAN, so nobody can say where it is."""
    virtual = made(changed(site_of(), hosts=hosts()), tenant("acme", servers=1))
    judgement = judged(site_of(), virtual.plan)
    assert judgement.exit_code in (1, 3)
    assert "hosts.poplar-1.provisioning" in {fact for item in judgement.findings for fact in item.missing}


def test_one_host_in_two_plans() -> None:
    acme, globex = both()
    host = globex.lock.allocation.vpods["train"].hosts[0]
    taken = with_footprint(site_of(), edited(acme.plan, "acme-train-poplar-0", node=host), acme.lock)
    judgement = judged(site_of(), globex.plan, taken)
    assert first(judgement).rule == "TOP-06"
    assert f"host {host}" in first(judgement).message


# What is released.


def released(claim: str, value: str) -> Made:
    """globex as it was before it had anything: only its released claim counts."""
    _, globex = both()
    entry = Released(vpod="train", claim=claim, value=value)
    empty = globex.plan.model_copy(update={"components": (), "resources": ()})
    plan = type(empty)(**{name: getattr(empty, name) for name in type(empty).model_fields})
    lock = globex.lock.model_copy(update={"released": (entry,), "footprint": footprint(site_of(), plan, (entry,))})
    return Made(plan, lock.sealed())


@pytest.mark.parametrize(
    ("claim", "value", "rule"),
    [
        ("hosts", "poplar-1", "TOP-06"),
        ("machines", "ipum-01", "TOP-06"),
        ("control_vlan", "mgmt1g:3000", "ISO-01"),
        ("ipu_data_vlan", "fabric100g:1000", "ISO-01"),
    ],
)
def test_what_another_released_is_not_free(claim: str, value: str, rule: str) -> None:
    acme, _ = both()
    judgement = judged(site_of(), acme.plan, released(claim, value))
    assert verdicts(judgement)[rule] == V
    assert verdicts(judgement)["ISO-02"] == V


@pytest.mark.parametrize(
    ("claim", "value"),
    [("hosts", "poplar-4"), ("control_vlan", "mgmt1g:3009"), ("hosts", "infra-1"), ("storage_vip", "10.21.0.200")],
)
def test_other_things_that_were_released(claim: str, value: str) -> None:
    acme, _ = both()
    assert judged(site_of(), acme.plan, released(claim, value)).exit_code == 0


@pytest.mark.parametrize("claim", [claim for claim in VLAN_CLAIMS if claim != "management_vlan"])
@pytest.mark.parametrize("value", ["1000", "gone100g:1000"])
def test_a_released_vlan_of_which_nobody_knows_where_it_lies(claim: str, value: str) -> None:
    """It may be on the switch of acme's own VLAN 1000: not provable, never left out."""
    acme, _ = both()
    judgement = judged(site_of(), acme.plan, released(claim, value))
    assert judgement.exit_code == 3
    assert verdicts(judgement)["ISO-02"] == N
    facts = {fact for item in judgement.findings for fact in item.missing}
    assert facts == {f"physical network of released claim train {claim} {value} of globex"}


def test_such_a_vlan_that_nobody_uses() -> None:
    acme, _ = both()
    judgement = judged(site_of(), acme.plan, released("ipu_data_vlan", "1999"))
    assert verdicts(judgement)["ISO-02"] == P


def test_switches_of_this_site_are_those_of_the_picture() -> None:
    assert {port.port for port in tor().ports} >= set(range(17, 25))
    assert {port.port for port in management_switch().ports} >= set(range(37, 41))


# Three networks, one interface for each.


def control_on_the_fabric(*interfaces: str) -> Site:
    """The control VLANs lie on the physical network of ipu-data and storage, where the hosts have these interfaces."""
    on_fabric = {"poplar": interfaces, "infra": ("ens1",)}
    given = tuple(
        item.model_copy(update={"interfaces": dict(item.interfaces) | {"fabric100g": on_fabric[item.role]}})
        for item in site_of().hosts
    )
    control = VlanPool(physical_networks=("fabric100g",), vlans=((3000, 3099),))
    return site_of(hosts=given, pools=pools(bare_metal_control=control))


def test_a_third_network_on_two_interfaces_is_refused() -> None:
    """Each would be planned on an interface of its own, and there is none left for control."""
    with pytest.raises(PlanningError, match=r"no bare-metal host .* on fabric100g \(3 interfaces\)"):
        made(control_on_the_fabric("ens161f0", "ens161f1"), wish("acme"))


def test_with_a_third_interface_no_port_is_planned_twice() -> None:
    site = control_on_the_fabric("ens161f0", "ens161f1", "eno1")
    ports = [item.resource for item in made(site, wish("acme")).plan.resources if isinstance(item.resource, SwitchPort)]
    plugs = [(item.device, item.interface) for item in ports if item.device.startswith("poplar")]
    assert len(plugs) == len(set(plugs)) == 3


def test_two_networks_on_one_interface_are_refused_in_a_plan_that_says_so() -> None:
    """Whoever wrote the plan: one switch port is one network's, also of one vPOD."""
    acme = made(site_of(), wish("acme"))
    legs = [item for item in acme.plan.resources if isinstance(item.resource, SwitchPort) and "poplar" in item.name]
    first_leg, second = legs[0].resource, legs[1]
    assert isinstance(first_leg, SwitchPort)
    moved = edited(acme.plan, second.name, **{name: getattr(first_leg, name) for name in ("port", "interface")})
    judgement = judged(site_of(), moved)
    assert verdicts(judgement)["TOP-06"] == V
    assert any("is planned 2 times" in item.message for item in judgement.findings)
