"""The sandbox's switches, as data: one table, read by their simulator and for Neutron's configuration.

tor-1   Arista 7060CX-32S: RNICs of 16 IPU-Machines on ports 1-16, two ports of each of four hypervisors on 17-24.
        Ports that nobody uses are shut and in the quarantine VLAN: what rests there does not reach itself either.
mgmt-1  Arista 7010T-48: BMC and gateway of the machines on ports 1-16, in the quarantine VLAN while nobody uses them,
        but not shut: an operator sanitises a machine through its BMC.

Ports, VLANs, cables and serial numbers are those of the reference design's rack, as the demo's site has it; a test
compares. MAC addresses are locally administered ones of the demo, and that everything at the end of a cable speaks LLDP
is this sandbox's choice.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.switches import vlans
from sandbox.switches.table import PortState, SwitchState

QUARANTINE = 4000
OPERATOR = 20

GIGABIT = 1_000_000_000


@dataclass(frozen=True)
class Port:
    """A port as the switch was delivered: the maker's name, bit/s, and what EOS calls the medium."""

    name: str
    bandwidth: int
    medium: str


@dataclass(frozen=True)
class Neighbor:
    """What LLDP says of the other end of a cable. `chassis`: a MAC address, twelve digits with colons."""

    system: str
    port: str
    chassis: str


@dataclass(frozen=True)
class Switch:
    """One switch. `address` is its own, on the loopback interface; `shut_unused`: ports that nobody uses are shut."""

    name: str
    model: str
    serial: str
    mac: str
    address: str
    physical_network: str
    shut_unused: bool
    ports: tuple[Port, ...]
    initial: SwitchState
    neighbors: Mapping[str, Neighbor]


def ports_of_7060cx() -> tuple[Port, ...]:
    """DCS-7060CX-32S: 32 QSFP28 cages, numbered with a lane, and two SFP+."""
    cages = [Port(f"Ethernet{number}/1", 100 * GIGABIT, "100GBASE-CR4") for number in range(1, 33)]
    return (*cages, *(Port(f"Ethernet{number}", 10 * GIGABIT, "10GBASE-CR") for number in (33, 34)))


def ports_of_7010t() -> tuple[Port, ...]:
    """DCS-7010T-48: 48 RJ45 and four SFP+."""
    copper = [Port(f"Ethernet{number}", GIGABIT, "1000BASE-T") for number in range(1, 49)]
    return (*copper, *(Port(f"Ethernet{number}", 10 * GIGABIT, "10GBASE-CR") for number in range(49, 53)))


def access(vlan: int, *, enabled: bool = True) -> PortState:
    """A port in one VLAN."""
    return PortState(enabled, "access", vlan, vlans.DEFAULT, vlans.EVERY)


def trunk(first: int, last: int) -> PortState:
    """A trunk without a native VLAN."""
    return PortState(True, "trunk", vlans.DEFAULT, None, tuple(range(first, last + 1)))


SHUT = access(QUARANTINE, enabled=False)


def state(
    name: str, ports: tuple[Port, ...], settings: Mapping[range, PortState], named: tuple[int, ...]
) -> SwitchState:
    """Ports by number from 1, shut where nothing is said, and the VLANs that are there."""
    by_number = {number: setting for numbers, setting in settings.items() for number in numbers}
    return SwitchState(
        name,
        {port.name: by_number.get(number, SHUT) for number, port in enumerate(ports, 1)},
        {vlan: vlans.default_name(vlan) for vlan in (vlans.DEFAULT, *named)},
    )


def cabled(ports: tuple[Port, ...], ends: Mapping[int, tuple[str, str]]) -> dict[str, Neighbor]:
    """Who is seen on each port."""
    return {
        ports[number - 1].name: Neighbor(system, port, chassis(system, port))
        for number, (system, port) in sorted(ends.items())
    }


def chassis(system: str, port: str) -> str:
    """The MAC address by which a device names itself: a machine's RNIC or BMC, or one that is made of the name."""
    if system.startswith(MACHINE):
        return f"02:00:00:00:{3 if port == 'rnic' else 1:02x}:{int(system.removeprefix(MACHINE)):02x}"
    return ":".join(["02", "00", *(f"{byte:02x}" for byte in zlib.crc32(system.encode()).to_bytes(4, "big"))])


MACHINES = range(1, 17)
MACHINE = "ipum-"
HOSTS = range(1, 5)


def tor_ends() -> dict[int, tuple[str, str]]:
    """Cables of `tor-1` by port number."""
    hosts = {17 + 2 * (host - 1) + port: (f"poplar-{host}", f"ens161f{port}") for host in HOSTS for port in (0, 1)}
    return {number: (f"{MACHINE}{number:02}", "rnic") for number in MACHINES} | hosts


def management_ends() -> dict[int, tuple[str, str]]:
    """Cables of `mgmt-1` by port number."""
    return {
        **{number: (f"{MACHINE}{number:02}", "mgmt") for number in MACHINES},
        **{32 + host: (f"poplar-{host}", "idrac") for host in HOSTS},
        **{35 + 2 * host + port: (f"poplar-{host}", f"eno{port + 1}") for host in HOSTS for port in (0, 1)},
        45: ("tor-1-management", "mgmt"),
        **{45 + number: (f"pdu-{number}", "mgmt") for number in (1, 2)},
        **{48 + number: (f"infra-{number}", "ens1f0") for number in (1, 2)},
    }


def tor() -> Switch:
    """`tor-1`."""
    ports = ports_of_7060cx()
    return Switch(
        name="tor-1",
        model="DCS-7060CX-32S",
        serial="PLACEHOLDER-7060X-1",
        mac="02:1c:73:00:00:01",
        address="127.7.0.1",
        physical_network="fabric100g",
        shut_unused=True,
        ports=ports,
        initial=state("tor-1", ports, {range(17, 25): trunk(1000, 2999)}, (QUARANTINE,)),
        neighbors=cabled(ports, tor_ends()),
    )


def management() -> Switch:
    """`mgmt-1`."""
    ports = ports_of_7010t()
    settings = {
        range(1, 17): access(QUARANTINE),
        range(33, 48): access(OPERATOR),
        range(49, 51): trunk(110, 199),
    }
    return Switch(
        name="mgmt-1",
        model="DCS-7010T-48",
        serial="PLACEHOLDER-7010T-1",
        mac="02:1c:73:00:00:02",
        address="127.7.0.2",
        physical_network="mgmt1g",
        shut_unused=False,
        ports=ports,
        initial=state("mgmt-1", ports, settings, (OPERATOR, QUARANTINE)),
        neighbors=cabled(ports, management_ends()),
    )


SWITCHES: tuple[Switch, ...] = (tor(), management())
