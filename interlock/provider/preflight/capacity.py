"""Is there room: hosts up, virtual functions free, quotas of the operator's projects large enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from interlock.provider.actuators.compute import KEY
from interlock.provider.actuators.quotas import QUOTAS
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import owner_of, split
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, Aggregate, Keypair, Port, Resource, Server, is_site_reference
from interlock.vocabulary.markers import KeypairName

from .faults import Fault, everything, planned
from .host_room import flavor_fields

#: Kind -> the limit (a field of `Quota`) of which each object uses one.
_COUNTED = {
    "Server": "instances",
    "Network": "networks",
    "Subnet": "subnets",
    "Port": "ports",
    "SwitchPort": "ports",
    "Router": "routers",
    "SecurityGroup": "security_groups",
    "FloatingIp": "floating_ips",
    "Volume": "volumes",
}

#: Limit -> collection of Neutron in which what is ours is counted.
_LISTS = {
    "networks": "networks",
    "subnets": "subnets",
    "ports": "ports",
    "routers": "routers",
    "security_groups": "security-groups",
    "floating_ips": "floatingips",
}


def hosts(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Hosts of servers and aggregates that Nova does not know, or that are disabled or down."""
    wanted = {server.host for _, server in planned(admission, Server)}
    wanted |= {host for _, group in planned(admission, Aggregate) for host in group.hosts}
    if not wanted:
        return
    services = cloud.api("compute").get("/os-services", binary="nova-compute")["services"]
    known = {service["host"]: service for service in services}
    for host in sorted(wanted):
        service = known.get(host)
        if service is None:
            yield Fault(
                "host",
                f"Nova knows no host {host}",
                f"it knows {', '.join(sorted(known))}; correct the site file",
            )
        elif service["status"] != "enabled" or service["state"] != "up":
            reason = f": {service['disabled_reason']}" if service.get("disabled_reason") else ""
            state = f"{service['status']} and {service['state']}{reason}"
            yield Fault("host", f"host {host} is {state}", "enable it, or start nova-compute there")


def virtual_functions(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Hosts on which fewer virtual functions are left than the plan's servers there need."""
    direct = {name for name, port in planned(admission, Port) if port.vnic_type == "direct"}
    needed: Counter[str] = Counter()
    for _, server in planned(admission, Server):
        needed[server.host] += sum(1 for port in server.ports if port in direct)
    if not +needed:
        return
    for host, count in sorted((+needed).items()):
        has = admission.virtual_functions.get(host)
        others = 0 if has is None else _used_by_others(cloud, admission, host)
        if has is not None and count + others > has:
            yield Fault(
                "virtual functions",
                f"host {host} has {has} virtual functions: {others} are used by others, the plan needs {count}",
                "free some, or lock the servers to other hosts",
            )


def _used_by_others(cloud: Cloud, admission: Admission, host: str) -> int:
    # Neutron filters by host, which only an administrator sees, and not by kind of port.
    fields = ["description", "binding:vnic_type"]
    ports = cloud.api("network").items("/ports", "ports", fields=fields, **{"binding:host_id": host})
    return sum(
        1
        for port in ports
        if port["binding:vnic_type"] == "direct" and owner_of(split(port["description"])[1]) != admission.owner
    )


def quotas(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Limits of projects that this plan does not make itself: the controllers' and the credential's own."""
    for project, name, needed in _projects(cloud, admission):
        have = _ours(cloud, admission, project, needed)
        for limit, used, which in _usage(cloud, project, needed):
            others = used - have[which]
            if 0 <= limit < needed[which] + others:
                yield Fault(
                    "quota",
                    f"project {name} ({project}) may have {limit} {which}: others use {others}, "
                    f"the plan needs {needed[which]}",
                    f"raise {which} of that project to {needed[which] + others} or more",
                )


def key_pairs(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Key pairs belong to users: those of every tenant lie with the operator's, whose limit is Nova's (usually 100)."""
    needed = sum(1 for _ in planned(admission, Keypair))
    if not needed:
        return
    api, login = cloud.api("compute"), cloud.login
    limit = api.get(f"/os-quota-sets/{login.project}", user_id=login.user)["quota_set"]["key_pairs"]
    names = [str(item["keypair"]["name"]) for item in api.items("/os-keypairs", "keypairs")]
    missing = needed - sum(1 for name in names if KeypairName.parse(name).owner == admission.owner)
    if missing > 0 and 0 <= limit < len(names) + missing:
        yield Fault(
            "quota",
            f"user {login.user} of cloud {cloud.name!r} may have {limit} key pairs and has {len(names)}: "
            f"the plan needs {missing} more",
            f"raise key_pairs of its project {login.project} to {len(names) + missing} or more: each tenant has some",
        )


def _projects(cloud: Cloud, admission: Admission) -> Iterator[tuple[str, str, Counter[str]]]:
    """(uuid, name, what the plan needs there)."""
    needs: dict[str | None, Counter[str]] = {}
    for _, resource in everything(admission):
        if resource.KIND in _COUNTED and hasattr(resource, "project"):
            needs.setdefault(resource.project, Counter()).update(_needs(cloud, admission, resource))
    for reference, needed in needs.items():
        if reference is None:
            yield cloud.login.project, "of the credential", needed
        elif is_site_reference(reference):
            try:
                yield site_object(cloud, admission, *parts(reference)), reference, needed
            except Failure:
                continue  # told by `referred`


def _needs(cloud: Cloud, admission: Admission, resource: Resource) -> Counter[str]:
    needed = Counter({_COUNTED[resource.KIND]: 1})
    if isinstance(resource, Server):
        flavor = flavor_fields(cloud, admission, resource.flavor)
        needed.update({"cores": flavor["vcpus"], "ram_mib": flavor["ram_mib"]} if flavor else {})
    return needed


def _usage(cloud: Cloud, project: str, needed: Counter[str]) -> Iterator[tuple[int, int, str]]:
    """(limit, used, field of `Quota`) for what is needed."""
    paths = {
        "compute": (f"/os-quota-sets/{project}/detail", "quota_set", "in_use", {}),
        "network": (f"/quotas/{project}/details", "quota", "used", {}),
        "block-storage": (f"/os-quota-sets/{project}", "quota_set", "in_use", {"usage": "True"}),
    }
    for service in sorted({QUOTAS[which][0] for which in needed}):
        path, key, used, query = paths[service]
        answer = cloud.api(service).get(path, **query)[key]
        for which in sorted(needed):
            where, theirs = QUOTAS[which]
            if where == service:
                yield answer[theirs]["limit"], answer[theirs][used], which


def _ours(cloud: Cloud, admission: Admission, project: str, needed: Counter[str]) -> Counter[str]:
    """What of this stack is there already, so that it is not counted twice."""
    have: Counter[str] = Counter()
    for which in needed:
        if which in _LISTS:
            path = _LISTS[which]
            items = cloud.api("network").items(
                f"/{path}", path.replace("-", "_"), project_id=project, fields=["description"]
            )
            have[which] = sum(1 for item in items if owner_of(split(item["description"])[1]) == admission.owner)
    if needed["instances"]:
        servers = cloud.api("compute").items("/servers/detail", "servers", all_tenants=1, project_id=project)
        for server in servers:
            if owner_of(server["metadata"].get(KEY, "")) == admission.owner:
                flavor = server["flavor"]
                have.update({"instances": 1, "cores": flavor["vcpus"], "ram_mib": flavor["ram"]})
    return have
