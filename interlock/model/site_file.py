"""`site.yaml` as an operator writes it; `site_expansion` makes the full form of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from .errors import Code, fault
from .guards import Guard
from .names import DeviceName, DeviceNames, Interface, Serial, Serials, SiteName
from .site import Endpoint, SwitchRole
from .switch_ports import PortTable
from .validation import FileModel
from .values import Address, AddressPool, GiB, Prefix, VlanIds, VlanRanges, VniRanges, shown

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
TcpPort = Annotated[int, Field(ge=1, le=65535)]


def _number_as_text(value: Any) -> Any:
    """Extra specs are texts to Nova, but `hw:numa_nodes: 8` is how people write them."""
    return str(value) if type(value) is int else value


def _endpoint(value: Any) -> Endpoint:
    device, colon, interface = str(value).partition(":")
    if not (device and colon and interface):
        raise fault(
            Code.VALUE, f"{shown(value)} is no end of a cable", "write device:interface, as in tor-1:17"
        )
    return Endpoint(device=device, interface=interface)


def _audience(value: Any) -> Any:
    return ["*"] if value == "any" else value


_END = WithJsonSchema({"type": "string", "pattern": "^[^:]+:[^:]+$", "examples": ["tor-1:17"]})
End = Annotated[Endpoint, BeforeValidator(_endpoint), _END]
_NUMBER_OR_TEXT = WithJsonSchema({"type": ["string", "integer"]})
ExtraSpecs = dict[str, Annotated[str, BeforeValidator(_number_as_text), _NUMBER_OR_TEXT]]
Audience = Annotated[
    list[str],
    BeforeValidator(_audience),
    WithJsonSchema({"anyOf": [{"const": "any"}, {"type": "array", "items": {"type": "string"}}]}),
]


class SwitchFacts(FileModel):
    """What an operator knows of a switch. What is left out of the last two is unknown."""

    serial: Serial
    ports: PortTable
    ip_routing: bool | None = None
    routed_vlans: VlanIds | None = None


class RackSwitchFile(SwitchFacts):
    """A switch of a design; its model and its port map come from there."""

    name: DeviceName | None = None


class SwitchFile(SwitchFacts):
    """A switch beside the racks."""

    model: str
    role: SwitchRole
    #: (speed in Gb/s, number of ports).
    port_groups: list[list[int]]


class RackMachinesFile(FileModel):
    """The IPU-Machines of a rack, in the order of their positions."""

    names: DeviceNames = Field(default="ipum-[01-16]", validate_default=True)
    serials: Serials
    #: Sync-Link cables between neighbours. Not in any readable document, so it is asked for.
    sync_cables: Count


class RackServersFile(FileModel):
    """The Poplar hosts of a rack, and what Nova gives out of each."""

    names: DeviceNames | None = None
    serials: Serials
    dedicated_cpus: Count
    #: 1 GiB pages.
    huge_pages: GiB
    virtual_functions: Count
    #: The two 100G interfaces, A and B, and the two of 1G, in the order of the port map.
    tor_interfaces: list[Interface]
    management_interfaces: list[Interface]
    #: Physical network -> physical functions on it.
    interfaces: dict[str, list[Interface]]


class RackFile(FileModel):
    """One rack of a known design."""

    name: DeviceName
    design: str
    machines: RackMachinesFile
    poplar: RackServersFile
    tor: RackSwitchFile
    management: RackSwitchFile
    pdus: DeviceNames = Field(default_factory=list)


class HostFile(FileModel):
    """A hypervisor beside the racks."""

    serial: Serial
    role: Literal["poplar", "infra"]
    logical_rack: str | None = None
    dedicated_cpus: Count = 0
    huge_pages: GiB = 0
    virtual_functions: Count = 0
    shared_cpus: Count = 0
    ram: GiB
    interfaces: dict[str, list[Interface]]


class CableFile(FileModel):
    """A cable beside those of the racks."""

    ends: list[End]
    kind: Literal["ethernet", "ipu-link", "gw-link", "sync-link"] = "ethernet"


class SubnetsFile(FileModel):
    """Where subnets are cut from, and the prefix length of each."""

    prefix: Prefix
    each: Annotated[int, Field(ge=8, le=29)]


class VlanPoolFile(FileModel):
    """VLANs on a physical network, and the addresses that go with them."""

    physical_network: str
    vlans: VlanRanges
    subnets: SubnetsFile


class VniPoolFile(FileModel):
    """VXLAN ids, and the addresses that go with them."""

    vnis: VniRanges
    subnets: SubnetsFile


class PoolsFile(FileModel):
    """Everything that locks hand out."""

    ipu_data: VlanPoolFile
    storage: VlanPoolFile
    management: VlanPoolFile
    control: VniPoolFile
    reserved_vlans: VlanIds = ()


class ExternalFile(FileModel):
    """The provider network that router gateways stand on."""

    name: DeviceName
    physical_network: str
    network_type: Literal["flat", "vlan"] = "flat"
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    cidr: Prefix
    gateway: Address
    pool: AddressPool
    address_scope: DeviceName | None = None


class SegmentRangeFile(FileModel):
    """Ids that Neutron may hand out by itself: VLANs of a physical network, or VXLAN ids."""

    physical_network: str | None = None
    vlans: VlanRanges | None = None
    vnis: VniRanges | None = None


class FlavorFile(FileModel):
    """A flavour."""

    role: Literal["poplar", "infra"]
    vcpus: Positive
    ram: GiB
    disk: GiB
    extra_specs: ExtraSpecs = Field(default_factory=dict)


class ImageFile(FileModel):
    """An image, as a file below the site's folder."""

    file: str
    sha512: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]
    disk_format: Literal["raw", "qcow2"] = "raw"


class TenantDefaultsFile(FileModel):
    """What a tenant gets that does not say."""

    flavor: str | None = None
    image: str | None = None
    volume_type: str | None = None


class ControllerFile(FileModel):
    """How V-IPU controllers run."""

    flavor: str
    image: str
    user_api_port: TcpPort


class LimitsFile(FileModel):
    """Limits of the operator's own project."""

    controller_instances: Positive
    controller_cores: Positive
    controller_ram: GiB


class SharingFile(FileModel):
    """An object shared on purpose."""

    kind: Literal["external-network", "vipu-controller"]
    audience: Audience
    guards: dict[str, Guard] = Field(default_factory=dict)


class SiteFile(FileModel):
    """`site.yaml`."""

    name: SiteName
    cloud: str
    domain: str = "default"
    racks: list[RackFile]
    hosts: dict[DeviceName, HostFile] = Field(default_factory=dict)
    switches: dict[DeviceName, SwitchFile] = Field(default_factory=dict)
    cables: list[CableFile] = Field(default_factory=list)
    physical_networks: dict[str, list[str]]
    pools: PoolsFile
    external: ExternalFile
    segment_ranges: list[SegmentRangeFile] = Field(default_factory=list)
    flavors: dict[DeviceName, FlavorFile]
    images: dict[DeviceName, ImageFile]
    volume_types: list[DeviceName] = Field(default_factory=list)
    s3_role: str = "s3_service"
    tenant_defaults: TenantDefaultsFile = Field(default_factory=TenantDefaultsFile)
    controller: ControllerFile
    limits: LimitsFile
    sharing: dict[DeviceName, SharingFile] = Field(default_factory=dict)
    assumptions: dict[str, dict[str, Guard]] = Field(default_factory=dict)
    existing: dict[str, str] = Field(default_factory=dict)
