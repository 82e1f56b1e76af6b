"""What a switch of the sandbox is: its type, the models, and how ports are set. `sandbox/racks` has the switches."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.switches import vlans
from sandbox.switches.table import PortState, SwitchState

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
    """One switch. `address` is its own, on the loopback interface; `shut_unused`: ports that nobody uses are shut.

    `filled`: names of trunks onto which Neutron's driver puts the VLAN of every network of the physical network.
    """

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
    filled: tuple[str, ...] = ()


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


def trunk(allowed: tuple[int, ...]) -> PortState:
    """A trunk without a native VLAN."""
    return PortState(True, "trunk", vlans.DEFAULT, None, allowed)


def state(
    name: str, ports: tuple[Port, ...], settings: Mapping[int, PortState], named: tuple[int, ...], rest: int
) -> SwitchState:
    """Ports by number from 1, shut in the VLAN `rest` where nothing is said, and the VLANs that are there."""
    shut = access(rest, enabled=False)
    return SwitchState(
        name,
        {port.name: settings.get(number, shut) for number, port in enumerate(ports, 1)},
        {vlan: vlans.default_name(vlan) for vlan in (vlans.DEFAULT, *named)},
    )


def chassis(system: str) -> str:
    """The MAC address by which a device names itself that states none: made of its name."""
    return ":".join(["02", "00", *(f"{byte:02x}" for byte in zlib.crc32(system.encode()).to_bytes(4, "big"))])


#: Models of switches by name, and what ports each is delivered with.
MODELS: Mapping[str, Callable[[], tuple[Port, ...]]] = {
    "DCS-7060CX-32S": ports_of_7060cx,
    "DCS-7010T-48": ports_of_7010t,
}
