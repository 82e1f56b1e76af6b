"""What is read of a plan of a few resources: who controls servers, subnets that no scope tells apart, whole hosts."""

from __future__ import annotations

import pytest

from interlock.planning.plan import Component, ComponentType, Plan, Planned
from interlock.resources import (
    AddressScope,
    BareMetalServer,
    Image,
    Keypair,
    Network,
    Project,
    Resource,
    RoleAssignment,
    Server,
    ServiceUser,
    Subnet,
    SubnetPool,
    Volume,
)
from interlock.vocabulary.references import OPERATOR_USER
from policies.facts.kinds import ServerFact
from policies.facts.plan import plan_facts
from policies.facts.reader import PlanReader
from tests.builders.pod64 import owner_of, ssh_key

OPERATORS = "site:Project/operator"


def planned(
    *resources: tuple[str, Resource], components: tuple[tuple[str, ComponentType], ...] = (), **fields: object
) -> Plan:
    """acme's plan of these resources: each of them is in the component that is called like it, or else in `acme`."""
    known = {name for name, _ in components}
    items = tuple(
        Planned(name=name, component=name if name in known else "acme", resource=item) for name, item in resources
    )
    whole = {
        "site": "s", "stack": "acme", "tenant": "acme", "owner": owner_of("acme"), "site_owner": owner_of("s"),
        "site_hash": "", "request_hash": "", "resources": items,
        "components": (
            Component(name="acme", type="TenantProject"),
            *(Component(name=name, type=kind, parent="acme") for name, kind in components),
        ),
    }  # fmt: skip
    return Plan.model_validate(whole | fields)


def server(project: str = "project", **fields: object) -> Server:
    """A virtual server of an image that the plan does not make."""
    known = {"name": "srv", "project": project, "flavor": "f", "image": "site:Image/i", "host": "h", "ports": ()}
    return Server.model_validate(known | fields)


def metal(node: str) -> BareMetalServer:
    """A whole host."""
    return BareMetalServer(name=node, project="project", node=node, image="site:Image/i", ports=())


PROJECT = ("project", Project(name="project"))
KEY = ("key", Keypair(name="key", public_key=ssh_key("acme")))
IMAGE = ("image", Image(name="image", file="i.raw", sha512="0" * 128))


def role(user: str = "cloud:User/alice", project: str = OPERATORS) -> tuple[str, Resource]:
    """A role on a project."""
    return "role", RoleAssignment(project=project, user=user, role="member")


# Who controls a server.


@pytest.mark.parametrize(
    ("item", "others", "expected"),
    [
        (server(), (), {"acme"}),
        (server(OPERATORS), (), {"op"}),
        (server("site:Network/n"), (), {"foreign"}),
        # A key, an image or a role of the plan's owner: each of them is enough.
        (server(OPERATORS, keypair="key"), (KEY,), {"op", "acme"}),
        (server(OPERATORS, image="image"), (IMAGE,), {"op", "acme"}),
        (server(OPERATORS), (role(),), {"op", "acme"}),
        (server(OPERATORS), (KEY, IMAGE), {"op"}),
        # The operator's own role, and a role on another project, are none.
        (server(OPERATORS), (role(OPERATOR_USER),), {"op"}),
        (server(OPERATORS), (role(project="project"),), {"op"}),
        # Somebody's key that the plan does not tell of, or what is no key: a stranger may enter.
        (server(keypair="unknown"), (), {"acme", "foreign"}),
        (server(keypair="image"), (IMAGE,), {"acme", "foreign"}),
        (server(keypair="key"), (KEY,), {"acme"}),
        (server(OPERATORS, keypair="unknown"), (role(),), {"op", "acme", "foreign"}),
    ],
)
def test_who_controls_a_server(item: Server, others: tuple[tuple[str, Resource], ...], expected: set[str]) -> None:
    (found,) = plan_facts(planned(PROJECT, *others, ("srv", item))).servers
    assert found.labels == expected


@pytest.mark.parametrize(
    ("whose", "of", "expected"),
    [
        (OPERATORS, "VipuController", True),
        (OPERATORS, "PoplarServer", False),
        (OPERATORS, None, False),
        ("project", "VipuController", False),
    ],
)
def test_what_is_a_controller(whose: str, of: ComponentType | None, expected: bool) -> None:
    """It is the operator's, and a part of the component of one; a component that is not in the plan is of no type."""
    items = (PROJECT, ("srv", server(whose)))
    plan = planned(*items, components=(("srv", of),) if of else ())
    if of is None:
        plan = planned(resources=tuple(item.model_copy(update={"component": "gone"}) for item in plan.resources))
    (found,) = plan_facts(plan).servers
    assert found.is_controller is expected


def test_owners_of_references() -> None:
    reader = PlanReader(planned(PROJECT, KEY))
    assert [reader.owner_of(name) for name in (None, OPERATORS, "project", "key", "gone", "")] == [
        "op", "op", "acme", "foreign", "foreign", "foreign",
    ]  # fmt: skip
    assert [reader.is_own(name, Keypair) for name in ("key", "project", "gone", None)] == [True, False, False, False]


# Subnets of an external network.


def of(kind: type[Resource], name: str, **fields: object) -> tuple[str, Resource]:
    """A resource by its name."""
    return name, kind.model_validate({"name": name} | fields)


OUTSIDE = of(Network, "out", network_type="flat", physical_network="external", external=True)
INSIDE = of(Network, "in", network_type="vlan", physical_network="fabric", segmentation_id=7)
SCOPES = (of(AddressScope, "four"), of(AddressScope, "six", ip_version=6))
POOLS = (
    of(SubnetPool, "pool4", address_scope="four", prefixes=("192.0.2.0/24",)),
    of(SubnetPool, "pool6", address_scope="six", prefixes=("2001:db8::/32",)),
    of(SubnetPool, "pool-of-none", address_scope="site:AddressScope/outside", prefixes=()),
)


def subnet(cidr: str = "192.0.2.0/24", pool: str | None = None, network: str = "out") -> tuple[str, Resource]:
    """One subnet, of the external network."""
    return of(Subnet, f"{network}-{cidr}-{pool}", network=network, cidr=cidr, subnet_pool=pool)


FOUR, SIX = "192.0.2.0/24", "2001:db8::/64"


@pytest.mark.parametrize(
    ("scopes", "cidr", "pool", "expected"),
    [
        # Without any scope in the plan the site's word decides, which is about IPv4 alone.
        ((), FOUR, None, False), ((), SIX, None, True),
        # Beside a scope, a subnet in none of its pools is in no scope.
        (SCOPES, FOUR, None, True), (SCOPES, SIX, None, True),
        # A scope holds addresses of one family.
        (SCOPES, FOUR, "pool4", False), (SCOPES, SIX, "pool6", False),
        (SCOPES, FOUR, "pool6", True), (SCOPES, SIX, "pool4", True),
        # A pool, or a scope, that is on the cloud already is not looked into.
        (SCOPES, FOUR, "site:SubnetPool/p", False), (SCOPES, SIX, "pool-of-none", False),
    ],
)  # fmt: skip
def test_subnets_whose_packets_no_scope_tells_apart(
    scopes: tuple[tuple[str, Resource], ...], cidr: str, pool: str | None, expected: bool
) -> None:
    """After one of another network, which is not asked about."""
    other, item = subnet(SIX, network="in"), subnet(cidr, pool)
    facts = plan_facts(planned(OUTSIDE, INSIDE, *scopes, *POOLS, other, item))
    assert [str(scope) for scope in facts.open_scopes] == ([f"subnet {item[0]}"] if expected else [])


def test_scopes_and_pools_that_every_project_may_use() -> None:
    plan = planned(
        of(AddressScope, "a", shared=True), of(AddressScope, "b"),
        of(SubnetPool, "c", address_scope="a", prefixes=(), shared=True),
        of(SubnetPool, "d", address_scope="a", prefixes=()),
    )  # fmt: skip
    assert [str(scope) for scope in plan_facts(plan).open_scopes] == ["address scope a", "subnet pool c"]


# Whole hosts of vPODs.


def test_a_vpods_hosts_are_those_that_it_takes_whole() -> None:
    base = planned(components=(("train", "VirtualPod"), ("serve", "VirtualPod"), ("files", "Share")))
    items = [("a", "train", metal("h1")), ("b", "serve", metal("h2")), ("c", "train", metal("h0"))]
    virtual = Planned(name="d", component="train", resource=server(host="h3"), vpod="train")
    whole = [Planned(name=name, component=vpod, resource=item, vpod=vpod) for name, vpod, item in items]
    plan = planned(components=(), resources=(PROJECT_ITEM, *whole, virtual))
    plan = Plan(**{name: getattr(plan, name) for name in Plan.model_fields} | {"components": base.components})
    assert {item.name: item.hosts for item in plan_facts(plan).vpods} == {"train": ("h0", "h1"), "serve": ("h2",)}


def test_of_a_vpod_that_is_released_there_is_nothing_to_prove() -> None:
    """Volumes and who owns buckets are left. With anything else, or with nothing at all, it is one, and judged."""
    left = [
        ("v", Volume(name="v", project="project", size_gib=1, volume_type="t", on_delete="erase")),
        ("u", ServiceUser(name="u", domain="d", project="project")),
    ]
    base = planned(components=(("train", "VirtualPod"),))
    for more, found in (((), []), ((("h", metal("h1")),), ["train"])):
        items = [Planned(name=name, component="train", resource=item, vpod="train") for name, item in (*left, *more)]
        plan = base.model_copy(update={"resources": (PROJECT_ITEM, *items)})
        assert [item.name for item in plan_facts(plan).vpods] == found
    assert [item.name for item in plan_facts(base).vpods] == ["train"]


PROJECT_ITEM = Planned(name="project", component="acme", resource=Project(name="project"))


def test_facts_are_found_by_their_type() -> None:
    facts = plan_facts(planned(PROJECT, KEY, IMAGE, ("srv", server()), ("h", metal("h"))))
    assert [type(item) for item in facts.servers] == [ServerFact, ServerFact]
    assert [item.name for item in facts.servers] == ["srv", "h"]
    assert [item.is_bare_metal for item in facts.servers] == [False, True]
    assert ([item.name for item in facts.keypairs], [item.name for item in facts.images]) == (["key"], ["image"])
