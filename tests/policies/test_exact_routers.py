"""L3-01, L3-02, L3-05 and L3-06: which routers, interfaces and ports each of them finds fault with, and which not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from interlock.model.site.inventory import Device, Site, SwitchPortConfig
from policies import Finding
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact, PlanFacts, PortFact, RouterFact, ServerFact, SubnetFact
from policies.facts.rights import RightFact
from policies.facts.site import SiteFacts
from policies.footprints.boundary import PARTITION
from policies.graph.model import Model
from tests.builders.pod64 import cable
from tests.policies.exact_answers import (
    answer,
    asked,
    drawn,
    identified,
    messages,
    only,
    plan_of,
    share,
    switch_vlan,
)
from tests.policies.test_rules_l3_routers import ceph_site, clean
from tests.policies.workspace import N, P, V, changed, edited, full_site

SITE = SiteFacts(full_site())
MINE, THEIRS = ids.router("acme", "acme-router"), ids.router("globex", "globex-router")
A, B, C = (switch_vlan("tor-1", number) for number in (1000, 1001, 1002))
SERVER = ids.server("globex", "globex-server")

# L3-01.


def beside(*edges: Edge, **labels: str) -> Model:
    """acme's router with an interface on A, and what else is drawn; `labels`: whose the VLANs are."""
    wires = {"a": A, "b": B, "c": C}
    theirs = {THEIRS: "globex"} | {wires[name]: owner for name, owner in labels.items()}
    own = share("acme", [Edge(MINE, A, "E10")], {MINE: "acme"})
    return drawn(SITE, plan_of(), own, share("globex", edges, theirs))


def of_mine(model: Model) -> Finding:
    """What is told of acme's router; the other one, if it has an interface there, has a finding of its own."""
    (found,) = (item for item in answer("L3-01", model).findings if item.path[0] == MINE)
    return found


@pytest.mark.parametrize(
    ("edges", "way"),
    [
        ((Edge(THEIRS, A, "E10"),), (MINE, A, THEIRS)),
        ((Edge(THEIRS, B, "E10"), Edge(A, B, "E1")), (MINE, A, B, THEIRS)),
        # Where a lock says that all of it is joined, its router hangs on that.
        ((Edge(THEIRS, A, PARTITION),), (MINE, A, THEIRS)),
        ((Edge(THEIRS, B, "E10"), Edge(A, B, PARTITION)), (MINE, A, B, THEIRS)),
        ((Edge(A, B, "E1"), Edge(B, C, "E1"), Edge(A, C, PARTITION), Edge(THEIRS, C, "E10")), (MINE, A, C, THEIRS)),
        # No segment: behind a server, or on another VLAN.
        ((Edge(A, SERVER, "E7"), Edge(THEIRS, SERVER, "E10")), None),
        ((Edge(A, SERVER, "E7"), Edge(B, SERVER, "E7"), Edge(THEIRS, B, "E10")), None),
        # A server is no step of a way along a segment, though it would be the shorter one.
        (
            (
                Edge(A, B, "E1"), Edge(B, C, "E1"), Edge(C, THEIRS, "E10"),
                Edge(A, SERVER, "E7"), Edge(SERVER, THEIRS, "E7"),
            ),
            (MINE, A, B, C, THEIRS),
        ),
    ],
)  # fmt: skip
def test_routers_on_one_segment(edges: tuple[Edge, ...], way: tuple[str, ...] | None) -> None:
    model = beside(*edges)
    if way is None:
        assert answer("L3-01", model).verdict is P
        return
    found = of_mine(model)
    assert (found.message, found.path) == ("router acme-router stands on one segment with router globex-router", way)
    assert (found.verdict, found.specificity) == (V, 40)
    assert found.id == identified("L3-01", model, MINE, THEIRS)


def test_an_interface_on_anothers_network() -> None:
    """That says more than whose routers are there as well."""
    model = beside(Edge(THEIRS, A, "E10"), a="globex")
    found = of_mine(model)
    assert (found.message, found.path) == ("router acme-router has an interface on globex's network", (MINE, A))
    assert (found.specificity, found.id) == (86, identified("L3-01", model, MINE, A))


@pytest.mark.parametrize("owners", ["acme", "acme, globex"])
def test_an_interface_on_a_network_of_ones_own_too(owners: str) -> None:
    assert answer("L3-01", beside(a=owners)).verdict is P


def test_only_an_interface_puts_a_router_on_a_segment() -> None:
    """Its gateway (E11) leads to the external network, which is everybody's."""
    own = share("acme", [Edge(MINE, A, "E11")], {MINE: "acme"})
    model = drawn(SITE, plan_of(), own, share("globex", [Edge(THEIRS, A, "E11")], {THEIRS: "globex", A: "globex"}))
    assert (answer("L3-01", model).verdict, answer("L3-01", model).count) == (P, 2)


# L3-02.

NETWORK = NetworkFact("net", "acme", None, None, "vlan", "fabric100g", 1000, False, False, True)
SUBNET = SubnetFact("sub", "acme", "net", "10.0.0.0/24", None, False, None)
CONTROLLER = ServerFact("ctl", frozenset({"op"}), "infra-1", "train", ("p",), True)


def port(owner: str, server: str | None = None, network: str = "net") -> PortFact:
    return PortFact("p", owner, network, "sub", "10.0.0.9", "normal", True, server, None)


def right(target: str, to: str = "net", action: str = "access_as_shared") -> RightFact:
    return RightFact("r", "acme", to, "Network", action, target)


def projects(plan: PlanFacts) -> list[str]:
    return messages(answer("L3-02", drawn(SITE, plan, GraphFragment("acme", (), {}, ()))))


@pytest.mark.parametrize(
    ("owner", "server", "servers", "is_fault"),
    [
        ("op", "ctl", (CONTROLLER,), False),
        ("op", None, (CONTROLLER,), True),
        ("op", "elsewhere", (CONTROLLER,), True),
        ("foreign", "ctl", (CONTROLLER,), True),
        # Whoever controls it besides may send what he likes by that port.
        ("op", "ctl", (replace(CONTROLLER, labels=frozenset({"op", "acme"})),), True),
        ("op", "ctl", (replace(CONTROLLER, is_controller=False),), True),
        ("acme", "ctl", (CONTROLLER,), False),
    ],
)
def test_whose_port_may_be_on_a_network(
    owner: str, server: str | None, servers: tuple[ServerFact, ...], is_fault: bool
) -> None:
    plan = plan_of(networks=(NETWORK,), subnets=(SUBNET,), ports=(port(owner, server),), servers=servers)
    words = f"port p of {owner} is on net of acme, which gives no right to it"
    assert projects(plan) == ([words] if is_fault else [])


@pytest.mark.parametrize(
    ("rights", "is_fault"),
    [
        ((), True),
        ((right("globex"),), False),
        ((right("*"),), False),
        ((right("initech"),), True),
        ((right("globex", to="other"),), True),
        ((right("globex", action="access_as_external"),), True),
    ],
)
def test_a_right_lets_a_port_in(rights: tuple[RightFact, ...], is_fault: bool) -> None:
    assert bool(projects(plan_of(networks=(NETWORK,), ports=(port("globex"),), rights=rights))) is is_fault


def test_a_port_on_a_network_that_is_not_of_the_plan() -> None:
    """Whose that is no rule about projects can say."""
    assert projects(plan_of(networks=(NETWORK,), ports=(port("globex", network="elsewhere"),))) == []


def test_what_is_told_of_projects() -> None:
    """Two interfaces and a port, one of each at fault."""
    router = RouterFact("r", "acme", None, ("sub", "far"), (("acme", "sub"), ("acme", "far")))
    plan = plan_of(networks=(NETWORK,), subnets=(SUBNET,), ports=(port("globex"),), routers=(router,))
    result = answer("L3-02", drawn(SITE, plan, share("acme")))
    assert (result.count, [item.specificity for item in result.findings]) == (3, [84, 58])


@pytest.mark.parametrize(
    ("network", "subnet", "interface", "why"),
    [
        ("acme", "acme", ("acme", "sub"), None),
        ("acme", "acme", ("op", "sub"), "interface: op, router: acme, subnet: acme, network: acme"),
        ("acme", "op", ("acme", "sub"), "interface: acme, router: acme, subnet: op, network: acme"),
        ("op", "acme", ("acme", "sub"), "interface: acme, router: acme, subnet: acme, network: op"),
        (None, "acme", ("acme", "sub"), "subnet sub belongs to somebody whom this plan does not know"),
        ("acme", "acme", ("acme", "far"), "subnet far belongs to somebody whom this plan does not know"),
    ],
)
def test_whose_an_interface_is(network: str | None, subnet: str, interface: tuple[str, str], why: str | None) -> None:
    router = RouterFact("r", "acme", None, (interface[1],), (interface,))
    networks = (replace(NETWORK, owner=network),) if network else ()
    plan = plan_of(networks=networks, subnets=(replace(SUBNET, owner=subnet),), routers=(router,))
    assert projects(plan) == ([f"the interface of r on {interface[1]} joins two projects ({why})"] if why else [])


# L3-05.


def test_gateways_and_scopes_are_counted() -> None:
    """A filtered gateway passes nothing on; a scope that is open is told for itself."""
    scope = premise(Relation.OPEN_SCOPE, "address scope wide")
    gateways = [
        premise(Relation.GATEWAY, ids.router("acme", name), "external", how, "acme")
        for name, how in (("one", "filtered"), ("two", "IPv6"), ("three", "in scope"))
    ]
    theirs = [premise(Relation.GATEWAY, THEIRS, "external", "in scope", "globex")]
    model = drawn(SITE, plan_of(), share("acme", (), {}, [*gateways, scope]), share("globex", (), {}, theirs))
    result = answer("L3-05", model)
    assert (result.count, [item.witness[0] for item in result.findings]) == (
        4, ["address scope wide", "router three", "router two"],
    )  # fmt: skip


def test_the_router_whose_subnet_joins_a_scope() -> None:
    acme, globex = clean()
    plan = edited(acme.plan, "acme-train-control-subnet", subnet_pool="site:SubnetPool/external-pool")
    result = asked("L3-05", full_site(), plan, globex)
    found = only(result)
    assert found.message == (
        "router acme-router: a subnet behind it joins an address scope, so packets are routed without NAT, both ways"
    )
    assert found.witness == (
        "router acme-router", "a subnet behind it joins an address scope", "external network external",
    )  # fmt: skip
    assert (found.verdict, found.specificity, result.count) == (V, 62, 1)


# L3-06.


@cache
def two_back_ends() -> Site:
    """Ceph's router permits everything; the archive's has a table of permits, and neither is tenants' network."""
    site = ceph_site(default_deny=False)
    ceph = site.sharing[-1]
    archive = ceph.model_copy(
        update={"name": "archive", "node": "archive-router", "guards": dict.fromkeys(ceph.guards, True)}
    )
    tor = site.switch["tor-1"]
    port = SwitchPortConfig(port=31, mode="trunk", tagged=((2000, 2001),))
    switches = tuple(
        item.model_copy(update={"ports": (*tor.ports, port)}) if item is tor else item for item in site.switches
    )
    return changed(
        site,
        switches=switches,
        cables=(*site.cables, cable("archive-router:eth0", "tor-1:31")),
        devices=(*site.devices, Device(name="archive-router", serial="SN-archive", role="appliance")),
        sharing=(*site.sharing, archive),
    )


def test_each_back_end_answers_for_its_own_router() -> None:
    result = asked("L3-06", two_back_ends(), clean()[0].plan)
    found = only(result)
    assert found.message == ("the way to the back end ceph is open: tor-1 VLAN 2000 passes ceph-router")
    assert (found.path[-1], result.count, found.specificity) == ("dev:ceph-router", 2, 64)
    assert (found.verdict, found.missing) == (V, ())


def test_a_back_end_of_which_nobody_knows() -> None:
    found = only(asked("L3-06", ceph_site(default_deny=None), clean()[0].plan))
    assert (found.verdict, found.missing) == (N, ("sharing.ceph.guards.default_deny",))
