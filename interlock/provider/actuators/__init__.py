"""One actuator per kind; `ACTUATORS` lists all."""

from __future__ import annotations

from typing import Any

from .bare_metal import BareMetalServerActuator
from .base import Actuator, DataCopy, Ids, Observed, Phase, Target
from .bucket_policy import BucketPolicyActuator
from .compute import AggregateActuator, FlavorAccessActuator, FlavorActuator, KeypairActuator
from .floating_ip import FloatingIpActuator
from .identity import (
    ProjectActuator,
    RoleActuator,
    RoleAssignmentActuator,
    ServiceUserActuator,
)
from .image import ImageActuator
from .network import (
    AddressScopeActuator,
    NetworkActuator,
    PortActuator,
    SegmentRangeActuator,
    SubnetActuator,
    SubnetPoolActuator,
)
from .partition_key import PartitionKeyActuator
from .quotas import QuotaActuator
from .routing import RouterActuator, RouterInterfaceActuator, SecurityGroupActuator
from .s3 import BucketActuator, S3CredentialActuator
from .server import ServerActuator
from .shares import ShareAccessActuator, ShareActuator, ShareQuotaActuator, ShareTypeActuator
from .storage import VolumeActuator, VolumeAttachmentActuator, VolumeTypeActuator
from .stored_credential import StoredCredentialActuator
from .switch_port import SwitchPortActuator
from .vipu_objects import VipuAgentActuator, VipuAllocationActuator, VipuClusterActuator, VipuUserActuator
from .vipu_partition import VipuPartitionActuator

#: Kind -> its actuator.
ACTUATORS: dict[str, Actuator[Any]] = {
    actuator.KIND.KIND: actuator
    for actuator in (
        ProjectActuator(), RoleActuator(), ServiceUserActuator(), RoleAssignmentActuator(),
        S3CredentialActuator(), KeypairActuator(), QuotaActuator(),
        SegmentRangeActuator(), AddressScopeActuator(), SubnetPoolActuator(), NetworkActuator(),
        SubnetActuator(), RouterActuator(), RouterInterfaceActuator(), SecurityGroupActuator(), PortActuator(),
        SwitchPortActuator(), FloatingIpActuator(), PartitionKeyActuator(),
        FlavorActuator(), FlavorAccessActuator(), ImageActuator(), AggregateActuator(), ServerActuator(),
        BareMetalServerActuator(),
        VolumeTypeActuator(), VolumeActuator(), VolumeAttachmentActuator(), BucketActuator(),
        BucketPolicyActuator(),
        ShareQuotaActuator(), ShareTypeActuator(), ShareActuator(), ShareAccessActuator(),
        StoredCredentialActuator(),
        VipuAgentActuator(), VipuClusterActuator(), VipuAllocationActuator(), VipuUserActuator(),
        VipuPartitionActuator(),
    )
}  # fmt: skip

__all__ = ["ACTUATORS", "Actuator", "DataCopy", "Ids", "Observed", "Phase", "Target"]
