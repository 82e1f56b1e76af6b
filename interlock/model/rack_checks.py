"""What must hold in a site file before its short forms can be expanded: designs, counts, port tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.hardware import DESIGNS, RackDesign

from .errors import Code
from .faults import Faults
from .places import Path, host_names
from .site_file import RackFile, SiteFile
from .source import KEY
from .switch_ports import PortTable, ports_of
from .validation import nearest


def check_before_expansion(file: SiteFile, faults: Faults) -> None:
    """Adds every fault that would leave the expansion without an answer."""
    for index, rack in enumerate(file.racks):
        _check_rack(rack, index, faults)
    _check_port_tables(file, faults)
    for name, switch in file.switches.items():
        if not all(len(group) == 2 and min(group) > 0 for group in switch.port_groups):
            hint = "write [[100, 32], [10, 2]]: speed in Gb/s and number of ports"
            faults.add(
                Code.VALUE, ("switches", name, "port_groups"), "groups of ports are pairs of numbers", hint
            )
    for index, cable in enumerate(file.cables):
        if len(cable.ends) != 2:
            faults.add(Code.VALUE, ("cables", index, "ends"), f"a cable has 2 ends, not {len(cable.ends)}")


def _check_rack(rack: RackFile, index: int, faults: Faults) -> None:
    design = DESIGNS.get(rack.design)
    if design is None:
        message = f"`{rack.design}` is not a design in the catalogue"
        faults.add(Code.NO_SUCH, ("racks", index, "design"), message, nearest(rack.design, DESIGNS))
        return
    count, servers = design.machines.value, len(rack.poplar.serials)
    most, ports = design.max_servers.value, design.server.fabric_ports.value
    for path, found, least, limit, what in (
        (("machines", "names"), len(rack.machines.names), count, count, "names of IPU-Machines"),
        (("machines", "serials"), len(rack.machines.serials), count, count, "serials of IPU-Machines"),
        (("machines", "sync_cables"), rack.machines.sync_cables, 0, _most_sync(design), "Sync-Link cables"),
        (("poplar", "serials"), servers, 1, most, "serials of Poplar hosts"),
        (("poplar", "names"), len(host_names(rack)), servers, servers, "names of Poplar hosts"),
        (("poplar", "huge_pages"), rack.poplar.huge_pages, 0, design.server.ram.value, "huge pages"),
        (("poplar", "dedicated_cpus"), rack.poplar.dedicated_cpus, 0, design.server.threads.value, "CPUs"),
        (("poplar", "tor_interfaces"), len(rack.poplar.tor_interfaces), ports, ports, "interfaces"),
        (("poplar", "management_interfaces"), len(rack.poplar.management_interfaces), 2, 2, "interfaces"),
        (("pdus",), len(rack.pdus), 0, design.max_pdus, "PDUs"),
    ):
        if not least <= found <= limit:
            wanted = str(limit) if least == limit else f"{least} to {limit}"
            faults.add(Code.VALUE, ("racks", index, *path), f"{found} {what}: {design.name} has {wanted}")


def _most_sync(design: RackDesign) -> int:
    """Half of a machine's Sync-Link ports: it has two neighbours."""
    return design.machine.sync_link_ports.value // 2


def _port_tables(file: SiteFile) -> Iterator[tuple[Path, PortTable, dict[str, tuple[int, int]], int]]:
    """(path, table, roles, number of ports) of every switch."""
    for index, rack in enumerate(file.racks):
        if rack.design not in DESIGNS:
            continue
        design, path = DESIGNS[rack.design], ("racks", index)
        yield (*path, "tor", "ports"), rack.tor.ports, design.tor_ports.value, design.tor.ports
        roles, count = design.management_ports.value, design.management.ports
        yield (*path, "management", "ports"), rack.management.ports, roles, count
    for name, switch in file.switches.items():
        yield ("switches", name, "ports"), switch.ports, {}, sum(count for _, count in switch.port_groups)


def _check_port_tables(file: SiteFile, faults: Faults) -> None:
    for path, table, roles, count in _port_tables(file):
        seen = dict[int, str]()
        for key in table:
            if key not in roles:
                _check_port_key((*path, key, KEY), key, roles, count, seen, faults)


def _check_port_key(
    path: Path, key: str, roles: Iterable[str], count: int, seen: dict[int, str], faults: Faults
) -> None:
    """Adds the faults of one key of a port table; `seen` maps ports to the key that set them before."""
    if not key[:1].isdigit():
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
