"""Unmanaged resources: orphans with a marker of the site, and objects of others in its projects, networks and pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from interlock.provider.markers import CARRIERS, owner_of, split
from interlock.vocabulary.markers import Marker
from interlock.vocabulary.pair_ids import FlavorAccessId, RoleAssignmentId

from .listing import RBAC_KINDS, Listed, Raw


@dataclass(frozen=True)
class SegmentPool:
    """Segment ids that only locks give out, inclusive ranges."""

    name: str
    network_type: str
    #: Empty for overlays, whose ids count on the whole cloud.
    physical_networks: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]

    def holds(self, segment: Raw) -> bool:
        """True if a segment, as Neutron shows it, is one of these."""
        ident, wire = segment["provider:segmentation_id"], segment["provider:physical_network"]
        if segment["provider:network_type"] != self.network_type or ident is None:
            return False
        here = not self.physical_networks or wire in self.physical_networks
        return here and any(first <= ident <= last for first, last in self.ranges)


@dataclass(frozen=True)
class Territory:
    """What is a site's own, by the ids that its planned objects really have."""

    #: Owner id -> stack; the owner ids of all locks.
    stacks: Mapping[str, str]
    #: Owner id -> (kind, plan name) of everything planned.
    planned: Mapping[str, frozenset[tuple[str, str]]]
    #: Kind -> id -> stack, of every planned object that is there.
    known: Mapping[str, Mapping[str, str]]
    #: Ids of planned networks that are for everybody.
    open_networks: frozenset[str]
    hosts: frozenset[str]
    pools: tuple[SegmentPool, ...]

    def of(self, kind: str) -> Mapping[str, str]:
        """Id -> stack."""
        return self.known.get(kind, {})

    @cached_property
    def stack_of(self) -> Mapping[str, str]:
        """Id of anything planned -> stack."""
        return {ident: stack for found in self.known.values() for ident, stack in found.items()}


@dataclass(frozen=True)
class UnmanagedResource:
    """One object, or right, that no plan holds."""

    kind: str
    id: str
    name: str
    #: True if it is ours by its marker.
    orphan: bool
    #: The stack that it concerns.
    stack: str
    why: str
    hint: str

    def __str__(self) -> str:
        return " ".join(word for word in (self.kind, self.name, f"({self.id})") if word)


#: Visibility of an image -> who else sees it. A snapshot of Cinder's is seen in its project alone: it has no such word.
SEEN_BY: Mapping[str, str] = {
    "public": "public: every project boots and reads it",
    "community": "community: every project that knows its id boots and reads it",
    "shared": "shared: its project may give it to any other",
    "private": "private: nobody else sees it",
}

Look = Callable[[Territory, Listed], Iterator[UnmanagedResource]]

#: What to do about what somebody else made.
BY_HAND = "find out who made it; remove it, or put it into a request or the site file"


def unmanaged(territory: Territory, found: Listed) -> list[UnmanagedResource]:
    """Everything that no plan holds, each once, by the look that says most of it."""
    first: dict[tuple[str, str], UnmanagedResource] = {}
    for look in LOOKS:
        for resource in look(territory, found):
            first.setdefault((resource.kind, resource.id), resource)
    return sorted(first.values(), key=lambda resource: (resource.stack, resource.kind, resource.name, resource.id))


def _orphans(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """With a marker of a stack of the site, and not in its plan."""
    for kind, ident, mark in found.markers:
        said = Marker.parse(mark)
        stack = territory.stacks.get(said.owner)
        if stack is None or (kind, said.name) in territory.planned[said.owner]:
            continue
        carrier = CARRIERS[kind]
        why = f"it belongs to {stack}: {mark} in its {carrier.field}, which can be written by {carrier.writers}"
        hint = (
            f"run `pulumi up` on {stack}, which deletes what its state holds; what a killed run made and no state "
            "knows: put it back into the request, `up` adopts it, take it out again, `up` deletes it"
        )
        yield UnmanagedResource(kind, ident, said.name, True, stack, f"{why}; its plan has no such object", hint)


def _foreign(territory: Territory, kind: str, item: Raw, stack: str, why: str) -> Iterator[UnmanagedResource]:
    """Unless it is planned, or ours by its marker."""
    ident = str(item.get("id") or "")
    if ident not in territory.of(kind) and _owner(item) not in territory.stacks:
        yield UnmanagedResource(kind, ident, str(item.get("name") or ""), False, stack, why, BY_HAND)


def _owner(item: Raw) -> str:
    """The owner id in a marker, wherever the kind carries it."""
    metadata = item.get("metadata") or {}
    texts = (item.get("description"), metadata.get("interlock"), split(item.get("name"))[1])
    return next((owner for text in texts if text and (owner := owner_of(text))), "")


def _segments(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Networks on ids of our pools; those in a project of ours concern its stack."""
    projects = territory.of("Project")
    for item in found.of("Network").values():
        stack = projects.get(item["project_id"], "")
        for segment in item.get("segments") or (item,):
            for pool in territory.pools:
                if pool.holds(segment):
                    where = segment["provider:physical_network"] or segment["provider:network_type"]
                    what = f"{where} {segment['provider:segmentation_id']}"
                    yield from _foreign(
                        territory, "Network", item, stack, f"its segment, {what}, is of the pool {pool.name}"
                    )


#: Ports that Neutron makes by itself for a network that it serves.
_NEUTRONS_OWN = ("network:dhcp", "network:distributed", "network:ha_router_replicated_interface")


def _plugged(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Ports on our networks, those of routers too."""
    networks = territory.of("Network")
    interfaces = territory.of("RouterInterface")
    for item in found.of("Port").values():
        stack = networks.get(item["network_id"])
        closed = item["network_id"] not in territory.open_networks
        planned = item["id"] in interfaces or item["device_owner"] in _NEUTRONS_OWN or _serves_a_node(found, item)
        if stack is not None and closed and not planned:
            what = f"router {item['device_id']} has it" if "router" in item["device_owner"] else "it is plugged in"
            network = found.of("Network").get(item["network_id"], {}).get("name", item["network_id"])
            yield from _foreign(territory, "Port", item, stack, f"{what} on network {network}")


def _hosted(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Servers on our hosts; those in a project of ours concern its stack."""
    projects = territory.of("Project")
    for item in found.of("Server").values():
        host = item.get("OS-EXT-SRV-ATTR:host")
        if host in territory.hosts:
            stack = projects.get(item["tenant_id"], "")
            yield from _foreign(territory, "Server", item, stack, f"it runs on host {host} of the site")


#: What Ironic calls the owner of a port on which it deploys or cleans a node, whose uuid is the port's device.
_IRONICS = "baremetal:none"


def _serves_a_node(found: Listed, port: Raw) -> bool:
    """True of Ironic's own port on a network that the node itself names for being deployed or cleaned on."""
    node = found.of("BareMetalNode").get(port["device_id"]) if port["device_owner"] == _IRONICS else None
    return node is not None and port["network_id"] in node["driver_info"].values()


def _deployed(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Who has a whole host of ours in Ironic."""
    for node in found.of("BareMetalNode").values():
        ident = node["instance_uuid"]
        if node["name"] in territory.hosts and ident:
            allocation = found.of("BareMetalServer").get(ident, {})
            item = {"id": ident, "name": node["name"], "metadata": allocation.get("extra")}
            yield from _foreign(territory, "BareMetalServer", item, "", f"it has host {node['name']} of the site")


#: Kinds that lie in a project -> member that names it.
_IN_PROJECTS: Mapping[str, str] = {
    "Network": "project_id",
    "Subnet": "project_id",
    "Router": "project_id",
    "SecurityGroup": "project_id",
    "Port": "project_id",
    "FloatingIp": "project_id",
    "Trunk": "project_id",
    "Server": "tenant_id",
    "Volume": "os-vol-tenant-attr:tenant_id",
    "VolumeSnapshot": "os-extended-snapshot-attributes:project_id",
    "Image": "owner",
    "Share": "project_id",
}


def _in_projects(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Anything in a project of ours."""
    projects = territory.of("Project")
    for kind, member in _IN_PROJECTS.items():
        for item in found.of(kind).values():
            stack = projects.get(item[member])
            if stack is not None and not _comes_by_itself(territory, kind, item):
                project = found.of("Project").get(item[member], {}).get("name", item[member])
                why = f"it lies in project {project}"
                if kind in _COPIES:
                    visibility = _visibility(item)
                    why += f", and {_COPIES[kind]} was on a volume; it is {SEEN_BY.get(visibility, visibility)}"
                yield from _foreign(territory, kind, item, stack, why)


#: Kinds in which data of a tenant's volumes outlive them.
_COPIES: Mapping[str, str] = {"VolumeSnapshot": "it holds what", "Image": "it may hold what"}


def _visibility(item: Raw) -> str:
    """As Glance has it; what has no such word is seen in its project alone."""
    return str(item.get("visibility") or "private")


def _comes_by_itself(territory: Territory, kind: str, item: Raw) -> bool:
    """What Neutron makes for every project, and for routers and networks that are planned."""
    if kind == "SecurityGroup":
        return bool(item["name"] == "default")
    if kind != "Port":
        return False
    return item["id"] in territory.of("RouterInterface") or item["device_owner"] in _NEUTRONS_OWN


def _roles(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Roles on our projects."""
    projects, planned = territory.of("Project"), territory.of("RoleAssignment")
    for ident in found.of("RoleAssignment"):
        given = RoleAssignmentId.parse(ident)
        if given.project in projects and ident not in planned:
            who = found.of("ServiceUser").get(given.user, {}).get("name", given.user)
            what = found.of("Role").get(given.role, {}).get("name", given.role)
            why = f"{who} has the role {what} on project {_name(found, 'Project', given.project)}"
            yield UnmanagedResource("RoleAssignment", ident, "", False, projects[given.project], why, BY_HAND)


def _keys(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """S3 keys of our projects."""
    projects, planned = territory.of("Project"), territory.of("S3Credential")
    for ident, item in found.of("S3Credential").items():
        stack = projects.get(item["project_id"])
        if stack is not None and ident not in planned:
            why = f"user {item['user_id']} has an S3 key of project {_name(found, 'Project', item['project_id'])}"
            yield UnmanagedResource("S3Credential", ident, "", False, stack, why, BY_HAND)


def _flavors(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Projects on the lists of our flavours."""
    flavors, planned = territory.of("Flavor"), territory.of("FlavorAccess")
    for flavor, projects in found.flavor_access.items():
        for project in projects:
            ident = str(FlavorAccessId(flavor, project))
            if flavor in flavors and ident not in planned:
                why = f"project {_name(found, 'Project', project)} may use flavor {_name(found, 'Flavor', flavor)}"
                yield UnmanagedResource("FlavorAccess", ident, "", False, flavors[flavor], why, BY_HAND)


def _mounts(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Who else may mount a share of ours. Nothing of a rule says whose it is: it is planned, or it is not."""
    shares, planned = territory.of("Share"), territory.of("ShareAccess")
    for rule, item in found.of("ShareAccess").items():
        stack = shares.get(item["share_id"])
        if stack is not None and rule not in planned:
            who = f"{item['access_type']} {item['access_to']}"
            why = f"{who} may mount share {_name(found, 'Share', item['share_id'])} ({item['access_level']})"
            yield UnmanagedResource("ShareAccess", rule, "", False, stack, why, BY_HAND)


def _shares(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Rights of other projects to our objects at Neutron."""
    for right, item in found.of("RbacPolicy").items():
        stack = territory.stack_of.get(item["object_id"])
        if stack is not None and not _follows(found, item):
            ident, kind = item["object_id"], item["object_type"]
            thing = f"{kind} {_name(found, RBAC_KINDS.get(kind, ''), ident)}"
            why = f"project {_name(found, 'Project', item['target_tenant'])} has {item['action']} of {thing}"
            yield UnmanagedResource("RbacPolicy", right, "", False, stack, why, BY_HAND)


def _follows(found: Listed, right: Raw) -> bool:
    """True of the right of everybody that Neutron writes for an object that is itself external or shared."""
    item: Raw = found.of(RBAC_KINDS.get(right["object_type"], "")).get(right["object_id"], {})
    said = item.get("router:external") if right["action"] == "access_as_external" else item.get("shared")
    return right["target_tenant"] == "*" and bool(said)


def _reached(territory: Territory, found: Listed) -> Iterator[UnmanagedResource]:
    """Addresses and trunks that lead to our ports; of a trunk the one that it hangs on, or one of those inside.

    And addresses at our routers, whatever they lead to: without a port yet, or to one of another network.
    """
    ports = {**territory.of("Port"), **territory.of("SwitchPort")}
    for kind in ("FloatingIp", "Trunk"):
        for item in found.of(kind).values():
            inside = item["sub_ports"] if kind == "Trunk" else ()
            ends = (item["port_id"], *(sub["port_id"] for sub in inside))
            reached = next((port for port in ends if port in ports), None)
            if reached is not None:
                why = f"it leads to port {_name(found, 'Port', reached)}"
                yield from _foreign(territory, kind, item, ports[reached], why)
    for item in found.of("FloatingIp").values():
        stack = territory.of("Router").get(item["router_id"])
        if stack is not None:
            why = f"it leads in by router {_name(found, 'Router', item['router_id'])}"
            yield from _foreign(territory, "FloatingIp", item, stack, why)


def _name(found: Listed, kind: str, ident: str) -> Any:
    return found.of(kind).get(ident, {}).get("name") or ident


#: Every look; what one says of an object stands before what later ones say of it.
LOOKS: tuple[Look, ...] = (
    _orphans, _segments, _plugged, _hosted, _deployed, _reached, _in_projects, _roles, _keys, _flavors, _shares,
    _mounts,
)  # fmt: skip
