"""Unmanaged resources at one stack as planned resources of the same kinds, named `found-…`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network

from interlock.channel.tickets import TICKET, whole
from interlock.provider.actuators.routing import as_rule
from interlock.provider.audit.listing import METADATA, RBAC_KINDS, Raw
from interlock.resources import (
    FlavorAccess,
    FloatingIp,
    Network,
    Port,
    RbacPolicy,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
    SecurityGroup,
    Server,
    ShareAccess,
    StoredCredential,
    Subnet,
    Trunk,
    TrunkSubPort,
    Volume,
)
from interlock.vocabulary.pair_ids import FlavorAccessId, RoleAssignmentId

from .controllers import OF_CONTROLLERS
from .words import NotExpressible, Words, name_of, named

#: One object -> plan names, and the resource under each.
Expressing = Callable[[Words, str, str], Iterator[tuple[str, Resource]]]


def _port(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("Port")[ident]
    if "router" in item["device_owner"]:
        yield from _interface(words, item, name)
        return
    if len(item["fixed_ips"]) != 1:
        raise NotExpressible(f"{ident}: a port of a plan has one address")
    strange = [group for group in item["security_groups"] if not words.has("SecurityGroup", group)]
    for group in strange:
        yield from _group(words, group, name_of(group))
    address = item["fixed_ips"][0]
    network, subnet = (("Network", item["network_id"]), ("Subnet", address["subnet_id"]))
    yield from _beside(words, network, subnet)
    yield (
        name,
        Port.model_validate({
            "name": item["name"] or name,
            "project": words.project(item["project_id"]),
            "network": _called(words, *network),
            "subnet": _called(words, *subnet),
            "address": address["ip_address"],
            "vnic_type": item["binding:vnic_type"],
            "port_security": item["port_security_enabled"],
            "security_groups": [
                name_of(one) if one in strange else words.of("SecurityGroup", one) for one in item["security_groups"]
            ],
            "allowed_address_pairs": [pair["ip_address"] for pair in item["allowed_address_pairs"]],
        }),
    )  # fmt: skip


def _called(words: Words, kind: str, ident: str) -> str:
    """The reference of a planned object, or the name of one that nobody planned."""
    return words.of(kind, ident) if words.has(kind, ident) else name_of(ident)


def _beside(words: Words, *needed: tuple[str, str]) -> Iterator[tuple[str, Resource]]:
    """What stands behind references and in no plan, (kind, id).

    Raises `NotExpressible` for what was not listed, and for what another stack planned: there it is judged.
    """
    for kind, ident in needed:
        if words.has(kind, ident):
            continue
        if ident not in words.found.of(kind) or (kind, ident) in words.planned:
            raise NotExpressible(f"{kind} {ident}")
        yield from RESOURCES_OF[kind](words, ident, name_of(ident))


def _network(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """On one segment: one of several is no network of a plan."""
    item = words.found.of("Network")[ident]
    if item.get("segments"):
        raise NotExpressible(f"{ident}: a network of a plan has one segment")
    yield (
        name,
        Network.model_validate({
            "name": item["name"] or name,
            "project": words.project(item["project_id"]),
            "network_type": item["provider:network_type"],
            "physical_network": item["provider:physical_network"],
            "segmentation_id": item["provider:segmentation_id"],
            "external": item["router:external"],
            "shared": item["shared"],
            "port_security": item["port_security_enabled"],
        }),
    )  # fmt: skip


def _subnet(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """With its network, where nobody planned that either."""
    item = words.found.of("Subnet")[ident]
    network = ("Network", item["network_id"])
    yield from _beside(words, network)
    yield (
        name,
        Subnet.model_validate({
            "name": item["name"] or name,
            "project": words.project(item["project_id"]),
            "network": _called(words, *network),
            "cidr": item["cidr"],
            "gateway": item["gateway_ip"],
            "dhcp": item["enable_dhcp"],
            "pools": [[pool["start"], pool["end"]] for pool in item["allocation_pools"]],
        }),
    )  # fmt: skip


def _volume(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """On a type that is planned: Cinder says a type's name, which is the type's alone on a cloud."""
    item = words.found.of("Volume")[ident]
    kinds = [one for one, said in words.found.of("VolumeType").items() if said["name"] == item["volume_type"]]
    if len(kinds) != 1:
        raise NotExpressible(f"{ident}: of type {item['volume_type']}")
    project = words.project(item["os-vol-tenant-attr:tenant_id"])
    volume_type = words.of("VolumeType", kinds[0])
    yield name, Volume(name=item["name"] or name, project=project, size_gib=item["size"], volume_type=volume_type)


def _server(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """With its ports, and their networks, where no plan has them."""
    item = words.found.of("Server")[ident]
    host, image = item["OS-EXT-SRV-ATTR:host"], item["image"]
    if not host or not image:
        raise NotExpressible(f"{ident}: a server of a plan has a host and an image")
    ports = [("Port", port) for port, said in words.found.of("Port").items() if said["device_id"] == ident]
    yield from _beside(words, *ports)
    yield (
        name,
        Server.model_validate({
            "name": item["name"] or name,
            "project": words.project(item["tenant_id"]),
            "flavor": words.of("Flavor", item["flavor"]["id"]),
            "image": words.of("Image", image["id"]),
            "host": host,
            "ports": [_called(words, *port) for port in ports],
        }),
    )  # fmt: skip


def _group(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """One of others, such as the default group that Neutron gives every port."""
    item = words.found.of("SecurityGroup")[ident]
    names = {ident: name} | words.all("SecurityGroup")
    rules = named([as_rule(dict(rule), names) for rule in item["security_group_rules"]], {})
    said = {"name": item["name"], "project": words.project(item["project_id"]), "rules": rules}
    yield name, SecurityGroup.model_validate(said)


def _interface(words: Words, port: Raw, name: str) -> Iterator[tuple[str, Resource]]:
    """An interface, and the router that has it where no plan does."""
    router, project = str(port["device_id"]), words.project(port["project_id"])
    try:
        has_it = words.of("Router", router)
    except NotExpressible:
        has_it = name_of(router)
        yield from _router(words, router, has_it)
    for number, address in enumerate(port["fixed_ips"]):
        subnet = words.of("Subnet", address["subnet_id"])
        yield f"{name}-{number}", RouterInterface(project=project, router=has_it, subnet=subnet)


def _router(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("Router")[ident]
    gateway = item.get("external_gateway_info") or {}
    external = words.of("Network", gateway["network_id"]) if gateway else None
    project, snat = words.project(item["project_id"]), gateway.get("enable_snat", True)
    yield name, Router(name=item["name"] or name, project=project, external_network=external, snat=snat)


def _right(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("RbacPolicy")[ident]
    kind, to = RBAC_KINDS[item["object_type"]], item["target_tenant"]
    yield (
        name,
        RbacPolicy.model_validate({
            "project": words.project(item["project_id"]),
            "object": words.of(kind, item["object_id"]),
            "action": item["action"],
            "target": to if to == "*" else words.project(to),
        }),
    )  # fmt: skip


def _floating_ip(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("FloatingIp")[ident]
    yield (
        name,
        FloatingIp(
            project=words.project(item["project_id"]),
            external_network=words.of("Network", item["floating_network_id"]),
            address=item["floating_ip_address"],
            port=words.of("Port", item["port_id"]),
        ),
    )


def _trunk(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """With those of its ports that no plan holds, where they lie on networks that this plan can name."""
    item = words.found.of("Trunk")[ident]
    inside = {sub["port_id"]: sub["segmentation_id"] for sub in item["sub_ports"]}
    strange = [port for port in (item["port_id"], *inside) if not words.has("Port", port)]
    for port in strange:
        yield from _port(words, port, name_of(port))
    called = {port: name_of(port) if port in strange else words.of("Port", port) for port in (item["port_id"], *inside)}
    yield (
        name,
        Trunk(
            name=item["name"] or name,
            project=words.project(item["project_id"]),
            port=called[item["port_id"]],
            sub_ports=tuple(TrunkSubPort(port=called[port], vlan=vlan) for port, vlan in inside.items()),
        ),
    )


def _role(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    given = RoleAssignmentId.parse(ident)
    project, user, role = words.of("Project", given.project), words.user(given.user), words.role(given.role)
    yield name, RoleAssignment(project=project, user=user, role=role)


def _flavor_access(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    pair = FlavorAccessId.parse(ident)
    yield name, FlavorAccess(project=words.project(pair.project), flavor=words.of("Flavor", pair.flavor))


def _share_access(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """Of whoever may mount a share besides: at the address, and as if on the network, of those who are planned."""
    item = words.found.of("ShareAccess")[ident]
    share = words.of("Share", item["share_id"])
    planned = (one.resource for one in words.plan.resources if isinstance(one.resource, ShareAccess))
    beside = next((one for one in planned if one.share == share), None)
    if beside is None or item["access_type"] != "ip":
        raise NotExpressible(f"{ident}: nothing says where {item['access_type']} {item['access_to']} would mount it")
    prefix = str(ip_network(item["access_to"], strict=False))
    yield name, beside.model_copy(update={"prefix": prefix, "level": item["access_level"]})


def _stored_credential(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """A planned key that waits for a planned server, or that this has fetched."""
    item = words.found.of("StoredCredential")[ident]
    ticket = whole(item, item[METADATA])
    if ticket is None or not ticket.credential:
        raise NotExpressible(f"{ident}: it does not say which key waits")
    server = str(item["name"]).removeprefix(TICKET)
    project = words.project(words.found.of("Server")[server]["tenant_id"])
    credential, place = words.of("S3Credential", ticket.credential), words.of("Server", server)
    yield name, StoredCredential(project=project, credential=credential, place=place, item=ticket.item)


#: Kinds that others can have at a stack and that a plan can say.
RESOURCES_OF: Mapping[str, Expressing] = {
    "Port": _port, "Router": _router, "RbacPolicy": _right, "FloatingIp": _floating_ip, "RoleAssignment": _role,
    "FlavorAccess": _flavor_access, "SecurityGroup": _group, "Trunk": _trunk, "Network": _network, "Subnet": _subnet,
    "Volume": _volume, "Server": _server, "ShareAccess": _share_access,
    "StoredCredential": _stored_credential, **OF_CONTROLLERS,
}  # fmt: skip
