"""`design: ipu-pod64` -> machines, hosts, switches, port map cables, with the file's names and serials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.hardware import DESIGNS, RackDesign
from interlock.hardware.designs import PortMap
from interlock.hardware.switches import SwitchModel

from .places import host_names, switch_names
from .site import Cable, Endpoint, Host, Machine, Switch, SwitchRole
from .site_file import RackFile, RackSwitchFile
from .switch_ports import settings_by_port


@dataclass(frozen=True)
class Rack:
    """A rack in full form. `others` are devices that only hang on a cable, such as PDUs."""

    machines: tuple[Machine, ...]
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...]
    others: tuple[str, ...]


def expand_rack(rack: RackFile) -> Rack:
    """The rack in full form. Its design, counts and port tables were checked (`rack_checks`)."""
    design = DESIGNS[rack.design]
    tor_name, management_name = switch_names(rack)
    tor = _switch(rack.tor, tor_name, "tor", design.tor, design.tor_ports.value)
    ports = design.management_ports.value
    management = _switch(rack.management, management_name, "management", design.management, ports)
    return Rack(
        machines=tuple(_machines(rack)),
        hosts=tuple(_hosts(rack, design)),
        switches=(tor, management),
        cables=(*_tor_cables(rack, design), *_management_cables(rack, design), *_chain_cables(rack, design)),
        others=(_own_management(rack), *rack.pdus),
    )


def _machines(rack: RackFile) -> Iterator[Machine]:
    pairs = zip(rack.machines.names, rack.machines.serials, strict=True)
    for position, (name, serial) in enumerate(pairs, start=1):
        yield Machine(name=name, serial=serial, logical_rack=rack.name, position=position)


def _hosts(rack: RackFile, design: RackDesign) -> Iterator[Host]:
    poplar = rack.poplar
    for name, serial in zip(host_names(rack), poplar.serials, strict=True):
        yield Host(
            name=name,
            serial=serial,
            role="poplar",
            logical_rack=rack.name,
            dedicated_cpus=poplar.dedicated_cpus,
            huge_pages_gib=poplar.huge_pages,
            virtual_functions=poplar.virtual_functions,
            ram_gib=design.server.ram.value,
            interfaces={network: tuple(found) for network, found in poplar.interfaces.items()},
        )


def _switch(file: RackSwitchFile, name: str, role: SwitchRole, model: SwitchModel, roles: PortMap) -> Switch:
    return Switch(
        name=name,
        serial=file.serial,
        model=model.name,
        role=role,
        port_groups=model.port_groups.value,
        ports=settings_by_port(file.ports, roles, model.ports),
        routed_vlans=file.routed_vlans,
        ip_routing=file.ip_routing,
    )


def _tor_cables(rack: RackFile, design: RackDesign) -> Iterator[Cable]:
    tor, ports = switch_names(rack)[0], design.tor_ports.value
    yield from _row(tor, ports["machines"], [(name, "rnic") for name in rack.machines.names])
    hosts = [(name, interface) for name in host_names(rack) for interface in rack.poplar.tor_interfaces]
    yield from _row(tor, ports["servers"], hosts)


def _management_cables(rack: RackFile, design: RackDesign) -> Iterator[Cable]:
    switch, ports, hosts = switch_names(rack)[1], design.management_ports.value, host_names(rack)
    interfaces = rack.poplar.management_interfaces
    yield from _row(switch, ports["machines"], [(name, "mgmt") for name in rack.machines.names])
    yield from _row(switch, ports["idrac"], [(name, "idrac") for name in hosts])
    yield from _row(
        switch, ports["servers"], [(name, interface) for name in hosts for interface in interfaces]
    )
    yield from _row(switch, ports["tor"], [(_own_management(rack), "mgmt")])
    yield from _row(switch, ports["pdus"], [(name, "mgmt") for name in rack.pdus])


def _own_management(rack: RackFile) -> str:
    """The ToR's management processor: a device of its own, for it bridges nothing to the switch's ports."""
    return f"{switch_names(rack)[0]}-management"


def _row(switch: str, ports: tuple[int, int], ends: Sequence[tuple[str, str]]) -> Iterator[Cable]:
    """Cables from the first ports of a block to these (device, interface), in order."""
    for port, (device, interface) in enumerate(ends, start=ports[0]):
        yield Cable(
            a=Endpoint(device=switch, interface=str(port)), b=Endpoint(device=device, interface=interface)
        )


def _chain_cables(rack: RackFile, design: RackDesign) -> Iterator[Cable]:
    """The chain m1—m2—…—m16. No cable from the last to the first: a full torus must be stated."""
    links = design.machine.ipu_links_per_neighbour.value
    for lower, upper in zip(rack.machines.names, rack.machines.names[1:], strict=False):
        for number in range(1, links + 1):
            a, b = _link(lower, "ipu-link-down", number), _link(upper, "ipu-link-up", number)
            yield Cable(a=a, b=b, kind="ipu-link")
        for number in range(1, rack.machines.sync_cables + 1):
            a, b = _link(lower, "sync-link-down", number), _link(upper, "sync-link-up", number)
            yield Cable(a=a, b=b, kind="sync-link")


def _link(machine: str, port: str, number: int) -> Endpoint:
    return Endpoint(device=machine, interface=f"{port}-{number}")
