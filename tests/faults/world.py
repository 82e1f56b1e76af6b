"""A site and a tenant behind the proxy, and of each kind one object that tests make, change and delete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interlock.channel.tickets import TICKET
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker
from interlock.provider.registers import plain_id
from interlock.provider.retry import RetryBudget
from interlock.resources import (
    Aggregate,
    BareMetalServer,
    Bucket,
    FlavorAccess,
    FloatingIp,
    Image,
    Keypair,
    Network,
    PartitionKey,
    Port,
    Project,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
    S3Credential,
    SecurityGroup,
    Server,
    ServiceUser,
    Share,
    ShareAccess,
    ShareQuota,
    Subnet,
    Volume,
    VolumeAttachment,
)
from interlock.vocabulary.owners import OwnerId
from sandbox.infiniband.topology import hex16
from tests.conftest import Sandbox
from tests.faults.clock import Clock
from tests.faults.proxy import Injection, Proxy
from tests.support.cloud.fabric import LISTENER, SERVICE, TOPOLOGY, Fabric, partition, running
from tests.support.cloud.nodes import enrolled
from tests.support.cloud.proxied import proxied
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world import declared

SITE_OWNER, OWNER, STRANGER = "fa5172", "fa0a11", "5742a6"

#: Listener of the sandbox -> type of the service in the catalogue.
SERVICES = {
    "keystone": "identity", "nova": "compute", "neutron": "network",
    "cinder": "block-storage", "glance": "image", "swift": "object-store",
    "ironic": "baremetal", "manila": "shared-file-system", "barbican": "key-manager", LISTENER: SERVICE,
}  # fmt: skip


#: P_Keys of the tenant's partition, and of a stranger's that has the plan name of it.
FABRIC_KEY, THEIRS = 0x0031, 0x0032

#: On which the whole host is deployed and cleaned.
SERVICE_VLAN = 3091


@dataclass(frozen=True)
class Subject:
    """An object that a test makes. `makes`: (listener, method, path) of the request that makes it."""

    resource: Resource
    makes: tuple[str, str, str]
    #: (collection, key of the list): where everybody's objects of this kind are listed; empty for pairs.
    listed: tuple[str, str] = ("", "")
    #: Body of an object of the same name that is somebody else's; None where names are unique or it has none.
    twin: dict[str, Any] | None = None
    site: bool = False
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The plan name."""
        return f"spare-{self.resource.KIND.lower()}"

    @property
    def api(self) -> str:
        return SERVICES[self.makes[0]]


def subjects() -> dict[str, Subject]:
    """By kind."""
    project = "fay-project"
    everywhere = {"all_tenants": 1}
    found = (
        Subject(Project(name="fay-spare"), ("keystone", "POST", "/v3/projects$"), ("/projects", "projects")),
        Subject(
            Network(name="spare", project=project, network_type="vxlan", segmentation_id=88001),
            ("neutron", "POST", "/networks$"), ("/networks", "networks"),
            {"name": "spare", "provider:network_type": "vxlan", "provider:segmentation_id": 88002},
        ),
        Subject(
            Subnet(name="spare", project=project, network="fay-data", cidr="10.9.0.0/24", dhcp=False),
            ("neutron", "POST", "/subnets$"), ("/subnets", "subnets"),
            {"name": "spare", "cidr": "10.8.0.0/24", "ip_version": 4, "network_id": "fay-data"},
        ),
        Subject(
            Router(name="spare", project=project),
            ("neutron", "POST", "/routers$"), ("/routers", "routers"), {"name": "spare"},
        ),
        Subject(
            RouterInterface(project=project, router="fay-router", subnet="fay-second-subnet"),
            ("neutron", "PUT", "/add_router_interface"),
        ),
        Subject(
            Port(name="spare", project=project, network="fay-control", subnet="fay-control-subnet",
                 address="10.7.0.50"),
            ("neutron", "POST", "/ports$"), ("/ports", "ports"), {"name": "spare", "network_id": "fay-control"},
        ),
        Subject(
            FloatingIp(project=project, external_network="site:Network/external", port="fay-port-control",
                       uplink="fay-uplink"),
            ("neutron", "POST", "/floatingips$"), ("/floatingips", "floatingips"),
            {"floating_network_id": "external"},
        ),
        Subject(
            declared.switch_port("fay", 15, 2160, "10.5.2.9"),
            ("neutron", "POST", "/ports$"), ("/ports", "ports"), {"name": "spare-switchport", "network_id": "fay-data"},
        ),
        Subject(
            SecurityGroup(name="spare", project=project, rules=(declared.SSH, declared.OUT)),
            ("neutron", "POST", "/security-groups$"), ("/security-groups", "security_groups"), {"name": "spare"},
        ),
        Subject(Keypair(name="spare-keypair", public_key=declared.KEY), ("nova", "POST", "/os-keypairs$")),
        Subject(
            Server(name="spare", project=project, flavor="site:Flavor/poplar", image="site:Image/machine",
                   host="poplar-2", ports=()),
            ("nova", "POST", "/servers$"), ("/servers/detail", "servers"), params=everywhere,
        ),
        Subject(
            BareMetalServer(
                name="spare", project=project, node="node-fay", resource_class=declared.RESOURCE_CLASS,
                image="site:Image/machine", ports=("fay-port-metal",), legs=(declared.metal_leg(2160),),
            ),
            ("ironic", "POST", "/allocations$"), ("/allocations", "allocations"),
        ),
        Subject(
            Volume(
                name="spare", project=project, size_gib=1, volume_type="site:VolumeType/fast", on_delete="erase",
                encrypted=True,
            ),
            ("cinder", "POST", "/volumes$"), ("/volumes/detail", "volumes"), {"name": "spare", "size": 1},
            params=everywhere,
        ),
        Subject(
            Share(name="spare", project=project, size_gib=1, share_type="site:ShareType/nfs", on_delete="erase"),
            ("manila", "POST", "/shares$"), ("/shares/detail", "shares"),
            {"name": "spare", "size": 1, "share_proto": "NFS", "share_type": "nfs"}, params=everywhere,
        ),
        Subject(
            ShareAccess(
                project=project, share="fay-second-share", network="fay-data", prefix="10.5.0.0/16", vip="10.5.0.2"
            ),
            ("manila", "POST", "/shares/[^/]+/action$"),
        ),
        Subject(ShareQuota(project=project, shares=5, share_gib=100), ("manila", "PUT", "/quota-sets/")),
        Subject(
            VolumeAttachment(project=project, server="fay-server", volume="fay-second-volume"),
            ("nova", "POST", "/os-volume_attachments$"),
        ),
        Subject(
            FlavorAccess(project=project, flavor="site:Flavor/poplar-gpu"), ("nova", "POST", "/flavors/[^/]+/action$")
        ),
        Subject(partition(FABRIC_KEY, "n0-r0", "n1-r0"), ("ufm", "POST", "/resources/pkeys$")),
        Subject(declared.quota(project), ("neutron", "PUT", "/quotas/")),
        Subject(S3Credential(project=project, user="fay-second-s3"), ("keystone", "POST", "/credentials$")),
        Subject(declared.handed("fay"), ("barbican", "POST", "/secrets$")),
        Subject(
            Bucket(name="fay-spare", project=project, credential="fay-s3-key", on_delete="erase"),
            ("swift", "PUT", "/fay-spare$"),
        ),
        Subject(
            Image(name="spare", file=declared.FILE, sha512=declared.SHA512),
            ("glance", "POST", "/images$"), ("/images", "images"), site=True,
        ),
        Subject(
            Aggregate(name="spare", hosts=(), metadata={}),
            ("nova", "POST", "/os-aggregates$"), ("/os-aggregates", "aggregates"), site=True,
        ),
    )  # fmt: skip
    return {subject.resource.KIND: subject for subject in found}


def _site() -> dict[str, Resource]:
    whole = declared.site("fas", 760)
    kept = (
        "external-scope",
        "external-pool",
        "external",
        "external-subnet",
        "poplar",
        "poplar-gpu",
        "machine",
        "fast",
        "nfs",
    )
    return {name: whole[name] for name in kept}


def _tenant() -> dict[str, Resource]:
    project = "fay-project"
    more: dict[str, Resource] = {
        "fay-second": Network(name="fay-second", project=project, network_type="vxlan", segmentation_id=88000),
        "fay-second-subnet": Subnet(
            name="fay-second", project=project, network="fay-second", cidr="10.6.0.0/24", gateway="10.6.0.1"
        ),
        "fay-second-volume": Volume(
            name="fay-second",
            project=project,
            size_gib=1,
            volume_type="site:VolumeType/fast",
            on_delete="erase",
            encrypted=True,
        ),
        "fay-second-share": Share(
            name="fay-second", project=project, size_gib=1, share_type="site:ShareType/nfs", on_delete="erase"
        ),
        "fay-second-s3": ServiceUser(name="fay-second-s3", project=project),
        "fay-second-role": RoleAssignment(project=project, user="fay-second-s3", role="cloud:Role/member"),
    }
    whole = declared.tenant("fay", 2160)
    kept = (
        "project", "operator", "key", "router", "data", "data-subnet", "control", "control-subnet", "uplink", "jobs",
        "ssh", "port-data", "port-control", "port-metal", "rnic", "share", "server", "s3", "s3-role", "s3-key",
    )  # fmt: skip
    return {f"fay-{name}": whole[f"fay-{name}"] for name in kept} | more


@dataclass
class World:
    """What tests of faults share."""

    proxy: Proxy
    clock: Clock
    site: Stack
    tenant: Stack
    #: The operator's hands, past the proxy.
    direct: Cloud
    fabric: Fabric
    #: Kind -> id of the stranger's object of the same name.
    twins: dict[str, str] = field(default_factory=dict)

    def program(self, subject: Subject) -> Stack:
        return self.site if subject.site else self.tenant

    def marker(self, subject: Subject) -> str:
        return marker(OwnerId(self.program(subject).owner), subject.name)

    def ours(self, subject: Subject) -> list[str]:
        """Ids of all objects that are the subject, as the cloud itself lists them."""
        kind, ids = subject.resource.KIND, self.tenant.state
        if subject.listed[0]:
            found = self.direct.api(subject.api).items(*subject.listed, **subject.params)
            return [plain_id(item) for item in found if f'"{self.marker(subject)}"' in _words(item)]
        return [str(ident) for ident in getattr(self, f"_{kind.lower()}")(ids)]

    def service(self, listener: str) -> str:
        """The type in the catalogue of what listens there."""
        return SERVICES[listener]

    def remove(self, subject: Subject) -> None:
        """Away with it, as the next test wants to recreate it. Nothing of a site goes while tenants are there."""
        program = self.program(subject)
        if subject.name not in program.state:
            return
        if subject.site:
            self.direct.api(subject.api).delete(f"{subject.listed[0]}/{program.state.pop(subject.name).id}")
        else:
            program.delete(subject.name)

    def unharmed(self, *kinds: str) -> None:
        """Asserts that no stranger's object of these kinds was taken or deleted."""
        if PartitionKey.KIND in kinds:
            guids = {hex16(TOPOLOGY.guid(name)): "full" for name in ("n2-r0", "n3-r0")}
            assert self.fabric.members(THEIRS) == guids, "the stranger's partition was changed"
        for kind, ident in self.twins.items():
            if kind not in kinds:
                continue
            subject = SUBJECTS[kind]
            path = subject.listed[0].removesuffix("/detail")
            seen = self.direct.api(subject.api).find(f"{path}/{ident}")
            assert seen is not None, f"the stranger's {kind} is gone"
            assert marker(OwnerId(STRANGER), subject.name) in json.dumps(seen), f"the stranger's {kind} was taken"

    def _routerinterface(self, ids: Any) -> list[str]:
        ports = self.direct.api("network").items("/ports", "ports", device_id=ids["fay-router"].id)
        subnet = ids["fay-second-subnet"].id
        return [port["id"] for port in ports if any(item["subnet_id"] == subnet for item in port["fixed_ips"])]

    def _volumeattachment(self, ids: Any) -> list[str]:
        path = f"/servers/{ids['fay-server'].id}/os-volume_attachments"
        found = self.direct.api("compute").get(path)["volumeAttachments"]
        return [item["volumeId"] for item in found if item["volumeId"] == ids["fay-second-volume"].id]

    def _keypair(self, ids: Any) -> list[str]:
        found = self.direct.api("compute").get("/os-keypairs")["keypairs"]
        return [item["keypair"]["name"] for item in found if item["keypair"]["name"] == f"spare-keypair-{OWNER}"]

    def _flavoraccess(self, ids: Any) -> list[str]:
        flavor, project = self.site.state["poplar-gpu"].id, ids["fay-project"].id
        found = self.direct.api("compute").get(f"/flavors/{flavor}/os-flavor-access")["flavor_access"]
        return [item["flavor_id"] for item in found if item["tenant_id"] == project]

    def _partitionkey(self, ids: Any) -> list[str]:
        """As OpenSM is told; nobody else's stack could have put anything there."""
        return [f"{key:#06x}" for key in (FABRIC_KEY,) if self.fabric.members(key)]

    def _quota(self, ids: Any) -> list[str]:
        project = ids["fay-project"].id
        limit = self.direct.api("network").get(f"/quotas/{project}")["quota"]["network"]
        return [project] if limit == SUBJECTS["Quota"].resource.canonical()["networks"] else []

    def _shareaccess(self, ids: Any) -> list[str]:
        share = ids["fay-second-share"].id
        found = self.direct.api("shared-file-system").get("/share-access-rules", share_id=share)["access_list"]
        return [item["id"] for item in found]

    def _sharequota(self, ids: Any) -> list[str]:
        project = ids["fay-project"].id
        limit = self.direct.api("shared-file-system").get(f"/quota-sets/{project}")["quota_set"]["shares"]
        return [project] if limit == SUBJECTS["ShareQuota"].resource.canonical()["shares"] else []

    def _s3credential(self, ids: Any) -> list[str]:
        path = f"/users/{ids['fay-second-s3'].id}/credentials/OS-EC2"
        return [item["access"] for item in self.direct.api("identity").get(path)["credentials"]]

    def _storedcredential(self, ids: Any) -> list[str]:
        """Tickets; what waits under one is looked at in `tests/provider`."""
        mark, name = self.marker(SUBJECTS["StoredCredential"]), f"{TICKET}{ids['fay-server'].id}"
        found = self.direct.api("key-manager").items("/secrets", "secrets", name=name)
        return [plain_id(item) for item in found if item["mode"] == mark]

    def _bucket(self, ids: Any) -> list[str]:
        endpoint = self.direct.endpoint("object-store").rpartition("_")[0] + "_" + ids["fay-project"].id
        try:
            found = self.direct._session.get(endpoint, params={"format": "json"}).json()
        except Failure:
            return []
        return [item["name"] for item in found if item["name"] == "fay-spare"]


SUBJECTS = subjects()


def _words(item: Any) -> str:
    """All texts of an object; a marker that stands behind a name or a description counts as one."""
    return json.dumps(item).replace(" interlock:", '","interlock:')


@contextmanager
def world(sandbox: Sandbox, folder: Path) -> Iterator[World]:
    """Everything made, through the proxy and without a fault."""
    clock = Clock()
    node = enrolled(Cloud("sandbox"), "node-fay", SERVICE_VLAN, declared.metal_leg(2160))
    with node, running("faults") as fabric, proxied(sandbox, folder, SERVICES, fabric) as proxy:
        processes = [Process(retry_policy=clock.retry_policy()), Process(retry_policy=clock.retry_policy())]
        try:
            objects: Any = {"site_owner": SITE_OWNER, "folder": declared.site_folder(folder)}
            site = Stack(processes[0], "fay-site", SITE_OWNER, _site(), **objects)
            tenant = Stack(processes[1], "fay-fay", OWNER, _tenant(), **objects)
            for program in (site, tenant):
                faults = program.admit(preview=False)
                assert faults == [], faults
                program.create_all()
            found = World(proxy, clock, site, tenant, Cloud("direct"), fabric)
            for subject in SUBJECTS.values():
                found.program(subject).resources[subject.name] = subject.resource
            for program in (site, tenant):
                program.admit()
            _twins(found)
            yield found
            found.unharmed(*SUBJECTS)
            _clear(found)
        finally:
            for process in processes:
                process.close()


@contextmanager
def fresh(world: World, program: Stack, budget: RetryBudget | None = None) -> Iterator[Stack]:
    """The same stack and state; with a budget of its own in a provider process that has asked nothing yet."""
    if budget in (None, RetryBudget()):
        yield program
        return
    found = replace(program, process=Process(retry_policy=world.clock.retry_policy(budget)))
    assert found.admit() == []
    yield found
    found.process.close()


def met(subject: Subject, act: Any, *, last: int | None) -> Injection:
    """A fault of the request that makes the subject."""
    return Injection(act, *subject.makes, last=last)


def _clear(world: World) -> None:
    """What others find is an empty cloud."""
    for kind, ident in world.twins.items():
        subject = SUBJECTS[kind]
        world.direct.api(subject.api).delete(f"{subject.listed[0].removesuffix('/detail')}/{ident}")
    world.tenant.delete_all()
    world.site.delete_all()


def _twins(world: World) -> None:
    """Of each kind an object of the same name in the same project, with the marker of somebody else."""
    ids = world.site.state | world.tenant.state
    world.fabric.put(THEIRS, SUBJECTS[PartitionKey.KIND].name, "n2-r0", "n3-r0")
    for kind, subject in SUBJECTS.items():
        if subject.twin is None:
            continue
        theirs = marker(OwnerId(STRANGER), subject.name)
        body = {key: ids[value].id if value in ids else value for key, value in subject.twin.items()}
        project = ids["fay-project"].id
        by_token = kind in ("Volume", "Share")
        api = world.direct.api(subject.api, project if by_token else None)
        carried = {"metadata": {"interlock": theirs}} if by_token else {"description": theirs}
        owner = {} if by_token else {"project_id": project}
        one = subject.listed[1].removesuffix("s")
        path = subject.listed[0].removesuffix("/detail")
        world.twins[kind] = str(api.post(path, {one: body | carried | owner})[one]["id"])
