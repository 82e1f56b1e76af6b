"""What locks hand out, as `site.yaml` states it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interlock.model.text.names import DeviceName, NetworkName, NetworkNames
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Prefix, VlanIds, VlanRanges, VniRanges

from .between_leaf_groups import BetweenLeafGroups
from .values import Offsets, PartitionKeyIds, PartitionKeys, VniIds


class SubnetsFile(FileModel):
    """Where subnets are cut from."""

    prefix: Prefix = Field(description="where its subnets are cut from")
    each: Annotated[int, Field(ge=8, le=29)] = Field(description="prefix length of each")


class BareVlanPoolFile(FileModel):
    """VLANs on one physical network, or on each of several separately."""

    physical_network: NetworkName | None = Field(default=None, description="the physical network they are on")
    physical_networks: NetworkNames | None = Field(
        default=None, description="instead: several, `fabric-[01-99]`; each id is there to give on each of them"
    )
    vlans: VlanRanges = Field(description="ids that locks may give out")

    @property
    def networks(self) -> list[str]:
        """The physical networks, whichever way they are written; one of the two ways was (`site_pool_checks`)."""
        one = [] if self.physical_network is None else [self.physical_network]
        return [*one, *(self.physical_networks or ())]


class VlanPoolFile(BareVlanPoolFile):
    """VLANs, and the addresses that go with them."""

    subnets: SubnetsFile = Field(description="addresses that go with them")


class RocePoolFile(VlanPoolFile):
    """VLANs of RoCE networks, and how far they reach."""

    between_leaf_groups: BetweenLeafGroups = Field(
        default="none",
        description="what joins its physical networks, each of which is a leaf group: `none`, so that no cluster is "
        "larger than one; `routed`, routes and a VRF of each tenant on every leaf, cannot be made yet",
    )


class VniPoolFile(FileModel):
    """VXLAN ids, and the addresses that go with them."""

    vnis: VniRanges = Field(description="ids that locks may give out")
    subnets: SubnetsFile = Field(description="addresses that go with them")


class PartitionKeyPoolFile(FileModel):
    """P_Keys of one InfiniBand subnet."""

    keys: PartitionKeys = Field(description="keys that locks may give out, 0x0001 to 0x7ffe")
    reserved: PartitionKeyIds = Field(default=(), description="keys among them that are never given out")


class PoolsFile(FileModel):
    """Everything that locks hand out."""

    ipu_data: VlanPoolFile | None = Field(
        default=None, description="the RDMA networks of vPODs; needed where there are IPU-Machines, as the next three"
    )
    storage: VlanPoolFile | None = Field(default=None, description="the storage networks of vPODs")
    management: VlanPoolFile | None = Field(
        default=None, description="BMCs and gateways of a vPOD's machines, and its controller"
    )
    control: VniPoolFile | None = Field(default=None, description="the control networks of vPODs")
    bare_metal_control: BareVlanPoolFile | None = Field(
        default=None,
        description="VLANs of control networks with bare-metal hosts; without it, the site has none to give",
    )
    cluster: VlanPoolFile | None = Field(
        default=None, description="the in-band networks of GPU clusters; without it, the site has none to give"
    )
    roce: RocePoolFile | None = Field(
        default=None,
        description="the RoCE networks of GPU clusters: each physical network is one leaf group, on which nodes have "
        "their Ethernet compute ports; without it, the site has none to give",
    )
    reserved_vlans: VlanIds = Field(default=(), description="VLANs that no pool gives out, and no plan may use")
    reserved_vnis: VniIds = Field(default=(), description="VXLAN ids that no pool gives out")
    storage_vips: Offsets | None = Field(
        default=None, description="offsets, in every storage subnet, of the storage appliance's addresses"
    )
    partition_keys: dict[DeviceName, PartitionKeyPoolFile] = Field(
        default_factory=dict, description="InfiniBand subnet → its P_Keys"
    )


class SegmentRangeFile(FileModel):
    """Ids that Neutron may hand out by itself: VLANs of a physical network, or VXLAN ids."""

    physical_network: NetworkName | None = Field(default=None, description="the physical network of the VLANs")
    vlans: VlanRanges | None = Field(default=None, description="VLANs; none of a pool on that network")
    vnis: VniRanges | None = Field(default=None, description="instead: VXLAN ids; none of the pool `control`")
