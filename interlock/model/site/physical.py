"""What stands in the rooms and how it is cabled: racks, machines, hosts, switches, power, every plug.

The full form: short forms (`design: ipu-pod64`) are expanded before anything is read from here. None is a
fact that nobody stated, never an assumed one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from interlock.hardware.power import Feed as Feed
from interlock.hardware.switches import port_name_of
from interlock.resources import Frozen

SwitchRole = Literal["tor", "management", "spine", "gw-link"]
#: Who sets the ports of a switch: Neutron through its driver, a pipeline that owns the configuration, or a person.
WiredBy = Literal["neutron", "export", "hand"]
#: Who puts VLANs onto a trunk beside those that its list states: Neutron's driver, with every network that it makes.
FilledBy = Literal["neutron"]
PortMode = Literal["access", "trunk", "dot1q-tunnel", "routed", "disabled"]
Generation = Literal["ipu-m2000", "bow-2000"]
CableKind = Literal["ethernet", "infiniband", "ipu-link", "gw-link", "sync-link", "power"]
CoolingMethod = Literal["room-air", "in-row-air", "rear-door", "direct-to-chip", "immersion"]
Provisioning = Literal["hypervisor", "bare-metal"]
HostRole = Literal["poplar", "infra", "gpu"]
#: Whether a machine or host is given out. One that is not keeps whoever has it.
ServiceState = Literal["ok", "failed", "maintenance"]

#: Network devices inside one IPU-Machine (DOMAIN: derived identity rule): each has a MAC address of its own.
MACHINE_PARTS = ("bmc", "gw", "rnic")


class Endpoint(Frozen):
    """One end of a cable: a device and an interface of it (`rnic`, `mgmt`, `ipu-link-up-1`, `17`, `psu-1` …)."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device}:{self.interface}"


class Cable(Frozen):
    """A cable with both ends. `kind` says what runs on it; a power cable goes from a device to a PDU."""

    a: Endpoint
    b: Endpoint
    kind: CableKind = "ethernet"


class Machine(Frozen):
    """An IPU-Machine. Its RNIC, gateway and BMC are three network devices (DOMAIN: identity rule)."""

    name: str
    serial: str
    logical_rack: str
    #: 1..16, the position in the IPU-Link chain of its logical rack.
    position: int
    generation: Generation = "ipu-m2000"
    #: MAC address by part (`bmc`, `gw`, `rnic`); a part that is not stated is absent.
    macs: dict[str, str] = {}
    #: `ok` where nobody says anything else: no isolation rests on it.
    state: ServiceState = "ok"
    #: Why it is not in service; empty if it is.
    state_reason: str = ""

    @property
    def in_service(self) -> bool:
        """Whether it may be given to somebody new."""
        return self.state == "ok"


class Host(Frozen):
    """A server of the operator: `poplar` hosts carry tenants' servers, `infra` controllers; `gpu` are GPU nodes."""

    name: str
    serial: str
    role: HostRole
    logical_rack: str | None = None
    #: Model in the catalogue, if it is one of those.
    model: str | None = None
    #: Nova runs servers on a hypervisor; a bare-metal host is given out whole, by Ironic.
    provisioning: Provisioning = "hypervisor"
    #: The interface that leads to its BMC; None: not stated.
    bmc: str | None = None
    #: What Nova may give out: dedicated CPUs, pages of 1 GiB, virtual functions.
    dedicated_cpus: int = 0
    huge_pages_gib: int = 0
    virtual_functions: int = 0
    shared_cpus: int = 0
    ram_gib: int = 0
    #: Physical functions (SR-IOV) and bridges, by physical network: `fabric100g: [ens161f0, ens161f1]`.
    interfaces: dict[str, tuple[str, ...]] = {}
    #: MAC address by interface; of one that is not stated it is unknown.
    macs: dict[str, str] = {}
    #: As of machines.
    state: ServiceState = "ok"
    state_reason: str = ""

    @property
    def in_service(self) -> bool:
        """Whether it may be given to somebody new."""
        return self.state == "ok"

    @property
    def is_whole(self) -> bool:
        """Whether one owner has all of it at a time: a bare-metal host, and a GPU node, also below one server."""
        return self.provisioning == "bare-metal" or self.role == "gpu"

    @property
    def is_passed_on(self) -> bool:
        """Whether one virtual server has its devices: a GPU node below a hypervisor."""
        return self.role == "gpu" and self.provisioning == "hypervisor"


class SwitchPortConfig(Frozen):
    """How one switch port is configured. `tagged` None on a trunk means no list: it carries 1-4094."""

    port: int
    mode: PortMode
    #: Access VLAN, or native VLAN of a trunk; None on a trunk: none (untagged frames are dropped).
    untagged: int | None = None
    tagged: tuple[tuple[int, int], ...] | None = ()
    #: True: frames of the native VLAN leave with its tag, and untagged ones are dropped; None: not stated.
    tag_native: bool | None = None
    #: (id on the wire, VLAN inside the switch) where they differ.
    translations: tuple[tuple[int, int], ...] = ()
    #: Role in a private VLAN: `isolated`, or the name of a community; None: promiscuous, an ordinary port.
    private_vlan: str | None = None
    #: Somebody saw that nothing is plugged in here.
    empty: bool = False
    #: Of a trunk: it carries the VLANs of all networks on its switch's physical networks besides; None: its list alone.
    filled_by: FilledBy | None = None


class Vtep(Frozen):
    """A VLAN of a switch that is one segment with an overlay of an underlay."""

    vlan: int
    vni: int
    underlay: str
    #: None: not stated.
    encapsulation: Literal["vxlan", "geneve"] | None = None


class Vrf(Frozen):
    """A routing instance of a switch beside its default one: the VLANs in which it has an address there."""

    name: str
    vlans: tuple[int, ...]


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
    #: Routing instances beside the default one; they route whenever they are there.
    vrfs: tuple[Vrf, ...] = ()
    vteps: tuple[Vtep, ...] = ()
    wired_by: WiredBy = "hand"
    #: System MAC address, by which drivers and LLDP know the switch; None: not stated.
    mac: str | None = None
    #: How it calls its ports, one pattern for each port group with `{}` for the number; None: not stated.
    port_names: tuple[str, ...] | None = None
    #: VLAN in which a port without a plan rests where its driver puts it into one; None: not stated.
    quarantine_vlan: int | None = None

    @cached_property
    def by_port(self) -> dict[int, SwitchPortConfig]:
        """Configuration by port number."""
        return {item.port: item for item in self.ports}

    def port_name(self, number: int) -> str | None:
        """What this switch calls a port, as the site states it; None if it does not, or there is no such port.

        What switches of its model are delivered with is `SwitchModel.default_port_name` of the catalogue.
        """
        return port_name_of(self.port_groups, self.port_names or (), number)

    @property
    def port_count(self) -> int:
        """How many ports it has, of all speeds."""
        return sum(count for _, count in self.port_groups)


class Lag(Frozen):
    """Ports of one device that act as one link. `vf-lag`: two ports of an adapter, both on one switch."""

    name: str
    device: str
    interfaces: tuple[str, ...]
    mode: Literal["lacp", "static", "vf-lag"] = "lacp"


class Device(Frozen):
    """Anything else that hangs on a cable: a PDU, an appliance, a ToR's own management port."""

    name: str
    role: Literal["pdu", "appliance", "switch-management", "other"]
    serial: str | None = None
    model: str | None = None


class LogicalRack(Frozen):
    """16 IPU-Machines joined by IPU-Links: half a physical rack, one IPU-Link domain."""

    name: str
    #: Number in the pod's address plan and agent names, 1..254; unique within a site. None: it has none, which
    #: no logical rack of the plan `pod` may say.
    number: int | None = None
    design: str | None = None
    #: A torus needs the cable from the last machine back to the first.
    topology: Literal["mesh", "torus"] = "mesh"
    #: `factory`: 10.1.x.z, for one rack alone; `pod`: 10.x.y.z, y the number; None: not stated.
    address_plan: Literal["factory", "pod"] | None = None
    #: Physical rack it stands in; None: not stated.
    rack: str | None = None


class Room(Frozen):
    """A room: what it can power and cool in all, in W; None: not stated."""

    name: str
    power_w: int | None = None
    #: Static load that the floor carries, kg per m².
    floor_kg_m2: int | None = None


class Rack(Frozen):
    """A physical rack. Limits that nobody stated are None."""

    name: str
    room: str | None = None
    units: int = 42
    max_weight_kg: float | None = None
    cooling: CoolingMethod | None = None
    #: Overrides the limit of the cooling method, in W.
    cooling_limit_w: int | None = None
    feeds: tuple[Feed, ...] = ()
    #: PDU -> feed it hangs on.
    pdus: dict[str, str] = {}


class Placement(Frozen):
    """Where a device stands, and what it draws and weighs. `unit` is its lowest one, from 1."""

    device: str
    rack: str
    unit: int | None = None
    height_u: int = 1
    #: Nameplate of the maker; None: nobody stated it.
    nameplate_w: int | None = None
    weight_kg: float | None = None
