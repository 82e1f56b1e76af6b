"""How the proof reads each kind of resource, one line for each. A kind without a line makes plans not provable.

A line is one of three: `read` makes a fact; `within` says with which other kind it is read; `nothing` says why
tenants cannot meet in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from interlock.planning.plan import Planned
from interlock.resources import (
    Aggregate,
    BareMetalServer,
    Bucket,
    BucketPolicy,
    Flavor,
    FlavorAccess,
    FloatingIp,
    Image,
    Keypair,
    Network,
    NvlinkPartition,
    PartitionKey,
    Port,
    RbacPolicy,
    Resource,
    Router,
    S3Credential,
    SecurityGroup,
    SegmentRange,
    Server,
    ServiceUser,
    Share,
    ShareAccess,
    StoredCredential,
    Subnet,
    SwitchPort,
    Trunk,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
    Volume,
    VolumeAttachment,
    VolumeType,
)

from . import access, plan_data, plan_fabric, plan_networks, plan_rights, plan_servers
from .reader import PlanReader

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class KindReading:
    """One kind: the function that makes its fact (None if there is no fact of its own), and what it tells."""

    kind: str
    tells: str
    fact: Callable[[PlanReader, Planned], object] | None = None


def read(kind: type[R], fact: Callable[[PlanReader, Planned, R], object], tells: str) -> KindReading:
    """A kind that becomes a fact."""

    def of(reader: PlanReader, item: Planned) -> object:
        if not isinstance(item.resource, kind):
            raise TypeError(f"{item.name} is no {kind.KIND}")
        return fact(reader, item, item.resource)

    return KindReading(kind.KIND, tells, of)


def within(kind: str, tells: str) -> KindReading:
    """A kind that is read together with another."""
    return KindReading(kind, tells)


def nothing(kind: str, why: str) -> KindReading:
    """A kind in which tenants cannot meet."""
    return KindReading(kind, f"nothing: {why}")


_LINES = (
    nothing("Claims", "a record in the operator's store, made of the footprint itself"),
    within("Project", "who owns everything in it"),
    nothing("Role", "a name; who has it is a role assignment"),
    read(ServiceUser, plan_data.service_user, "a principal of bucket policies, and whose it is"),
    within("RoleAssignment", "with servers: a role on a project is control over what runs there"),
    read(S3Credential, plan_data.credential, "whose key a bucket is made with"),
    read(StoredCredential, plan_rights.stored_credential, "a credential for whoever reads the place"),
    read(Keypair, access.keypair, "a key, and who has it controls the servers that carry it"),
    nothing("Quota", "a limit of one project"),
    nothing("ShareQuota", "a limit of one project"),
    read(SegmentRange, plan_networks.segment_range, "ids that the cloud gives out by itself"),
    within("AddressScope", "with gateways: an open scope filters nothing"),
    within("SubnetPool", "with gateways: a subnet joins a scope by its pool"),
    read(Network, plan_networks.network, "a claim on a segment"),
    read(Subnet, plan_networks.subnet, "addresses, and what a router joins"),
    read(Router, plan_networks.router, "a way between all its subnets, and to outside"),
    within("RouterInterface", "with routers"),
    read(SecurityGroup, plan_rights.security_group, "what is let in; filters take no edge away, and add none"),
    read(Port, plan_networks.port, "an attachment of a server to a segment"),
    read(Trunk, plan_rights.trunk, "ports of other networks on the wire of one"),
    read(FloatingIp, plan_rights.floating_ip, "an entry from outside"),
    read(RbacPolicy, plan_rights.right, "who else may plug in"),
    read(Flavor, access.flavor, "which hosts the scheduler may choose, and whether everybody may use it"),
    read(FlavorAccess, access.flavor_access, "who may use a private flavour"),
    read(Image, plan_rights.image, "who can write the image controls what boots from it"),
    read(Aggregate, access.aggregate, "what the scheduler finds on hosts"),
    read(Server, plan_servers.server, "a device that forwards between its ports, and its host"),
    read(BareMetalServer, plan_servers.bare_metal_server, "a host on every VLAN of the switch ports behind it"),
    read(VolumeType, plan_data.volume_type, "how volumes of it are encrypted"),
    read(Volume, plan_data.volume, "data of one owner"),
    read(VolumeAttachment, plan_data.attachment, "which server reads and writes it"),
    nothing("ShareType", "a name of a class of storage"),
    read(Share, plan_data.share, "data of one owner"),
    read(ShareAccess, plan_data.share_access, "a grant by address, and an address of the storage appliance"),
    read(Bucket, plan_data.bucket, "data of one owner, and the key it is made with"),
    read(BucketPolicy, plan_data.bucket_policy, "grants to users and to everybody"),
    read(SwitchPort, plan_fabric.switch_port, "a VLAN on a switch port, and whose the device behind it is"),
    read(VipuAgent, plan_fabric.agent, "a machine that a controller commands"),
    read(VipuCluster, plan_fabric.agent_cluster, "machines whose links one controller sets"),
    read(VipuAllocation, plan_fabric.allocation, "machines that one controller joins"),
    read(VipuUser, plan_fabric.vipu_user, "whoever has its key has the allocations that it names"),
    read(VipuPartition, plan_fabric.partition, "IPUs of one allocation"),
    read(PartitionKey, plan_fabric.partition_key, "InfiniBand ports that hear each other"),
    read(NvlinkPartition, plan_fabric.nvlink, "GPUs that reach each other's memory"),
)

#: Kind -> how the proof reads it.
READINGS: dict[str, KindReading] = {line.kind: line for line in _LINES}
