"""Switch ports of a site file: port maps that fit their switch and hold their cables, tables without gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.hardware.designs import POD_DESIGNS, PortMap
from interlock.hardware.switches import PortGroups, SwitchModel
from interlock.model.site.file import SiteFile
from interlock.model.site.places import Path
from interlock.model.site.switch_ports import PortTable, ports_of
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.source import KEY
from interlock.model.text.validation import nearest
from interlock.vocabulary.digits import is_number

from .file import RackFile, RackSwitchFile
from .names import design_of, gw_roles, management_roles, tor_roles


def check_port_map(rack: RackFile, path: Path, faults: Faults) -> None:
    """Adds the faults of both port maps: every port exists, is of the right speed, and has one role."""
    design = design_of(rack).rack
    if not _check_budget(rack, path, faults):
        return
    for key, file, model, usual, needs in (
        ("tor", rack.tor, design.tor, design.tor_ports.value, _tor_needs(rack)),
        ("management", rack.management, design.management, design.management_ports.value, _management_needs(rack)),
    ):
        below = (*path, key, "port_map")
        roles = {role: block for role, block in {**usual, **file.port_map}.items() if block is not None}
        _check_room(file, roles, needs, below, faults)
        if _check_blocks(file, model, usual, below, faults):
            _check_meetings(file, roles, below, faults)


def check_port_tables(file: SiteFile, faults: Faults) -> None:
    """Adds the faults of every port table: keys that are no role and no port, ports that are set twice."""
    for path, table, roles, count in _port_tables(file):
        seen = dict[int, str]()
        for key in table:
            if key not in roles:
                _check_port_key((*path, key, KEY), key, roles, count, seen, faults)


def _check_budget(rack: RackFile, path: Path, faults: Faults) -> bool:
    """Machines, servers and uplinks share the ToR's fast ports; False if they cannot all have theirs."""
    design = design_of(rack).rack
    machine = design.machine
    cables, servers = rack.machines.rnic_cables, _servers(rack) * design.server.fabric_ports.value
    fast = _ports_of_speed(design.tor.port_groups.value, machine.rnic_speed.value)
    needed = design.machines.value * cables
    below = (*path, "machines", "rnic_cables")
    if cables == machine.rnic_ports_cabled.value:
        return True
    if needed + servers > fast:
        message = f"{cables} RNIC cables of {design.machines.value} machines take {needed} of the ToR's {fast} ports"
        message = f"{message} of {machine.rnic_speed.value}G, and the servers need {servers}"
        faults.add(Code.CONTRADICTION, below, message, f"the design cables {machine.rnic_ports_cabled.value}")
    else:
        message = f"{cables} RNIC cables: {design.name} has {machine.rnic_ports_cabled.value}"
        faults.add(Code.VALUE, below, message)
    return False


def _servers(rack: RackFile) -> int:
    """Servers of each logical rack."""
    return len(rack.poplar.serials) // design_of(rack).logical_racks.value


def _ports_of_speed(groups: PortGroups, speed: int) -> int:
    return sum(count for found, count in groups if found == speed)


def _tor_needs(rack: RackFile) -> dict[str, int]:
    """Role -> cables that the design plugs there."""
    design = design_of(rack).rack
    machines = design.machines.value * rack.machines.rnic_cables
    return {"machines": machines, "servers": _servers(rack) * design.server.fabric_ports.value}


def _management_needs(rack: RackFile) -> dict[str, int]:
    pod = design_of(rack)
    servers = _servers(rack)
    return {
        "machines": pod.rack.machines.value * pod.rack.machine.management_ports_cabled.value,
        "idrac": servers,
        "servers": servers * pod.rack.server.management_ports.value,
        "tor": 1,
        "pdus": len(rack.pdus) // pod.logical_racks.value,
    }


def _check_blocks(file: RackSwitchFile, model: SwitchModel, usual: PortMap, path: Path, faults: Faults) -> bool:
    """Roles that the design has, at ports that the switch has, of their speed; False if that is not so."""
    before = len(faults.found)
    for role, block in file.port_map.items():
        if role not in usual:
            message = f"`{role}` is no block of this switch's port map"
            faults.add(Code.NO_SUCH, (*path, role, KEY), message, nearest(role, usual))
        elif block is not None and not 1 <= block[0] <= block[1] <= model.ports:
            message = f"ports {block[0]} to {block[1]}: the switch has ports 1 to {model.ports}"
            faults.add(Code.NO_SUCH, (*path, role), message)
        elif block is not None and _speeds(model, block) != _speeds(model, usual[role]):
            wanted = ", ".join(f"{speed}G" for speed in sorted(_speeds(model, usual[role])))
            message = f"ports {block[0]} to {block[1]} are not all of {wanted}, which `{role}` needs"
            faults.add(Code.CONTRADICTION, (*path, role), message)
    return len(faults.found) == before


def _speeds(model: SwitchModel, block: tuple[int, int]) -> set[int]:
    speeds = [speed for speed, count in model.port_groups.value for _ in range(count)]
    return set(speeds[block[0] - 1 : block[1]])


def _check_meetings(file: RackSwitchFile, roles: PortMap, path: Path, faults: Faults) -> None:
    """One port, one role. The design's own blocks do not meet, so one of two is always the file's."""
    names = list(roles)
    for index, role in enumerate(names):
        for other in names[index + 1 :]:
            first, last = max(roles[role][0], roles[other][0]), min(roles[role][1], roles[other][1])
            if first <= last:
                stated = role if role in file.port_map else other
                message = f"port {first} would be of `{role}` and of `{other}`"
                hint = "state the other block, too: elsewhere, or `none` if nothing of it is cabled"
                faults.add(Code.TWICE, (*path, stated), message, hint)


def _check_room(file: RackSwitchFile, roles: PortMap, needs: dict[str, int], path: Path, faults: Faults) -> None:
    """Every block of the file has a port for each of its cables."""
    for role in file.port_map.keys() & needs.keys():
        first, last = roles.get(role, (1, 0))
        if last - first + 1 < needs[role]:
            message = f"{last - first + 1} ports for `{role}`: {needs[role]} cables end there"
            faults.add(Code.VALUE, (*path, role), message)


def _port_tables(file: SiteFile) -> Iterator[tuple[Path, PortTable, PortMap, int]]:
    """(path, table, roles, number of ports) of every switch."""
    for index, rack in enumerate(file.racks):
        if rack.design in POD_DESIGNS:
            yield from _tables_of_rack(rack, ("racks", index))
    for name, switch in file.switches.items():
        yield ("switches", name, "ports"), switch.ports, {}, sum(count for _, count in switch.port_groups)


def _tables_of_rack(rack: RackFile, path: Path) -> Iterator[tuple[Path, PortTable, PortMap, int]]:
    pod = design_of(rack)
    yield (*path, "tor", "ports"), rack.tor.ports, tor_roles(rack), pod.rack.tor.ports
    ports = pod.rack.management.ports
    yield (*path, "management", "ports"), rack.management.ports, management_roles(rack), ports
    if rack.gw_switches is not None and rack.gw_switches.ports is not None and pod.gw_switches is not None:
        yield (*path, "gw_switches", "ports"), rack.gw_switches.ports, gw_roles(rack), pod.gw_switches.ports


def _check_port_key(
    path: Path, key: str, roles: Iterable[str], count: int, seen: dict[int, str], faults: Faults
) -> None:
    """Adds the faults of one key of a port table; `seen` maps ports to the key that set them before."""
    if not is_number(key[:1]):
        message = f"`{key}` is no block of this switch's port map"
        faults.add(Code.NO_SUCH, path, message, nearest(key, roles) if roles else "write numbers: 1, or 1-16")
        return
    try:
        ports = ports_of(key, {})
    except ValueError:
        faults.add(Code.VALUE, path, f"`{key}` is no range of ports", "write 17, or 17-24")
        return
    for port in ports:
        if not 1 <= port <= count:
            faults.add(Code.NO_SUCH, path, f"port {port}: the switch has ports 1 to {count}")
            return
        if seen.setdefault(port, key) != key:
            hint = "a number overrides a block of the port map, but not another number"
            faults.add(Code.TWICE, path, f"port {port} is set by `{seen[port]}` already", hint)
            return
