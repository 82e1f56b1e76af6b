"""What a cloud on paper lists: an object of each kind of a plan, in the words of its service."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from interlock.channel.tickets import TICKET
from interlock.planning import Plan
from interlock.provider.actuators.quotas import QUOTAS
from interlock.provider.audit.controllers import AT_CONTROLLERS
from interlock.provider.clouds import Login
from interlock.provider.markers import join, marker
from interlock.provider.regions import Catalogue
from interlock.resources import Resource, VipuObject
from interlock.vocabulary import CloudFingerprint, Person
from interlock.vocabulary.pair_ids import VipuId
from interlock.vocabulary.share_paths import share_key

Spec = Mapping[str, Any]
#: References of one object -> ids.
Refer = Callable[[str], str]

LOGIN = Login(
    CloudFingerprint("paper"), "operator-user", "operator-project", ("admin",),
    catalogue=Catalogue({"shared-file-system": (), "key-manager": ()}),
)  # fmt: skip


def ident(stack: str, name: str) -> str:
    """The id of a planned object."""
    return str(uuid5(NAMESPACE_URL, f"{stack}/{name}"))


def node_ident(host: str) -> str:
    """The uuid of a host's node in Ironic."""
    return ident("nodes", host)


@dataclass
class Paper:
    """Kind -> listed objects, in the form in which a register yields them. Tests may change any of it."""

    lists: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    #: `project/bucket`.
    buckets: set[str] = field(default_factory=set)
    #: Project -> service -> the limits that it tells.
    quotas: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    #: Id of a flavour that is not public -> projects on its list.
    flavor_access: dict[str, list[str]] = field(default_factory=dict)
    #: Id of a share -> its access rules.
    share_access: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, plans: Iterable[Plan]) -> Paper:
        """What an `up` of each leaves."""
        found = cls()
        for role in ("admin", "member", "reader"):
            found.lists["Role"].append({"id": role, "name": role, "description": None})
        for plan in plans:
            for item in plan.resources:
                if item.resource.is_declared:
                    found.put(plan, item.name, item.resource)
        return found

    def put(self, plan: Plan, name: str, resource: Resource) -> None:
        """List one object."""
        made = _MADE.get(resource.KIND)
        spec, refer = resource.canonical(), _references(plan)
        mark, own = marker(plan.owner, name), ident(plan.stack, name)
        if made is not None:
            kind = "Port" if resource.KIND == "SwitchPort" else resource.KIND
            self.lists[kind].append({"id": own, **made(spec, refer, mark)})
        if resource.KIND in _JOINED:
            _JOINED[resource.KIND](self, spec, refer, own)

    def one(self, kind: str, ident: str) -> dict[str, Any]:
        """An object that is listed."""
        return next(item for item in self.lists[kind] if item["id"] == ident)


def vipu_ident(plan: Plan, name: str) -> str | None:
    """The id of a planned object of V-IPU; None of anything else."""
    item = plan.by_name.get(name)
    if item is None or not isinstance(item.resource, VipuObject):
        return None
    server, noun = ident(plan.stack, item.resource.controller), AT_CONTROLLERS[item.resource.KIND]
    return str(VipuId(server, noun, item.resource.name))


def _references(plan: Plan) -> Refer:
    site = f"{plan.site}-site"

    def refer(reference: str) -> str:
        scheme, _, rest = reference.partition(":")
        name = rest.partition("/")[2]
        if scheme == "cloud":
            return LOGIN.user if name == "@operator" else name
        if scheme == "site":
            return ident(site, name)
        return vipu_ident(plan, reference) or ident(plan.stack, reference)

    return refer


def _neutron(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    project = refer(spec["project"]) if spec.get("project") else LOGIN.project
    return {"name": spec["name"], "project_id": project, "description": mark}


def _project(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {"name": spec["name"], "domain_id": spec["domain"], "description": join(spec["description"], mark)}


def _user(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {"name": spec["name"], "description": mark, "default_project_id": refer(spec["project"])}


def _network(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    segment = ("network_type", "physical_network", "segmentation_id")
    return {
        **_neutron(spec, refer, mark),
        **{f"provider:{name}": spec[name] for name in segment},
        "router:external": spec["external"],
        "shared": spec["shared"],
        "port_security_enabled": spec["port_security"],
        "mtu": spec["mtu"],
    }


def _subnet(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        **_neutron(spec, refer, mark),
        "cidr": spec["cidr"],
        "gateway_ip": spec["gateway"],
        "enable_dhcp": spec["dhcp"],
        "dns_nameservers": spec["dns"],
        "allocation_pools": [{"start": first, "end": last} for first, last in spec["pools"]],
        "network_id": refer(spec["network"]),
        "subnetpool_id": refer(spec["subnet_pool"]) if spec["subnet_pool"] else None,
    }


def _router(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    external = spec["external_network"]
    gateway = (
        {"network_id": refer(external), "enable_snat": spec["snat"], "external_fixed_ips": []} if external else None
    )
    return {**_neutron(spec, refer, mark), "external_gateway_info": gateway}


def _group(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    rules = [
        {
            **{name: rule[name] for name in ("direction", "ethertype", "protocol")},
            "port_range_min": rule["port_min"],
            "port_range_max": rule["port_max"],
            "remote_ip_prefix": rule["remote_prefix"],
            "remote_group_id": refer(rule["remote_group"]) if rule["remote_group"] else None,
        }
        for rule in spec["rules"]
    ]
    return {**_neutron(spec, refer, mark), "security_group_rules": rules}


def _port(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        **_neutron(spec, refer, mark),
        "network_id": refer(spec["network"]),
        "fixed_ips": [{"subnet_id": refer(spec["subnet"]), "ip_address": spec["address"]}],
        "binding:vnic_type": spec["vnic_type"],
        "port_security_enabled": spec["port_security"],
        "security_groups": [refer(name) for name in spec["security_groups"]],
        "allowed_address_pairs": [{"ip_address": one, "mac_address": ""} for one in spec["allowed_address_pairs"]],
        "mac_address": "",
        "device_id": "",
        "device_owner": "",
    }


def _floating_ip(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        **_neutron({**spec, "name": ""}, refer, mark),
        "floating_network_id": refer(spec["external_network"]),
        "floating_ip_address": spec["address"] or "203.0.113.77",
        "port_id": refer(spec["port"]),
        "router_id": None,
    }


def _switch_port(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    link = {"switch_info": spec["switch"], "switch_id": spec["switch_mac"], "port_id": spec["port_name"]}
    return {
        **_neutron({**spec, "name": ""}, refer, mark),
        "network_id": refer(spec["network"]),
        "fixed_ips": [{"subnet_id": refer(spec["subnet"]), "ip_address": one} for one in spec["addresses"]],
        "binding:vnic_type": "baremetal",
        "binding:vif_type": "other",
        "binding:host_id": spec["device"],
        "binding:profile": {"local_link_information": [link]},
        "status": "ACTIVE",
        "security_groups": [],
        "port_security_enabled": False,
        "allowed_address_pairs": [],
        "mac_address": "",
        "device_id": "",
        "device_owner": "",
    }


def _keypair(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    name = f"{spec['name']}-{mark.split(':')[1]}"
    return {"id": name, "name": name, "public_key": spec["public_key"]}


def _volume(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        "name": spec["name"],
        "size": spec["size_gib"],
        "volume_type": refer(spec["volume_type"]),
        "status": "in-use",
        "attachments": [],
        "encrypted": spec["encrypted"],
        "metadata": {"interlock": mark},
        "os-vol-tenant-attr:tenant_id": refer(spec["project"]),
    }


def _volume_type(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    described = _described("extra_specs")(spec, refer, mark)
    return described | {"is_public": spec["public"], "encryption": spec["encryption"] or {}}


def _share(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        "name": spec["name"],
        "size": spec["size_gib"],
        "share_type": refer(spec["share_type"]),
        "share_proto": spec["protocol"],
        "status": "available",
        "metadata": {"interlock": mark},
        "project_id": refer(spec["project"]),
        "user_id": LOGIN.user,
    }


def _share_type(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {"name": spec["name"], "description": mark, "extra_specs": spec["extra_specs"]}


def _flavor(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    sizes = {"vcpus": spec["vcpus"], "ram": spec["ram_mib"], "disk": spec["disk_gib"]}
    said = {"name": spec["name"], "extra_specs": spec["extra_specs"], "description": mark}
    return {**said, **sizes, "os-flavor-access:is_public": spec["public"]}


def _image(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    said = {name: spec[name] for name in ("name", "disk_format", "visibility")}
    digest = {"os_hash_algo": "sha512", "os_hash_value": spec["sha512"]}
    return {**said, **digest, "status": "active", "owner": LOGIN.project, "interlock": mark}


def _aggregate(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {"name": spec["name"], "hosts": spec["hosts"], "metadata": {**spec["metadata"], "interlock": mark}}


def _named(*members: str) -> Callable[[Spec, Refer, str], dict[str, Any]]:
    """An object whose name carries the marker."""
    return lambda spec, refer, mark: {
        "name": join(spec["name"], mark), "project_id": LOGIN.project, **{name: spec[name] for name in members},
    }  # fmt: skip


def _described(*members: str) -> Callable[[Spec, Refer, str], dict[str, Any]]:
    """An object with a text of its own before the marker."""
    return lambda spec, refer, mark: {
        "description": join(spec["description"], mark), **{name: spec[name] for name in ("name", *members)},
    }  # fmt: skip


def _subnet_pool(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        **_neutron(spec, refer, mark),
        **{name: spec[name] for name in ("prefixes", "shared")},
        "default_prefixlen": spec["default_prefix_length"],
        "address_scope_id": refer(spec["address_scope"]),
    }


def _server(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    for port in map(refer, spec["ports"]):
        paper.one("Port", port).update(device_id=own, device_owner="compute:nova")


def _made_server(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        "name": spec["name"],
        "status": "ACTIVE",
        "tenant_id": refer(spec["project"]),
        "flavor": {"id": refer(spec["flavor"])},
        "image": {"id": refer(spec["image"])},
        "key_name": f"{spec['keypair']}-{mark.split(':')[1]}" if spec["keypair"] else None,
        "metadata": {"interlock": mark, **{share_key(name): f"/shares/{name}" for name in spec["shares"]}},
        "OS-EXT-SRV-ATTR:host": spec["host"],
        "OS-EXT-STS:task_state": None,
    }


def _allocation(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    return {
        "name": None,
        "state": "active",
        "resource_class": spec["resource_class"],
        "candidate_nodes": [node_ident(spec["node"])],
        "node_uuid": node_ident(spec["node"]),
        "owner": LOGIN.project,
        "last_error": None,
        "extra": {"interlock": mark, "project": refer(spec["project"])},
    }


def _waiting(spec: Spec, refer: Refer, mark: str) -> dict[str, Any]:
    """The ticket of a secret that its server has fetched."""
    written = {"item": spec["item"], "secret": "fetched", "expires": "2026-01-01T01:00:00+00:00"}
    written |= {"taken": "2026-01-01T00:02:00+00:00"}
    return {"name": f"{TICKET}{refer(spec['place'])}", "mode": mark, "metadata": written}


#: Kind -> what its service lists, but for the id.
_MADE: Mapping[str, Callable[[Spec, Refer, str], dict[str, Any]]] = {
    "Project": _project, "ServiceUser": _user, "Network": _network, "Subnet": _subnet, "Router": _router,
    "SecurityGroup": _group, "Port": _port, "FloatingIp": _floating_ip, "SwitchPort": _switch_port,
    "Server": _made_server, "Keypair": _keypair, "Volume": _volume, "BareMetalServer": _allocation, "Share": _share,
    "ShareType": _share_type, "StoredCredential": _waiting,
    "Role": _described(), "SegmentRange": _named("network_type", "physical_network", "minimum", "maximum"),
    "AddressScope": _named("ip_version", "shared"), "SubnetPool": _subnet_pool, "Flavor": _flavor,
    "Aggregate": _aggregate, "Image": _image, "VolumeType": _volume_type,
}  # fmt: skip


def _assignment(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    ids = {name: {"id": refer(spec[name])} for name in ("project", "user", "role")}
    who = ids["user"]["id"]
    if spec["user"].startswith("cloud:") and all(item["id"] != who for item in paper.lists["ServiceUser"]):
        person = Person.parse(who)
        user = {"id": who, "name": person.name, "description": None, "domain_id": person.domain}
        paper.lists["ServiceUser"].append(user)
    paper.lists["RoleAssignment"].append(
        {"user": ids["user"], "role": ids["role"], "scope": {"project": ids["project"]}}
    )


def _interface(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    subnet = paper.one("Subnet", refer(spec["subnet"]))
    port: dict[str, Any] = {
        "id": own,
        "name": "",
        "description": "",
        "project_id": refer(spec["project"]),
        "mac_address": "",
    }
    port |= {"network_id": subnet["network_id"], "fixed_ips": [{"subnet_id": subnet["id"], "ip_address": ""}]}
    paper.lists["Port"].append(port | {"device_owner": "network:router_interface", "device_id": refer(spec["router"])})


def _attachment(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    attached = {"server_id": refer(spec["server"]), "device": "/dev/vdb"}
    paper.one("Volume", refer(spec["volume"]))["attachments"].append(attached)


def _key(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    blob = json.dumps({"access": own, "secret": f"secret of {own}"})
    key = {"id": own, "user_id": refer(spec["user"]), "project_id": refer(spec["project"]), "blob": blob}
    paper.lists["S3Credential"].append(key)


def _quota(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    told: dict[str, dict[str, int]] = {}
    for name, (service, theirs) in QUOTAS.items():
        told.setdefault(service, {})[theirs] = spec[name]
    paper.quotas[refer(spec["project"])] = told


def _bucket(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    paper.buckets.add(f"{refer(spec['project'])}/{spec['name']}")


def _node(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    """The node that an allocation has, deployed, and its ports with what is attached to them."""
    uuid, project = node_ident(spec["node"]), refer(spec["project"])
    owner = paper.one("BareMetalServer", own)["extra"]["interlock"].split(":")[1]
    keypair = f"{spec['keypair']}-{owner}" if spec["keypair"] else None
    deployed = {"keypair": keypair, "user_data": spec["user_data"], "shares": spec["shares"]}
    info = {"image_source": refer(spec["image"]), "display_name": spec["name"], "interlock": deployed}
    node = {
        "id": uuid, "uuid": uuid, "name": spec["node"], "resource_class": spec["resource_class"], "driver_info": {},
        "provision_state": "active", "instance_uuid": own, "allocation_uuid": own, "instance_info": info,
        "owner": LOGIN.project, "lessee": project, "maintenance": False, "maintenance_reason": None, "last_error": None,
    }  # fmt: skip
    paper.lists["BareMetalNode"].append(node)
    for leg, port in zip(spec["legs"], map(refer, spec["ports"]), strict=False):
        link = {"switch_info": leg["switch"], "switch_id": leg["switch_mac"], "port_id": leg["port_name"]}
        place = ident(uuid, f"{leg['switch']}/{leg['port']}")
        paper.lists["BareMetalPort"].append({
            "id": place, "uuid": place, "node_uuid": uuid, "portgroup_uuid": None, "local_link_connection": link,
            "internal_info": {"tenant_vif_port_id": port},
        })  # fmt: skip
        bound = {"binding:host_id": uuid, "binding:vif_type": "other", "status": "ACTIVE"}
        paper.one("Port", port).update(bound)


def _share_access(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    paper.share_access[refer(spec["share"])].append(
        {"id": own, "access_type": "ip", "access_to": spec["prefix"], "access_level": spec["level"], "state": "active"}
    )


def _ticket(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    """Which key it hands over."""
    credential = refer(spec["credential"])
    if "/" not in credential:
        # An S3 key; a user of V-IPU has its whole id already.
        credential = f"{paper.one('S3Credential', credential)['user_id']}/{credential}"
    ticket = paper.one("StoredCredential", own)
    ticket["secret_ref"] = f"https://paper/v1/secrets/{own}"
    ticket["metadata"] |= {"credential": credential}


def _share_quota(paper: Paper, spec: Spec, refer: Refer, own: str) -> None:
    told = {"shares": spec["shares"], "gigabytes": spec["share_gib"]}
    paper.quotas.setdefault(refer(spec["project"]), {})["shared-file-system"] = told


#: Kind -> where it shows in the lists of other kinds.
_JOINED: Mapping[str, Callable[[Paper, Spec, Refer, str], None]] = {
    "RoleAssignment": _assignment, "RouterInterface": _interface, "VolumeAttachment": _attachment,
    "S3Credential": _key, "Bucket": _bucket, "Quota": _quota, "Server": _server, "BareMetalServer": _node,
    "ShareAccess": _share_access, "ShareQuota": _share_quota, "StoredCredential": _ticket,
}  # fmt: skip
