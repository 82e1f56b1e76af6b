"""A reference that leads nowhere is never proved, whatever it should name; FACT-01 says it in any case."""

from __future__ import annotations

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import (
    KINDS,
    BucketPolicy,
    RouterInterface,
    ServiceUser,
    Subnet,
    SubnetPool,
    Trunk,
)
from interlock.resources.network import TrunkSubPort
from interlock.resources.storage import BucketStatement
from policies import judge
from policies.facts.plan import plan_facts
from policies.facts.plan_references import ReferenceFact
from policies.facts.site import SiteFacts
from tests.builders.pod64 import site_locked, tenant
from tests.policies.test_fields_read import everything, first, with_field
from tests.policies.workspace import Made, N, V, added, changed, edited, full_site, made, pair, verdicts, with_footprint

SITE = full_site()
FIELDS = [(kind, field) for kind in KINDS for field in KINDS[kind].reference_fields()]


def lost(plan: Plan) -> set[tuple[str, str, str]]:
    """(resource, field, reference) of each that leads nowhere."""
    facts, site = plan_facts(plan), SiteFacts(SITE)
    found = (*facts.unresolved, *(fact for fact in facts.of_site if not site.has(fact.reference)))
    return {(fact.name, fact.field, fact.reference) for fact in found}


@pytest.mark.parametrize(("kind", "field"), [item for item in FIELDS if item[1] != "rules"])
def test_every_field_that_refers(kind: str, field: str) -> None:
    """To nobody's object, to one of another kind, to one that the site does not have or the cloud does not bring."""
    wanted = KINDS[kind].reference_fields()[field].kinds[-1]
    before = getattr(everything().by_name[first(kind)].resource, field)
    other = first("Quota")
    of_cloud = () if wanted in ("Project", "Role", "User") else (f"cloud:{wanted}/x", "cloud:Quota/x")
    for reference in ("globex-thing", other, f"site:{wanted}/nobody", "site:Quota/controllers-quota", *of_cloud):
        value = (reference,) if isinstance(before, tuple) else reference
        assert (first(kind), field, reference) in lost(with_field(kind, field, value)), reference


def test_references_inside_of_fields() -> None:
    plan = made(SITE, tenant("acme")).plan
    port, project = "acme-train-poplar-0-control", "acme-project"
    subs = tuple(TrunkSubPort(port=name, vlan=7) for name in ("acme-train-poplar-0-ipu-data", "globex-port"))
    plan = added(plan, "trunk", "acme", Trunk(name="t", project=project, port=port, sub_ports=subs))
    plan = added(plan, "user", "acme", ServiceUser(name="u", project=project))
    principals = ("*", "user", "cloud:User/alice", "globex-user")
    statement = BucketStatement(principals=principals, actions=("read",))
    policy = BucketPolicy(project=project, bucket="b", credential="c", statements=(statement,))
    assert lost(added(plan, "policy", "acme", policy)) == {
        ("trunk", "sub_ports", "globex-port"), ("policy", "statements", "globex-user"),
        ("policy", "bucket", "b"), ("policy", "credential", "c"),
    }  # fmt: skip


def test_plans_as_they_are_made() -> None:
    assert lost(made(SITE, tenant("acme")).plan) == set()
    assert lost(plan_site(SITE, site_locked(SITE))) == set()


def test_what_exists_is_the_sites() -> None:
    """An object under `existing:` is in no plan."""
    site = changed(SITE, existing={"Flavor/poplar.half": "42"})
    assert "poplar.half" not in plan_site(site, site_locked(site)).by_name
    assert SiteFacts(site).has("site:Flavor/poplar.half")
    assert not SiteFacts(site).has("site:Flavor/other")


def test_each_object_of_the_site_is_asked_about_once() -> None:
    plan = made(SITE, tenant("acme", servers=2)).plan
    named = [fact.reference for fact in plan_facts(plan).of_site]
    assert len(named) == len(set(named))
    server = ReferenceFact("acme-train-poplar-0", "flavor", "site:Flavor/poplar.half")
    assert server in plan_facts(plan).of_site


def beside(change: Plan, other: Made) -> dict[str, object]:
    """The verdicts on acme's plan beside globex's lock."""
    return dict(verdicts(judge(SITE, change, [other.lock])))


def test_an_interface_on_anothers_router_joins_its_subnet_with_a_stranger() -> None:
    """Both tenants' control networks are behind one router then, whatever the other plan says."""
    acme, globex = pair(SITE)
    assert "globex-router" in globex.plan.by_name
    subnet = next(item.name for item in acme.plan.resources if isinstance(item.resource, Subnet))
    leg = RouterInterface(project="acme-project", router="globex-router", subnet=subnet)
    found = beside(added(acme.plan, "acme-leg", "acme", leg), globex)
    assert (found["ISO-02"], found["FACT-01"]) == (V, N)


def test_a_pool_of_another_tenant() -> None:
    acme, globex = pair(SITE)
    pool = SubnetPool(name="p", address_scope="site:AddressScope/external-scope", prefixes=("10.77.0.0/16",))
    theirs = with_footprint(SITE, added(globex.plan, "globex-pool", "globex", pool), globex.lock)
    subnet = next(item.name for item in acme.plan.resources if isinstance(item.resource, Subnet))
    assert beside(edited(acme.plan, subnet, subnet_pool="globex-pool"), theirs)["FACT-01"] is N


def test_a_flavor_that_nobody_offers() -> None:
    acme, globex = pair(SITE)
    for flavor in ("globex-flavor", "site:Flavor/huge", "cloud:Flavor/huge", "site:Image/poplar"):
        assert beside(edited(acme.plan, "acme-train-poplar-0", flavor=flavor), globex)["FACT-01"] is N, flavor
