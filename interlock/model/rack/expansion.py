"""`design: ipu-pod64` -> everything that the design has, with the file's names and serials.

Cables are in `rack_cables`, cords in `rack_power`, units in `rack_placement`, bundles in `rack_lags`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from interlock.hardware.designs import PortMap
from interlock.hardware.switches import SwitchModel
from interlock.model.site.physical import (
    MACHINE_PARTS,
    Cable,
    Device,
    Generation,
    Host,
    Lag,
    LogicalRack,
    Machine,
    Placement,
    Switch,
    SwitchPortConfig,
    SwitchRole,
)
from interlock.model.site.physical import Rack as PhysicalRack
from interlock.model.site.service_states import stated
from interlock.model.site.switch_file import vrfs_of, vteps_of, wiring_of
from interlock.model.site.switch_ports import settings_by_port

from .cables import pod_cables
from .file import RackFile, RackSwitchFile
from .lags import server_lags, uplink_lags
from .names import (
    design_of,
    first_numbers,
    gw_roles,
    gw_switch_names,
    host_names,
    logical_parts,
    machine_names,
    management_names,
    management_roles,
    physical_names,
    switch_macs,
    switch_serials,
    tor_names,
    tor_roles,
)
from .placement import physical_racks, placements
from .power import pdu_devices, power_cables

_GENERATIONS: dict[str, Generation] = {"ipu-m2000": "ipu-m2000", "bow-2000": "bow-2000"}


@dataclass(frozen=True)
class ExpandedRack:
    """One entry of `racks:` in full form. Each field goes to the field of `Site` of that name."""

    machines: tuple[Machine, ...]
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    devices: tuple[Device, ...]
    logical_racks: tuple[LogicalRack, ...]
    physical_racks: tuple[PhysicalRack, ...]
    placements: tuple[Placement, ...]
    cables: tuple[Cable, ...]
    lags: tuple[Lag, ...]


def expand_racks(
    racks: Sequence[RackFile], cables: Sequence[Cable] = (), complete: Collection[str] = ()
) -> list[ExpandedRack]:
    """Every entry in full form; `cables` are those beside the racks, which uplinks may hang on.

    `complete` are the switches whose ports without a line are disabled.
    """
    numbers = first_numbers(racks)
    return [expand_rack(rack, number, cables, complete) for rack, number in zip(racks, numbers, strict=True)]


def expand_rack(
    rack: RackFile, number: int | None = None, cables: Sequence[Cable] = (), complete: Collection[str] = ()
) -> ExpandedRack:
    """One entry in full form. Its design, counts and port tables were checked (`rack_checks`).

    `number` is that of its first logical rack where the file states none; None: it needs none.
    """
    switches = tuple(_switches(rack, complete))
    return ExpandedRack(
        machines=tuple(_machines(rack)),
        hosts=tuple(_hosts(rack)),
        switches=switches,
        devices=tuple(_devices(rack)),
        logical_racks=tuple(_logical_racks(rack, rack.number or number)),
        physical_racks=tuple(physical_racks(rack)),
        placements=tuple(placements(rack)),
        cables=(*pod_cables(rack), *power_cables(rack)),
        lags=(*server_lags(rack), *uplink_lags(rack, switches, cables)),
    )


def _machines(rack: RackFile) -> Iterator[Machine]:
    design = design_of(rack).rack
    serial = dict(zip(machine_names(rack), rack.machines.serials, strict=True))
    macs = dict(zip(machine_names(rack), _macs(rack), strict=True))
    for part in logical_parts(rack):
        for position, name in enumerate(part.machines, start=1):
            yield Machine(
                name=name,
                serial=serial[name],
                logical_rack=part.name,
                position=position,
                generation=_GENERATIONS[design.machine.name],
                macs=macs[name],
                **stated(rack.machines.states, name),
            )


def _macs(rack: RackFile) -> Iterator[dict[str, str]]:
    """MAC addresses by part, machine after machine; a part that is not stated is absent."""
    stated = {part: getattr(rack.machines.macs, part, None) for part in MACHINE_PARTS}
    for index in range(len(machine_names(rack))):
        yield {part: addresses[index] for part, addresses in stated.items() if addresses is not None}


def _hosts(rack: RackFile) -> Iterator[Host]:
    poplar, server = rack.poplar, design_of(rack).rack.server
    logical_rack = {host: part.name for part in logical_parts(rack) for host in part.hosts}
    whole = poplar.bare_metal
    for index, (name, serial) in enumerate(zip(host_names(rack), poplar.serials, strict=True)):
        stated_interfaces = whole.interfaces if name in whole.names else poplar.interfaces
        yield Host(
            name=name,
            serial=serial,
            role="poplar",
            logical_rack=logical_rack[name],
            provisioning="bare-metal" if name in whole.names else "hypervisor",
            bmc="idrac",
            model=server.name,
            dedicated_cpus=poplar.dedicated_cpus,
            huge_pages_gib=poplar.huge_pages,
            virtual_functions=poplar.virtual_functions,
            ram_gib=server.ram.value,
            interfaces={network: tuple(found) for network, found in stated_interfaces.items()},
            macs={interface: addresses[index] for interface, addresses in poplar.macs.items()},
            **stated(poplar.states, name),
        )


def _switches(rack: RackFile, complete: Collection[str]) -> Iterator[Switch]:
    """ToR and management switch of each logical rack, then those of the GW-Links."""
    design = design_of(rack).rack
    of_tor, of_mgmt = tor_roles(rack), management_roles(rack)
    count = len(tor_names(rack))
    rows = zip(
        tor_names(rack),
        switch_serials(rack.tor),
        switch_macs(rack.tor, count),
        management_names(rack),
        switch_serials(rack.management),
        switch_macs(rack.management, count),
        strict=True,
    )
    for tor, tor_serial, tor_mac, management, serial, mac in rows:
        yield _switch(rack.tor, tor, tor_serial, "tor", design.tor, of_tor, complete, tor_mac)
        yield _switch(rack.management, management, serial, "management", design.management, of_mgmt, complete, mac)
    yield from _gw_switches(rack, complete)


def _switch(
    file: RackSwitchFile,
    name: str,
    serial: str,
    role: SwitchRole,
    model: SwitchModel,
    roles: PortMap,
    complete: Collection[str],
    mac: str | None,
) -> Switch:
    return Switch(
        name=name,
        serial=serial,
        model=model.name,
        role=role,
        port_groups=model.port_groups.value,
        ports=settings_by_port(file.ports, roles, model.ports if name in complete else 0),
        routed_vlans=file.routed_vlans,
        ip_routing=file.ip_routing,
        vrfs=vrfs_of(file.vrfs),
        vteps=vteps_of(file.vteps),
        **wiring_of(file, model.name, model.port_groups.value, mac),
    )


def _gw_switches(rack: RackFile, complete: Collection[str]) -> Iterator[Switch]:
    design, file = design_of(rack).gw_switches, rack.gw_switches
    if file is None or design is None:
        return
    addresses = switch_macs(file, len(file.serials))
    for name, serial, mac in zip(gw_switch_names(rack), file.serials, addresses, strict=True):
        yield Switch(
            name=name,
            serial=serial,
            model=design.model.name,
            role="gw-link",
            port_groups=design.port_groups.value,
            ports=_gw_ports(rack, design.ports if name in complete else 0),
            routed_vlans=file.routed_vlans,
            ip_routing=file.ip_routing,
            vrfs=vrfs_of(file.vrfs),
            vteps=vteps_of(file.vteps),
            **wiring_of(file, design.model.name, design.port_groups.value, mac),
        )


def _gw_ports(rack: RackFile, count: int) -> tuple[SwitchPortConfig, ...]:
    table = None if rack.gw_switches is None else rack.gw_switches.ports
    return settings_by_port(table or {}, gw_roles(rack), count)


def _devices(rack: RackFile) -> Iterator[Device]:
    for part in logical_parts(rack):
        yield Device(name=part.own_management, role="switch-management")
    yield from pdu_devices(rack)


def _logical_racks(rack: RackFile, first: int | None) -> Iterator[LogicalRack]:
    parts, names = logical_parts(rack), physical_names(rack)
    for part in parts:
        yield LogicalRack(
            name=part.name,
            number=None if first is None else first + part.index,
            design=rack.design,
            topology=rack.topology,
            address_plan=rack.address_plan,
            rack=names[part.index * len(names) // len(parts)] if names else None,
        )
