"""`site.yaml` -> `Site`: the short forms expanded. What the result says is checked in `site_checks`."""

from __future__ import annotations

from collections.abc import Iterable

from .guards import ASSUMPTION_GUARDS, SHARING_GUARDS, completed
from .rack_expansion import Rack, expand_rack
from .site import (
    Assumption,
    Cable,
    Controller,
    ExternalNetwork,
    FlavorSpec,
    Host,
    ImageSpec,
    Limits,
    PhysicalNetwork,
    Pools,
    SegmentRangeSpec,
    Sharing,
    Site,
    Switch,
    VlanPool,
)
from .site_file import HostFile, PoolsFile, SegmentRangeFile, SiteFile, SubnetsFile, SwitchFile, VlanPoolFile
from .switch_ports import settings_by_port


def expand_site(file: SiteFile) -> tuple[Site, tuple[str, ...]]:
    """The full form, and names of devices that only hang on cables. The file was checked (`rack_checks`)."""
    racks = [expand_rack(rack) for rack in file.racks]
    return _site(file, racks), tuple(name for rack in racks for name in rack.others)


def _site(file: SiteFile, racks: list[Rack]) -> Site:
    return Site(
        name=file.name,
        cloud=file.cloud,
        domain=file.domain,
        machines=tuple(machine for rack in racks for machine in rack.machines),
        hosts=(*(host for rack in racks for host in rack.hosts), *_hosts(file.hosts)),
        switches=(*(switch for rack in racks for switch in rack.switches), *_switches(file)),
        cables=(*(cable for rack in racks for cable in rack.cables), *_cables(file)),
        physical_networks=tuple(
            PhysicalNetwork(name=name, switches=tuple(members))
            for name, members in file.physical_networks.items()
        ),
        pools=_pools(file.pools),
        external=ExternalNetwork(**file.external.model_dump()),
        segment_ranges=tuple(item for entry in file.segment_ranges for item in _segment_ranges(entry)),
        flavors=_flavors(file),
        images=tuple(ImageSpec(name=name, **image.model_dump()) for name, image in file.images.items()),
        volume_types=tuple(file.volume_types),
        s3_role=file.s3_role,
        controller=Controller(**file.controller.model_dump()),
        limits=_limits(file),
        sharing=_sharing(file),
        assumptions=_assumptions(file),
        existing=file.existing,
    )


def _hosts(files: dict[str, HostFile]) -> Iterable[Host]:
    for name, file in files.items():
        yield Host(
            name=name,
            serial=file.serial,
            role=file.role,
            logical_rack=file.logical_rack,
            dedicated_cpus=file.dedicated_cpus,
            huge_pages_gib=file.huge_pages,
            virtual_functions=file.virtual_functions,
            shared_cpus=file.shared_cpus,
            ram_gib=file.ram,
            interfaces={network: tuple(found) for network, found in file.interfaces.items()},
        )


def _switches(file: SiteFile) -> Iterable[Switch]:
    return (_switch(name, entry) for name, entry in file.switches.items())


def _switch(name: str, file: SwitchFile) -> Switch:
    groups = tuple((speed, count) for speed, count in file.port_groups)
    return Switch(
        name=name,
        serial=file.serial,
        model=file.model,
        role=file.role,
        port_groups=groups,
        ports=settings_by_port(file.ports, {}, sum(count for _, count in groups)),
        routed_vlans=file.routed_vlans,
        ip_routing=file.ip_routing,
    )


def _cables(file: SiteFile) -> Iterable[Cable]:
    return (Cable(a=cable.ends[0], b=cable.ends[1], kind=cable.kind) for cable in file.cables)


def _pools(file: PoolsFile) -> Pools:
    return Pools(
        ipu_data=_vlan_pool(file.ipu_data),
        storage=_vlan_pool(file.storage),
        management=_vlan_pool(file.management),
        control=file.control.vnis,
        reserved_vlans=file.reserved_vlans,
        ipu_data_subnets=_subnets(file.ipu_data.subnets),
        storage_subnets=_subnets(file.storage.subnets),
        control_subnets=_subnets(file.control.subnets),
        management_subnets=_subnets(file.management.subnets),
    )


def _vlan_pool(file: VlanPoolFile) -> VlanPool:
    return VlanPool(physical_networks=(file.physical_network,), vlans=file.vlans)


def _subnets(file: SubnetsFile) -> tuple[str, int]:
    return file.prefix, file.each


def _segment_ranges(file: SegmentRangeFile) -> Iterable[SegmentRangeSpec]:
    for first, last in file.vlans or ():
        yield SegmentRangeSpec(
            network_type="vlan", physical_network=file.physical_network, minimum=first, maximum=last
        )
    for first, last in file.vnis or ():
        yield SegmentRangeSpec(network_type="vxlan", physical_network=None, minimum=first, maximum=last)


def _flavors(file: SiteFile) -> tuple[FlavorSpec, ...]:
    return tuple(
        FlavorSpec(
            name=name,
            role=flavor.role,
            vcpus=flavor.vcpus,
            ram_gib=flavor.ram,
            disk_gib=flavor.disk,
            extra_specs=flavor.extra_specs,
        )
        for name, flavor in file.flavors.items()
    )


def _limits(file: SiteFile) -> Limits:
    return Limits(
        controller_instances=file.limits.controller_instances,
        controller_cores=file.limits.controller_cores,
        controller_ram_gib=file.limits.controller_ram,
    )


def _sharing(file: SiteFile) -> tuple[Sharing, ...]:
    return tuple(
        Sharing(
            name=name,
            kind=entry.kind,
            node=name,
            rule="SEC-03",
            audience=tuple(entry.audience),
            guards=completed(entry.guards, SHARING_GUARDS[entry.kind]),
        )
        for name, entry in file.sharing.items()
    )


def _assumptions(file: SiteFile) -> tuple[Assumption, ...]:
    """All assumptions of the proof, also those that the file says nothing about."""
    return tuple(
        Assumption(id=name, guards=completed(file.assumptions.get(name, {}), known))
        for name, known in ASSUMPTION_GUARDS.items()
    )
