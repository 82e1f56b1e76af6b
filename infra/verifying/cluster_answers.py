"""Whose ports are in the partitions of GPU clusters, and which are left out: found again from plan and site."""

from __future__ import annotations

from collections.abc import Iterator

from .ground import Json
from .names import DEFAULT_KEY
from .plans import PlanOfStack

#: A port of a node: name, InfiniBand subnet, and GUID, which is empty where nobody states it.
_Port = tuple[str, str, str]


def foreign_ports(plan: PlanOfStack) -> Iterator[str]:
    """A cluster's partitions have ports of its own nodes for that subnet; for storage also those of the appliance."""
    storage = _storage(plan)
    for cluster, hosts in plan.clusters.items():
        for key in plan.keys_of(cluster):
            subnet = key["infiniband"]
            use = "storage" if subnet in storage else "compute"
            own = {guid for host in hosts for _, at, guid in _ports(plan, host, use) if at == subnet}
            if use == "storage" and not key["shared"]:
                own |= {*storage[subnet]["appliance"]}
            members = {member["guid"].lower() for member in key["members"]}
            yield from (f"{guid} in a partition of {cluster} is no port of its nodes" for guid in sorted(members - own))


def left_out(plan: PlanOfStack) -> Iterator[str]:
    """Every compute port of a cluster with partitions for them is a full member of one."""
    storage = _storage(plan)
    for cluster, hosts in plan.clusters.items():
        keys = [key for key in plan.keys_of(cluster) if key["infiniband"] not in storage]
        full = {
            (key["infiniband"], member["guid"].lower())
            for key in keys
            for member in key["members"]
            if member["membership"] == "full" and key["index0"]
        }
        for host in hosts if keys else ():
            ports = _ports(plan, host, "compute")
            if not ports:
                yield f"{host} of {cluster} has no compute port"
            yield from (f"{name} of {host} is left out" for name, *where in ports if tuple(where) not in full)


def without_storage(plan: PlanOfStack) -> Iterator[str]:
    """Every storage port of a cluster's nodes is limited where the appliance is full."""
    storage = _storage(plan)
    for cluster, hosts in plan.clusters.items():
        keys = [key for key in plan.keys_of(cluster) if key["infiniband"] in storage]
        limited = {(key["infiniband"], guid) for key in keys for guid in _members(key, "limited")}
        limited -= {(key["infiniband"], guid) for key in keys for guid in _members(key, "full")}
        for host in hosts:
            ports = [port for port in _ports(plan, host, "storage") if port[1] in storage]
            yield from (f"{name} of {host} hears no storage" for name, *where in ports if tuple(where) not in limited)
        for key in keys:
            wanted, full = storage[key["infiniband"]], _members(key, "full")
            if wanted["access"] == "per-tenant":
                is_heard = full.issuperset(wanted["appliance"])
            else:
                is_heard = key["shared"] and key["key"] & DEFAULT_KEY == wanted["key"]
                is_heard = is_heard and {guid.lower() for guid in key["servers"]} == {*wanted["appliance"]}
            if not is_heard:
                yield f"the appliance is not in the partition of {cluster} on {key['infiniband']}"


def _members(key: Json, membership: str) -> set[str]:
    return {member["guid"].lower() for member in key["members"] if member["membership"] == membership}


def _storage(plan: PlanOfStack) -> dict[str, Json]:
    """InfiniBand subnet -> how clusters reach the appliance on it."""
    subnets = plan.inventory.site["infiniband"]
    return {item["name"]: item["storage"] for item in subnets if item["storage"] is not None}


def _ports(plan: PlanOfStack, host: str, use: str) -> list[_Port]:
    if use == "storage" and not plan.inventory.is_whole(host):
        return []  # A hypervisor's own: it passes on compute ports.
    ports = plan.inventory.gpu_nodes.get(host, ())
    return [(port["name"], port["infiniband"], (port["guid"] or "").lower()) for port in ports if port["use"] == use]
