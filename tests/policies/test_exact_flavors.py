"""SEC-09: which flavours matter, who stands on a list, and all that is said where it is wrong."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import FlavorAccess
from policies.rules.flavors import SEC_09
from policies.rules.rule import RuleAnswer
from tests.builders.pod64 import flavors, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_flavors import ACCESS, of_site, site_with
from tests.policies.workspace import added, edited, full_site, made

SERVERS = ("acme-train-poplar-0", "acme-train-poplar-1")
LIST = "V access list of flavour poplar.half: "
STRANGERS = FlavorAccess(project="cloud:Project/globex", flavor="site:Flavor/poplar.half")


@cache
def private() -> Site:
    """`poplar.half` hands out no device and is private all the same."""
    offered = (item.model_copy(update={"public": item.name != "poplar.half"}) for item in flavors())
    return full_site(flavors=tuple(offered))


def planned(site: Site) -> Plan:
    return made(site, tenant("acme")).plan


def without_access(site: Site) -> Plan:
    plan = planned(site)
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    return Plan(**(fields | {"resources": tuple(item for item in plan.resources if item.name != ACCESS)}))


@pytest.mark.parametrize(
    ("site", "is_told"), [(private(), True), (site_with(), True), (site_with(public=True), False), (full_site(), False)]
)
def test_who_uses_a_private_flavour_is_on_its_list(site: Site, is_told: bool) -> None:
    """Whether or not it hands out a device; one that everybody may use has no list."""
    expected = [f"{LIST}{name} uses it, and acme's project is not on it" for name in SERVERS]
    plan = without_access(site)
    assert messages(answered(SEC_09, site, plan)) == (expected if is_told else [])
    with_strangers = added(plan, "acme-more", "acme", STRANGERS)
    assert set(expected) <= set(messages(answered(SEC_09, site, with_strangers))) or not is_told


def test_all_that_is_said_of_a_server_without_access() -> None:
    found = told(answered(SEC_09, private(), without_access(private())))
    why = f"{SERVERS[0]} uses it, and acme's project is not on it"
    assert found[:3] == [
        f"V 37: access list of flavour poplar.half: {why}",
        f"  witness: flavour poplar.half / {why}",
        f"  about: poplar.half, {SERVERS[0]}",
    ]


@pytest.mark.parametrize(
    ("flavor", "granted", "expected"),
    [
        ("site:Flavor/poplar.half", "acme-project", []),
        ("site:Flavor/poplar.half", "cloud:Project/globex", [("poplar.half", "puts a project of foreign on it")]),
        ("site:Flavor/poplar.whole", "acme-project", [("poplar.whole", "is for a flavour that everybody may use")]),
        (
            "site:Flavor/poplar.whole",
            "cloud:Project/globex",
            [
                ("poplar.whole", "puts a project of foreign on it"),
                ("poplar.whole", "is for a flavour that everybody may use"),
            ],
        ),
        # Of a flavour that is no file's nobody knows whether it is private.
        ("cloud:Flavor/huge", "acme-project", []),
        ("cloud:Flavor/huge", "cloud:Project/globex", [("cloud:Flavor/huge", "puts a project of foreign on it")]),
    ],
)
def test_what_stands_on_a_list(flavor: str, granted: str, expected: list[tuple[str, str]]) -> None:
    plan = added(planned(site_with()), "acme-more", "acme", FlavorAccess(project=granted, flavor=flavor))
    answer = answered(SEC_09, site_with(), plan)
    assert messages(answer) == [f"V access list of flavour {name}: acme-more {why}" for name, why in expected]
    # Two accesses and two servers.
    assert answer.count == 4


# Flavours that are on the cloud already.

EXISTING = {"Flavor/poplar.half": "5d0c", "Flavor/poplar.whole": "5d0d"}


@pytest.mark.parametrize("public", [True, False])
def test_who_may_use_what_is_on_the_cloud_is_unknown(public: bool) -> None:
    """Of a flavour with a device, to whoever uses it and to the operator; `poplar.whole` hands out nothing."""
    site = site_with(existing=EXISTING, public=public)
    device, fact = "accel:device_profile=ipu-pcie", "existing.Flavor/poplar.half"
    expected = [
        f"N 37: flavour poplar.half hands out {device} and is on the cloud already: nobody states who may use it",
        f"  witness: flavour poplar.half / {device} / existing Flavor/poplar.half",
        f"  missing: {fact}",
        "  about: poplar.half",
    ]
    for plan in (planned(site), of_site(site)):
        assert told(RuleAnswer(0, (), answered(SEC_09, site, plan).unknown)) == expected


def test_who_does_not_use_it_is_not_asked() -> None:
    site = site_with(existing=EXISTING, public=False)
    plan = planned(site)
    for name in SERVERS:
        plan = edited(plan, name, flavor="site:Flavor/poplar.whole")
    assert messages(answered(SEC_09, site, plan)) == []


def test_everything_that_is_looked_at_is_counted() -> None:
    """An access, two servers and what is not known; devices and accesses of the operator."""
    site = site_with(existing={"Flavor/poplar.half": "5d0c"})
    accesses = sum(item.resource.KIND == "FlavorAccess" for item in planned(site).resources)
    assert answered(SEC_09, site, planned(site)).count == accesses + 2 + 1
    assert answered(SEC_09, site_with(), of_site(site_with())).count == 1
    assert answered(SEC_09, full_site(), of_site(full_site())).count == 0
