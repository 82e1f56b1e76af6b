"""Networks of a site, as `site.yaml` states them: Neutron's labels, fabric profiles, underlays, InfiniBand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from interlock.model.text.names import DeviceName, DeviceNames, NetworkName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Address, AddressPool, Prefix, Vlan

from .storage_fabric import StorageFabricFile
from .values import SubnetPrefix

Mtu = Annotated[int, Field(ge=1280, le=65535)]
Dscp = Annotated[int, Field(ge=0, le=63)]


class PhysicalNetworkFile(FileModel):
    """A label on an L2 domain."""

    switches: DeviceNames = Field(description="switches whose ports it reaches; each that a host on it is cabled to")
    mtu: Mtu | None = Field(
        default=None, description="largest frame that every port of it takes, in bytes; without it, unknown"
    )
    profile: DeviceName | None = Field(default=None, description="fabric profile of its ports; without it, unknown")


@dataclass(frozen=True)
class _OrSwitches:
    """`[tor-1]` is short for `{switches: [tor-1]}`."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        short = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        return {"anyOf": [*short, handler(core)]}


def _long(value: Any) -> Any:
    return {"switches": value} if isinstance(value, str | list) else value


PhysicalNetworks = dict[NetworkName, Annotated[PhysicalNetworkFile, BeforeValidator(_long), _OrSwitches()]]


class FabricProfileFile(FileModel):
    """How RDMA traffic is marked and paced on every port of a path. No number is right by itself: all are equal."""

    pfc_priority: Annotated[int, Field(ge=0, le=7)] = Field(description="class that is paused instead of dropped")
    dscp: Dscp = Field(description="mark of RDMA packets")
    cnp_dscp: Dscp | None = Field(default=None, description="mark of congestion notifications; without it, unknown")
    ecn: bool = Field(description="whether switches mark congestion")
    mtu: Mtu = Field(description="largest frame, in bytes")


class UnderlayFile(FileModel):
    """The routed network that VXLAN runs over."""

    mtu: Mtu | None = Field(default=None, description="largest packet, in bytes; without it, unknown")
    neutron: bool | None = Field(
        default=None,
        description="whether Neutron's own overlays run over it; without it, unknown. If over none of these, they have "
        "a network of their own",
    )


class InfinibandFile(FileModel):
    """An InfiniBand subnet."""

    prefix: SubnetPrefix = Field(description="its 64-bit prefix as 16 hexadecimal digits: the identity of the subnet")
    storage: StorageFabricFile | None = Field(
        default=None,
        description="how GPU clusters reach the storage appliance on it; without it, they have no partition there",
    )


class ExternalFile(FileModel):
    """The provider network that router gateways stand on."""

    name: DeviceName = Field(description="its name")
    physical_network: NetworkName = Field(description="the physical network it is on")
    network_type: Literal["flat", "vlan"] = Field(default="flat", description="untagged, or in a VLAN")
    vlan: Vlan | None = Field(default=None, description="its VLAN, if it has one")
    cidr: Prefix = Field(description="its addresses")
    gateway: Address = Field(description="the way out")
    pool: AddressPool = Field(description="addresses for routers and floating IPs, first-last")
    address_scope: DeviceName | None = Field(
        default=None, description="scope of its subnet, which no tenant subnet may join; without it nothing is filtered"
    )
