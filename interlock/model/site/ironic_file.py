"""Ironic of a site, as `site.yaml` states it: how its nodes are told from others, and the networks they boot on."""

from __future__ import annotations

from pydantic import Field

from interlock.model.text.names import DeviceName, NetworkName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import VlanRanges

from .pools_file import SubnetsFile


class ResourceClassesFile(FileModel):
    """How Ironic calls what a node is."""

    poplar: DeviceName | None = Field(
        default=None, description="of every whole host; without it the model that its entry states, else `poplar`"
    )
    machine: DeviceName | None = Field(
        default=None, description="of every IPU-Machine; without it its generation, as in `ipu-m2000`"
    )


class ServiceNetworksFile(FileModel):
    """VLANs on one physical network, one for each whole host there, on which it is deployed and cleaned."""

    physical_network: NetworkName = Field(
        description="the physical network of the interface that the hosts boot from, whose switches Neutron wires"
    )
    vlans: VlanRanges = Field(
        description="one for each whole host, which keeps it from the first `interlock lock` on; none of a pool, of "
        "`reserved_vlans` or of `segment_ranges`"
    )
    subnets: SubnetsFile = Field(
        description="addresses that go with them, one subnet for each VLAN, a /28 or larger; none of a pool"
    )


class IronicFile(FileModel):
    """How Ironic deploys whole hosts."""

    conductor_group: NetworkName = Field(
        description="conductor group of these nodes; nova-compute must be given another, or it takes them"
    )
    driver: DeviceName = Field(default="redfish", description="driver of the nodes, for `interlock nodes`")
    resource_classes: ResourceClassesFile = Field(
        default_factory=ResourceClassesFile, description="resource classes of the nodes"
    )
    networks: list[ServiceNetworksFile] = Field(
        default_factory=list,
        description="where hosts are deployed and cleaned, a VLAN for each host: two former tenants share none",
    )
