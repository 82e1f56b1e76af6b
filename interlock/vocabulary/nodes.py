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
from .held_types import HeldLoginKey as HeldLoginKey
from .held_types import HeldMachine as HeldMachine
from .held_types import HeldSegment as HeldSegment
from .held_types import HeldSwitchPort as HeldSwitchPort
from .held_types import MacAddress as MacAddress
from .node_types import KEY_BITS as KEY_BITS
from .node_types import AllocationNode as AllocationNode
from .node_types import CapabilityNode as CapabilityNode
from .node_types import Copy as Copy
from .node_types import DeviceNode as DeviceNode
from .node_types import ExternalNetworkNode as ExternalNetworkNode
from .node_types import ForeignersNode as ForeignersNode
from .node_types import FormerHolderNode as FormerHolderNode
from .node_types import GpuNode as GpuNode
from .node_types import HostBridge as HostBridge
from .node_types import InfinibandPortNode as InfinibandPortNode
from .node_types import LostClaimNode as LostClaimNode
from .node_types import NeutronPortNode as NeutronPortNode
from .node_types import NvlinkPartitionNode as NvlinkPartitionNode
from .node_types import OtherTextNode as OtherTextNode
from .node_types import OverlayNode as OverlayNode
from .node_types import PartitionKeyNode as PartitionKeyNode
from .node_types import ProcessorsNode as ProcessorsNode
from .node_types import ReferenceNode as ReferenceNode
from .node_types import RouterNode as RouterNode
from .node_types import ServerNode as ServerNode
from .node_types import ShareAddressNode as ShareAddressNode
from .node_types import ShareServiceNode as ShareServiceNode
from .node_types import SwitchBridge as SwitchBridge
from .node_types import SwitchPortNode as SwitchPortNode
from .node_types import SwitchRouterNode as SwitchRouterNode
from .node_types import VlanNode as VlanNode
from .node_types import VolumeNode as VolumeNode
from .unguarded_types import CloudApiNode as CloudApiNode
from .unguarded_types import FabricNode as FabricNode
from .unguarded_types import OperatedNode as OperatedNode

#: Different texts that are kept parsed: more than the boundary of 10 000 tenants has.
_KEPT = 1 << 18


Node: TypeAlias = (
    VlanNode
    | OverlayNode
    | ExternalNetworkNode
    | RouterNode
    | SwitchRouterNode
    | ServerNode
    | DeviceNode
    | NeutronPortNode
    | SwitchPortNode
    | VolumeNode
    | AllocationNode
    | ShareServiceNode
    | ShareAddressNode
    | PartitionKeyNode
    | InfinibandPortNode
    | NvlinkPartitionNode
    | GpuNode
    | CapabilityNode
    | ProcessorsNode
    | FabricNode
    | CloudApiNode
    | OperatedNode
    | ForeignersNode
    | LostClaimNode
    | FormerHolderNode
    | ReferenceNode
    | MacAddress
    | HeldMachine
    | HeldHost
    | HeldSwitchPort
    | HeldSegment
    | HeldLoginKey
    | OtherTextNode
)

#: What the text of a node begins with.
_KINDS = (
    "L:",
    "V:",
    "X:",
    "R:",
    "K:",
    "N:",
    "I:",
    "dev:",
    "port:",
    "vol:",
    "shares:",
    "vip:",
    "guid:",
    "gpu:",
    "cap:",
    "cpu:",
    "fabric:",
    "cloud:",
    "ops:",
    "foreign:",
    "lost:",
    "former:",
    "ref:",
)
_OF_ONE_NAME: dict[str, Callable[[str], Node]] = {
    "shares": ShareServiceNode,
    "guid": InfinibandPortNode,
    "cap": CapabilityNode,
    "cpu": ProcessorsNode,
    "fabric": FabricNode,
    "cloud": CloudApiNode,
    "foreign": ForeignersNode,
    "ref": ReferenceNode,
    "mac": MacAddress,
}
#: Written as they are: serials and identities of their own.
_OF_A_TEXT: dict[str, Callable[[str], Node]] = {
    "machine": HeldMachine,
    "host": HeldHost,
    "segment": HeldSegment,
    "ssh-key": HeldLoginKey,
}
_OF_TWO_NAMES: dict[str, Callable[[str, str], Node]] = {
    "vol": VolumeNode,
    "I": AllocationNode,
    "vip": ShareAddressNode,
    "lost": LostClaimNode,
    "former": FormerHolderNode,
    "ops": OperatedNode,
}


def is_identity(text: str) -> bool:
    """True if a column of a premise is a node's identity. Asked of every column of every lock."""
    return text.startswith(_KINDS)


@lru_cache(maxsize=_KEPT)
def parse(text: str) -> Node:
    """The value of a node's text. `str` of it is the text again; what no `str` wrote is `OtherTextNode`."""
    kind, _, rest = text.partition(":")
    try:
        found = _parsed(kind, rest)
    except ValueError:
        found = None
    return found if found is not None and str(found) == text else OtherTextNode(text)


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
            return OverlayNode(unquote(underlay), encapsulation, int(number))
        case "dev":
            return ServerNode(*_two(rest)) if ":" in rest else DeviceNode(*_instance(rest))
        case "port":
            return _port(rest)
        case "R":
            return RouterNode(*_two(rest)) if ":" in rest else SwitchRouterNode(*_instance(rest))
        case _:
            return _parsed_seldom(kind, rest)


def _parsed_seldom(kind: str, rest: str) -> Node | None:
    match kind:
        case "X":
            name, found, router = rest.partition("@")
            # Of a router's copy only: parsing whatever follows would never end on a long row of them.
            if not found:
                return ExternalNetworkNode(unquote(name))
            way_out = parse(router) if router.startswith("R:") else None
            return ExternalNetworkNode(unquote(name), way_out) if isinstance(way_out, RouterNode) else None
        case "K":
            prefix, key = _two(rest)
            return PartitionKeyNode(prefix, int(key, 16))
        case "N":
            domain, number = _two(rest)
            return NvlinkPartitionNode(domain, int(number))
        case "switch-port":
            serial, _, number = rest.rpartition(":")
            return HeldSwitchPort(serial, int(number))
        case "gpu":
            domain, _, name = rest.partition("/")
            return GpuNode(unquote(domain), unquote(name))
        case _:
            return None


def _two(rest: str) -> tuple[str, str]:
    first, second = rest.split(":")
    return unquote(first), unquote(second)


def _vlan(rest: str) -> VlanNode:
    place, _, number = rest.rpartition(":")
    bridge, grouped, group = place.partition("~")
    return VlanNode(bridge, int(number), unquote(group) if grouped else None)


def _port(rest: str) -> NeutronPortNode | SwitchPortNode:
    serial, on_switch, number = rest.partition("/")
    return SwitchPortNode(unquote(serial), int(number)) if on_switch else NeutronPortNode(*_two(rest))


def _instance(rest: str) -> tuple[str, str | None, Copy | None]:
    """Serial, the part of the device or VRF, and the VLAN that meets this copy."""
    place, copied, where = rest.partition("@")
    serial, named, part = place.partition("/")
    vlan, grouped, group = where.partition("~")
    copy = Copy(int(vlan), unquote(group) if grouped else None) if copied else None
    return unquote(serial), unquote(part) if named else None, copy


def last_part(node: Node) -> str:
    """The last part of an identity, which names it among others of its kind."""
    return unquote(str(node).rpartition(":")[2])


def is_vlan(text: str) -> bool:
    """True for a VLAN, of a switch or of a host's bridge."""
    return isinstance(parse(text), VlanNode)


def switch_vlan(text: str) -> VlanNode | None:
    """The VLAN of a switch that a node is; None if it is anything else."""
    node = parse(text)
    return node if isinstance(node, VlanNode) and not node.is_of_host else None


def is_device(text: str) -> bool:
    """True for servers, devices, hypervisors, and split copies of them."""
    return isinstance(parse(text), ServerNode | DeviceNode)


def is_router(text: str) -> bool:
    """True for Neutron routers, routing instances of switches, and split copies of them."""
    return isinstance(parse(text), RouterNode | SwitchRouterNode)


def is_capability(text: str) -> bool:
    """True for what a tenant may plug in by itself."""
    return isinstance(parse(text), CapabilityNode)
