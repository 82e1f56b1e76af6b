"""The vocabulary that plan, policies, components and provider share: one frozen type per resource kind.

This package imports nothing else of interlock but `vocabulary`. A new kind is a class here, one line in `KINDS`, an
actuator in `interlock.provider.actuators` (or `HAS_ACTUATOR = False`), and facts in `policies.facts.kinds`.
"""

from __future__ import annotations

from .admission import Admission, Admitted
from .base import (
    ID_OF,
    Change,
    Effect,
    Frozen,
    Refers,
    Resource,
    canonical_json,
    digest_of,
    is_cloud_reference,
    is_site_reference,
)
from .bucket_settings import BucketLifecycle, CorsRule, Expiry, ObjectLock
from .claims import Claims
from .compute import Aggregate, BareMetalLeg, BareMetalServer, Flavor, FlavorAccess, Image, Server
from .fabric import (
    NvlinkPartition,
    PartitionKey,
    PartitionMember,
    SwitchPort,
)
from .identity import (
    Keypair,
    Project,
    Quota,
    Role,
    RoleAssignment,
    S3Credential,
    ServiceUser,
    ShareQuota,
    StoredCredential,
)
from .network import (
    AddressScope,
    FloatingIp,
    Network,
    Port,
    RbacPolicy,
    Router,
    RouterInterface,
    SecurityGroup,
    SecurityGroupRule,
    SegmentRange,
    Subnet,
    SubnetPool,
    Trunk,
    TrunkSubPort,
)
from .storage import (
    Bucket,
    BucketPolicy,
    BucketStatement,
    Share,
    ShareAccess,
    ShareType,
    Volume,
    VolumeAttachment,
    VolumeEncryption,
    VolumeType,
)
from .vipu import VipuAgent, VipuAllocation, VipuCluster, VipuObject, VipuPartition, VipuUser

#: Every kind there is, by name, in the order in which docs and reports list them.
KINDS: dict[str, type[Resource]] = {
    kind.KIND: kind
    for kind in (
        Claims,
        Project, Role, ServiceUser, RoleAssignment, S3Credential, StoredCredential, Keypair,
        Quota,
        ShareQuota,
        SegmentRange, AddressScope, SubnetPool, Network, Subnet, Router, RouterInterface, SecurityGroup, Port,
        Trunk, FloatingIp, RbacPolicy,
        Flavor, FlavorAccess, Image, Aggregate, Server, BareMetalServer,
        VolumeType, Volume, VolumeAttachment, ShareType, Share, ShareAccess, Bucket, BucketPolicy,
        SwitchPort, VipuAgent, VipuCluster, VipuAllocation, VipuUser, VipuPartition, PartitionKey, NvlinkPartition,
    )
}  # fmt: skip

__all__ = [
    "ID_OF",
    "KINDS",
    "AddressScope",
    "Admission",
    "Admitted",
    "Aggregate",
    "BareMetalLeg",
    "BareMetalServer",
    "Bucket",
    "BucketLifecycle",
    "BucketPolicy",
    "BucketStatement",
    "Change",
    "Claims",
    "CorsRule",
    "Effect",
    "Expiry",
    "Flavor",
    "FlavorAccess",
    "FloatingIp",
    "Frozen",
    "Image",
    "Keypair",
    "Network",
    "NvlinkPartition",
    "ObjectLock",
    "PartitionKey",
    "PartitionMember",
    "Port",
    "Project",
    "Quota",
    "RbacPolicy",
    "Refers",
    "Resource",
    "Role",
    "RoleAssignment",
    "Router",
    "RouterInterface",
    "S3Credential",
    "SecurityGroup",
    "SecurityGroupRule",
    "SegmentRange",
    "Server",
    "ServiceUser",
    "Share",
    "ShareAccess",
    "ShareQuota",
    "ShareType",
    "StoredCredential",
    "Subnet",
    "SubnetPool",
    "SwitchPort",
    "Trunk",
    "TrunkSubPort",
    "VipuAgent",
    "VipuAllocation",
    "VipuCluster",
    "VipuObject",
    "VipuPartition",
    "VipuUser",
    "Volume",
    "VolumeAttachment",
    "VolumeEncryption",
    "VolumeType",
    "canonical_json",
    "digest_of",
    "is_cloud_reference",
    "is_site_reference",
]
