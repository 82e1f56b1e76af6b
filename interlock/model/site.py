"""The operator's inventory in its one full form: machines, hosts, switches, cables, pools, sharing.

Everything after `interlock.model.load` sees only these types. A guard or fact that the file does not state
is None: unknown, never assumed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from interlock.resources import Frozen

SwitchRole = Literal["tor", "management", "spine"]
PortMode = Literal["access", "trunk", "routed", "disabled"]
Generation = Literal["ipu-m2000", "bow-2000"]


class Endpoint(Frozen):
    """One end of a cable: a device and an interface of it (`rnic`, `mgmt`, `ipu-link-up`, `eth1`, `17` …)."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device}:{self.interface}"


class Cable(Frozen):
    """A cable with both ends. `kind` says what runs on it."""

    a: Endpoint
    b: Endpoint
    kind: Literal["ethernet", "ipu-link", "gw-link", "sync-link"] = "ethernet"


class Machine(Frozen):
    """An IPU-Machine. Its RNIC, gateway and BMC are three network devices (DOMAIN: identity rule)."""

    name: str
    serial: str
    logical_rack: str
    #: 1..16, the position in the IPU-Link chain of its logical rack.
    position: int
    generation: Generation = "ipu-m2000"


class Host(Frozen):
    """A hypervisor. `poplar` hosts carry tenants' servers, `infra` hosts controllers."""

    name: str
    serial: str
    role: Literal["poplar", "infra"]
    logical_rack: str | None = None
    #: What Nova may give out: dedicated CPUs, pages of 1 GiB, virtual functions.
    dedicated_cpus: int = 0
    huge_pages_gib: int = 0
    virtual_functions: int = 0
    shared_cpus: int = 0
    ram_gib: int = 0
    #: Physical functions (SR-IOV) and bridges, by physical network: `fabric100g: [ens161f0, ens161f1]`.
    interfaces: dict[str, tuple[str, ...]] = {}


class SwitchPortConfig(Frozen):
    """How one switch port is configured. `tagged` None on a trunk means no list: it carries 1-4094."""

    port: int
    mode: PortMode
    #: Access VLAN, or native VLAN of a trunk; None on a trunk: none (untagged frames are dropped).
    untagged: int | None = None
    tagged: tuple[tuple[int, int], ...] | None = ()


class Switch(Frozen):
    """A switch. Its VLAN space is its own: identity is the serial, not any name of a physical network."""

    name: str
    serial: str
    model: str
    role: SwitchRole
    #: (speed in Gb/s, number of ports), numbered from 1 in this order.
    port_groups: tuple[tuple[int, int], ...]
    ports: tuple[SwitchPortConfig, ...] = ()
    #: VLANs with an address of the switch in its default VRF; None: not stated.
    routed_vlans: tuple[int, ...] | None = None
    ip_routing: bool | None = None

    @cached_property
    def by_port(self) -> dict[int, SwitchPortConfig]:
        """Configuration by port number."""
        return {item.port: item for item in self.ports}


class PhysicalNetwork(Frozen):
    """Neutron's label on an L2 domain: the switches whose ports it reaches."""

    name: str
    switches: tuple[str, ...]


class VlanPool(Frozen):
    """Ids that the locks may give out, inclusive ranges, on one physical network."""

    physical_network: str
    vlans: tuple[tuple[int, int], ...]


class Pools(Frozen):
    """Everything locks hand out. Subnet pools are (prefix, length of what is cut from it)."""

    ipu_data: VlanPool
    storage: VlanPool
    management: VlanPool
    #: VXLAN ids of control networks.
    control: tuple[tuple[int, int], ...]
    reserved_vlans: tuple[int, ...] = ()
    ipu_data_subnets: tuple[str, int]
    storage_subnets: tuple[str, int]
    control_subnets: tuple[str, int]
    management_subnets: tuple[str, int]


class Sharing(Frozen):
    """An operator's object that is shared on purpose: it stays one only while every guard is known to hold."""

    name: str
    kind: Literal["external-network", "vipu-controller"]
    #: Tenant ids, or ("*",) for any.
    audience: tuple[str, ...]
    #: Guard -> True holds, False does not, None not stated.
    guards: dict[str, bool | None]


class Assumption(Frozen):
    """A premise of the proof (A1, A2 …) with its guard facts."""

    id: str
    guards: dict[str, bool | None]


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


class FlavorSpec(Frozen):
    """A flavour of the site. `role` says on which hosts it may be used; sizes in MiB and GiB."""

    name: str
    role: Literal["poplar", "infra"]
    vcpus: int
    ram_gib: int
    disk_gib: int
    extra_specs: dict[str, str] = {}


class ImageSpec(Frozen):
    """An image file in the site's folder."""

    name: str
    file: str
    sha512: str
    disk_format: Literal["raw", "qcow2"] = "raw"


class SegmentRangeSpec(Frozen):
    """Ids that Neutron may hand out by itself on a physical network (None: VXLAN)."""

    network_type: Literal["vlan", "vxlan"]
    physical_network: str | None
    minimum: int
    maximum: int


class Controller(Frozen):
    """How the V-IPU controller of a vPOD runs."""

    flavor: str
    image: str
    user_api_port: int


class Limits(Frozen):
    """Limits of the operator's own project, in which controllers run."""

    controller_instances: int
    controller_cores: int
    controller_ram_gib: int


class Site(Frozen):
    """A site in full form."""

    name: str
    cloud: str
    domain: str = "default"
    machines: tuple[Machine, ...]
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...]
    physical_networks: tuple[PhysicalNetwork, ...]
    pools: Pools
    external: ExternalNetwork
    segment_ranges: tuple[SegmentRangeSpec, ...]
    flavors: tuple[FlavorSpec, ...]
    images: tuple[ImageSpec, ...]
    volume_types: tuple[str, ...]
    s3_role: str = "s3_service"
    controller: Controller
    limits: Limits
    sharing: tuple[Sharing, ...]
    assumptions: tuple[Assumption, ...]
    #: Kind/name -> uuid of objects that are on the cloud already and stay as they are.
    existing: dict[str, str] = {}

    @cached_property
    def machine(self) -> dict[str, Machine]:
        """Machines by name."""
        return {item.name: item for item in self.machines}

    @cached_property
    def host(self) -> dict[str, Host]:
        """Hosts by name."""
        return {item.name: item for item in self.hosts}

    @cached_property
    def switch(self) -> dict[str, Switch]:
        """Switches by name."""
        return {item.name: item for item in self.switches}

    @cached_property
    def flavor(self) -> dict[str, FlavorSpec]:
        """Flavours by name."""
        return {item.name: item for item in self.flavors}

    @cached_property
    def cable_at(self) -> dict[tuple[str, str], Cable]:
        """(device, interface) -> the cable plugged there."""
        return {(end.device, end.interface): cable for cable in self.cables for end in (cable.a, cable.b)}

    def guard(self, path: str) -> bool | None:
        """The value of `sharing.<name>.<guard>` or `assumptions.<id>.<guard>`; None if not stated."""
        section, name, guard = path.split(".", 2)
        entries: dict[str, dict[str, bool | None]] = (
            {item.name: item.guards for item in self.sharing}
            if section == "sharing"
            else {item.id: item.guards for item in self.assumptions}
        )
        return entries.get(name, {}).get(guard)
