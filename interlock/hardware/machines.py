"""IPU-Machines and servers: what a rack of the reference design is made of."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .facts import Fact, derived, practice, primary, remembered

_PANEL = "Graphcore, Bow Pod64 build and test guide, components; IPU-POD direct-attach guide, kit: front panel"
_KIT = "Graphcore, IPU-POD direct-attach build and test guide, kit"
_GCORE = "Gcore, AI infrastructure documentation, specification of the IPU-Machines"
_SERVER = "Graphcore, IPU-POD64 build and test guide, server and switch configuration"
_OPENSTACK = "Graphcore, OpenStack reference design, 5.2 hypervisor configuration"
_NETBOX = "NetBox community, device type library, PowerEdge R6525"
_NO_NAMEPLATE = "in no document that could be read: take it from the nameplate"


@dataclass(frozen=True)
class MachineModel:
    """An IPU-Machine: what it computes with, ports on the front panel, and how many of them the design cables."""

    name: str
    #: As a person says it: `Bow-2000`.
    generation: str
    processor: str
    ipus: Fact[int]
    clock: Fact[int]
    tiles: Fact[int]
    threads: Fact[int]
    fp16: Fact[Decimal]
    fp32: Fact[Decimal]
    in_processor_memory: Fact[Decimal]
    #: The memory modules that it can be ordered with, all of one machine together.
    streaming_memory: Fact[tuple[int, ...]]
    ipu_link_ports: Fact[int]
    ipu_links_per_neighbour: Fact[int]
    sync_link_ports: Fact[int]
    gw_link_ports: Fact[int]
    rnic_ports: Fact[int]
    rnic_ports_cabled: Fact[int]
    management_ports: Fact[int]
    management_ports_cabled: Fact[int]
    rnic_speed: Fact[int]
    rnic_connector: Fact[str]
    ipu_link_connector: Fact[str]
    gw_link_connector: Fact[str]
    power_inputs: Fact[int]
    fans: Fact[int]
    height: Fact[int]
    width: Fact[int]
    depth: Fact[int]
    weight: Fact[Decimal]
    #: What it draws at most; None where there is not even a suggestion.
    nameplate: Fact[int] | None


@dataclass(frozen=True)
class NetworkIdentity:
    """One of the network devices inside an IPU-Machine: it has a MAC address of its own."""

    part: str
    #: Interface on the front panel that its frames leave by.
    interface: Fact[str]
    speed: Fact[int]


@dataclass(frozen=True)
class ServerModel:
    """A Poplar server, bare: what Nova may give out of it is the operator's setting, below these figures."""

    name: str
    threads: Fact[int]
    numa_nodes: Fact[int]
    ram: Fact[int]
    huge_pages: Fact[int]
    local_nvme: Fact[int]
    fabric_ports: Fact[int]
    fabric_speed: Fact[int]
    management_ports: Fact[int]
    power_inputs: Fact[int]
    height: Fact[int]
    weight: Fact[Decimal] | None
    nameplate: Fact[int] | None


IPU_M2000 = MachineModel(
    name="ipu-m2000",
    generation="IPU-M2000",
    processor="Colossus Mk2 GC200",
    ipus=primary(4, "", "Graphcore, IPU-POD64 datasheet: 64 IPUs in 16 IPU-M2000"),
    clock=practice(1325, "MHz", f"{_GCORE}; V-IPU agents report 1330 MHz"),
    tiles=practice(5888, "", f"{_GCORE}: 4 × 1472"),
    threads=practice(35328, "", f"{_GCORE}: 6 on each tile"),
    fp16=derived(
        Decimal("0.998625"), "PFLOP/s", "15.978 of an IPU-POD64 by 16 machines (Graphcore, IPU-POD64 datasheet)"
    ),
    fp32=practice(Decimal("0.25"), "PFLOP/s", _GCORE),
    in_processor_memory=practice(Decimal("3.6"), "GB", f"{_GCORE}: 900 MB on each IPU"),
    streaming_memory=practice((128, 256, 512), "GB", f"{_GCORE}: two modules of 64, 128 or 256 GB"),
    ipu_link_ports=primary(8, "", _PANEL),
    ipu_links_per_neighbour=derived(4, "", "8 IPU-Link ports, two neighbours in the chain of a logical rack"),
    sync_link_ports=primary(8, "", _PANEL),
    gw_link_ports=primary(2, "", _PANEL),
    rnic_ports=primary(2, "", _PANEL),
    rnic_ports_cabled=primary(1, "", "Graphcore, OpenStack reference design, low-level design: one 100G connection"),
    management_ports=primary(2, "", _PANEL),
    management_ports_cabled=primary(
        1, "", "Graphcore, OpenStack reference design: split mode of the second port is untested"
    ),
    rnic_speed=primary(100, "Gb/s", "Graphcore, OpenStack reference design, low-level design: 100G RoCEv2"),
    rnic_connector=practice("QSFP", "", _GCORE),
    ipu_link_connector=practice("OSFP", "", _GCORE),
    gw_link_connector=practice("QSFP28", "", f"{_GCORE}; the V-IPU user guide says OSFP, against it"),
    power_inputs=primary(2, "", f"{_KIT}: one to each PDU, C15 to C14"),
    fans=primary(5, "", f"{_KIT}: one may fail"),
    height=primary(1, "U", "Graphcore, IPU-Machine release notes: a 1U machine"),
    width=practice(440, "mm", _GCORE),
    depth=practice(728, "mm", _GCORE),
    weight=practice(Decimal("16.395"), "kg", _GCORE),
    nameplate=remembered(1500, "W", f"{_NO_NAMEPLATE}; 1.1 kW is remembered as typical"),
)

BOW_2000 = MachineModel(
    name="bow-2000",
    generation="Bow-2000",
    processor="Bow",
    ipus=primary(4, "", "Graphcore, Bow Pod64 build and test guide, components: 64 IPUs in 16 Bow-2000"),
    clock=practice(1850, "MHz", _GCORE),
    tiles=derived(
        5888, "", "94,208 cores of a Bow Pod64 by 16 machines (Argonne, ALCF AI testbed, Graphcore overview)"
    ),
    threads=practice(35328, "", f"{_GCORE}: 6 on each tile"),
    fp16=primary(Decimal("1.394"), "PFLOP/s", "Graphcore, Bow-2000 datasheet; more than 22 of a Bow Pod64"),
    fp32=practice(Decimal("0.349"), "PFLOP/s", _GCORE),
    in_processor_memory=derived(
        Decimal("3.6"), "GB", "57.6 GB of a Bow Pod64 by 16 machines (Argonne, ALCF AI testbed, Graphcore overview)"
    ),
    streaming_memory=practice((128, 256), "GB", f"{_GCORE}: two modules of 64 or 128 GB"),
    ipu_link_ports=primary(8, "", _PANEL),
    ipu_links_per_neighbour=derived(4, "", "8 IPU-Link ports, two neighbours in the chain of a logical rack"),
    sync_link_ports=primary(8, "", _PANEL),
    gw_link_ports=primary(2, "", _PANEL),
    rnic_ports=primary(2, "", _PANEL),
    rnic_ports_cabled=primary(1, "", "Graphcore, OpenStack reference design, low-level design: one 100G connection"),
    management_ports=primary(2, "", _PANEL),
    management_ports_cabled=primary(
        1, "", "Graphcore, OpenStack reference design: split mode of the second port is untested"
    ),
    rnic_speed=practice(100, "Gb/s", _GCORE),
    rnic_connector=practice("QSFP", "", _GCORE),
    ipu_link_connector=practice("OSFP", "", _GCORE),
    gw_link_connector=practice("QSFP28", "", f"{_GCORE}; the V-IPU user guide says OSFP, against it"),
    power_inputs=primary(2, "", f"{_KIT}: one to each PDU"),
    fans=primary(5, "", _KIT),
    height=primary(1, "U", "Graphcore, IPU-Machine release notes: a 1U machine"),
    width=practice(440, "mm", f"{_GCORE}; it prints 40 mm, a slip: the machine fills a 19-inch rack"),
    depth=remembered(728, "mm", "the IPU-M2000's: the chassis is remembered as the same, not read"),
    weight=remembered(Decimal("16.395"), "kg", "the IPU-M2000's: the chassis is remembered as the same, not read"),
    nameplate=remembered(1700, "W", f"{_NO_NAMEPLATE}; remembered as 1.5 to 1.7 kW at most"),
)

POPLAR_R6525 = ServerModel(
    name="dell-r6525",
    threads=derived(256, "", f"2 EPYC 7742 of 64 cores, hyper-threading on ({_SERVER})"),
    numa_nodes=primary(8, "", "Graphcore, OpenStack reference design, 3.1 physical installation: NPS=4, two sockets"),
    ram=primary(512, "GiB", _SERVER),
    huge_pages=primary(464, "GiB", f"{_OPENSTACK}: 464 pages of 1 GB"),
    local_nvme=primary(7000, "GB", f"{_SERVER}: 7 × 1 TB, raw; in RAID 6 less"),
    fabric_ports=primary(2, "", "Graphcore, OpenStack reference design, 3.1: both 100G ports to the same ToR"),
    fabric_speed=primary(100, "Gb/s", f"{_SERVER}: ConnectX-5"),
    management_ports=primary(2, "", f"{_SERVER}: dual-port GbE, and iDRAC beside it"),
    power_inputs=practice(2, "", _NETBOX),
    height=practice(1, "U", _NETBOX),
    weight=remembered(Decimal("21.8"), "kg", "Dell, PowerEdge R6525 fully equipped: remembered, not read"),
    nameplate=remembered(1400, "W", f"{_NO_NAMEPLATE}; 1.4 kW is remembered as one of its power supplies"),
)

_ONE_PORT = (
    "Graphcore, OpenStack reference design, physical installation: one GbE port carries the BMC's and the "
    "IPU-Gateway's MAC through a switch inside"
)

#: The three network devices of every IPU-Machine. A record with one MAC address for all of it is wrong.
NETWORK_IDENTITIES = (
    NetworkIdentity("bmc", primary("mgmt", "", _ONE_PORT), primary(1, "Gb/s", _PANEL)),
    NetworkIdentity("gw", primary("mgmt", "", _ONE_PORT), primary(1, "Gb/s", _PANEL)),
    NetworkIdentity("rnic", primary("rnic", "", _PANEL), primary(100, "Gb/s", _PANEL)),
)

#: Every IPU-Machine of the catalogue, by the name that site files use.
MACHINES = {model.name: model for model in (IPU_M2000, BOW_2000)}

#: Every server of the catalogue.
SERVERS = {model.name: model for model in (POPLAR_R6525,)}


def network_plugs(model: MachineModel) -> dict[str, tuple[str, ...]]:
    """Network plug on the front panel -> the devices whose frames leave by it: `rnic`, `rnic-2`, `mgmt`, `mgmt-2`."""
    counts = {"rnic": model.rnic_ports.value, "mgmt": model.management_ports.value}
    return {
        first if number == 1 else f"{first}-{number}": tuple(
            item.part for item in NETWORK_IDENTITIES if item.interface.value == first
        )
        for first, count in counts.items()
        for number in range(1, count + 1)
    }


#: Model -> its network plugs, as above.
MACHINE_PLUGS = {name: network_plugs(model) for name, model in MACHINES.items()}
