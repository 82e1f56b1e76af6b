"""What the plan of one vPOD or GPU cluster is made from; every module that writes a part of it takes this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from interlock.model.lock.record import ClusterAllocation, VPodAllocation
from interlock.model.site.gpu import GpuHost
from interlock.model.site.inventory import FlavorSpec, Site
from interlock.model.site.offers import Controller
from interlock.model.tenant.request import Cluster, HeadServers, PublicServers, Tenant, VolumeRequest, Volumes, VPod
from interlock.vocabulary import StackName
from interlock.vocabulary.request_parts import RequestPart

from .errors import PlanningError
from .guest.files import GuestFile
from .guest.login import login_files

T = TypeVar("T")


def private_flavors(site: Site, tenant: Tenant) -> frozenset[str]:
    """The flavours of a tenant's servers that not everybody may use."""
    closed = {item.name for item in site.flavors if not item.public}
    used = {vpod.poplar.flavor for vpod in tenant.vpods if vpod.poplar.kind != "bare-metal"}
    used |= {cluster.heads.flavor for cluster in tenant.clusters if cluster.heads is not None}
    virtual = (cluster.node_type for cluster in tenant.clusters if cluster.kind == "vm")
    found = (whole_flavor(site, node_type) for node_type in virtual)
    return frozenset(used | {flavor.name for flavor in found if flavor is not None}) & closed


def whole_flavor(site: Site, node_type: str) -> FlavorSpec | None:
    """The flavour whose servers take a node of a type whole."""
    flavors = (item for item in site.flavors if item.whole_node is not None and item.whole_node.type == node_type)
    return next(flavors, None)


def node_server(tenant: str, cluster: str, number: int) -> str:
    """Plan name of the server that is the node of this number of a cluster."""
    return f"{RequestPart(tenant, cluster)}-node-{number}"


def access_name(tenant: Tenant, flavor: str) -> str:
    """Plan name of a tenant's place on the access list of a flavour."""
    return f"{tenant.id}-flavor-{flavor}"


def is_encrypted(site: Site, volume: Volumes | VolumeRequest) -> bool:
    """True of a volume that is to be encrypted: it is asked for, or the site encrypts all volumes of its type."""
    return volume.encrypted or volume.volume_type in site.volume_encryption


def s3_key_name(user: str, number: int) -> str:
    """Plan name of an S3 key of a service user; that of the first is as it was before keys could be rotated."""
    return f"{user}-key" if number == 1 else f"{user}-key-{number}"


@dataclass(frozen=True)
class PartScope:
    """One vPOD or cluster of a request. `part`: its name there."""

    site: Site
    tenant: Tenant

    @property
    def part(self) -> str:
        """Name in the request."""
        raise NotImplementedError

    def name(self, *parts: object) -> str:
        """`<tenant>-<part>` and the parts below it, joined by dashes."""
        return "-".join(map(str, (RequestPart(self.tenant.id, self.part), *parts)))

    @property
    def project(self) -> str:
        """Reference to the tenant's project."""
        return f"{self.tenant.id}-project"

    @property
    def keypair(self) -> str | None:
        """Reference to the one key that every server of the tenant carries; None: certificates let people in."""
        return f"{self.tenant.id}-key" if self.tenant.access.ssh_public_key is not None else None

    @property
    def public(self) -> PublicServers | None:
        """Which of its virtual servers are reached from outside; None: none."""
        return next((entry for entry in self.tenant.access.public if entry.vpod == self.part), None)

    @property
    def login_files(self) -> tuple[GuestFile, ...]:
        """What the sshd of each of its servers is told of certificates."""
        return login_files(StackName(self.site.name, self.tenant.id), self.part, self.tenant.access)


@dataclass(frozen=True)
class ClusterScope(PartScope):
    """One GPU cluster of a request, with what its lock gives it."""

    cluster: Cluster
    claims: ClusterAllocation

    @property
    def part(self) -> str:
        """Name in the request."""
        return self.cluster.name

    def node(self, number: int) -> str:
        """Name of the server that is the node of this number."""
        return node_server(self.tenant.id, self.part, number)

    @property
    def heads(self) -> HeadServers | None:
        """What is asked for as heads; None: none."""
        return self.cluster.heads if self.cluster.heads_now else None

    def head(self, index: int) -> str:
        """Name of the server that is the head of this index."""
        return self.name("head", index)

    @property
    def head_group(self) -> str:
        """The security group of its heads."""
        return self.name("head-ssh")

    @property
    def public_group(self) -> str:
        """The security group of its heads that are reached from outside."""
        return self.name("head-public")

    def nodes(self) -> tuple[GpuHost, ...]:
        """Its nodes, by number. PlanningError if the site does not have one as a GPU node."""
        for host in self.claims.hosts:
            if host not in self.site.gpu_node or host not in self.site.host:
                raise PlanningError(
                    f"the lock of {self.tenant.id} gives cluster {self.cluster.name} host {host}, which is no GPU node "
                    "of the site",
                    f"add it to the site file, or run `interlock lock {self.tenant.id}`",
                )
        return tuple(self.site.gpu_node[host] for host in self.claims.hosts)


@dataclass(frozen=True)
class VPodScope(PartScope):
    """One vPOD of a request, with what its lock gives it."""

    vpod: VPod
    claims: VPodAllocation

    @property
    def part(self) -> str:
        """Name in the request."""
        return self.vpod.name

    def server(self, index: int) -> str:
        """Name of the Poplar server of this index, virtual or bare metal."""
        return self.name("poplar", index)

    @property
    def bare_metal(self) -> bool:
        """True if the Poplar servers are whole hosts."""
        return self.vpod.poplar.kind == "bare-metal"

    @property
    def public_group(self) -> str:
        """The security group of its public servers."""
        return self.name("poplar-public")

    @property
    def controller(self) -> Controller:
        """How its controller runs. PlanningError if the site does not say."""
        if self.site.controller is None:
            message = f"site {self.site.name} does not say how V-IPU controllers run"
            raise PlanningError(message, "add `controller:` to the site file")
        return self.site.controller

    def given(self, claim: str, value: T | None) -> T:
        """A claim that this vPOD must have. PlanningError if its lock does not record it."""
        if value is None:
            raise PlanningError(
                f"the lock of {self.tenant.id} gives vPOD {self.vpod.name} no {claim}, and its request needs one",
                f"run `interlock lock {self.tenant.id}`",
            )
        return value
