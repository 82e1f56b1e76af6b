"""Writes the inventory of a `Site` as its file has it: racks, devices, ports, cables."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import groupby
from typing import Any

from .gpu import GpuHost
from .inventory import Site
from .physical import Cable, Host, Lag, Machine, Placement, Rack, Room, Switch, SwitchPortConfig

Section = dict[str, Any]


def room_sections(site: Site) -> Section:
    """Sections by name; one of a mapping is named by its device, and what nobody stated is left out."""
    return {
        "rooms": {item.name: _room(item) for item in site.rooms},
        "physical_racks": {item.name: _physical_rack(item) for item in site.physical_racks},
        "logical_racks": {item.name: _fields(item, "name") for item in site.logical_racks},
        "machines": {item.name: _machine(item) for item in site.machines},
        "hosts": {item.name: _host(item) for item in site.hosts},
        "gpu_nodes": {item.name: _gpu_node(item) for item in site.gpu_nodes},
        "switches": {item.name: _switch(item) for item in site.switches},
        "fabric_switches": {item.name: _fields(item, "name") for item in site.fabric_switches},
        "devices": {item.name: _fields(item, "name") for item in site.devices},
        "placements": {item.device: _placement(item) for item in site.placements},
        "cables": [_cable(item) for item in site.cables],
        "lags": [_lag(item) for item in site.lags],
    }


def ids(ranges: Iterable[tuple[int, int]]) -> list[int | str]:
    """Ranges as people write them: `[1, 4000-4094]`."""
    return [first if first == last else f"{first}-{last}" for first, last in ranges]


def _fields(item: Any, *without: str) -> Section:
    """Fields that are not as they are by default, under their own names."""
    found: Section = item.model_dump(exclude=set(without), exclude_defaults=True)
    return found


def _known(**fields: Any) -> Section:
    """What is stated of these."""
    return {name: value for name, value in fields.items() if value is not None}


def _watts(value: int | None) -> str | None:
    return None if value is None else f"{value}W"


def _kilograms(value: float | None) -> str | None:
    """Without an exponent, which no file has."""
    return None if value is None else f"{Decimal(repr(value)):f}kg"


def _room(room: Room) -> Section:
    return _known(power=_watts(room.power_w), floor_kg_m2=room.floor_kg_m2)


def _physical_rack(rack: Rack) -> Section:
    feeds = {feed.name: {"capacity": _watts(feed.capacity_w), "derate": feed.derate} for feed in rack.feeds}
    return _known(
        room=rack.room,
        units=rack.units,
        max_weight=_kilograms(rack.max_weight_kg),
        cooling=rack.cooling,
        cooling_limit=_watts(rack.cooling_limit_w),
        feeds=feeds or None,
        pdus=dict(rack.pdus) or None,
    )


def _machine(machine: Machine) -> Section:
    return _fields(machine, "name", "state_reason") | _reason(machine)


def _host(host: Host) -> Section:
    found = _fields(host, "name", "huge_pages_gib", "ram_gib", "interfaces", "state_reason") | _reason(host)
    found |= {"huge_pages": f"{host.huge_pages_gib}GiB", "ram": f"{host.ram_gib}GiB"}
    return found | {"interfaces": {network: list(names) for network, names in host.interfaces.items()}}


def _gpu_node(node: GpuHost) -> Section:
    found = _fields(node, "name", "ports")
    ports = {port.name: _fields(port, "name") for port in node.ports}
    return found | ({"ports": ports} if ports else {})


def _reason(device: Machine | Host) -> Section:
    return _known(reason=device.state_reason or None)


def _switch(switch: Switch) -> Section:
    found: Section = {
        "serial": switch.serial,
        "model": switch.model,
        "role": switch.role,
        "port_groups": [list(group) for group in switch.port_groups],
    }
    if switch.ports:
        found["ports"] = _ports(switch.ports)
    routed = None if switch.routed_vlans is None else list(switch.routed_vlans)
    return found | _known(
        ip_routing=switch.ip_routing,
        routed_vlans=routed,
        vrfs={vrf.name: list(vrf.vlans) for vrf in switch.vrfs} or None,
        vteps=[_fields(vtep) for vtep in switch.vteps] or None,
        wired_by=None if switch.wired_by == "hand" else switch.wired_by,
        mac=switch.mac,
        port_names=None if switch.port_names is None else list(switch.port_names),
        quarantine_vlan=switch.quarantine_vlan,
    )


def _ports(ports: Iterable[SwitchPortConfig]) -> dict[str, str | Section]:
    """Neighbours that are set alike in one line; one that is not mentioned is unknown."""
    found = dict[str, str | Section]()
    for setting, numbers in _alike(ports):
        found["-".join(dict.fromkeys(str(number) for number in (numbers[0], numbers[-1])))] = setting
    return found


def _alike(ports: Iterable[SwitchPortConfig]) -> Iterable[tuple[str | Section, list[int]]]:
    """(setting, numbers) of ports that follow each other; one without a record ends a run."""
    runs = groupby(enumerate(ports), key=lambda item: (item[1].port - item[0], _setting(item[1])))
    return ((setting, [config.port for _, config in group]) for (_, setting), group in runs)


def _setting(config: SwitchPortConfig) -> str | Section:
    """The short form, within a mapping where it cannot say all."""
    beyond = _known(
        tag_native=config.tag_native,
        # Texts, as every key in JSON is one.
        translations={str(wire): vlan for wire, vlan in config.translations} or None,
        private_vlan=config.private_vlan,
        empty=config.empty or None,
        filled_by=config.filled_by,
    )
    return {"mode": _mode(config)} | beyond if beyond else _mode(config)


def _mode(config: SwitchPortConfig) -> str:
    if config.mode in ("access", "dot1q-tunnel"):
        return config.mode if config.untagged is None else f"{config.mode} {config.untagged}"
    if config.mode != "trunk":
        return config.mode
    tagged = "all" if config.tagged is None else ",".join(str(item) for item in ids(config.tagged)) or "none"
    return f"trunk {tagged}" if config.untagged is None else f"trunk {tagged} native {config.untagged}"


def _placement(placement: Placement) -> Section:
    return _known(
        rack=placement.rack,
        unit=placement.unit,
        height=f"{placement.height_u}U",
        nameplate=_watts(placement.nameplate_w),
        weight=_kilograms(placement.weight_kg),
    )


def _cable(cable: Cable) -> Section:
    ends: Section = {"ends": [str(cable.a), str(cable.b)]}
    return ends if cable.kind == "ethernet" else ends | {"kind": cable.kind}


def _lag(lag: Lag) -> Section:
    return _fields(lag, "interfaces") | {"interfaces": list(lag.interfaces)}
