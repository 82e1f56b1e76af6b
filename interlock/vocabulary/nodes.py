"""Identities of the graph's nodes, and of what one owner holds alone (docs/design/semantics.md, sorts).

`parse` reads the text of a lock, a premise or a certificate, `str` writes it, and nothing else knows how it looks. Two
records with one identity are one node; names of physical networks, networks and segments are never identities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

#: Bits of a P_Key that make it one: the highest says full or limited.
KEY_BITS = 0x7FFF
#: Different texts that are kept parsed: more than the boundary of 10 000 tenants has.
_KEPT = 1 << 18


@lru_cache(maxsize=1 << 16)
def plain(text: str) -> str:
    """A name or serial without the characters that separate the parts of an identity. The same few come often."""
    for character in "%:/@~":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


@dataclass(frozen=True, slots=True)
class Vlan:
    """A VLAN inside one bridge; 0: untagged with no VLAN. `group`: as an isolated port or a community meets it."""

    #: Text of the bridge: a switch, or one interface of a host (`identities.switch_bridge`, `host_bridge`).
    bridge: str
    number: int
    group: str | None = None

    @property
    def is_of_host(self) -> bool:
        """True if the bridge is that of a host's interface, not a switch."""
        return "/" in self.bridge

    def __str__(self) -> str:
        group = "" if self.group is None else f"~{plain(self.group)}"
        return f"L:{self.bridge}{group}:{self.number}"


@dataclass(frozen=True, slots=True)
class Overlay:
    """An overlay; Neutron's underlay goes by the cloud's name."""

    underlay: str
    encapsulation: str
    number: int

    def __str__(self) -> str:
        return f"V:{plain(self.underlay)}:{self.encapsulation}:{self.number}"


@dataclass(frozen=True, slots=True)
class Copy:
    """Which VLAN, or which group of a private VLAN, meets a split copy."""

    vlan: int
    group: str | None = None

    def __str__(self) -> str:
        return f"@{self.vlan}" if self.group is None else f"@{self.vlan}~{plain(self.group)}"


@dataclass(frozen=True, slots=True)
class Router:
    """A Neutron router."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"R:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class ExternalNetwork:
    """The hub of an external network, or the split copy of it that one router meets."""

    name: str
    router: Router | None = None

    def __str__(self) -> str:
        return f"X:{plain(self.name)}" + ("" if self.router is None else f"@{self.router}")


@dataclass(frozen=True, slots=True)
class SwitchRouter:
    """A routing instance of a switch: its default VRF, or the one named; `copy`: as one VLAN meets it."""

    serial: str
    vrf: str | None = None
    copy: Copy | None = None

    def __str__(self) -> str:
        vrf = "" if self.vrf is None else f"/{plain(self.vrf)}"
        return f"R:{plain(self.serial)}{vrf}{self.copy or ''}"


@dataclass(frozen=True, slots=True)
class Server:
    """A server of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"dev:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class Device:
    """A device, as far as one interface of it goes; a hypervisor or a whole device without one.

    `copy`: the split copy of a shared device that one VLAN meets.
    """

    serial: str
    interface: str | None = None
    copy: Copy | None = None

    def __str__(self) -> str:
        interface = "" if self.interface is None else f"/{plain(self.interface)}"
        return f"dev:{plain(self.serial)}{interface}{self.copy or ''}"


@dataclass(frozen=True, slots=True)
class NeutronPort:
    """A Neutron port of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"port:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A switch port with a device behind it."""

    serial: str
    number: int

    def __str__(self) -> str:
        return f"port:{plain(self.serial)}/{self.number}"


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"vol:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class Allocation:
    """What one V-IPU controller joins."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"I:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class ShareService:
    """The storage appliance behind the cloud's file shares."""

    cloud: str

    def __str__(self) -> str:
        return f"shares:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class ShareAddress:
    """An address of that appliance (VIP), split off from it."""

    cloud: str
    address: str

    def __str__(self) -> str:
        return f"vip:{plain(self.cloud)}:{plain(self.address)}"


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """A P_Key (15 bits) of the InfiniBand subnet with this prefix."""

    prefix: str
    key: int

    def __str__(self) -> str:
        return f"K:{plain(self.prefix)}:{self.key & KEY_BITS:#06x}"


@dataclass(frozen=True, slots=True)
class InfinibandPort:
    """An InfiniBand port, by its GUID in lower case."""

    guid: str

    def __str__(self) -> str:
        return f"guid:{plain(self.guid)}"


@dataclass(frozen=True, slots=True)
class NvlinkPartition:
    """A partition of an NVLink domain."""

    domain: str
    number: int

    def __str__(self) -> str:
        return f"N:{plain(self.domain)}:{self.number}"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of an NVLink domain."""

    domain: str
    name: str

    def __str__(self) -> str:
        return f"gpu:{plain(self.domain)}/{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class Capability:
    """Everything that a tenant's project may plug in or call by itself."""

    tenant: str

    def __str__(self) -> str:
        return f"cap:{plain(self.tenant)}"


@dataclass(frozen=True, slots=True)
class Processors:
    """The processors of a hypervisor that guests share."""

    serial: str

    def __str__(self) -> str:
        return f"cpu:{plain(self.serial)}"


@dataclass(frozen=True, slots=True)
class Fabric:
    """All VLANs of a switch, P_Keys of a subnet or partitions of a domain: met only where they are not kept apart."""

    name: str

    def __str__(self) -> str:
        return f"fabric:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class CloudApi:
    """A cloud that does not keep its projects apart."""

    cloud: str

    def __str__(self) -> str:
        return f"cloud:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class Foreigners:
    """What no model file describes."""

    cloud: str

    def __str__(self) -> str:
        return f"foreign:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class LostClaim:
    """A released VLAN whose physical network nobody recorded."""

    owner: str
    claim: str

    def __str__(self) -> str:
        return f"lost:{plain(self.owner)}:{plain(self.claim)}"


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that neither plan nor site describes."""

    reference: str

    def __str__(self) -> str:
        return f"ref:{plain(self.reference)}"


@dataclass(frozen=True, slots=True)
class MacAddress:
    """A MAC address, in lower case with colons: exclusive, and no node."""

    address: str

    def __str__(self) -> str:
        return f"mac:{plain(self.address)}"


@dataclass(frozen=True, slots=True)
class HeldMachine:
    """A machine that one owner holds: exclusive, and no node."""

    serial: str

    def __str__(self) -> str:
        return f"machine:{self.serial}"


@dataclass(frozen=True, slots=True)
class HeldHost:
    """A bare-metal host that one owner holds: exclusive, and no node."""

    serial: str

    def __str__(self) -> str:
        return f"host:{self.serial}"


@dataclass(frozen=True, slots=True)
class HeldSwitchPort:
    """A switch port that one owner holds: exclusive, and no node."""

    serial: str
    number: int

    def __str__(self) -> str:
        return f"switch-port:{self.serial}:{self.number}"


@dataclass(frozen=True, slots=True)
class HeldSegment:
    """A claimed VLAN or VNI, by the text of its node: exclusive, and no node."""

    segment: str

    def __str__(self) -> str:
        return f"segment:{self.segment}"


@dataclass(frozen=True, slots=True)
class OtherText:
    """Text that begins like an identity and is none of ours; it is equal to itself alone."""

    text: str

    def __str__(self) -> str:
        return self.text


Node: TypeAlias = (
    Vlan | Overlay | ExternalNetwork | Router | SwitchRouter | Server | Device | NeutronPort | SwitchPort | Volume
    | Allocation | ShareService | ShareAddress | PartitionKey | InfinibandPort | NvlinkPartition | Gpu | Capability
    | Processors | Fabric | CloudApi | Foreigners | LostClaim | Reference | MacAddress | HeldMachine | HeldHost
    | HeldSwitchPort | HeldSegment | OtherText
)  # fmt: skip

#: What the text of a node begins with.
_KINDS = (
    "L:", "V:", "X:", "R:", "K:", "N:", "I:", "dev:", "port:", "vol:", "shares:", "vip:", "guid:", "gpu:",
    "cap:", "cpu:", "fabric:", "cloud:", "foreign:", "lost:", "ref:",
)  # fmt: skip
_OF_ONE_NAME: dict[str, Callable[[str], Node]] = {
    "shares": ShareService, "guid": InfinibandPort, "cap": Capability, "cpu": Processors, "fabric": Fabric,
    "cloud": CloudApi, "foreign": Foreigners, "ref": Reference, "mac": MacAddress,
}  # fmt: skip
#: Written as they are: serials and identities of their own.
_OF_A_TEXT: dict[str, Callable[[str], Node]] = {"machine": HeldMachine, "host": HeldHost, "segment": HeldSegment}
_OF_TWO_NAMES: dict[str, Callable[[str, str], Node]] = {
    "vol": Volume,
    "I": Allocation,
    "vip": ShareAddress,
    "lost": LostClaim,
}


def is_identity(text: str) -> bool:
    """True if a column of a premise is a node's identity. Asked of every column of every lock."""
    return text.startswith(_KINDS)


@lru_cache(maxsize=_KEPT)
def parse(text: str) -> Node:
    """The value of a node's text. `str` of it is the text again; what no `str` wrote is `OtherText`."""
    kind, _, rest = text.partition(":")
    try:
        found = _parsed(kind, rest)
    except ValueError:
        found = None
    return found if found is not None and str(found) == text else OtherText(text)


def _parsed(kind: str, rest: str) -> Node | None:
    """Raises ValueError where parts are missing or are no numbers."""
    if kind in _OF_ONE_NAME:
        return _OF_ONE_NAME[kind](unquote(rest))
    if kind in _OF_A_TEXT:
        return _OF_A_TEXT[kind](rest)
    if kind in _OF_TWO_NAMES:
        return _OF_TWO_NAMES[kind](*_two(rest))
    match kind:
        case "L":
            return _vlan(rest)
        case "V":
            underlay, encapsulation, number = rest.split(":")
            return Overlay(unquote(underlay), encapsulation, int(number))
        case "dev":
            return Server(*_two(rest)) if ":" in rest else Device(*_instance(rest))
        case "port":
            return _port(rest)
        case "R":
            return Router(*_two(rest)) if ":" in rest else SwitchRouter(*_instance(rest))
        case _:
            return _parsed_seldom(kind, rest)


def _parsed_seldom(kind: str, rest: str) -> Node | None:
    match kind:
        case "X":
            name, found, router = rest.partition("@")
            way_out = parse(router) if found else None
            return ExternalNetwork(unquote(name), way_out) if way_out is None or isinstance(way_out, Router) else None
        case "K":
            prefix, key = _two(rest)
            return PartitionKey(prefix, int(key, 16))
        case "N":
            domain, number = _two(rest)
            return NvlinkPartition(domain, int(number))
        case "switch-port":
            serial, _, number = rest.rpartition(":")
            return HeldSwitchPort(serial, int(number))
        case "gpu":
            domain, _, name = rest.partition("/")
            return Gpu(unquote(domain), unquote(name))
        case _:
            return None


def _two(rest: str) -> tuple[str, str]:
    first, second = rest.split(":")
    return unquote(first), unquote(second)


def _vlan(rest: str) -> Vlan:
    place, _, number = rest.rpartition(":")
    bridge, grouped, group = place.partition("~")
    return Vlan(bridge, int(number), unquote(group) if grouped else None)


def _port(rest: str) -> NeutronPort | SwitchPort:
    serial, on_switch, number = rest.partition("/")
    return SwitchPort(unquote(serial), int(number)) if on_switch else NeutronPort(*_two(rest))


def _instance(rest: str) -> tuple[str, str | None, Copy | None]:
    """Serial, the part of the device or VRF, and the VLAN that meets this copy."""
    place, copied, where = rest.partition("@")
    serial, named, part = place.partition("/")
    vlan, grouped, group = where.partition("~")
    copy = Copy(int(vlan), unquote(group) if grouped else None) if copied else None
    return unquote(serial), unquote(part) if named else None, copy


def is_vlan(text: str) -> bool:
    """True for a VLAN, of a switch or of a host's bridge."""
    return isinstance(parse(text), Vlan)


def switch_vlan(text: str) -> Vlan | None:
    """The VLAN of a switch that a node is; None if it is anything else."""
    node = parse(text)
    return node if isinstance(node, Vlan) and not node.is_of_host else None


def is_device(text: str) -> bool:
    """True for servers, devices, hypervisors, and split copies of them."""
    return isinstance(parse(text), Server | Device)


def is_router(text: str) -> bool:
    """True for Neutron routers, routing instances of switches, and split copies of them."""
    return isinstance(parse(text), Router | SwitchRouter)


def is_capability(text: str) -> bool:
    """True for what a tenant may plug in by itself."""
    return isinstance(parse(text), Capability)
