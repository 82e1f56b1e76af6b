"""What networks are made from: labels on switches, pools that locks hand out, fabric profiles, underlays."""

from __future__ import annotations

from typing import Literal

from interlock.resources import Frozen
from interlock.vocabulary import NetworkRole

from .storage_fabric import StorageFabric

Ranges = tuple[tuple[int, int], ...]


class PhysicalNetwork(Frozen):
    """Neutron's label on an L2 domain: the switches whose ports it reaches. VLAN ids are local to it."""

    name: str
    switches: tuple[str, ...]
    #: Largest frame that every port of it takes, in bytes; None: not stated.
    mtu: int | None = None
    #: Name of the fabric profile that its ports carry; None: not stated.
    profile: str | None = None


class FabricProfile(Frozen):
    """How RDMA traffic is marked and paced; equal on every port between a virtual function and an RNIC."""

    name: str
    pfc_priority: int
    dscp: int
    cnp_dscp: int | None = None
    ecn: bool
    mtu: int


class VlanPool(Frozen):
    """Ids that the locks may give out, inclusive ranges, on each of these physical networks separately."""

    physical_networks: tuple[str, ...]
    vlans: Ranges


class PartitionKeyPool(Frozen):
    """P_Keys (15 bits) of one InfiniBand subnet."""

    infiniband: str
    keys: Ranges
    reserved: tuple[int, ...] = ()


class Pools(Frozen):
    """Everything locks hand out. Subnet pools are (prefix, length of what is cut from it)."""

    #: Of vPODs; None, like the subnets below: the site has no IPU-Machines, and none to give.
    ipu_data: VlanPool | None = None
    storage: VlanPool | None = None
    management: VlanPool | None = None
    #: VLANs of control networks that hold bare-metal hosts; None: the site has none to give.
    bare_metal_control: VlanPool | None = None
    #: VXLAN ids of control networks.
    control: Ranges = ()
    reserved_vlans: tuple[int, ...] = ()
    reserved_vnis: tuple[int, ...] = ()
    ipu_data_subnets: tuple[str, int] | None = None
    storage_subnets: tuple[str, int] | None = None
    #: VLANs of the in-band networks of GPU clusters, and where their subnets are cut from; None: none to give.
    cluster: VlanPool | None = None
    cluster_subnets: tuple[str, int] | None = None
    #: The same of RoCE networks. Each physical network is one leaf group: no cluster reaches beyond it.
    roce: VlanPool | None = None
    roce_subnets: tuple[str, int] | None = None
    control_subnets: tuple[str, int] | None = None
    management_subnets: tuple[str, int] | None = None
    #: First and last offset, in every storage subnet, of the addresses of the storage appliance.
    storage_vips: tuple[int, int] | None = None
    partition_keys: tuple[PartitionKeyPool, ...] = ()

    @property
    def vlans_of(self) -> dict[NetworkRole, VlanPool]:
        """The VLANs of each role's networks; a role without any is left out."""
        pools = {
            NetworkRole.IPU_DATA: self.ipu_data,
            NetworkRole.STORAGE: self.storage,
            NetworkRole.MANAGEMENT: self.management,
            NetworkRole.CONTROL: self.bare_metal_control,
            NetworkRole.CLUSTER: self.cluster,
            NetworkRole.ROCE: self.roce,
        }
        return {role: pool for role, pool in pools.items() if pool is not None}

    @property
    def vlans_by_name(self) -> dict[str, VlanPool]:
        """The pools of VLANs, as the site file calls them and in its order; one that the site lacks is left out."""
        pools = {
            "ipu_data": self.ipu_data,
            "storage": self.storage,
            "management": self.management,
            "bare_metal_control": self.bare_metal_control,
            "cluster": self.cluster,
            "roce": self.roce,
        }
        return {name: pool for name, pool in pools.items() if pool is not None}

    @property
    def subnets_of(self) -> dict[NetworkRole, tuple[str, int]]:
        """(prefix, length of what is cut from it) of the subnets of each role's networks."""
        subnets = {
            NetworkRole.IPU_DATA: self.ipu_data_subnets,
            NetworkRole.STORAGE: self.storage_subnets,
            NetworkRole.CONTROL: self.control_subnets,
            NetworkRole.MANAGEMENT: self.management_subnets,
            NetworkRole.CLUSTER: self.cluster_subnets,
            NetworkRole.ROCE: self.roce_subnets,
        }
        return {role: found for role, found in subnets.items() if found is not None}

    @property
    def subnets_by_name(self) -> dict[str, tuple[str, int]]:
        """The same by the pool that they belong to, as the site file calls it; `bare_metal_control` has none."""
        return {role.word: subnets for role, subnets in self.subnets_of.items()}


class Underlay(Frozen):
    """The routed network that VXLAN runs over. Two tenants' VNIs are apart only on one underlay's own count."""

    name: str
    mtu: int | None = None
    #: True for the one that Neutron's own overlays run over; None: unknown. False for all: it has one of its own.
    neutron: bool | None = None


class InfinibandSubnet(Frozen):
    """An InfiniBand subnet, known by its 64-bit prefix; `prefix` as 16 hex digits."""

    name: str
    prefix: str
    #: How clusters reach the appliance on it; None: they have no partition for storage there.
    storage: StorageFabric | None = None


class ExternalNetwork(Frozen):
    """The provider network that router gateways stand on."""

    name: str
    physical_network: str
    network_type: Literal["flat", "vlan"] = "flat"
    vlan: int | None = None
    cidr: str
    gateway: str
    pool: tuple[str, str]
    #: Address scope of its subnet, which no tenant subnet may join; None: no scope (nothing filters then).
    address_scope: str | None


class SegmentRangeSpec(Frozen):
    """Ids that Neutron may hand out by itself on a physical network (None: VXLAN)."""

    network_type: Literal["vlan", "vxlan"]
    physical_network: str | None
    minimum: int
    maximum: int
