"""Plugs of machines: what is behind one the machine's model says, not how somebody calls it."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Site
from policies.edges.plan_fragment import plan_fragment
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from tests.builders.pod64 import tenant
from tests.policies.joining import NO, PERHAPS, YES, access, joined, marked, missing, site_with, switch, vlan
from tests.policies.workspace import edited, full_site, made

SITE, A100 = full_site(), vlan("a", 100)


def at_plug(plug: str) -> Site:
    return site_with(switch("a", access(1, 100)), links=[(f"ipum-01:{plug}", "a:1")])


@pytest.mark.parametrize(
    ("plug", "rnic", "management"),
    [
        ("rnic", YES, NO),
        ("rnic-2", YES, NO),
        ("mgmt", NO, YES),
        ("mgmt-2", NO, YES),
        ("eth0", PERHAPS, PERHAPS),
        ("rnic-console", PERHAPS, PERHAPS),
        ("RNIC", PERHAPS, PERHAPS),
    ],
)
def test_a_plug_is_what_the_model_says(plug: str, rnic: bool | None, management: bool | None) -> None:
    found = [joined(at_plug(plug), f"dev:SN-ipum-01/{part}", A100, marked(A100)) for part in ("rnic", "gw", "bmc")]
    assert found == [rnic, management, management]


def test_what_nobody_knows_of_a_plug_is_said() -> None:
    assert "which plug of ipum-01 `eth0` is" in missing(at_plug("eth0"), marked(A100))


@pytest.mark.parametrize(("plug", "expected"), [("rnic", True), ("rnic-2", True), ("mgmt", False), ("rnics", False)])
def test_whose_plan_sets_the_port_behind_a_second_plug_has_the_rnic(plug: str, expected: bool) -> None:
    item = made(SITE, tenant("acme"))
    port = next(entry for entry in item.plan.resources if entry.resource.KIND == "SwitchPort")
    plan = edited(item.plan, port.name, device="ipum-16", interface=plug)
    share = plan_fragment(SiteFacts(SITE), plan_facts(plan))
    assert ("dev:SN-ipum-16/rnic" in share.labels) is expected
