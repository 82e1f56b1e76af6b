"""Operators on ports, filters and entries from outside."""

from __future__ import annotations

from random import Random

from interlock.planning.plan import Plan
from interlock.resources import (
    FloatingIp,
    Network,
    Port,
    SecurityGroup,
    SecurityGroupRule,
    Subnet,
    Trunk,
    TrunkSubPort,
)
from tests.mutants.operator import Operator, neighbours, network, pick, port, port_of, servers_of, strangers, virtual
from tests.mutants.workspaces import VPodOf, Workspace, at

EXTERNAL = "site:Network/external"

# Ports, filters, entries from outside.


def any_address_at_a_grant(space: Workspace, rng: Random) -> Workspace | None:
    """On the wire of an appliance that lets clients in by their address."""
    pod = pick(rng, [pod for pod in virtual(space) if pod.claims.storage_vip])
    return None if pod is None else _pairs(space, pod, "storage")


def any_address_on_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _pairs(space, pod, "control")


def _pairs(space: Workspace, pod: VPodOf, role: str) -> Workspace:
    name = port_of(pod, role)
    return space.asking(pod.tenant).edit(pod.tenant, name, allowed_address_pairs=("0.0.0.0/0",))


def _let_in(space: Workspace, pod: VPodOf, group: str, prefix: str | None, number: int) -> Workspace:
    rule = SecurityGroupRule(
        direction="ingress", protocol="tcp", port_min=number, port_max=number, remote_prefix=prefix
    )
    old = space.get(pod.tenant, group, SecurityGroup).rules
    return space.asking(pod.tenant).edit(pod.tenant, group, rules=(*old, rule))


def whole_world(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, f"{pod.prefix}-poplar-ssh", None, 8443)


def part_of_the_world(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, f"{pod.prefix}-poplar-ssh", "198.51.100.0/24", 8443)


def halves_of_the_world(space: Workspace, rng: Random) -> Workspace | None:
    """Two prefixes, neither of which is everything."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    half = _let_in(space, pod, f"{pod.prefix}-poplar-ssh", "0.0.0.0/1", 8443)
    return _let_in(half, pod, f"{pod.prefix}-poplar-ssh", "128.0.0.0/1", 8443)


def half_of_the_world(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _let_in(space, pod, f"{pod.prefix}-poplar-ssh", "0.0.0.0/1", 8443)


def controller_api_for_others(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    return _let_in(space, found[0], f"{found[0].prefix}-controller-api", found[1].claims.control_subnet, 8090)


def controller_api_for_its_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _let_in(space, pod, f"{pod.prefix}-controller-api", pod.claims.control_subnet, 8090)


def controller_filter_of_the_tenant(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _owned(space, pod, f"{pod.prefix}-controller-api", f"{pod.tenant}-project")


def controller_port_of_the_tenant(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _owned(space, pod, f"{pod.prefix}-controller-control", f"{pod.tenant}-project")


def _owned(space: Workspace, pod: VPodOf, name: str, project: str) -> Workspace:
    return space.asking(pod.tenant).edit(pod.tenant, name, project=project)


def _floating(space: Workspace, tenant: str, to: str, *, declare: bool) -> Workspace:
    item = FloatingIp(project=f"{tenant}-project", external_network=EXTERNAL, address="192.0.2.77", port=to)
    space = space.add(tenant, f"{tenant}-entry", item)
    plan = space.plan(tenant)
    public = (*plan.public, f"{tenant}-entry") if declare else plan.public
    filters = {item.resource.name: item.resource for item in plan.resources if isinstance(item.resource, SecurityGroup)}
    # Whoever is let in to that server is stated.
    let_in = [rule for group in _groups_of(plan, to) if group in filters for rule in filters[group].rules]
    stated = tuple(dict.fromkeys(rule.remote_prefix for rule in let_in if rule.remote_prefix is not None))
    public_from = plan.public_from | ({f"{tenant}-entry": stated} if declare else {})
    said = {"public": public, "public_from": public_from}
    fields = {name: getattr(plan, name) for name in Plan.model_fields} | said
    return space.with_plan(tenant, Plan(**fields)).asking(tenant)


def _groups_of(plan: Plan, port: str) -> tuple[str, ...]:
    found = plan.by_name[port].resource if port in plan.by_name else None
    return found.security_groups if isinstance(found, Port) else ()


def reached_from_elsewhere(space: Workspace, rng: Random) -> Workspace | None:
    """What is stated, and then a filter for one prefix more."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    stated = _floating(space, pod.tenant, port_of(pod, "control"), declare=True)
    return _let_in(stated, pod, f"{pod.prefix}-poplar-ssh", "192.0.2.128/25", 22)


def entry_to_a_controller(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _floating(space, pod.tenant, f"{pod.prefix}-controller-control", declare=True)


def entry_that_nobody_declares(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _floating(space, pod.tenant, port_of(pod, "control"), declare=False)


def entry_to_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    return None if found is None else _floating(space, found[0].tenant, port_of(found[1], "control"), declare=True)


def entry_that_is_declared(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _floating(space, pod.tenant, port_of(pod, "control"), declare=True)


def _trunk(space: Workspace, pod: VPodOf, sub: Port) -> Workspace:
    """A trunk of the first Poplar server with this sub-port."""
    tenant = pod.tenant
    trunk = Trunk(
        name="trunk",
        project=f"{tenant}-project",
        port=port_of(pod, "control"),
        sub_ports=(TrunkSubPort(port="sub", vlan=7),),
    )
    wider = space.add(tenant, "sub", sub)
    return wider.add(tenant, "trunk", trunk).asking(tenant)


def _sub_port(space: Workspace, pod: VPodOf, **fields: object) -> Port:
    return Port(**(port(space, pod, "storage").model_dump() | {"name": "sub"} | fields))


def sub_port_on_another(space: Workspace, rng: Random) -> Workspace | None:
    """On a network of the tenant's own, with the VLAN of another."""
    found = neighbours(space, rng, among=virtual(space))
    if found is None:
        return None
    pod, tenant, project = found[0], found[0].tenant, f"{found[0].tenant}-project"
    vlan = found[1].claims.storage_vlan
    wire = network(space, pod, "storage").model_copy(update={"name": "more", "segmentation_id": vlan})
    subnet = Subnet(name="more", project=project, network="more", cidr="10.77.0.0/24")
    wider = space.add(tenant, "more", Network(**wire.model_dump())).add(tenant, "more-subnet", subnet)
    sub = _sub_port(space, pod, network="more", subnet="more-subnet", address=at("10.77.0.0/24", 9))
    return _trunk(wider, pod, sub)


def sub_port_on_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    """On the vPOD's own storage network."""
    pod = pick(rng, [pod for pod in virtual(space) if servers_of(space, pod)])
    if pod is None:
        return None
    return _trunk(space, pod, _sub_port(space, pod, address=at(pod.claims.storage_subnet, 240)))


ENTRIES = (
    Operator(
        "address-pair", "any address where a grant goes by address",
        any_address_at_a_grant, any_address_on_ones_own, "L3-10", ("ISO-09",),
    ),
    Operator(
        "filter-world", "a filter that lets the whole world in",
        whole_world, part_of_the_world, "L3-11",
    ),
    Operator(
        "filter-halves", "two filters that let the whole world in together",
        halves_of_the_world, half_of_the_world, "L3-11",
    ),
    Operator(
        "controller-api", "another's servers may call the controller",
        controller_api_for_others, controller_api_for_its_own, "SEC-02",
    ),
    Operator(
        "controller-filter-tenant", "the filter of a controller's API in the tenant's project",
        controller_filter_of_the_tenant, controller_api_for_its_own, "SEC-02",
    ),
    Operator(
        "controller-port-tenant", "a port of a controller in the tenant's project",
        controller_port_of_the_tenant, controller_api_for_its_own, "SEC-02",
    ),
    Operator(
        "floating-controller", "a floating address of a controller",
        entry_to_a_controller, entry_that_is_declared, "L3-08",
    ),
    Operator(
        "floating-undeclared", "a floating address that nobody declares",
        entry_that_nobody_declares, entry_that_is_declared, "EXPO-01",
    ),
    Operator(
        "floating-elsewhere", "a public server that others are let in to than its request states",
        reached_from_elsewhere, entry_that_is_declared, "EXPO-01",
    ),
    Operator(
        "floating-another", "a floating address of another's server",
        entry_to_another, entry_that_is_declared, "L3-08", ("FACT-01",),
    ),
    Operator(
        "trunk-sub-port", "a trunk with a sub-port in another's VLAN",
        sub_port_on_another, sub_port_on_ones_own, "ISO-01", ("ISO-11",),
    ),
)  # fmt: skip
