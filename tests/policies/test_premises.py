"""Exact premises and nodes: what a plan says of rights on scopes, and by which nodes it can change a class."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Premise
from interlock.planning.plan import Plan
from interlock.resources import AddressScope, BareMetalServer, RbacPolicy, Router, SubnetPool
from policies.edges.plan import PLAN_EDGES, PlanOnSite
from policies.edges.reach import reached
from policies.edges.rights import right_premises
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from tests.builders.pod64 import tenant
from tests.policies.workspace import added, edited, full_site, made

SITE = SiteFacts(full_site())


def of_right(plan: Plan, thing: str, target: str = "cloud:Project/globex") -> list[Premise]:
    """The premises of one right on a thing of a plan."""
    policy = RbacPolicy(project="acme-project", object=thing, action="access_as_shared", target=target)
    return list(right_premises(PlanOnSite(SITE, plan_facts(added(plan, "right", "acme", policy)))))


def with_two_routers() -> tuple[Plan, str]:
    """acme with a pool that one subnet behind its router is from, and a router that has no subnet; the first's name."""
    plan = made(SITE.site, tenant("acme")).plan
    router = next(item for item in plan_facts(plan).routers if item.subnets)
    plan = edited(plan, router.subnets[0], subnet_pool="pool")
    plan = added(plan, "scope", "acme", AddressScope(name="scope"))
    plan = added(plan, "pool", "acme", SubnetPool(name="pool", address_scope="scope", prefixes=("10.0.0.0/8",)))
    plan = added(plan, "idle", "acme", Router(name="idle", project="acme-project", external_network=None))
    return plan, router.name


@pytest.mark.parametrize("thing", ["pool", "scope"])
def test_a_tenants_scope_is_where_its_scoped_routers_are(thing: str) -> None:
    """Not where a router has no subnet of a pool."""
    plan, router = with_two_routers()
    assert of_right(plan, thing) == [premise(Relation.RIGHT, f"R:acme:{router}", "cap:globex")]
    assert of_right(plan, thing, "*") == [premise(Relation.OFFERED, f"R:acme:{router}")]


def test_a_subnet_of_no_pool_is_in_no_scope() -> None:
    plan, router = with_two_routers()
    subnet = next(item for item in plan_facts(plan).routers if item.name == router).subnets[0]
    assert of_right(edited(plan, subnet, subnet_pool=None), "pool") == []


@pytest.mark.parametrize(
    ("thing", "words"),
    [("site:SubnetPool/external-pool", "subnet pool"), ("site:AddressScope/external-scope", "address scope")],
)
def test_a_right_on_the_operators_scope_is_an_open_one_in_a_tenants_plan_too(thing: str, words: str) -> None:
    (found,) = of_right(with_two_routers()[0], thing)
    assert (found.relation, found.tuple[0].startswith(words), thing in found.tuple[0]) == ("open-scope", True, True)


# By which nodes a share can change a class.


def share(*premises: Premise) -> GraphFragment:
    """A share with an edge, a label, and these premises."""
    return GraphFragment("acme", (Edge("dev:acme:one", "port:acme:two", "E9"),), {"cap:acme": frozenset()}, premises)


NAMED = {"dev:acme:one", "port:acme:two", "cap:acme"}


def test_a_share_reaches_what_it_names() -> None:
    assert set(reached(SITE, share())) == NAMED
    assert set(reached(SITE, share(premise(Relation.RIGHT, "R:acme:r", "cap:globex")))) == NAMED | {
        "R:acme:r", "cap:globex",
    }  # fmt: skip


def test_only_an_open_scope_reaches_the_external_network() -> None:
    opened = premise(Relation.OPEN_SCOPE, "subnet pool: pool")
    assert set(reached(SITE, share(opened))) == NAMED | {"X:external"}


def test_a_port_of_a_switch_that_no_file_lists_is_reached_all_the_same() -> None:
    asked = premise(Relation.UNTAGGED, "SN-nobodys", "7", "1001")
    assert set(reached(SITE, share(asked))) == NAMED | {"port:SN-nobodys/7", "L:SN-nobodys:1001"}


# What a footprint keeps.


@pytest.mark.parametrize(
    ("node", "kept"),
    [
        ("dev:acme:server", False), ("port:acme:port", False), ("R:acme:router", False), ("vol:acme:volume", False),
        (ids.external_copy("external", "R:acme:router"), False), ("X:external", True), ("L:SN-tor-1:1001", True),
        ("V:sandbox:vxlan:7", True), ("port:SN-tor-1/3", True), ("cap:acme", True), ("foreign:sandbox", True),
    ],
)  # fmt: skip
def test_what_is_a_plans_own_stays_out_of_footprints(node: str, kept: bool) -> None:
    assert ids.is_boundary(node) is kept


# Logins.


def test_a_whole_host_is_entered_by_its_key_like_a_server() -> None:
    plan = made(SITE.site, tenant("acme")).plan
    metal = BareMetalServer(
        name="metal", project="acme-project", node="poplar-1", image="site:Image/poplar", keypair="acme-key", ports=()
    )
    logins = plan_facts(added(plan, "metal", "acme-train", metal)).access.logins
    assert {(item.keypair, item.owner) for item in logins if item.server == "metal"} == {("acme-key", "acme")}
    assert "acme-train-poplar-0" in {item.server for item in logins}


# Networks without an id, and functions that see every VLAN.


@pytest.mark.parametrize(
    ("fields", "wires"),
    [
        ({"network_type": "vxlan", "physical_network": None, "segmentation_id": None}, ("V:sandbox:vxlan:0",)),
        ({"network_type": "vxlan", "physical_network": None, "segmentation_id": 7}, ("V:sandbox:vxlan:7",)),
        ({"segmentation_id": None}, ()),
        ({"network_type": "flat", "segmentation_id": None}, ()),
        ({"network_type": "flat", "segmentation_id": 7}, ()),
    ],
    ids=["overlay without an id", "overlay", "VLAN without an id", "flat", "flat with an id"],
)
def test_what_a_network_claims(fields: dict[str, object], wires: tuple[str, ...]) -> None:
    """A network without an id is on no VLAN; an overlay without one is on one that no other network can have."""
    plan = edited(made(SITE.site, tenant("acme")).plan, "acme-train-ipu-data", **fields)
    facts = PlanOnSite(SITE, plan_facts(plan))
    assert facts.wires(facts.plan.network["acme-train-ipu-data"]) == wires


@pytest.mark.parametrize(
    ("fields", "edges"),
    [
        ({}, {("E6", "1000")}),
        ({"segmentation_id": 0}, {("E5", "0")}),
        ({"segmentation_id": None}, {("E6", "0")}),
        ({"network_type": "flat", "segmentation_id": None}, {("E5", "0")}),
        ({"network_type": "flat", "segmentation_id": 7}, {("E5", "0")}),
        ({"port_security": False}, {("E5", "1000")}),
        ({"segmentation_id": 4095}, set()),
    ],
    ids=["VLAN", "VLAN 0", "without an id", "flat", "flat with an id", "unchecked", "VLAN 4095"],
)
def test_the_rows_of_a_virtual_function(fields: dict[str, object], edges: set[tuple[str, str]]) -> None:
    """On VLAN 4095 it has none of its own: it is on every one, by what the switch port behind it carries."""
    plan = edited(made(SITE.site, tenant("acme")).plan, "acme-train-ipu-data", **fields)
    facts, port = PlanOnSite(SITE, plan_facts(plan)), "acme-train-poplar-0-ipu-data"
    found = [edge for row in PLAN_EDGES for edge in row.edges(facts)]
    mine = [edge for edge in found if edge.a == facts.port(port) and edge.b.startswith("L:")]
    assert {(edge.rule, edge.b.rpartition(":")[2]) for edge in mine} == edges
