"""Operators on rights, routers, address scopes and entries from outside."""

from __future__ import annotations

from random import Random
from typing import Literal

from interlock.resources import (
    AddressScope,
    RbacPolicy,
    RoleAssignment,
    Router,
    RouterInterface,
    Subnet,
    SubnetPool,
)
from tests.builders.pod64 import external
from tests.mutants.operator import Operator, pick, strangers, virtual
from tests.mutants.workspaces import OPERATOR, VPodOf, Workspace

EXTERNAL = "site:Network/external"
Action = Literal["access_as_shared", "access_as_external"]


# Rights.


def _right(space: Workspace, pod: VPodOf, to: str, target: str) -> Workspace:
    policy = RbacPolicy(project=f"{pod.tenant}-project", object=to, action="access_as_shared", target=target)
    return space.add(pod.tenant, f"{pod.tenant}-right", policy).asking(pod.tenant)


def right_of_everybody(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _right(space, pod, f"{pod.prefix}-control", "*")


def right_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    return _right(space, found[0], f"{found[0].prefix}-storage", f"cloud:Project/{found[1].tenant}")


def right_seen_by_the_other(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    given = _right(space, found[0], f"{found[0].prefix}-storage", f"cloud:Project/{found[1].tenant}")
    return given.asking(found[1].tenant)


def right_on_a_group(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    return _right(space, found[0], f"{found[0].prefix}-poplar-ssh", f"cloud:Project/{found[1].tenant}")


def right_of_oneself(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _right(space, pod, f"{pod.prefix}-control", f"cloud:Project/{pod.tenant}")


def shared_network(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-control", shared=True)


def _on_external(space: Workspace, rng: Random, action: Action) -> Workspace:
    target = f"cloud:Project/{rng.choice(space.tenants)}"
    policy = RbacPolicy(project="site:Project/controllers", object="external", action=action, target=target)
    return space.add(OPERATOR, "right", policy).asking(OPERATOR)


def ports_on_the_external_network(space: Workspace, rng: Random) -> Workspace | None:
    return _on_external(space, rng, "access_as_shared")


def gateways_on_the_external_network(space: Workspace, rng: Random) -> Workspace | None:
    return _on_external(space, rng, "access_as_external")


# Roles.


def _role(space: Workspace, tenant: str, project: str, role: str) -> Workspace:
    item = RoleAssignment(project=project, user="cloud:User/bob", role=f"cloud:Role/{role}")
    return space.add(tenant, f"{tenant}-bob", item).asking(tenant)


def admin_of_a_project(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    return _role(space, tenant, f"{tenant}-project", "admin")


def member_of_the_operators_project(space: Workspace, rng: Random) -> Workspace | None:
    return _role(space, rng.choice(space.tenants), "site:Project/controllers", "member")


def member_of_another_project(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    return None if found is None else _role(space, found[0].tenant, f"cloud:Project/{found[1].tenant}", "member")


def reader_of_a_project(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    return _role(space, tenant, f"{tenant}-project", "reader")


# Routers and scopes.


def _interface(space: Workspace, tenant: str, subnet: str) -> Workspace:
    item = RouterInterface(project=f"{tenant}-project", router=f"{tenant}-router", subnet=subnet)
    return space.add(tenant, f"{tenant}-way-in", item).asking(tenant)


def interface_on_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    return None if found is None else _interface(space, found[0].tenant, f"{found[1].prefix}-control-subnet")


def interface_on_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _interface(space, pod.tenant, f"{pod.prefix}-storage-subnet")


def interface_of_two_projects(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    names = space.named(tenant, RouterInterface)
    return space.asking(tenant).edit(tenant, rng.choice(names), project="site:Project/controllers")


def in_the_external_scope(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    return space.asking(tenant).edit(tenant, _behind_router(space, tenant), subnet_pool="site:SubnetPool/external-pool")


def in_a_scope_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    """No gateway, so that a scope of the tenant's own decides nothing."""
    tenant = rng.choice(space.tenants)
    scope = AddressScope(name=f"{tenant}-scope")
    pool = SubnetPool(name=f"{tenant}-pool", address_scope=f"{tenant}-scope", prefixes=("10.0.0.0/8",))
    owned = space.add(tenant, f"{tenant}-scope", scope).add(tenant, f"{tenant}-pool", pool)
    inside = owned.edit(tenant, _behind_router(space, tenant), subnet_pool=f"{tenant}-pool")
    return inside.edit(tenant, f"{tenant}-router", external_network=None).asking(tenant)


def _with_subnet(space: Workspace, rng: Random, cidr: str) -> Workspace:
    """One more subnet on a network behind a router whose gateway goes by a scope of IPv4."""
    tenant = rng.choice(space.tenants)
    wire = space.get(tenant, _behind_router(space, tenant), Subnet).network
    project = f"{tenant}-project"
    subnet = Subnet(name="beside", project=project, network=wire, cidr=cidr)
    way = RouterInterface(project=project, router=f"{tenant}-router", subnet="beside")
    return space.add(tenant, "beside", subnet).add(tenant, "beside-way", way).asking(tenant)


def ipv6_behind_a_gateway(space: Workspace, rng: Random) -> Workspace | None:
    return _with_subnet(space, rng, "2001:db8:77::/64")


def ipv4_behind_a_gateway(space: Workspace, rng: Random) -> Workspace | None:
    return _with_subnet(space, rng, "10.77.0.0/24")


def _outside(space: Workspace, cidr: str) -> Workspace:
    """One more subnet outside, in the scope of the first, by the operator's own plan."""
    first = space.get(OPERATOR, "external-subnet", Subnet)
    more = Subnet(name="outside-2", network=first.network, cidr=cidr, subnet_pool=first.subnet_pool)
    return space.add(OPERATOR, "outside-2", more).asking(OPERATOR)


def ipv6_outside_beside_a_scope(space: Workspace, _: Random) -> Workspace | None:
    return _outside(space, "2001:db8:99::/64")


def ipv4_outside_in_the_scope(space: Workspace, _: Random) -> Workspace | None:
    return _outside(space, "198.51.100.0/24")


def _behind_router(space: Workspace, tenant: str) -> str:
    return space.get(tenant, space.named(tenant, RouterInterface)[0], RouterInterface).subnet


def scope_for_everybody(space: Workspace, _: Random) -> Workspace | None:
    return space.asking(OPERATOR).edit(OPERATOR, "external-scope", shared=True)


def scope_of_the_operators_own(space: Workspace, _: Random) -> Workspace | None:
    return space.asking(OPERATOR).add(OPERATOR, "inner-scope", AddressScope(name="inner-scope"))


def unfiltered(space: Workspace, rng: Random) -> Workspace | None:
    return space.with_site(external=external(address_scope=None)).asking(rng.choice(space.tenants))


def unfiltered_without_gateways(space: Workspace, rng: Random) -> Workspace | None:
    shut = space
    for tenant in space.tenants:
        for name in space.named(tenant, Router):
            shut = shut.edit(tenant, name, external_network=None)
    return shut.with_site(external=external(address_scope=None)).asking(rng.choice(space.tenants))


RIGHTS = (
    Operator(
        "rbac-everybody", "a right to plug in for everybody",
        right_of_everybody, right_of_oneself, "ISO-24", ("ISO-01",),
    ),
    Operator(
        "rbac-one", "a right to plug in for one other project",
        right_of_another, right_of_oneself, "ISO-25", ("ISO-01",),
    ),
    Operator(
        "rbac-given", "a right to plug in, seen by whoever was given it",
        right_seen_by_the_other, right_of_oneself, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "rbac-group", "another may use a security group",
        right_on_a_group, right_of_oneself, "ISO-25",
    ),
    Operator(
        "network-shared", "a network that is shared",
        shared_network, right_of_oneself, "ISO-24", ("ISO-01",),
    ),
    Operator(
        "rbac-external", "a right to ports on the external network",
        ports_on_the_external_network, gateways_on_the_external_network, "ISO-25", ("ISO-02",),
    ),
    Operator(
        "role-admin", "a tenant's user is admin",
        admin_of_a_project, reader_of_a_project, "AUTH-01",
    ),
    Operator(
        "role-operator", "a tenant's user in the operator's project",
        member_of_the_operators_project, reader_of_a_project, "ISO-05", ("ISO-06",),
    ),
    Operator(
        "role-another", "a tenant's user in another's project",
        member_of_another_project, reader_of_a_project, "AUTH-01",
    ),
    Operator(
        "router-two", "a router with an interface on another's subnet",
        interface_on_another, interface_on_ones_own, "L3-01", ("L3-02",),
    ),
    Operator(
        "interface-project", "an interface of another project",
        interface_of_two_projects, interface_on_ones_own, "L3-02",
    ),
    Operator(
        "scope-joined", "a subnet in the external network's scope",
        in_the_external_scope, in_a_scope_of_ones_own, "L3-05", ("ISO-02",),
    ),
    Operator(
        "scope-shared", "the external scope is shared",
        scope_for_everybody, scope_of_the_operators_own, "L3-05", ("ISO-02",),
    ),
    Operator(
        "scope-ipv6-inside", "a subnet of IPv6 behind a gateway that a scope for IPv4 filters",
        ipv6_behind_a_gateway, ipv4_behind_a_gateway, "L3-05", ("ISO-02",),
    ),
    Operator(
        "scope-ipv6-outside", "a subnet of IPv6 outside, in a scope for IPv4",
        ipv6_outside_beside_a_scope, ipv4_outside_in_the_scope, "L3-05", ("ISO-02",),
    ),
    Operator(
        "gateway-unfiltered", "an external network without a scope",
        unfiltered, unfiltered_without_gateways, "ISO-02", ("AUTH-01",),
    ),
)  # fmt: skip
