"""`racks:` of a site file as an operator writes it: a design by its name, and what the design cannot know."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interlock.hardware.designs import GatewayMode
from interlock.model.site.physical import CoolingMethod
from interlock.model.site.service_states import STATES, StateTable
from interlock.model.site.switch_file import VRFS, VTEPS, Vrfs, VtepFile, WiringFile
from interlock.model.site.switch_ports import PortTable
from interlock.model.text.names import DeviceName, DeviceNames, Interface, NetworkName, Serial, Serials
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Count, MemoryGiB, Positive, VlanIds

from .values import BlockOfPorts, Kilograms, Macs, RackUnits, Watts


class KitFile(FileModel):
    """What one device of a part draws, weighs and takes up. Left out: the catalogue's figure, if one was read."""

    nameplate: Watts | None = Field(None, description="what its nameplate says it draws; without it, unknown")
    weight: Kilograms | None = Field(None, description="what it weighs; without it, the catalogue's figure, if any")
    height: RackUnits | None = Field(None, description="units that it takes; without it, the catalogue's figure")


class RackSwitchFile(KitFile, WiringFile):
    """The switches of a design that do the same, one in each logical rack. Their model comes from there."""

    name: DeviceName | None = Field(None, description="its name; `tor-1` or `mgmt-1` without it")
    names: DeviceNames | None = Field(None, description="their names, if there are several logical racks")
    serial: Serial | None = Field(None, description="its serial: the identity of the switch")
    serials: Serials | None = Field(None, description="their serials, in the order of the logical racks")
    macs: Macs | None = Field(
        None, description="their system MAC addresses, in that order, by which drivers and LLDP know them; else unknown"
    )
    ports: PortTable = Field(
        description="how the ports of each are set, by block of the port map or number; one that is not mentioned "
        "is unknown, or disabled where `complete.switch_ports` has the switch"
    )
    port_map: dict[str, BlockOfPorts] = Field(
        default_factory=dict,
        description="block → ports, where a block is not where the design puts it; `none`: there is no such block",
    )
    ip_routing: bool | None = Field(None, description="whether it routes; without it, unknown")
    routed_vlans: VlanIds | None = Field(None, description="VLANs in which it has an address; without it, unknown")
    vrfs: Vrfs = Field(default_factory=dict, description=VRFS)
    vteps: list[VtepFile] = Field(default_factory=list, description=VTEPS)


class GatewaySwitchFile(KitFile, WiringFile):
    """The switches that join the GW-Links of several logical racks."""

    names: DeviceNames | None = Field(None, description="their names; `gw-switch-1` and on without it")
    serials: Serials = Field(description="their serials")
    macs: Macs | None = Field(
        None, description="their system MAC addresses, in that order, by which drivers and LLDP know them; else unknown"
    )
    ports: PortTable | None = Field(
        None, description="how the ports of each are set, `machines` or numbers; without this key, unknown"
    )
    ip_routing: bool | None = Field(None, description="whether they route; without it, unknown")
    routed_vlans: VlanIds | None = Field(None, description="VLANs in which they have an address; without it, unknown")
    vrfs: Vrfs = Field(default_factory=dict, description=VRFS)
    vteps: list[VtepFile] = Field(default_factory=list, description=VTEPS)


class MachineMacsFile(FileModel):
    """MAC addresses in the order of the machines, from the labels: `02:00:00:00:01:[01-10]`, or a list."""

    bmc: Macs | None = Field(None, description="of the BMCs; without it, unknown")
    gw: Macs | None = Field(None, description="of the IPU-Gateways; without it, unknown")
    rnic: Macs | None = Field(None, description="of the RNICs; without it, unknown")


class RackMachinesFile(KitFile):
    """The IPU-Machines, in the order of logical racks and positions."""

    names: DeviceNames | None = Field(
        None, description="their names; without it `ipum-[01-16]`, and on to as many as the design has"
    )
    serials: Serials = Field(description="their serials, in the order of the names: the identities of the machines")
    # Not in any readable document, so it is asked for.
    sync_cables: Count = Field(description="Sync-Link cables between two neighbours: count those of the rack")
    rnic_cables: Positive = Field(1, description="cables from the RNIC of each machine to the ToR")
    macs: MachineMacsFile | None = Field(None, description="MAC addresses of their three devices; without it, unknown")
    states: StateTable = Field(default_factory=dict, description=STATES)


class WholeHostsFile(FileModel):
    """Poplar hosts of a rack without a hypervisor. State their switch ports as `access`."""

    names: DeviceNames = Field(default_factory=list, description="which of the rack's, as in `poplar-[3-4]`")
    interfaces: dict[NetworkName, list[Interface]] = Field(
        default_factory=dict,
        description="physical network → interfaces that are lent with each, in place of `interfaces` above: two of "
        "100G and one of 1G",
    )


class RackServersFile(KitFile):
    """The Poplar hosts, the same number for each logical rack, and what Nova gives out of each."""

    names: DeviceNames | None = Field(None, description="their names, as Nova has them; `poplar-1` and on without it")
    serials: Serials = Field(description="their serials, in the order of the names")
    bare_metal: WholeHostsFile = Field(
        default_factory=lambda: WholeHostsFile.model_validate({}),
        description="those that are given out whole, by Ironic; the others are hypervisors",
    )
    dedicated_cpus: Count = Field(description="threads of each for pinned servers")
    huge_pages: MemoryGiB = Field(description="memory of each in pages of 1 GiB")
    virtual_functions: Count = Field(description="virtual functions of each, both physical functions together")
    tor_interfaces: list[Interface] = Field(description="the two 100G interfaces, A and B, in the order of the ports")
    management_interfaces: list[Interface] = Field(description="the two of 1G, in the order of the ports")
    interfaces: dict[NetworkName, list[Interface]] = Field(
        description="physical network → physical functions by which guests reach it"
    )
    macs: dict[Interface, Macs] = Field(
        default_factory=dict,
        description="interface → its MAC address on each host, in the order of the hosts, as in "
        '`{eno1: "02:00:00:00:04:[01-04]"}`; of one left out it is unknown',
    )
    states: StateTable = Field(default_factory=dict, description=STATES)


class PhysicalRackFile(FileModel):
    """Where it stands. Without `units` the rack is one of `physical_racks:`, which says all else about it."""

    name: DeviceName | None = Field(None, description="the physical rack")
    names: DeviceNames | None = Field(
        None, description="several physical racks, each with as many logical racks, in their order"
    )
    first_unit: Positive = Field(1, description="lowest unit that is used")
    units: Annotated[int, Field(ge=1, le=100)] | None = Field(
        None, description="its height; without it the rack is described under `physical_racks`"
    )
    room: DeviceName | None = Field(None, description="the room it stands in")
    max_weight: Kilograms | None = Field(None, description="what it carries; without it, unknown")
    cooling: CoolingMethod | None = Field(None, description="how its heat is taken away; without it, unknown")
    cooling_limit: Watts | None = Field(None, description="heat that this rack gets rid of, instead of the method's")
    feeds: dict[DeviceName, Watts] = Field(
        default_factory=dict, description="feed → what it can carry; each of several racks has feeds of these names"
    )
    derate: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="part of a feed's capacity that may be drawn for good; 0.8 without it"
    )
    pdus: dict[DeviceName, DeviceName] = Field(
        default_factory=dict, description="PDU → feed that it hangs on; without it, they hang on the feeds in turn"
    )


class RackFile(FileModel):
    """One pod of a known design: one logical rack, or several that make one IPU system."""

    name: DeviceName = Field(description="of the logical rack; several are called `<name>-1`, `<name>-2` …")
    design: str = Field(description="ipu-pod64, ipu-pod128, bow-pod64 or bow-pod256")
    number: Annotated[int, Field(ge=1, le=254)] | None = Field(
        None,
        description="number of the first logical rack in the address plan, in a site each once; without it the next "
        "one in the file under `address_plan: pod`, elsewhere none",
    )
    address_plan: Literal["factory", "pod"] | None = Field(
        None, description="`factory`: 10.1.x.z, one rack alone; `pod`: 10.x.y.z, y its number; without it, unknown"
    )
    topology: Literal["mesh", "torus"] = Field(
        "mesh", description="`torus` states the cables from the last machine of each logical rack to its first"
    )
    gw: GatewayMode | None = Field(
        None, description="how GW-Links join the logical racks; as the design does without it"
    )
    machines: RackMachinesFile = Field(description="the IPU-Machines")
    poplar: RackServersFile = Field(description="the Poplar hosts")
    tor: RackSwitchFile = Field(description="the 100G switches")
    management: RackSwitchFile = Field(description="the 1G switches")
    gw_switches: GatewaySwitchFile | None = Field(None, description="the switches of the GW-Links, where there are any")
    pdus: DeviceNames = Field(
        default_factory=list, description="power units, the same number for each logical rack, in their order"
    )
    pdu_serials: Serials | None = Field(None, description="their serials; without it, unknown")
    power: Literal["both-pdus"] | None = Field(
        None,
        description="`both-pdus`: in each logical rack, machines, servers and switches hang on both its power units "
        "with an input each; without it, no power cable is known. Cords of `gw_switches` stand under `cables`",
    )
    rack: PhysicalRackFile | None = Field(None, description="the physical rack or racks; without it, unknown")
