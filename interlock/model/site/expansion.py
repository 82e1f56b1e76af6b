"""`site.yaml` -> `Site`: racks expanded, sections of the full form beside them, in the order of the file.

What the result says is checked in `site_checks`. The inventory is here, all else in `site_terms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from interlock.model.hall.expansion import ExpandedHall, expand_halls
from interlock.model.rack.expansion import ExpandedRack, expand_racks
from interlock.model.waivers import waivers_of
from interlock.resources import VolumeEncryption

from .bastion import bastion_of
from .completeness import completeness_of
from .file import SiteFile
from .full_file import HostFile, MacsFile, StandingRackFile, SwitchFile
from .gpu_file import fabric_switches_of, gpu_nodes_of
from .inventory import Site
from .object_storage import object_storage_of
from .physical import Cable, Device, Host, Lag, LogicalRack, Machine, Placement, Rack, Room, Switch
from .physical import Feed as RackFeed
from .service_states import state_fields
from .switch_file import vrfs_of, vteps_of, wiring_of
from .switch_ports import settings_by_port
from .terms import Terms


def expand_site(file: SiteFile) -> Site:
    """The full form. The file was checked so far that there is one (`rack_checks`, `site_form_checks`)."""
    cables = tuple(_cables(file))
    racks, terms = expand_racks(file.racks, cables, file.complete.devices("switch_ports")), Terms(file)
    halls = expand_halls(file.halls)
    return Site(
        name=file.name,
        cloud=file.cloud,
        region=file.region or "",
        claims=file.claims or "",
        domain=file.domain,
        rooms=tuple(_rooms(file)),
        physical_racks=(*_joined(racks, halls, "physical_racks"), *_physical_racks(file)),
        logical_racks=(*(found for rack in racks for found in rack.logical_racks), *_logical_racks(file)),
        machines=(*(found for rack in racks for found in rack.machines), *_machines(file)),
        hosts=(*_joined(racks, halls, "hosts"), *_hosts(file)),
        gpu_nodes=(*(found for hall in halls for found in hall.gpu_nodes), *gpu_nodes_of(file.gpu_nodes)),
        switches=(*(found for rack in racks for found in rack.switches), *_switches(file)),
        fabric_switches=(
            *(found for hall in halls for found in hall.fabric_switches),
            *fabric_switches_of(file.fabric_switches),
        ),
        devices=(*_joined(racks, halls, "devices"), *_devices(file)),
        placements=(*_joined(racks, halls, "placements"), *_placements(file)),
        cables=(*_joined(racks, halls, "cables"), *cables),
        lags=(*(found for rack in racks for found in rack.lags), *_lags(file)),
        complete=completeness_of(file.complete),
        complete_max_age_h=file.complete.max_age,
        physical_networks=terms.physical_networks(),
        fabric_profiles=terms.fabric_profiles(),
        underlays=terms.underlays(),
        infiniband=terms.infiniband(),
        pools=terms.pools(),
        external=terms.external(),
        bastion=bastion_of(file.bastion),
        segment_ranges=terms.segment_ranges(),
        ironic=terms.ironic(),
        flavors=terms.flavors(),
        images=terms.images(),
        volume_types=tuple(file.volume_types),
        volume_encryption={
            name: VolumeEncryption(**stated.model_dump()) for name, stated in file.volume_encryption.items()
        },
        share_types=terms.share_types(),
        s3_role=file.s3_role,
        channel=file.channel,
        object_storage=object_storage_of(file.object_storage),
        lustre_server=file.lustre_server,
        controller=terms.controller(),
        limits=terms.limits(),
        prices=terms.prices(),
        sharing=terms.sharing(),
        assumptions=terms.assumptions(),
        evidence=file.evidence.terms(),
        existing=file.existing,
        waivers=waivers_of(file.waivers),
    )


def _joined(racks: Iterable[ExpandedRack], halls: Iterable[ExpandedHall], part: str) -> Iterator[Any]:
    """One part of everything that is written short, racks first."""
    for expanded in (*racks, *halls):
        yield from getattr(expanded, part)


def _rooms(file: SiteFile) -> Iterable[Room]:
    for name, room in file.rooms.items():
        yield Room(name=name, power_w=room.power, floor_kg_m2=room.floor_kg_m2)


def _physical_racks(file: SiteFile) -> Iterable[Rack]:
    return (_physical_rack(name, rack) for name, rack in file.physical_racks.items())


def _physical_rack(name: str, file: StandingRackFile) -> Rack:
    return Rack(
        name=name,
        room=file.room,
        units=file.units,
        max_weight_kg=file.max_weight,
        cooling=file.cooling,
        cooling_limit_w=file.cooling_limit,
        feeds=tuple(
            RackFeed(name=feed, capacity_w=stated.capacity, derate=stated.derate) for feed, stated in file.feeds.items()
        ),
        pdus=file.pdus,
    )


def _logical_racks(file: SiteFile) -> Iterable[LogicalRack]:
    return (LogicalRack(name=name, **rack.model_dump()) for name, rack in file.logical_racks.items())


def _machines(file: SiteFile) -> Iterable[Machine]:
    for name, machine in file.machines.items():
        yield Machine(
            name=name,
            serial=machine.serial,
            logical_rack=machine.logical_rack,
            position=machine.position,
            generation=machine.generation,
            macs=_macs(machine.macs),
            **state_fields(machine.state, machine.reason),
        )


def _macs(file: MacsFile) -> dict[str, str]:
    """By part; one that is not stated is absent."""
    return {part: address for part, address in file.model_dump().items() if address is not None}


def _hosts(file: SiteFile) -> Iterable[Host]:
    return (_host(name, host) for name, host in file.hosts.items())


def _host(name: str, file: HostFile) -> Host:
    return Host(
        name=name,
        serial=file.serial,
        role=file.role,
        logical_rack=file.logical_rack,
        model=file.model,
        provisioning=file.provisioning,
        bmc=file.bmc,
        dedicated_cpus=file.dedicated_cpus,
        huge_pages_gib=file.huge_pages,
        virtual_functions=file.virtual_functions,
        shared_cpus=file.shared_cpus,
        ram_gib=file.ram,
        interfaces={network: tuple(found) for network, found in file.interfaces.items()},
        macs=file.macs,
        **state_fields(file.state, file.reason),
    )


def _switches(file: SiteFile) -> Iterable[Switch]:
    complete = file.complete.devices("switch_ports")
    return (_switch(name, entry, rest_disabled=name in complete) for name, entry in file.switches.items())


def _switch(name: str, file: SwitchFile, *, rest_disabled: bool) -> Switch:
    groups = tuple((speed, count) for speed, count in file.port_groups)
    count = sum(count for _, count in groups)
    return Switch(
        name=name,
        serial=file.serial,
        model=file.model,
        role=file.role,
        port_groups=groups,
        ports=settings_by_port(file.ports, {}, count if rest_disabled else 0),
        routed_vlans=file.routed_vlans,
        ip_routing=file.ip_routing,
        vrfs=vrfs_of(file.vrfs),
        vteps=vteps_of(file.vteps),
        **wiring_of(file, file.model, groups, file.mac),
    )


def _devices(file: SiteFile) -> Iterable[Device]:
    return (Device(name=name, **device.model_dump()) for name, device in file.devices.items())


def _placements(file: SiteFile) -> Iterable[Placement]:
    for device, placement in file.placements.items():
        yield Placement(
            device=device,
            rack=placement.rack,
            unit=placement.unit,
            height_u=placement.height,
            nameplate_w=placement.nameplate,
            weight_kg=placement.weight,
        )


def _cables(file: SiteFile) -> Iterable[Cable]:
    for cable in file.cables:
        # Both ends have as many plugs: `site_form_checks`.
        for a, b in zip(*cable.ends, strict=True):
            yield Cable(a=a, b=b, kind=cable.kind)


def _lags(file: SiteFile) -> Iterable[Lag]:
    for lag in file.lags:
        yield Lag(name=lag.name, device=lag.device, interfaces=tuple(lag.interfaces), mode=lag.mode)
