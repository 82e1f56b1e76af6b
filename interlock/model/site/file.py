"""`site.yaml` as an operator writes it; `site_expansion` makes the full form of it.

`racks:` is the short form. The other sections are named as the fields of `Site`, and either may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from interlock.model.hall.file import HallFile
from interlock.model.rack.file import RackFile
from interlock.model.tenant.values import RuleId
from interlock.model.text.names import DeviceName, SiteName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Positive
from interlock.model.waivers import WaiverFile

from .bastion import BastionFile
from .completeness import CompleteFile
from .full_file import (
    CableFile,
    DeviceFile,
    HostFile,
    LagFile,
    LogicalRackFile,
    MachineFile,
    PlacementFile,
    RoomFile,
    StandingRackFile,
    SwitchFile,
)
from .gpu_file import FabricSwitchFile, GpuNodeFile
from .guards import AssumptionGuard
from .ironic_file import IronicFile
from .networks_file import ExternalFile, FabricProfileFile, InfinibandFile, PhysicalNetworks, UnderlayFile
from .object_storage import ObjectStorageFile
from .offers import Controller
from .offers_file import (
    FlavorFile,
    ImageFile,
    LimitsFile,
    Prices,
    ShareTypeFile,
    SharingFile,
    TenantDefaultsFile,
    VolumeEncryptionFile,
)
from .pools_file import PoolsFile, SegmentRangeFile
from .software_file import Version
from .terms_of_evidence import EvidenceTermsFile
from .values import ClaimsUrl, ObjectId, RegionName

__all__ = ["CableFile", "HostFile", "Positive", "RackFile", "SiteFile", "SwitchFile", "TenantDefaultsFile"]


class SiteFile(FileModel):
    """`site.yaml`."""

    #: None of this reaches a site: it only lets the other sections be checked in the same pass.
    STAND_INS: ClassVar[Mapping[str, Any]] = {
        "physical_networks": {},
        "pools": {},
        "external": {
            "name": "lost",
            "physical_network": "lost",
            "cidr": "192.0.2.0/24",
            "gateway": "192.0.2.1",
            "pool": "192.0.2.2-192.0.2.9",
        },
        "images": {},
    }

    name: SiteName = Field(description="the name of the folder, and the first part of every stack: no dash")
    cloud: str = Field(description="entry of `clouds.yaml`")
    region: RegionName | None = Field(
        default=None,
        description="region of the cloud, as its catalogue spells it; without it the one of `clouds.yaml`, or the only "
        "one that the catalogue has",
    )
    claims: ClaimsUrl | None = Field(
        default=None,
        description="where claims are recorded: `s3://bucket/prefix?endpoint=…&region=…` for a team, "
        "`file:///folder` for one machine; without it a folder beside the `clouds.yaml` in use",
    )
    domain: str = Field(default="default", description="Keystone domain of projects and service users")
    racks: list[RackFile] = Field(
        default_factory=list,
        description="pods of a known design; each becomes machines, hosts, switches and cables",
    )
    halls: dict[DeviceName, HallFile] = Field(
        default_factory=dict,
        description="halls of GPU nodes of a known design, by name; each becomes nodes, InfiniBand switches and cables",
    )
    rooms: dict[DeviceName, RoomFile] = Field(default_factory=dict, description="rooms, by name")
    physical_racks: dict[DeviceName, StandingRackFile] = Field(
        default_factory=dict, description="physical racks beside those of `racks`, by name"
    )
    logical_racks: dict[DeviceName, LogicalRackFile] = Field(
        default_factory=dict, description="logical racks beside those of `racks`, by name"
    )
    machines: dict[DeviceName, MachineFile] = Field(
        default_factory=dict, description="IPU-Machines beside the racks, by name"
    )
    hosts: dict[DeviceName, HostFile] = Field(
        default_factory=dict, description="servers beside the racks, by the name that Nova has for them"
    )
    gpu_nodes: dict[DeviceName, GpuNodeFile] = Field(
        default_factory=dict,
        description="GPU nodes beside the halls, by name; each is a host of role `gpu` under `hosts`, too",
    )
    switches: dict[DeviceName, SwitchFile] = Field(
        default_factory=dict, description="switches beside the racks, by name"
    )
    fabric_switches: dict[DeviceName, FabricSwitchFile] = Field(
        default_factory=dict, description="InfiniBand switches beside the halls, by name"
    )
    devices: dict[DeviceName, DeviceFile] = Field(
        default_factory=dict, description="power units, appliances and all else that hangs on a cable, by name"
    )
    placements: dict[DeviceName, PlacementFile] = Field(
        default_factory=dict, description="device → where it stands, what it draws and weighs"
    )
    cables: list[CableFile] = Field(default_factory=list, description="cables beside those of the racks")
    lags: list[LagFile] = Field(default_factory=list, description="interfaces that act as one link")
    complete: CompleteFile = Field(
        default_factory=CompleteFile,
        description="which tables are complete, device by device, seen when and by whom; see below",
    )
    physical_networks: PhysicalNetworks = Field(
        description="Neutron's label → the switches whose ports it reaches; a label is no identity, the switch is"
    )
    fabric_profiles: dict[DeviceName, FabricProfileFile] = Field(
        default_factory=dict, description="how RDMA traffic is marked and paced, by a name of your own"
    )
    underlays: dict[DeviceName, UnderlayFile] = Field(
        default_factory=dict, description="routed networks that VXLAN runs over, by name; in one site of a fleet only"
    )
    infiniband: dict[DeviceName, InfinibandFile] = Field(
        default_factory=dict, description="InfiniBand subnets, by a name of your own"
    )
    pools: PoolsFile = Field(description="all that locks hand out; delegated to interlock alone")
    external: ExternalFile = Field(description="the provider network that router gateways stand on")
    bastion: BastionFile | None = Field(
        default=None, description="jump host that tenants' people come in by; without it they come straight"
    )
    segment_ranges: list[SegmentRangeFile] = Field(
        default_factory=list, description="ids that Neutron may hand out by itself, never one of the pools"
    )
    ironic: IronicFile | None = Field(
        default=None, description="Ironic, which deploys whole hosts; without it, nothing deploys them"
    )
    flavors: dict[DeviceName, FlavorFile] = Field(default_factory=dict, description="flavours, by name")
    images: dict[DeviceName, ImageFile] = Field(description="images, by name")
    volume_types: list[DeviceName] = Field(
        default_factory=list, description="volume types that tenants may name; the site makes them"
    )
    volume_encryption: dict[DeviceName, VolumeEncryptionFile] = Field(
        default_factory=dict,
        description="volume type → how its volumes are encrypted, `{}` for the usual way; of others they are not",
    )
    share_types: dict[DeviceName, ShareTypeFile] = Field(
        default_factory=dict, description="share types that tenants may name, by name"
    )
    s3_role: str = Field(
        default="s3_service", description="name of the role that object storage accepts and no other service knows"
    )
    channel: bool = Field(
        default=False,
        description="true if Nova's metadata API asks `interlock channel serve`: Poplar servers on "
        "hypervisors then fetch their S3 keys after the first boot",
    )
    object_storage: ObjectStorageFile | None = Field(
        default=None, description="what holds tenants' buckets; without it the cloud's own, with versioning alone"
    )
    lustre_server: Version | None = Field(
        default=None,
        description="version of the Lustre servers that GPU nodes mount; without it, there are none or it is unknown",
    )
    tenant_defaults: TenantDefaultsFile = Field(
        default_factory=TenantDefaultsFile, description="what a tenant gets that does not say"
    )
    controller: Controller | None = Field(
        default=None, description="how V-IPU controllers run; needed where there are IPU-Machines"
    )
    limits: LimitsFile = Field(
        default_factory=LimitsFile, description="limits of the operator's own project, and of every tenant"
    )
    prices: Prices | None = Field(
        default=None, description="`currency`, and item → price as a decimal number; one that is left out is unknown"
    )
    sharing: dict[DeviceName, SharingFile] = Field(
        default_factory=dict, description="what is shared on purpose, by name; nothing else is"
    )
    assumptions: dict[str, dict[str, AssumptionGuard]] = Field(
        default_factory=dict,
        description="assumption → guard → `true`, `false` or `unknown`, see below; some of A1 and A6 also "
        "`{by: evidence, max_age: 30d}`",
    )
    evidence: EvidenceTermsFile = Field(
        default_factory=EvidenceTermsFile, description="what evidence of wiped and unwired things must be to count"
    )
    existing: dict[str, ObjectId] = Field(
        default_factory=dict,
        description="`<Kind>/<name>` → id of objects that are on the cloud already: compared, used, never changed",
    )
    waivers: dict[RuleId, WaiverFile] = Field(
        default_factory=dict, description="rules that may pass for the operator's own stack, by id"
    )
