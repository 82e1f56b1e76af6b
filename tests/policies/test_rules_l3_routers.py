"""Rules about routers: L3-01, L3-02, L3-05 and L3-06, each with a defect that it explains best and its intact twin."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.guards import SHARING_GUARDS
from interlock.model.site.inventory import Device, Sharing, Site, SwitchPortConfig
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Network, RbacPolicy, Router, RouterInterface, Subnet
from policies import Judgement
from tests.builders.pod64 import cable, management_switch, pod64, site_locked, tor
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    changed,
    edited,
    first,
    full_site,
    judged,
    pair,
    sharing,
    text,
    verdicts,
    with_footprint,
)

SITE = full_site()


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def of(rule: str, judgement: Judgement) -> list[str]:
    return [text(item) for item in judgement.findings if item.rule == rule]


def test_two_routers_on_one_external_network() -> None:
    acme, globex = clean()
    for one, other in ((acme, globex), (globex, acme)):
        found = verdicts(judged(SITE, one.plan, other))
        assert (found["L3-01"], found["L3-02"], found["L3-05"], found["L3-06"]) == (P, P, P, NA)


# L3-01, example 13.


def interface(subnet: str) -> Plan:
    item = RouterInterface(project="acme-project", router="acme-router", subnet=subnet)
    return added(clean()[0].plan, "acme-way-in", "acme", item)


def test_example_13_an_interface_on_a_subnet_of_globex() -> None:
    judgement = judged(SITE, interface("globex-train-control-subnet"), clean()[1])
    found = first(judgement)
    assert (found.rule, found.verdict) == ("L3-01", V)
    assert found.message == "router acme-router has an interface on a stranger's network"
    assert "globex-train-control-subnet" in text(found)
    assert verdicts(judgement)["L3-02"] == V


def test_an_interface_on_a_subnet_of_ones_own() -> None:
    found = verdicts(judged(SITE, interface("acme-train-ipu-data-subnet"), clean()[1]))
    assert (found["L3-01"], found["L3-02"]) == (P, P)


def test_routers_on_one_segment() -> None:
    """Where two claims meet the claims come first; that their routers are adjacent is said as well."""
    acme, globex = clean()
    control = globex.plan.by_name["globex-train-control"].resource
    assert isinstance(control, Network)
    plan = edited(acme.plan, "acme-train-control", segmentation_id=control.segmentation_id)
    judgement = judged(SITE, plan, globex)
    assert first(judgement).rule in ("ISO-01", "ISO-11", "ISO-12")
    assert [way for way in of("L3-01", judgement) if "router acme-router" in way and "router globex-router" in way]


# L3-02.


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("acme-train-control-interface", {"project": "site:Project/controllers"}),
        ("acme-train-control-subnet", {"project": "cloud:Project/initech"}),
    ],
)
def test_an_interface_between_two_projects(name: str, change: dict[str, object]) -> None:
    acme, globex = clean()
    plan = edited(acme.plan, _interface_name(acme.plan) if name.endswith("interface") else name, **change)
    found = first(judged(SITE, plan, globex))
    assert (found.rule, found.verdict) == ("L3-02", V)
    assert "joins two projects" in found.message


def _interface_name(plan: Plan) -> str:
    return next(item.name for item in plan.resources if isinstance(item.resource, RouterInterface))


def test_a_port_on_a_network_of_the_operator() -> None:
    acme, globex = clean()
    plan = edited(acme.plan, "acme-train-storage", project="site:Project/controllers")
    judgement = judged(SITE, plan, globex)
    assert of("L3-02", judgement) == [
        "port acme-train-poplar-0-storage [acme] – network acme-train-storage [op]",
        "port acme-train-poplar-1-storage [acme] – network acme-train-storage [op]",
    ]
    right = RbacPolicy(
        project="site:Project/controllers", object="acme-train-storage", action="access_as_shared",
        target="acme-project",
    )  # fmt: skip
    assert not of("L3-02", judged(SITE, added(plan, "acme-right", "acme", right), globex))


# L3-05, example 15.


def test_example_15_a_subnet_that_joins_a_scope() -> None:
    acme, globex = clean()
    subnet = _subnet_behind(acme.plan)
    judgement = judged(SITE, edited(acme.plan, subnet, subnet_pool="site:SubnetPool/external-pool"), globex)
    found = first(judgement)
    assert (found.rule, found.verdict) == ("L3-05", V)
    assert verdicts(judgement)["ISO-02"] == V
    assert "router acme-router" in text(found)


def test_ipv6_beside_a_scope_for_ipv4() -> None:
    """Nothing translates IPv6, and what has no scope of its family is forwarded."""
    acme, globex = clean()
    control = acme.plan.by_name[_subnet_behind(acme.plan)].resource
    assert isinstance(control, Subnet)
    six = control.model_copy(update={"name": "six", "cidr": "2001:db8::/64", "gateway": "2001:db8::1", "pools": ()})
    plan = added(acme.plan, "six", "acme", six)
    assert verdicts(judged(SITE, plan, globex))["L3-05"] == P
    plan = added(
        plan, "six-interface", "acme", RouterInterface(project="acme-project", router="acme-router", subnet="six")
    )
    judgement = judged(SITE, plan, globex)
    found = first(judgement)
    assert (found.rule, found.verdict, verdicts(judgement)["ISO-02"]) == ("L3-05", V, V)
    assert "is IPv6, and the address scope outside is for IPv4" in found.message
    # The other tenant's gateway is filtered: it meets a copy of the outside, and not what passes there.
    assert judged(SITE, globex.plan, with_footprint(SITE, plan, acme.lock)).exit_code == 0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"external-scope": {"ip_version": 6}}, "external-subnet"),
        ({"external-subnet": {"subnet_pool": None}}, "external-subnet"),
        ({"external-subnet": {"cidr": "2001:db8::/64"}}, "external-subnet"),
    ],
    ids=["scope for IPv6", "in no pool", "subnet of IPv6"],
)
def test_an_outside_that_no_scope_of_its_family_holds(change: dict[str, dict[str, object]], name: str) -> None:
    site = plan_site(SITE, site_locked(SITE))
    for item, fields in change.items():
        site = edited(site, item, **fields)
    found = next(item for item in judged(SITE, site, *clean()).findings if item.rule == "L3-05")
    assert (found.verdict, name in found.message) == (V, True)
    assert "no address scope of its own family" in found.message


def _subnet_behind(plan: Plan) -> str:
    return next(item.resource.subnet for item in plan.resources if isinstance(item.resource, RouterInterface))


@pytest.mark.parametrize("name", ["external-pool", "external-scope"])
def test_a_scope_for_everybody(name: str) -> None:
    site = plan_site(SITE, site_locked(SITE))
    found = first(judged(SITE, edited(site, name, shared=True), *clean()))
    assert (found.rule, found.verdict) == ("L3-05", V)


def test_without_a_gateway_there_is_no_scope_to_look_at() -> None:
    acme, globex = clean()
    plan = edited(acme.plan, "acme-router", external_network=None)
    assert isinstance(plan.by_name["acme-router"].resource, Router)
    assert verdicts(judged(SITE, plan, globex))["L3-05"] == NA


# L3-06, example 39: a router of the operator's on two storage VLANs, toward Ceph.


def ceph_site(**guards: bool | None) -> Site:
    """A device `ceph-router` on port 30 of the ToR, in the storage VLANs of both tenants."""
    known = SHARING_GUARDS["routed-back-end"]
    stated = dict.fromkeys(known, True) | {name: value for name, value in guards.items() if name in known}
    declared = Sharing(
        name="ceph", kind="routed-back-end", node="ceph-router", audience=("*",), guards=stated, rule="L3-06"
    )
    port = SwitchPortConfig(port=30, mode="trunk", tagged=((2000, 2001),))
    switch = tor().model_copy(update={"ports": (*tor().ports, port)})
    base = full_site()
    return changed(
        base,
        switches=(switch, management_switch()),
        cables=(*base.cables, cable("ceph-router:eth0", "tor-1:30")),
        devices=(Device(name="ceph-router", serial="SN-ceph", role="appliance"),),
        sharing=(*sharing(), declared),
    )


def test_no_back_end_no_question() -> None:
    assert pod64().devices == ()
    assert verdicts(judged(SITE, clean()[0].plan))["L3-06"] == NA


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_39_a_router_toward_ceph(value: bool | None, verdict: str) -> None:
    site = ceph_site(default_deny=value)
    acme, globex = pair(site)
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["L3-06"] == verdict
    if value is False:
        found = first(judgement)
        assert (found.rule, found.verdict) == ("L3-06", V)
        assert "ceph" in text(found)
    if value is None:
        missing = {fact for item in judgement.findings if item.rule == "L3-06" for fact in item.missing}
        assert missing == {"sharing.ceph.guards.default_deny"}
