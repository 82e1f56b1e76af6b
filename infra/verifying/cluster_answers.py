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
    yield from _perhaps_anybodys(plan, storage)


def _perhaps_anybodys(plan: PlanOfStack, storage: dict[str, Json]) -> Iterator[str]:
    """Outside of clusters: members that no node is stated to have, while a port on that subnet has no GUID stated."""
    ports = [(port["infiniband"], port["guid"]) for node in plan.inventory.gpu_nodes.values() for port in node]
    stated = {guid.lower() for _, guid in ports if guid is not None}
    unstated = {subnet for subnet, guid in ports if guid is None}
    for key in plan.keys_outside:
        subnet = key["infiniband"]
        known = stated | {*(storage[subnet]["appliance"] if subnet in storage and not key["shared"] else ())}
        strange = {member["guid"].lower() for member in key["members"]} - known
        yield from (f"{guid} on {subnet} may be any node's" for guid in sorted(strange) if subnet in unstated)


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
        for name, network in plan.networks_of(cluster, "roce").items():
            for host in dict.fromkeys(hosts):
                yield from _rails_left_out(plan, host, name, network)


def _rails_left_out(plan: PlanOfStack, host: str, name: str, network: Json) -> Iterator[str]:
    """Every rail of a node is behind a switch port in the RoCE network, and as many ports are attached there."""
    known = plan.inventory.hosts.get(host, {"interfaces": {}})
    rails = known["interfaces"].get(network["physical_network"], ())
    if not rails:
        yield f"{host} has no rail on {network['physical_network']}"
    set_there = {
        item["interface"]
        for item in plan.all("SwitchPort").values()
        if (item["device"], item["network"], item["vlan"]) == (host, name, network["segmentation_id"])
    }
    yield from (f"{rail} of {host} is not in {name}" for rail in rails if rail not in set_there)
    ports = (port for server in plan.servers.values() if server["host"] == host for port in plan.ports_of(server))
    attached = [port for port in ports if port in plan.all("Port") and plan.all("Port")[port]["network"] == name]
    if len(attached) < len(rails):
        yield f"{host} has {len(attached)} ports in {name}"


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
    """Ports of a node for one use; those for storage stay the hypervisor's where there is one."""
    is_kept = use == "storage" and not plan.inventory.is_whole(host)
    ports = plan.inventory.gpu_nodes.get(host, ()) if not is_kept else ()
    return [(port["name"], port["infiniband"], (port["guid"] or "").lower()) for port in ports if port["use"] == use]
