"""Operators on security groups that name a group instead of a prefix, on names of which there are two, and on names
of nothing."""

from __future__ import annotations

from random import Random

from interlock.resources import Port, Router, RouterInterface, SecurityGroup, SecurityGroupRule
from policies import Verdict
from tests.mutants.operator import Operator, pick, port, port_of, strangers, virtual
from tests.mutants.workspaces import VPodOf, Workspace, at


def _group(pod: VPodOf) -> str:
    """The group of a vPOD's servers."""
    return f"{pod.prefix}-poplar-ssh"


def _let_in(space: Workspace, pod: VPodOf, where: str, group: str, number: int = 9000) -> Workspace:
    rule = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=number, port_max=number, remote_group=group)
    old = space.get(pod.tenant, where, SecurityGroup).rules
    return space.asking(pod.tenant).edit(pod.tenant, where, rules=(*old, rule))


def group_of_another(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, _group(pod), "cloud:SecurityGroup/4711")


def group_of_the_operator(space: Workspace, rng: Random) -> Workspace | None:
    """No plan of a site says who is in it."""
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, _group(pod), "site:SecurityGroup/bastions")


def group_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, _group(pod), _group(pod))


def _with_friend(space: Workspace, pod: VPodOf, friend: Port) -> Workspace:
    group = SecurityGroup(name="friends", project=f"{pod.tenant}-project", rules=())
    wider = space.add(pod.tenant, "friends", group).add(pod.tenant, "friend", friend)
    return _let_in(wider, pod, _group(pod), "friends")


def _friend(space: Workspace, pod: VPodOf, network: str, subnet: str) -> Port:
    """A port of the tenant's that no server has yet."""
    fields = {
        "name": "friend", "network": network, "subnet": f"{network}-subnet", "address": at(subnet, 99),
        "security_groups": ("friends",),
    }  # fmt: skip
    return port(space, pod, "control").model_copy(update=fields)


def member_on_anothers_network(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    pod, other = found
    return _with_friend(space, pod, _friend(space, pod, f"{other.prefix}-control", other.claims.control_subnet))


def member_on_ones_own_network(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return _with_friend(space, pod, _friend(space, pod, f"{pod.prefix}-control", pod.claims.control_subnet))


def api_for_the_management_group(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _let_in(space, pod, f"{pod.prefix}-controller-api", f"{pod.prefix}-controller-mgmt", 8090)


def api_for_the_servers_group(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, f"{pod.prefix}-controller-api", _group(pod), 8090)


# Names.


def one_name_for_two(space: Workspace, rng: Random) -> Workspace | None:
    """The second hides the first: a port of another network under a name that is taken."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    name = port_of(pod, "control")
    return space.add(pod.tenant, name, port(space, pod, "control")).asking(pod.tenant)


def one_name_for_two_kinds(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    router = Router(name="beside", project=f"{pod.tenant}-project")
    return space.add(pod.tenant, f"{pod.prefix}-control", router).asking(pod.tenant)


def interface_on_anothers_router(space: Workspace, rng: Random) -> Workspace | None:
    """By the plan name that the router has in the other plan."""
    found = strangers(space, rng)
    if found is None:
        return None
    pod, other = found
    fields = {"project": f"{pod.tenant}-project", "subnet": f"{pod.prefix}-control-subnet"}
    leg = RouterInterface(router=f"{other.tenant}-router", **fields)
    return space.add(pod.tenant, f"{pod.tenant}-leg", leg).asking(pod.tenant)


def quota_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """Nobody meets by it, but it says how much another tenant may have."""
    found = strangers(space, rng)
    if found is None:
        return None
    tenant, other = found[0].tenant, found[1].tenant
    return space.asking(tenant).edit(tenant, f"{tenant}-quota", project=f"{other}-project")


def a_name_of_its_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    router = Router(name="beside", project=f"{pod.tenant}-project")
    return space.add(pod.tenant, f"{pod.tenant}-beside", router).asking(pod.tenant)


GROUPS = (
    Operator(
        "remote-group-another", "a filter that lets another's security group in",
        group_of_another, group_of_ones_own, "L3-11", ("FACT-01",),
    ),
    Operator(
        "remote-group-members", "a filter that lets in a group with a member on another's network",
        member_on_anothers_network, member_on_ones_own_network, "L3-11", ("ISO-02",),
    ),
    Operator(
        "remote-group-unknown", "a filter that lets in a group of which nobody states the members",
        group_of_the_operator, group_of_ones_own, "L3-11", ("FACT-01",), verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "controller-api-group", "a group beyond the control network may call the controller",
        api_for_the_management_group, api_for_the_servers_group, "SEC-02",
    ),
    Operator(
        "name-twice", "two resources of one kind and name",
        one_name_for_two, a_name_of_its_own, "FACT-01",
    ),
    Operator(
        "name-of-two-kinds", "two resources of two kinds and one name",
        one_name_for_two_kinds, a_name_of_its_own, "FACT-01",
    ),
    Operator(
        "router-by-name", "a subnet behind another tenant's router, by its plan name",
        interface_on_anothers_router, a_name_of_its_own, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "reference-to-nothing", "a quota for another tenant's project",
        quota_of_another, a_name_of_its_own, "FACT-01", verdict=Verdict.NOT_PROVABLE,
    ),
)  # fmt: skip
