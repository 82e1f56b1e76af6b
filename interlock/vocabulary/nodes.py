"""Identities of the graph's nodes, and of what one owner holds alone (docs/design/semantics.md, sorts).

`parse` reads the text of a lock, a premise or a certificate, `str` writes it, and nothing else knows how it looks. Two
records with one identity are one node; names of physical networks, networks and segments are never identities.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

from .held_types import HeldHost as HeldHost
from .held_types import HeldMachine as HeldMachine
from .held_types import HeldSegment as HeldSegment
from .held_types import HeldSwitchPort as HeldSwitchPort
from .held_types import MacAddress as MacAddress
from .node_types import KEY_BITS as KEY_BITS
from .node_types import Allocation as Allocation
from .node_types import Capability as Capability
from .node_types import CloudApi as CloudApi
from .node_types import Copy as Copy
from .node_types import Device as Device
from .node_types import ExternalNetwork as ExternalNetwork
from .node_types import Fabric as Fabric
from .node_types import Foreigners as Foreigners
from .node_types import Gpu as Gpu
from .node_types import InfinibandPort as InfinibandPort
from .node_types import LostClaim as LostClaim
from .node_types import NeutronPort as NeutronPort
from .node_types import NvlinkPartition as NvlinkPartition
from .node_types import OtherText as OtherText
from .node_types import Overlay as Overlay
from .node_types import PartitionKey as PartitionKey
from .node_types import Processors as Processors
from .node_types import Reference as Reference
from .node_types import Router as Router
from .node_types import Server as Server
from .node_types import ShareAddress as ShareAddress
from .node_types import ShareService as ShareService
from .node_types import SwitchPort as SwitchPort
from .node_types import SwitchRouter as SwitchRouter
from .node_types import Vlan as Vlan
from .node_types import Volume as Volume
from .node_types import plain as plain

#: Different texts that are kept parsed: more than the boundary of 10 000 tenants has.
_KEPT = 1 << 18


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
