"""The InfiniBand subnet of a rack file: one leaf for each rail, spines above, nodes in the order of the leaf ports.

Switch names and ports are those of the design that the site has (`h100-superpod`): node n is on port n of every leaf,
the two UFM appliances are on the last port down of leaves 1 and 2, and of leaves 3 and 4, and the upper half of a
leaf's ports goes to the spines, equally many links to each. The subnet manager runs at an appliance's first port.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .topology import SubnetTopology, TopologyCable, TopologyHca, TopologySwitch

#: A GUID, and the prefix of a subnet.
_HEX16 = re.compile(r"[0-9a-f]{16}")
KEYS = ("name", "prefix", "leaf", "spine", "spines", "ports", "managers", "hcas")
#: Leaves, counted from 1, on whose last port down each appliance is: ports 1 and 2.
_MANAGED_LEAVES = ((1, 2), (3, 4))
_SWITCH_GUID, _MANAGER_GUID = 0x0002C903F0000000, 0x0002C903E0000000


@dataclass(frozen=True)
class RackSubnet:
    """A subnet: its name in the site file, its 64-bit prefix, and what is cabled."""

    name: str
    prefix: int
    topology: SubnetTopology


def subnet_of(item: Mapping[str, Any]) -> RackSubnet:
    """The subnet of a rack file. Raises ValueError, KeyError and TypeError for what is none."""
    if unknown := sorted({*item} - {*KEYS}):
        raise ValueError(f"infiniband has no key {unknown[0]}; keys are {', '.join(KEYS)}")
    hcas = {str(node): tuple(map(str, guids)) for node, guids in item["hcas"].items()}
    rails = {len(guids) for guids in hcas.values()}
    if len(rails) != 1 or not all(_HEX16.fullmatch(guid) for guids in hcas.values() for guid in guids):
        raise ValueError("infiniband.hcas: each node has as many GUIDs as the others, 16 hex digits each")
    if not _HEX16.fullmatch(item["prefix"]):
        raise ValueError("infiniband.prefix: 16 hex digits")
    count, half = rails.pop(), item["ports"] // 2
    if count < _MANAGED_LEAVES[-1][-1] or len(hcas) >= half or half % item["spines"]:
        raise ValueError(f"infiniband: at least 4 rails, fewer than {half} nodes, and spines that divide {half}")
    leaves = [item["leaf"].format(rail) for rail in range(1, count + 1)]
    spines = [item["spine"].format(number) for number in range(1, item["spines"] + 1)]
    managers = tuple(item["managers"])
    topology = SubnetTopology(
        switches=tuple(
            TopologySwitch(name, item["ports"], _SWITCH_GUID + number) for number, name in enumerate([*leaves, *spines])
        ),
        hcas=(*_hcas(hcas), *_managers(managers)),
        cables=(*_down(hcas, leaves), *_managed(managers, leaves, half), *_up(leaves, spines, half)),
        manager=managers[0],
        standby=managers[1],
    )
    return RackSubnet(item["name"], int(item["prefix"], 16), topology)


def port_name(node: str, rail: int) -> str:
    """How the topology calls the port of a node on a rail, from 1."""
    return f"{node}:compute{rail}"


def appliance_port(name: str, port: int) -> str:
    """How the topology calls a port of a UFM appliance: the first one as the appliance itself."""
    return name if port == 1 else f"{name}:{port}"


def _hcas(hcas: Mapping[str, tuple[str, ...]]) -> Iterator[TopologyHca]:
    for node, guids in hcas.items():
        for rail, guid in enumerate(guids, 1):
            yield TopologyHca(port_name(node, rail), int(guid, 16), f"{node} mlx5_{rail - 1}")


def _managers(names: tuple[str, ...]) -> Iterator[TopologyHca]:
    for number, name in enumerate(names):
        for port in (1, 2):
            guid = _MANAGER_GUID + 16 * (2 * number + port)
            yield TopologyHca(appliance_port(name, port), guid, f"{name} mlx5_{port - 1}")


def _down(hcas: Mapping[str, tuple[str, ...]], leaves: list[str]) -> Iterator[TopologyCable]:
    for place, node in enumerate(hcas, 1):
        for rail, leaf in enumerate(leaves, 1):
            yield TopologyCable(leaf, place, port_name(node, rail), 1)


def _managed(managers: tuple[str, ...], leaves: list[str], half: int) -> Iterator[TopologyCable]:
    for pair, name in zip(_MANAGED_LEAVES, managers, strict=True):
        for port, leaf in enumerate(pair, 1):
            yield TopologyCable(leaves[leaf - 1], half, appliance_port(name, port), 1)


def _up(leaves: list[str], spines: list[str], half: int) -> Iterator[TopologyCable]:
    each = half // len(spines)
    for number, leaf in enumerate(leaves):
        for above, spine in enumerate(spines):
            for link in range(each):
                yield TopologyCable(leaf, half + above * each + link + 1, spine, number * each + link + 1)
