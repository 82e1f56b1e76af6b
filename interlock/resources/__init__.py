"""The vocabulary that plan, policies, components and provider share: one frozen type per resource kind.

This room imports nothing else of interlock. A new kind is a class here, one line in `KINDS`, an actuator
in `interlock.provider.actuators` (or `HAS_ACTUATOR = False`), and facts in `policies.facts`.
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
from .compute import Aggregate, Flavor, Image, Server
from .fabric import SwitchPort
from .identity import Keypair, Project, Quota, Role, RoleAssignment, S3Credential, ServiceUser
from .network import (
    AddressScope,
    Network,
    Port,
    Router,
    RouterInterface,
    Rule,
    SecurityGroup,
    SegmentRange,
    Subnet,
    SubnetPool,
)
from .storage import Bucket, Volume, VolumeAttachment, VolumeType

#: Every kind there is, by name, in the order in which docs and reports list them.
KINDS: dict[str, type[Resource]] = {
    kind.KIND: kind
    for kind in (
        Project, Role, ServiceUser, RoleAssignment, S3Credential, Keypair, Quota,
        SegmentRange, AddressScope, SubnetPool, Network, Subnet, Router, RouterInterface, SecurityGroup, Port,
        Flavor, Image, Aggregate, Server,
        VolumeType, Volume, VolumeAttachment, Bucket,
        SwitchPort,
    )
}  # fmt: skip

__all__ = [
    "ID_OF",
    "KINDS",
    "AddressScope",
    "Admission",
    "Admitted",
    "Aggregate",
    "Bucket",
    "Change",
    "Effect",
    "Flavor",
    "Frozen",
    "Image",
    "Keypair",
    "Network",
    "Port",
    "Project",
    "Quota",
    "Refers",
    "Resource",
    "Role",
    "RoleAssignment",
    "Router",
    "RouterInterface",
    "Rule",
    "S3Credential",
    "SecurityGroup",
    "SegmentRange",
    "Server",
    "ServiceUser",
    "Subnet",
    "SubnetPool",
    "SwitchPort",
    "Volume",
    "VolumeAttachment",
    "VolumeType",
    "canonical_json",
    "digest_of",
    "is_cloud_reference",
    "is_site_reference",
]
