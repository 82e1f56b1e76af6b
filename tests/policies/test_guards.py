"""Every guard and switch fact decides: taken away, not provable and the fact is named; false, violated.

constellation: acme on ipum-01..04, globex on ipum-05..12, so a link crosses the boundary (A4);
               one server of each on poplar-1 (A5, mitigations)
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import Site, Switch
from policies import Judgement
from policies.facts.guards import welcome
from tests.builders.pod64 import external, management_switch, tor
from tests.policies.workspace import SHARED, Made, assumptions, full_site, judged, pair, sharing

#: Assumptions about what acme and globex have here; the others decide where somebody has a share, a key, a GPU.
HERE = ("A1", "A2", "A3", "A4", "A5", "A10", "A15", "A16", "A17", "A18", "A19", "A20", "A21", "A22", "A24")
ASSUMED = [(name, guard) for name in HERE for guard in ASSUMPTION_GUARDS[name]]
DECLARED = [(name, guard) for name, kind in SHARED.items() for guard in SHARING_GUARDS[kind]]


@cache
def constellation() -> tuple[Made, Made]:
    neighbours = tuple(f"ipum-{number:02}" for number in range(5, 13))
    return pair(full_site(), globex={"machines": neighbours, "hosts": ("poplar-1",)})


def verdict_on(site: Site) -> Judgement:
    acme, globex = constellation()
    return judged(site, acme.plan, globex)


def named(judgement: Judgement) -> set[str]:
    return {fact for finding in judgement.findings for fact in finding.missing}


def test_all_known_is_proved() -> None:
    assert verdict_on(full_site()).exit_code == 0


@pytest.mark.parametrize(("name", "guard"), ASSUMED)
def test_assumption(name: str, guard: str) -> None:
    unknown = verdict_on(full_site(assumptions=assumptions(**{guard: None})))
    assert unknown.exit_code == 3
    assert named(unknown) == {f"assumptions.{name}.{guard}"}
    assert verdict_on(full_site(assumptions=assumptions(**{guard: False}))).exit_code == 1


@pytest.mark.parametrize(("name", "guard"), DECLARED)
def test_sharing(name: str, guard: str) -> None:
    unknown = verdict_on(full_site(sharing=sharing(**{guard: None})))
    assert unknown.exit_code == 3
    assert named(unknown) == {f"sharing.{name}.guards.{guard}"}
    assert verdict_on(full_site(sharing=sharing(**{guard: False}))).exit_code == 1


@pytest.mark.parametrize("name", HERE)
def test_assumption_that_the_site_leaves_out(name: str) -> None:
    """Not listing an assumption is not stating its guards, never holding them."""
    kept = tuple(item for item in assumptions() if item.id != name)
    judgement = verdict_on(full_site(assumptions=kept))
    assert judgement.exit_code == 3
    # A5 has one guard of its own group (mitigations): all of them are named, in one finding or two.
    assert named(judgement) == {f"assumptions.{name}.{guard}" for guard in ASSUMPTION_GUARDS[name]}


@pytest.mark.parametrize("name", SHARED)
def test_undeclared_sharing_is_an_ordinary_node(name: str) -> None:
    kept = tuple(item for item in sharing() if item.name != name)
    assert verdict_on(full_site(sharing=kept)).exit_code == 1


@pytest.mark.parametrize("name", SHARED)
def test_audience_without_the_tenant(name: str) -> None:
    others = tuple(
        item.model_copy(update={"audience": ("globex",)}) if item.name == name else item for item in sharing()
    )
    assert verdict_on(full_site(sharing=others)).exit_code == 1


def test_one_declaration_of_several_is_enough_to_be_welcome() -> None:
    mine, anothers = (
        item.model_copy(update={"audience": (name,)}) for item, name in zip(sharing(), ("acme", "globex"), strict=True)
    )
    assert welcome((mine, anothers), "acme")
    assert not welcome((mine, anothers), "initech")


def test_external_network_without_a_scope() -> None:
    assert verdict_on(full_site(external=external(address_scope=None))).exit_code == 1


def switched(tor_facts: dict[str, object], management_facts: dict[str, object]) -> Site:
    switches: tuple[Switch, ...] = (
        tor().model_copy(update=tor_facts),
        management_switch().model_copy(update=management_facts),
    )
    return full_site(switches=switches)


#: Addresses that join owners if the switch routes: two tenants' VLANs; management and the external wire.
JOINING = {"tor-1": (1000, 1001), "mgmt-1": (100, 110)}


def on(name: str, **facts: object) -> Site:
    return switched(facts, {}) if name == "tor-1" else switched({}, facts)


def test_an_address_of_a_switch_in_a_tenants_vlan() -> None:
    """It is the operator there, whether or not the switch routes."""
    for routing in (False, None, True):
        assert verdict_on(on("tor-1", routed_vlans=JOINING["tor-1"], ip_routing=routing)).exit_code == 1


def test_switch_routing() -> None:
    """Between VLANs that are not the tenant's, only `ip_routing: false` keeps them apart."""
    joining = JOINING["mgmt-1"]
    assert verdict_on(on("mgmt-1", routed_vlans=joining, ip_routing=False)).exit_code == 0
    unknown = verdict_on(on("mgmt-1", routed_vlans=joining, ip_routing=None))
    assert unknown.exit_code == 3
    assert named(unknown) == {"switches.mgmt-1.ip_routing"}
    assert verdict_on(on("mgmt-1", routed_vlans=joining, ip_routing=True)).exit_code == 1


@pytest.mark.parametrize(("name", "states"), [("tor-1", (False, True)), ("mgmt-1", (True,))])
def test_switch_addresses(name: str, states: tuple[bool, ...]) -> None:
    """Only knowing that a switch has no address in tenants' VLANs keeps it out of them."""
    for routing in states:
        assert verdict_on(on(name, routed_vlans=(), ip_routing=routing)).exit_code == 0
        unknown = verdict_on(on(name, routed_vlans=None, ip_routing=routing))
        assert unknown.exit_code == 3
        assert named(unknown) == {f"switches.{name}.routed_vlans"}
    assert verdict_on(on(name, routed_vlans=JOINING[name], ip_routing=True)).exit_code == 1


def test_switch_about_which_nothing_is_stated() -> None:
    judgement = verdict_on(on("tor-1", routed_vlans=None, ip_routing=None))
    assert judgement.exit_code == 3
    assert named(judgement) == {"switches.tor-1.ip_routing", "switches.tor-1.routed_vlans"}


def test_several_unknown_guards_are_all_named() -> None:
    site = full_site(
        assumptions=assumptions(no_forwarding=None, iommu=None), sharing=sharing(address_scope_closed=None)
    )
    expected = {
        "assumptions.A3.no_forwarding",
        "assumptions.A5.iommu",
        "sharing.external.guards.address_scope_closed",
    }
    assert named(verdict_on(site)) == expected


def test_a_guard_false_beside_one_unknown_is_violated() -> None:
    site = full_site(assumptions=assumptions(no_forwarding=None, iommu=False))
    assert verdict_on(site).exit_code == 1
