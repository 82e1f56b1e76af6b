"""What stands in the rooms, as `site.yaml` states it beside its racks: the full form, one mapping per section.

`racks:` is short for the same: both may stand in one file, and the site is the union.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interlock.model.rack.values import Kilograms, Watts
from interlock.model.tenant.values import Reason
from interlock.model.text.names import DeviceName, Interface, Interfaces, NetworkName, Serial
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Count, MemoryGiB, Positive, VlanIds

from .physical import CableKind, CoolingMethod, Generation, HostRole, Provisioning, ServiceState, SwitchRole
from .service_states import REASON, STATE
from .switch_file import VRFS, VTEPS, Vrfs, VtepFile, WiringFile
from .switch_ports import PortTable
from .values import End, Height, Mac, PortGroups


class RoomFile(FileModel):
    """A room. What is left out is unknown."""

    power: Watts | None = Field(default=None, description="what can be drawn and cooled in it in all")
    floor_kg_m2: Positive | None = Field(default=None, description="static load that the floor carries, kg per m²")


class FeedFile(FileModel):
    """A power feed of a rack."""

    capacity: Watts = Field(description="what it can carry")
    derate: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="part of it that may be drawn for good"
    )


class StandingRackFile(FileModel):
    """A physical rack. Limits that are left out are unknown."""

    room: DeviceName | None = Field(default=None, description="the room it stands in")
    units: Annotated[int, Field(ge=1, le=100)] = Field(default=42, description="its height")
    max_weight: Kilograms | None = Field(default=None, description="what it carries")
    cooling: CoolingMethod | None = Field(default=None, description="how its heat is taken away")
    cooling_limit: Watts | None = Field(
        default=None, description="heat that this rack gets rid of, instead of the method's"
    )
    feeds: dict[DeviceName, FeedFile] = Field(default_factory=dict, description="its power feeds, by name")
    pdus: dict[DeviceName, DeviceName] = Field(default_factory=dict, description="PDU → feed that it hangs on")


class LogicalRackFile(FileModel):
    """16 IPU-Machines joined by IPU-Links."""

    number: Annotated[int, Field(ge=1, le=254)] | None = Field(
        default=None, description="its number in the pod's address plan, which needs it; no other has it"
    )
    design: str | None = Field(default=None, description="the design it came from, where it came from one")
    topology: Literal["mesh", "torus"] = Field(
        default="mesh", description="`torus` needs the cable from the last machine back to the first"
    )
    address_plan: Literal["factory", "pod"] | None = Field(
        default=None,
        description="`factory`: 10.1.x.z, one rack alone; `pod`: 10.x.y.z, y its number; without it, unknown",
    )
    rack: DeviceName | None = Field(default=None, description="the physical rack it stands in; without it, unknown")


class MacsFile(FileModel):
    """MAC addresses of a machine's network devices. One left out is unknown."""

    bmc: Mac | None = Field(default=None, description="of its BMC")
    gw: Mac | None = Field(default=None, description="of its IPU-Gateway")
    rnic: Mac | None = Field(default=None, description="of its RNIC")


class MachineFile(FileModel):
    """An IPU-Machine."""

    serial: Serial = Field(description="its serial: the identity of the machine")
    logical_rack: DeviceName = Field(description="its logical rack: IPU-Links do not leave it")
    position: Annotated[int, Field(ge=1, le=16)] = Field(description="its place in the chain of IPU-Links")
    generation: Generation = Field(default="ipu-m2000", description="its model")
    macs: MacsFile = Field(default_factory=MacsFile, description="its MAC addresses")
    state: ServiceState = Field(default="ok", description=STATE)
    reason: Reason | None = Field(default=None, description=REASON)


class HostFile(FileModel):
    """A server of the operator."""

    serial: Serial = Field(description="its serial")
    role: HostRole = Field(
        description="what it carries: `poplar` Poplar servers, `infra` controllers; `gpu` is a GPU node"
    )
    logical_rack: DeviceName | None = Field(
        default=None, description="the logical rack it stands with, for placing servers near their machines"
    )
    model: str | None = Field(default=None, description="its model in the catalogue, if it is one of those")
    provisioning: Provisioning = Field(
        default="hypervisor", description="`bare-metal`: given out whole, by Ironic; else Nova runs servers on it"
    )
    bmc: Interface | None = Field(
        default=None, description="the interface that leads to its BMC, as cables name it; without it, unknown"
    )
    dedicated_cpus: Count = Field(default=0, description="threads for pinned servers")
    huge_pages: MemoryGiB = Field(default=0, description="memory in pages of 1 GiB")
    virtual_functions: Count = Field(
        default=0, description="virtual functions for direct ports, all physical functions together"
    )
    shared_cpus: Count = Field(default=0, description="threads for servers that share them")
    ram: MemoryGiB = Field(description="its memory")
    interfaces: dict[NetworkName, Interfaces] = Field(
        description="physical network → interfaces by which guests reach it"
    )
    macs: dict[Interface, Mac] = Field(
        default_factory=dict, description="interface → its MAC address; of one left out it is unknown"
    )
    state: ServiceState = Field(default="ok", description=STATE)
    reason: Reason | None = Field(default=None, description=REASON)


class SwitchFile(WiringFile):
    """A switch."""

    serial: Serial = Field(description="its serial: the identity of the switch")
    mac: Mac | None = Field(
        default=None, description="its system MAC address, by which drivers and LLDP know it; without it, unknown"
    )
    model: str = Field(description="its model")
    role: SwitchRole = Field(description="what it is for")
    port_groups: PortGroups = Field(
        description="`[[100, 32], [10, 2]]`: speed in Gb/s and number of ports, numbered from 1 in this order"
    )
    ports: PortTable = Field(
        default_factory=dict,
        description="how its ports are set; one that is not mentioned is unknown, or disabled where "
        "`complete.switch_ports` has this switch",
    )
    ip_routing: bool | None = Field(default=None, description="whether it routes; without it, unknown")
    routed_vlans: VlanIds | None = Field(
        default=None, description="VLANs in which it has an address; without it, unknown"
    )
    vrfs: Vrfs = Field(default_factory=dict, description=VRFS)
    vteps: list[VtepFile] = Field(default_factory=list, description=VTEPS)


class DeviceFile(FileModel):
    """Anything else that hangs on a cable."""

    role: Literal["pdu", "appliance", "switch-management", "other"] = Field(description="what it is")
    serial: Serial | None = Field(default=None, description="its serial; without it, unknown")
    model: str | None = Field(default=None, description="its model")


class PlacementFile(FileModel):
    """Where a device stands, what it draws and weighs."""

    rack: DeviceName = Field(description="its physical rack")
    unit: Positive | None = Field(default=None, description="the lowest unit that it takes; without it, unknown")
    height: Height = Field(default=1, description="units that it takes; `0U`: beside them")
    nameplate: Watts | None = Field(default=None, description="what its nameplate says it draws; without it, unknown")
    weight: Kilograms | None = Field(default=None, description="what it weighs; without it, unknown")


class CableFile(FileModel):
    """A cable, or several beside each other that end at ranges of the same length."""

    ends: list[End] = Field(description="both ends, `device:interface`; `[tor-1:25-32, spine-1:1-8]` are eight cables")
    kind: CableKind = Field(
        default="ethernet", description="what runs on it; a power cable goes from a device to a PDU"
    )


class LagFile(FileModel):
    """Interfaces of one device that act as one link."""

    name: Interface = Field(description="its name on the device, or one of your own")
    device: DeviceName = Field(description="the switch or host")
    interfaces: Interfaces = Field(description="its members: `[ens161f0, ens161f1]`, or ports of a switch as `25-32`")
    mode: Literal["lacp", "static", "vf-lag"] = Field(
        default="lacp", description="`vf-lag`: two ports of one adapter, both on one switch"
    )
