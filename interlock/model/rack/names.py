"""Who is who in a pod of a site file: every name and serial, in order, and which logical rack has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from interlock.hardware.designs import POD_DESIGNS, PodDesign, PortMap

from .file import GatewaySwitchFile, RackFile, RackSwitchFile

T = TypeVar("T")


@dataclass(frozen=True)
class LogicalPart:
    """One logical rack of a pod, by names. `index` counts from 0; machines are in the order of positions."""

    index: int
    name: str
    machines: tuple[str, ...]
    hosts: tuple[str, ...]
    tor: str
    management: str
    pdus: tuple[str, ...]

    @property
    def own_management(self) -> str:
        """The ToR's management processor: a device of its own, for it bridges nothing to the switch's ports."""
        return own_management(self.tor)


def own_management(tor: str) -> str:
    """The name of the management processor of a ToR, which site files do not name."""
    return f"{tor}-management"


def design_of(rack: RackFile) -> PodDesign:
    """The design, which must be one of the catalogue."""
    return POD_DESIGNS[rack.design]


def logical_names(rack: RackFile) -> list[str]:
    """Names of the logical racks: the entry's own if it is one, else with numbers from 1."""
    count = design_of(rack).logical_racks.value
    return [rack.name] if count == 1 else [f"{rack.name}-{number}" for number in range(1, count + 1)]


def machine_names(rack: RackFile) -> list[str]:
    """Names of the IPU-Machines, in the order of logical racks and positions."""
    return rack.machines.names or [f"ipum-{number:02d}" for number in range(1, design_of(rack).machines + 1)]


def host_names(rack: RackFile) -> list[str]:
    """Names of the Poplar hosts, in the order of their serials."""
    return rack.poplar.names or _numbered("poplar", len(rack.poplar.serials))


def tor_names(rack: RackFile) -> list[str]:
    """Names of the ToRs, one for each logical rack."""
    return _switch_names(rack.tor) or _numbered("tor", design_of(rack).logical_racks.value)


def management_names(rack: RackFile) -> list[str]:
    """Names of the management switches, one for each logical rack."""
    return _switch_names(rack.management) or _numbered("mgmt", design_of(rack).logical_racks.value)


def gw_switch_names(rack: RackFile) -> list[str]:
    """Names of the switches of the GW-Links; none if the file states none."""
    file = rack.gw_switches
    return [] if file is None else file.names or _numbered("gw-switch", len(file.serials))


def switch_serials(file: RackSwitchFile) -> list[str]:
    """Serials of the switches of one kind, whether `serial` or `serials` was written."""
    return file.serials or ([] if file.serial is None else [file.serial])


def switch_macs(file: RackSwitchFile | GatewaySwitchFile, count: int) -> list[str] | list[None]:
    """System MAC addresses of `count` switches of one kind; None for each where none are stated."""
    return file.macs or [None] * count


def logical_parts(rack: RackFile) -> tuple[LogicalPart, ...]:
    """The logical racks of the pod, in order. The file was checked."""
    names, tors, managements = logical_names(rack), tor_names(rack), management_names(rack)
    machines, hosts = machine_names(rack), host_names(rack)
    return tuple(
        LogicalPart(
            index=index,
            name=name,
            machines=_share(machines, index, len(names)),
            hosts=_share(hosts, index, len(names)),
            tor=tors[index],
            management=managements[index],
            pdus=_share(rack.pdus, index, len(names)),
        )
        for index, name in enumerate(names)
    )


def tor_roles(rack: RackFile) -> PortMap:
    """Blocks of the ToR's ports: the design's, but where the file puts them elsewhere."""
    return _mapped(design_of(rack).rack.tor_ports.value, rack.tor)


def management_roles(rack: RackFile) -> PortMap:
    """Blocks of the management switch's ports, as above."""
    return _mapped(design_of(rack).rack.management_ports.value, rack.management)


def gw_roles(rack: RackFile) -> PortMap:
    """The one block of a GW-Link switch: a port for each machine of the pod."""
    return {"machines": (1, design_of(rack).machines)}


def first_numbers(racks: Sequence[RackFile]) -> list[int | None]:
    """The number of each entry's first logical rack: the stated one; else the next, if its address plan needs one."""
    found, following = list[int | None](), 1
    for rack in racks:
        first = rack.number or (following if rack.address_plan == "pod" else None)
        found.append(first)
        if first is not None:
            design = POD_DESIGNS.get(rack.design)
            following = first + (design.logical_racks.value if design else 1)
    return found


def physical_names(rack: RackFile) -> list[str]:
    """Names of the physical racks that the file states for this pod; none if it states none."""
    if rack.rack is None:
        return []
    return rack.rack.names or ([] if rack.rack.name is None else [rack.rack.name])


def _numbered(word: str, count: int) -> list[str]:
    return [f"{word}-{number}" for number in range(1, count + 1)]


def _switch_names(file: RackSwitchFile) -> list[str]:
    return file.names or ([] if file.name is None else [file.name])


def _share(items: Sequence[T], index: int, parts: int) -> tuple[T, ...]:
    """The part of a list that one of several equal parts has."""
    size = len(items) // parts
    return tuple(items[index * size : (index + 1) * size])


def _mapped(design: PortMap, file: RackSwitchFile) -> PortMap:
    blocks = {**design, **file.port_map}
    return {role: block for role, block in blocks.items() if block is not None}
