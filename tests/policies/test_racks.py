"""Golden vectors of vPODs over two logical racks.

lrack-1: ipum-01..16 = chain of IPU-Links      lrack-2: ipum-17..32 = the same
ipum-n — ipum-(n+16): GW-Links between machines of one position
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Machine, Site, Switch
from policies import RULES, Verdict
from policies.edges.plan_fragment import plan_fragment
from policies.facts.kinds import PlanFacts, VPodFact
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from tests.builders.pod64 import cables, machines, tenant
from tests.policies.workspace import P, V, changed, full_site, made

TOP = {rule.id: rule for rule in RULES if rule.id.startswith("TOP")}


def name(number: int) -> str:
    return f"ipum-{number:02}"


def link(a: int, b: int, kind: str) -> Cable:
    ends = (Endpoint(device=name(number), interface=f"{kind}-{a}-{b}") for number in (a, b))
    return Cable.model_validate({"a": next(ends), "b": next(ends), "kind": kind})


def two_racks(*, gateways: bool = True) -> Site:
    second = tuple(
        Machine(name=name(number), serial=f"SN-{name(number)}", logical_rack="lrack-2", position=number - 16)
        for number in range(17, 33)
    )
    chain = tuple(link(number, number + 1, "ipu-link") for number in range(17, 32))
    across = tuple(link(number, number + 16, "gw-link") for number in range(1, 17)) if gateways else ()
    return full_site(machines=machines() + second, cables=(*cables(), *chain, *across))


def asked(site: Site, numbers: list[int]) -> dict[str, Verdict]:
    facts = SiteFacts(site)
    plan: PlanFacts = plan_facts(made(full_site(), tenant("acme")).plan)
    plan = replace(plan, vpods=(VPodFact("acme-train", tuple(map(name, numbers))),))
    model = Model(facts, plan, plan_fragment(facts, plan))
    return {rule.id: rule.judge(model, Names(model)).verdict for rule in TOP.values()}


BOTH = list(range(1, 33))


def test_two_whole_racks() -> None:
    found = asked(two_racks(), BOTH)
    assert [found[rule] for rule in ("TOP-02", "TOP-03", "TOP-05", "TOP-06")] == [P, P, P, P]


def test_two_racks_without_gateway_links() -> None:
    assert asked(two_racks(gateways=False), BOTH)["TOP-05"] == V


def test_gateway_links_between_unequal_positions() -> None:
    site = two_racks(gateways=False)
    crooked = tuple(link(number, 17 + number % 16, "gw-link") for number in range(1, 17))
    assert asked(changed(site, cables=(*site.cables, *crooked)), BOTH)["TOP-05"] == V


def test_one_position_without_its_gateway_link() -> None:
    site = two_racks()
    cables_left = tuple(item for item in site.cables if item.a != Endpoint(device=name(5), interface="gw-link-5-21"))
    assert asked(changed(site, cables=cables_left), BOTH)["TOP-05"] == V


def test_gateway_links_over_a_switch() -> None:
    site = two_racks(gateways=False)
    switch = Switch(name="gw-1", serial="SN-gw-1", model="arista-7060px4", role="gw-link", port_groups=((100, 64),))
    plugs = tuple(
        Cable(
            a=Endpoint(device="gw-1", interface=str(number)),
            b=Endpoint(device=name(number), interface="gw-link-1"),
            kind="gw-link",
        )
        for number in BOTH
    )
    assert asked(changed(site, switches=(*site.switches, switch), cables=(*site.cables, *plugs)), BOTH)["TOP-05"] == P


@pytest.mark.parametrize(
    ("numbers", "rule"),
    [
        ([16, 17], "TOP-03"),
        (list(range(1, 25)), "TOP-02"),
        (list(range(1, 25)), "TOP-05"),
        (list(range(9, 25)), "TOP-03"),
    ],
)
def test_what_crosses_racks_without_filling_them(numbers: list[int], rule: str) -> None:
    assert asked(two_racks(), numbers)[rule] == V
