"""Edges of plans: trunks, rights given to others, floating addresses; and the facts that other words become."""

from __future__ import annotations

from functools import cache
from typing import Literal

import pytest

from interlock.model.site.inventory import SwitchPortConfig
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import (
    AddressScope,
    BareMetalServer,
    FloatingIp,
    Image,
    Network,
    Port,
    RbacPolicy,
    Resource,
    RouterInterface,
    StoredCredential,
    Subnet,
    SubnetPool,
    Trunk,
    TrunkSubPort,
)
from policies import footprint
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from tests.builders.pod64 import external, site_locked, tenant, tor
from tests.policies.joining import NO, YES, edges, joined, way
from tests.policies.workspace import P, V, added, edited, full_site, judged, made, pair, verdicts, with_footprint

SITE = full_site()
WIRE, SERVER = "L:SN-tor-1:1000", "dev:acme:acme-train-poplar-0"
Action = Literal["access_as_shared", "access_as_external"]


@cache
def acme() -> Plan:
    return made(SITE, tenant("acme")).plan


def project() -> str:
    return next(item.name for item in acme().resources if item.resource.KIND == "Project")


def facts(plan: Plan) -> PlanFacts:
    return plan_facts(plan)


def way_in(plan: Plan, a: str, b: str, *others: Plan) -> bool | None:
    return way(edges(SITE, (), [facts(plan), *map(facts, others)]), a, b)


def with_all(plan: Plan, **resources: Resource) -> Plan:
    for name, resource in resources.items():
        plan = added(plan, name, "acme", resource)
    return plan


# E8: trunks.


def network(vlan: int) -> Network:
    return Network(
        name="extra", project=project(), network_type="vlan", physical_network="fabric100g", segmentation_id=vlan
    )


def sub_port() -> Port:
    return Port(name="sub", project=project(), network="net", subnet="none", address="10.9.9.9", vnic_type="direct")


def trunked(parent: str, *subs: str) -> Plan:
    """acme's plan with VLAN 1900, a port on it that is nobody's own, and a trunk."""
    inside = tuple(TrunkSubPort(port=name, vlan=number) for number, name in enumerate(subs, start=7))
    trunk = Trunk(name="trunk", project=project(), port=parent, sub_ports=inside)
    return with_all(acme(), net=network(1900), sub=sub_port(), trunk=trunk)


def parent() -> str:
    return facts(acme()).server["acme-train-poplar-0"].ports[0]


def test_a_sub_port_is_on_its_own_networks_segment() -> None:
    plan = trunked(parent(), "sub")
    assert way_in(plan, SERVER, "L:SN-tor-1:1900") is YES
    assert "sub" in facts(plan).server["acme-train-poplar-0"].ports
    assert facts(plan).port["sub"].host == facts(plan).server["acme-train-poplar-0"].host
    assert facts(plan).trunks[0].sub_ports == (("sub", 7),)


def test_a_port_in_no_trunk_is_on_nothing() -> None:
    assert way_in(trunked(parent()), "port:acme:sub", SERVER) is NO


def test_a_trunk_that_no_server_has_joins_its_ports() -> None:
    assert way_in(trunked("sub", "acme-train-poplar-0-other"), "port:acme:sub", "ref:acme-train-poplar-0-other") is YES


def test_a_sub_port_of_a_controller_is_split_off() -> None:
    name = next(server.name for server in facts(acme()).servers if server.is_controller)
    own = facts(acme()).server[name].ports[0]
    plan = trunked(own, "sub")
    assert "sub" in facts(plan).server[name].ports
    # Where it lies is not stated: the host has no interface on that network. No edge leads to the server.
    pairs = ({edge.a, edge.b} for edge in edges(SITE, (), [facts(plan)]))
    near = {end for ends in pairs if "port:acme:sub" in ends for end in ends}
    assert {node for node in near if not node.startswith("L:")} == {"port:acme:sub"}


def test_a_controller_in_the_tenants_own_project_is_none() -> None:
    name = next(server.name for server in facts(acme()).servers if server.is_controller)
    moved = facts(edited(acme(), name, project=project())).server[name]
    assert not moved.is_controller
    assert moved.labels >= {"acme"}


def test_a_sub_port_on_anothers_network() -> None:
    """The parent is acme's, the sub-port is on globex's VLAN."""
    first, globex = pair(SITE)
    vlan = globex.lock.allocation.vpods["train"].ipu_data_vlan
    trunk = Trunk(name="t", project=project(), port=parent(), sub_ports=(TrunkSubPort(port="sub", vlan=1),))
    plan = with_all(first.plan, net=network(vlan), sub=sub_port(), trunk=trunk)
    assert verdicts(judged(SITE, plan, globex))["ISO-02"] == V


def test_a_sub_port_of_a_whole_host() -> None:
    """The switch takes its tag, though no resource sets the switch port."""
    port = sub_port().model_copy(update={"vnic_type": "baremetal"})
    inside = (TrunkSubPort(port="sub", vlan=7),)
    trunk = Trunk(name="trunk", project=project(), port=parent(), sub_ports=inside)
    plan = with_all(acme(), net=network(1900), sub=port)
    assert way_in(plan, "port:acme:sub", "L:SN-tor-1:1900") is NO
    assert way_in(with_all(plan, trunk=trunk), SERVER, "L:SN-tor-1:1900") is YES


# E13: rights.


def right(thing: str, target: str, action: Action = "access_as_shared") -> RbacPolicy:
    return RbacPolicy(project=project(), object=thing, action=action, target=target)


DATA = "acme-train-ipu-data"


def test_a_right_joins_before_anybody_uses_it() -> None:
    first, globex = pair(SITE)
    plan = with_all(first.plan, right=right(DATA, "cloud:Project/globex"))
    assert way_in(plan, "cap:globex", WIRE, globex.plan) is YES
    assert way_in(plan, "foreign:sandbox", WIRE, globex.plan) is NO
    assert way_in(first.plan, "cap:globex", WIRE, globex.plan) is NO


def test_a_right_of_somebody_whom_no_lock_names_is_a_strangers() -> None:
    plan = with_all(acme(), right=right(DATA, "cloud:Project/initech"))
    assert way_in(plan, "foreign:sandbox", WIRE) is YES


def test_a_right_of_the_operator() -> None:
    plan = with_all(acme(), right=right(DATA, "site:Project/operations"))
    assert way_in(plan, "cap:op", WIRE) is YES
    assert verdicts(judged(SITE, plan))["ISO-02"] == V


def test_a_right_of_everybody() -> None:
    plan = with_all(acme(), right=right(DATA, "*"))
    globex = made(SITE, tenant("globex", machines=8, servers=1)).plan
    for node in ("cap:globex", "foreign:sandbox"):
        assert way_in(plan, node, WIRE, globex) is YES


@pytest.mark.parametrize("target", ["cloud:Project/globex", "*"])
def test_example_11_seen_by_both(target: str) -> None:
    first, globex = pair(SITE)
    plan = with_all(first.plan, right=right(DATA, target))
    assert verdicts(judged(SITE, plan, globex))["ISO-02"] == V
    given = with_footprint(SITE, plan, first.lock)
    assert verdicts(judged(SITE, globex.plan, given))["ISO-02"] == V


def test_a_right_on_what_no_file_describes() -> None:
    plan = with_all(acme(), right=right("site:Network/elsewhere", "cloud:Project/acme"))
    assert verdicts(judged(SITE, plan))["ISO-02"] == V


def test_a_right_on_a_security_group_joins_nobody() -> None:
    group = next(item.name for item in acme().resources if item.resource.KIND == "SecurityGroup")
    plan = with_all(acme(), right=right(group, "*"))
    assert verdicts(judged(SITE, plan))["ISO-02"] == P
    assert facts(plan).rights[0].kind == "SecurityGroup"


EXTERNAL = "site:Network/external"


@pytest.mark.parametrize(("action", "expected"), [("access_as_external", P), ("access_as_shared", V)])
def test_example_12_gateways_are_offered_and_ports_are_not(action: Action, expected: object) -> None:
    plan = with_all(acme(), right=right(EXTERNAL, "*", action))
    assert verdicts(judged(SITE, plan))["ISO-02"] == expected


def test_a_flat_network_is_plugged_into_at_every_host() -> None:
    flat = Network(name="flat", project=project(), network_type="flat", physical_network="fabric100g")
    plan = with_all(acme(), flat=flat, right=right("flat", "cloud:Project/initech"))
    for node in ("cap:acme", "foreign:sandbox"):
        assert way_in(plan, node, "L:SN-poplar-1/ens161f0:0") is YES


# E11 and E13: address scopes and subnet pools.


def test_a_right_on_the_operators_scope_opens_every_gateway() -> None:
    site_plan = plan_site(SITE, site_locked(SITE))
    scope = next(item.name for item in site_plan.resources if item.resource.KIND == "AddressScope")
    policy = right(scope, "cloud:Project/acme")
    opened = facts(with_all(site_plan, right=policy))
    assert {item.tuple for item in plan_fragment(SiteFacts(SITE), opened).premises if item.relation == "open-scope"}
    assert way(edges(SITE, (), [facts(acme()), opened]), "cap:acme", "X:external") is YES
    assert way(edges(SITE, (), [facts(acme()), facts(site_plan)]), "cap:acme", "X:external") is NO


@pytest.mark.parametrize("shared", ["scope", "pool"])
@pytest.mark.parametrize(("target", "node"), [("cloud:Project/initech", "foreign:sandbox"), ("*", "foreign:sandbox")])
def test_a_tenants_own_scope_leads_to_its_routers(shared: str, target: str, node: str) -> None:
    plan = acme()
    router = next(item for item in facts(plan).routers if item.subnets)
    plan = edited(plan, router.subnets[0], subnet_pool="pool")
    plan = with_all(
        plan,
        scope=AddressScope(name="scope"),
        pool=SubnetPool(name="pool", address_scope="scope", prefixes=("10.0.0.0/8",)),
    )
    shown = f"R:acme:{router.name}"
    found = edges(SITE, (), [facts(with_all(plan, right=right(shared, target)))])
    assert any({edge.a, edge.b} == {node, shown} and edge.rule == "E13" for edge in found)
    assert not any({edge.a, edge.b} == {node, shown} for edge in edges(SITE, (), [facts(plan)]))


# What has no edges, and is there for rules.


def test_floating_addresses_are_entries_from_outside() -> None:
    entry = FloatingIp(project=project(), external_network=EXTERNAL, address="192.0.2.77", port=parent())
    plan = with_all(acme(), entry=entry)
    assert f"floating address 192.0.2.77 leads to {parent()}" in footprint(SITE, plan).exposures
    assert facts(plan).floating_ips[0].port == parent()


def test_facts_for_the_rules() -> None:
    plan = with_all(
        acme(),
        image=Image(name="own", file="own.raw", sha512="0" * 128, visibility="community"),
        stored=StoredCredential(project=project(), credential="key", place="acme-data"),
    )
    plan = edited(plan, parent(), allowed_address_pairs=("0.0.0.0/0",))
    found = facts(plan)
    assert [(item.name, item.owner, item.visibility) for item in found.images] == [("image", "acme", "community")]
    assert [(item.credential, item.place) for item in found.stored_credentials] == [("key", "acme-data")]
    assert found.port[parent()].allowed_address_pairs == ("0.0.0.0/0",)
    assert found.security_groups
    assert all(group.rules for group in found.security_groups)
    assert found.server["acme-train-poplar-0"].user_data.startswith("#cloud-config")
    assert all(router.interfaces for router in found.routers if router.subnets)


@pytest.mark.parametrize(
    ("target", "expected"),
    [("*", "*"), ("cloud:Project/globex", "globex"), ("site:Project/x", "op"), ("cloud:User/x", "foreign")],
)
def test_who_gets_a_right(target: str, expected: str) -> None:
    assert facts(with_all(acme(), right=right(DATA, target))).rights[0].target == expected


# External networks of a tenant's own


def outside(kind: Literal["flat", "vlan"], physical: str, segment: int | None) -> Plan:
    """A network that acme calls external, with a port that no server has."""
    network = Network(
        name="mine", project=project(), network_type=kind, physical_network=physical, segmentation_id=segment,
        external=True,
    )  # fmt: skip
    spare = Port(name="spare", project=project(), network="mine", subnet="none", address="10.9.9.9", vnic_type="normal")
    return with_all(acme(), mine=network, spare=spare)


@pytest.mark.parametrize(
    ("kind", "physical", "segment", "hub"),
    [
        ("flat", "external", None, "X:external"),
        ("flat", "fabric100g", None, "X:acme%2Fmine"),
        ("vlan", "fabric100g", 3700, "X:acme%2Fmine"),
        ("vlan", "external", 300, "X:acme%2Fmine"),
    ],
)
def test_a_tenants_external_network_is_the_world(
    kind: Literal["flat", "vlan"], physical: str, segment: int | None, hub: str
) -> None:
    plan = outside(kind, physical, segment)
    assert plan_fragment(SiteFacts(SITE), facts(plan)).labels[hub] == {"world"}
    assert way_in(plan, "port:acme:spare", hub) is YES
    assert way_in(plan, "cap:acme", hub) is YES
    judgement = judged(SITE, plan)
    assert verdicts(judgement)["ISO-02"] == V
    words = [" ".join((item.message, *item.witness)) for item in judgement.findings if item.rule == "ISO-02"]
    assert any("world" in text and "external network" in text for text in words)


def test_a_router_with_an_interface_on_it_is_outside() -> None:
    plan = outside("flat", "external", None)
    subnet = Subnet(name="out", project=project(), network="mine", cidr="198.51.100.0/24")
    plan = with_all(plan, out=subnet, way=RouterInterface(project=project(), router="acme-router", subnet="out"))
    assert Edge("R:acme:acme-router", "X:external", "E10") in edges(SITE, (), [facts(plan)])


def test_the_sites_external_network_may_be_a_vlan() -> None:
    """What is outside is not the operator's, which would meet the world there."""
    site = full_site(external=external(network_type="vlan", vlan=300))
    own = plan_site(site, site_locked(site))
    assert verdicts(judged(site, own))["ISO-02"] == P
    assert verdicts(judged(site, made(site, tenant("acme")).plan))["ISO-02"] == P


# E5: devices that may send any frame, also one without a tag; and bare-metal servers where the site has hypervisors.


def test_what_may_tag_also_reaches_the_native_vlan_without_a_tag() -> None:
    """Frames without a tag (VLAN 0 of the host bridge) are the native VLAN's, whatever tags the switch takes."""
    ports = tuple(item for item in tor().ports if item.port != 17)
    native = SwitchPortConfig(port=17, mode="trunk", untagged=1900, tagged=(), tag_native=False)
    site = full_site(switches=(tor().model_copy(update={"ports": (*ports, native)}), SITE.switch["mgmt-1"]))
    whole = premise(Relation.EVERY_VLAN, "port:acme:any", "SN-poplar-1/ens161f0")
    share = GraphFragment("acme", (), {"port:acme:any": frozenset({"acme"})}, (whole,))
    assert joined(site, "port:acme:any", "L:SN-tor-1:1900", share) is YES
    assert joined(site, "port:acme:any", "L:SN-tor-1:1800", share) is NO


@pytest.mark.parametrize(("host", "node"), [("poplar-1", "dev:SN-poplar-1"), ("poplar-99", "ref:poplar-99")])
def test_a_bare_metal_server_is_the_host_that_it_runs_on(host: str, node: str) -> None:
    """Also where the site runs a hypervisor there, or lists no such host."""
    metal = BareMetalServer(name="metal", project=project(), node=host, image="image", keypair="acme-key", ports=())
    assert way_in(with_all(acme(), metal=metal), "dev:acme:metal", node) is YES
    assert way_in(acme(), "dev:acme:metal", node) is NO
