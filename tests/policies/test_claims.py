"""ISO-11: who may have two claims on one wire, and who may not."""

from __future__ import annotations

import json
from datetime import date

import pytest

from infra.checker import complaints
from interlock.model.site.inventory import Site, Underlay, Vtep
from interlock.model.waivers import Waiver
from policies.certificate import certificate
from policies.judging import judge, seen_by
from tests.builders.pod64 import management_switch, tenant, tor, vpod
from tests.policies.workspace import Made, P, V, changed, edited, first, full_site, judged, made, pair, verdicts

SITE = full_site()


def on_one_management_vlan() -> tuple[Made, Made]:
    acme = made(SITE, tenant("acme"))
    return acme, made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], management_vlan=110)


def test_example_19_is_proved_where_its_warning_is_waived() -> None:
    """The management network is the operator's in either plan: it is one owner's, by two names."""
    acme, globex = on_one_management_vlan()
    waiver = Waiver(rule="ISO-07", owner="ops@lyon.example", reason="as the reference design", expires="2026-12-31")
    for one, other in ((acme, globex), (globex, acme)):
        judgement = judge(SITE, one.plan, [other.lock], waivers=[waiver], today=date(2026, 11, 21))
        assert verdicts(judgement)["ISO-11"] == P
        assert judgement.exit_code == 0
        found = certificate(seen_by(SITE, one.plan, [other.lock]), judgement)
        assert list(complaints(json.loads(found.model_dump_json()))) == []


def mapped(vni: int) -> Site:
    """The rack's switch maps acme's storage VLAN to an overlay of Neutron's."""
    vtep = Vtep(vlan=2000, vni=vni, underlay="spine", encapsulation="vxlan")
    switches = (tor().model_copy(update={"vteps": (vtep,)}), management_switch())
    return changed(SITE, switches=switches, underlays=(Underlay(name="spine", neutron=True),))


@pytest.mark.parametrize(("mine", "verdict"), [(True, P), (False, V)])
def test_a_vlan_that_is_mapped_to_an_overlay(mine: bool, verdict: object) -> None:
    acme, globex = pair(SITE, acme={"storage_vlan": 2000})
    plan = (acme if mine else globex).plan
    tenant_of = "acme" if mine else "globex"
    vni = plan.by_name[f"{tenant_of}-train-control"].resource.canonical()["segmentation_id"]
    for one, other in ((acme, globex), (globex, acme)):
        judgement = judged(mapped(vni), one.plan, other)
        assert (verdicts(judgement)["ISO-11"], verdicts(judgement)["ISO-02"]) == (verdict, verdict)


def test_two_vpods_of_one_tenant_on_one_wire_are_not_claims_of_two_owners() -> None:
    """They are kept apart by the rule about vPODs, which names them."""
    acme = made(SITE, tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1))))
    vlan = acme.plan.by_name["acme-a-storage"].resource.canonical()["segmentation_id"]
    judgement = judged(SITE, edited(acme.plan, "acme-b-storage", segmentation_id=vlan))
    assert (verdicts(judgement)["ISO-11"], verdicts(judgement)["ISO-03"]) == (P, V)
    assert first(judgement).rule in ("ISO-03", "ISO-04")


def test_a_tenants_vlan_on_the_operators_network_is_two_owners() -> None:
    """Both networks are in acme's plan; only one of them is acme's."""
    acme, _ = on_one_management_vlan()
    moved = edited(acme.plan, "acme-train-management", physical_network="fabric100g", segmentation_id=1000)
    judgement = judged(SITE, moved)
    assert (verdicts(judgement)["ISO-11"], verdicts(judgement)["ISO-02"]) == (V, V)
