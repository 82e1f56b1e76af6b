"""SEC-09: flavours that hand out devices, and their access lists."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Flavor, FlavorAccess
from policies.facts.access import device_of
from tests.builders.pod64 import flavors, site_locked, tenant
from tests.policies.workspace import NA, Made, N, P, V, added, edited, first, full_site, judged, made, verdicts

DEVICE = {"accel:device_profile": "ipu-pcie"}
ACCESS = "acme-flavor-poplar.half"


def site_with(*, public: bool = False, devices: str | None = "other", **fields: object) -> Site:
    """`poplar.half` hands out a device; of which kind, `devices` says."""
    offered = (
        item.model_copy(update={"extra_specs": item.extra_specs | DEVICE, "public": public, "devices": devices})
        if item.name == "poplar.half"
        else item
        for item in flavors()
    )
    return full_site(flavors=tuple(offered), **fields)


SITE = site_with()


@cache
def acme() -> Made:
    return made(SITE, tenant("acme"))


def of_site(site: Site) -> Plan:
    return plan_site(site, site_locked(site))


def test_nothing_to_look_at() -> None:
    site = full_site()
    assert verdicts(judged(site, made(site, tenant("acme")).plan))["SEC-09"] == NA
    assert verdicts(judged(site, of_site(site)))["SEC-09"] == NA


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        ("accel:device_profile", True),
        ("pci_passthrough:alias", True),
        ("resources:VGPU", True),
        ("resources_GPU1:CUSTOM_IPU_C600", True),
        ("resources:VCPU", False),
        ("hw:cpu_policy", False),
        ("aggregate_instance_extra_specs:interlock_role", False),
        ("trait:CUSTOM_FAST", False),
    ],
)
def test_what_hands_out_a_device(key: str, is_one: bool) -> None:
    assert bool(device_of([(key, "1")])) is is_one


def test_a_private_flavour_with_an_access_for_each_tenant() -> None:
    """Also in the plan: the access comes before the servers."""
    plan = acme().plan
    assert plan.by_name[ACCESS].resource == FlavorAccess(project="acme-project", flavor="site:Flavor/poplar.half")
    assert ACCESS in plan.by_name["acme-train-poplar-0"].after
    assert verdicts(judged(SITE, plan))["SEC-09"] == P
    flavor = of_site(SITE).by_name["poplar.half"].resource
    assert isinstance(flavor, Flavor)
    assert not flavor.public
    assert verdicts(judged(SITE, of_site(SITE), acme()))["SEC-09"] == P


def test_a_tenant_with_servers_of_another_flavour_has_no_access() -> None:
    site = full_site(
        flavors=tuple(item.model_copy(update={"public": item.name != "poplar.whole"}) for item in flavors())
    )
    assert not [item for item in made(site, tenant("acme")).plan.resources if isinstance(item.resource, FlavorAccess)]


def test_a_flavour_for_everybody() -> None:
    site = site_with(public=True)
    judgement = judged(site, of_site(site))
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("SEC-09", V, 1)
    assert found.message == "flavour poplar.half hands out accel:device_profile=ipu-pcie, and every project may use it"


def test_a_list_with_another_tenants_project() -> None:
    plan = edited(acme().plan, ACCESS, project="cloud:Project/globex")
    found = first(judged(SITE, plan))
    assert (found.rule, found.verdict) == ("SEC-09", V)
    assert "puts a project of foreign on it" in found.message


def test_a_list_for_a_flavour_of_everybody() -> None:
    access = FlavorAccess(project="acme-project", flavor="site:Flavor/poplar.whole")
    found = first(judged(SITE, added(acme().plan, "acme-more", "acme", access)))
    assert (found.rule, found.verdict) == ("SEC-09", V)


def test_a_server_whose_tenant_is_not_on_the_list() -> None:
    plan = acme().plan
    rest = tuple(item for item in plan.resources if item.name != ACCESS)
    judgement = judged(SITE, Plan(**{name: getattr(plan, name) for name in Plan.model_fields} | {"resources": rest}))
    found = first(judgement)
    assert (found.rule, found.verdict) == ("SEC-09", V)
    assert "acme's project is not on it" in found.message


def test_a_flavour_that_is_on_the_cloud_already() -> None:
    site = site_with(existing={"Flavor/poplar.half": "5d0c"})
    for plan in (of_site(site), made(site, tenant("acme")).plan):
        judgement = judged(site, plan)
        found = first(judgement)
        assert (found.rule, found.verdict, judgement.exit_code) == ("SEC-09", N, 3)
        assert found.missing == ("existing.Flavor/poplar.half",)


@pytest.mark.parametrize("existing", [{}, {"Project/controllers": "5d0c"}])
def test_a_private_flavour_of_controllers(existing: dict[str, str]) -> None:
    offered = tuple(item.model_copy(update={"public": item.name != "controller"}) for item in flavors())
    site = full_site(flavors=offered, existing=existing)
    access = of_site(site).by_name["controllers-controller"].resource
    project = "site:Project/controllers" if existing else "controllers"
    assert access == FlavorAccess(project=project, flavor="controller")
    assert verdicts(judged(site, of_site(site)))["SEC-09"] == P
    assert verdicts(judged(site, made(site, tenant("acme")).plan))["SEC-09"] == NA
