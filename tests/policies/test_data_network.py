"""ISO-03 beside declared sharing: a terminal joins nobody to a data segment while its guards are held (example 49)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from interlock.model.site.guards import SHARING_GUARDS
from interlock.model.site.inventory import Sharing, Site, SwitchPortConfig
from interlock.model.site.physical import Device, Vrf
from tests.builders.pod64 import cable, cables, tenant, tor, vpod
from tests.policies.joining import declared
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    assumptions,
    changed,
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
#: The VLAN of acme's data network.
OWN = 1000
Ranges = tuple[tuple[int, int], ...]
RELAY = "tor-1/relay"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def relayed(entries: Sequence[Sharing], *vlans: int) -> Site:
    """The ToR has a routing instance with an address in these VLANs."""
    instance = tor().model_copy(update={"vrfs": (Vrf(name="relay", vlans=vlans),)})
    return full_site(switches=(instance, SITE.switch["mgmt-1"]), sharing=tuple(entries))


def test_an_address_that_nobody_declares() -> None:
    acme, globex = clean()
    judgement = judged(relayed(sharing(), OWN), acme.plan, globex)
    assert first(judgement).rule == "ISO-03"
    assert "tor-1 VRF relay" in text(first(judgement))


@pytest.mark.parametrize(("audience", "verdict"), [((), P), (("acme",), P), (("globex",), V)])
def test_a_declared_address(audience: tuple[str, ...], verdict: str) -> None:
    acme, globex = clean()
    judgement = judged(relayed(declared(RELAY, "name-and-time", *audience), OWN), acme.plan, globex)
    assert (verdicts(judgement)["ISO-03"], verdicts(judgement)["ISO-02"]) == (verdict, verdict)
    assert judgement.exit_code == (1 if verdict is V else 0)


@pytest.mark.parametrize("guard", SHARING_GUARDS["name-and-time"])
@pytest.mark.parametrize(("value", "verdict"), [(None, N), (False, V)])
def test_a_guard_that_fails(guard: str, value: bool | None, verdict: str) -> None:
    """It is the switch itself that is on the segment then, and the finding names the guard."""
    acme, globex = clean()
    judgement = judged(relayed(declared(RELAY, "name-and-time", **{guard: value}), OWN), acme.plan, globex)
    assert verdicts(judgement)["ISO-03"] == verdict
    found = next(item for item in judgement.findings if item.rule == "ISO-03")
    assert found.message == "the ipu-data segment of vPOD acme-train also carries tor-1 VRF relay"
    path = f"sharing.extra.guards.{guard}"
    assert path in (found.missing if value is None else text(found))


def test_a_declared_address_in_both_tenants_vlans() -> None:
    """Each meets a copy, so each may have it on its own data segment."""
    acme, globex = clean()
    site = relayed(declared(RELAY, "name-and-time"), OWN, OWN + 1)
    for one, other in ((acme, globex), (globex, acme)):
        assert judged(site, one.plan, other).exit_code == 0


@pytest.mark.parametrize(("entries", "verdict"), [(sharing(), V), (declared("watch", "monitoring"), P)])
def test_a_device_on_the_segment(entries: Sequence[Sharing], verdict: str) -> None:
    switch = tor()
    port = SwitchPortConfig(port=30, mode="access", untagged=OWN)
    kept = tuple(item for item in switch.ports if item.port != 30)
    site = changed(
        full_site(sharing=tuple(entries)),
        switches=(switch.model_copy(update={"ports": (*kept, port)}), SITE.switch["mgmt-1"]),
        cables=(*cables(), cable("watch:eth0", "tor-1:30")),
        devices=(*SITE.devices, Device(name="watch", role="appliance")),
    )
    acme, globex = clean()
    assert verdicts(judged(site, acme.plan, globex))["ISO-03"] == verdict


# Fabrics: what a broken assumption joins on media is on no wire, and joins the vPODs of one tenant nevertheless.


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_vpods_meet_inside_a_switch_that_joins_its_vlans(value: bool | None, verdict: str) -> None:
    wish = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    plan = made(SITE, wish).plan
    judgement = judged(full_site(assumptions=assumptions(vlan_lists_enforced=value)), plan)
    assert verdicts(judgement)["ISO-03"] == verdict
    found = [item for item in judgement.findings if item.rule == "ISO-03" and "are joined on data" in item.message]
    assert [item.verdict for item in found] == ([] if verdict is P else [verdict])
    for item in found:
        assert "acme-a and acme-b" in item.message
        assert item.missing == (("assumptions.A1.vlan_lists_enforced",) if value is None else ())


@pytest.mark.parametrize("carried", [((1000, 2999),), ((2000, 2999),)])
def test_vpods_meet_inside_an_adapter_also_where_its_switch_port_has_no_such_vlan(carried: Ranges) -> None:
    """Random worlds found it: the wire of the adapter is joined to no switch, so it was no medium."""
    wish = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    plan = edited(made(SITE, wish).plan, "acme-b-poplar-0", host="poplar-1")
    plan = edited(plan, "acme-b-poplar-0-ipu-data", network="acme-a-ipu-data", subnet="acme-a-ipu-data-subnet")
    ports = tuple(item.model_copy(update={"tagged": carried} if item.tagged else {}) for item in tor().ports)
    site = full_site(switches=(tor().model_copy(update={"ports": ports}), SITE.switch["mgmt-1"]))
    joined = [item for item in judged(site, plan).findings if "are joined on data" in item.message]
    assert [(item.rule, item.verdict) for item in joined] == [("ISO-03", V)]
    assert "poplar-1 ens161f0 VLAN 1000" in text(joined[0])
