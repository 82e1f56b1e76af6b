"""Networks, pools and offers of a site file in full form: all that is not in its rooms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.hardware import STORAGE_CLASSES

from .file import SiteFile
from .guards import ASSUMPTION_GUARDS, GUARDS_OF_SETTLING, SHARING, completed
from .ironic import Ironic, ServiceNetworks
from .networks import (
    ExternalNetwork,
    FabricProfile,
    InfinibandSubnet,
    PartitionKeyPool,
    PhysicalNetwork,
    Pools,
    SegmentRangeSpec,
    Underlay,
    VlanPool,
)
from .offers import (
    Assumption,
    Controller,
    FlavorSpec,
    ImageProperties,
    ImageSpec,
    Limits,
    PriceBook,
    ShareTypeSpec,
    Sharing,
)
from .offers_file import ImagePropertiesFile, ShareTypeFile
from .pools_file import BareVlanPoolFile, SegmentRangeFile, VlanPoolFile, VniPoolFile
from .rests import RestsOnEvidence
from .software import ImageSoftware
from .storage_fabric import storage_fabric
from .whole_nodes import WholeNode

#: Key of a price book that is no item.
CURRENCY = "currency"


@dataclass(frozen=True)
class Terms:
    """The sections of one file, each as a field of `Site`."""

    file: SiteFile

    def physical_networks(self) -> tuple[PhysicalNetwork, ...]:
        """In the order of the file."""
        return tuple(
            PhysicalNetwork(name=name, switches=tuple(item.switches), mtu=item.mtu, profile=item.profile)
            for name, item in self.file.physical_networks.items()
        )

    def fabric_profiles(self) -> tuple[FabricProfile, ...]:
        """In the order of the file."""
        return tuple(FabricProfile(name=name, **item.model_dump()) for name, item in self.file.fabric_profiles.items())

    def underlays(self) -> tuple[Underlay, ...]:
        """In the order of the file."""
        return tuple(Underlay(name=name, **item.model_dump()) for name, item in self.file.underlays.items())

    def infiniband(self) -> tuple[InfinibandSubnet, ...]:
        """In the order of the file."""
        return tuple(
            InfinibandSubnet(name=name, prefix=item.prefix, storage=storage_fabric(item.storage))
            for name, item in self.file.infiniband.items()
        )

    def pools(self) -> Pools:
        """Everything that locks hand out."""
        file = self.file.pools
        return Pools(
            ipu_data=_vlan_pool(file.ipu_data),
            storage=_vlan_pool(file.storage),
            management=_vlan_pool(file.management),
            bare_metal_control=_vlan_pool(file.bare_metal_control),
            cluster=_vlan_pool(file.cluster),
            cluster_subnets=_subnets(file.cluster),
            roce=_vlan_pool(file.roce),
            roce_subnets=_subnets(file.roce),
            control=() if file.control is None else file.control.vnis,
            reserved_vlans=file.reserved_vlans,
            reserved_vnis=file.reserved_vnis,
            ipu_data_subnets=_subnets(file.ipu_data),
            storage_subnets=_subnets(file.storage),
            control_subnets=_subnets(file.control),
            management_subnets=_subnets(file.management),
            storage_vips=file.storage_vips,
            partition_keys=tuple(
                PartitionKeyPool(infiniband=name, keys=pool.keys, reserved=pool.reserved)
                for name, pool in file.partition_keys.items()
            ),
        )

    def external(self) -> ExternalNetwork:
        """The provider network of router gateways."""
        return ExternalNetwork(**self.file.external.model_dump())

    def segment_ranges(self) -> tuple[SegmentRangeSpec, ...]:
        """One for each range of each entry."""
        return tuple(item for entry in self.file.segment_ranges for item in _segment_ranges(entry))

    def ironic(self) -> Ironic | None:
        """None if the file states none."""
        file = self.file.ironic
        if file is None:
            return None
        return Ironic(
            conductor_group=file.conductor_group,
            driver=file.driver,
            poplar_class=file.resource_classes.poplar,
            machine_class=file.resource_classes.machine,
            networks=tuple(
                ServiceNetworks(
                    physical_network=entry.physical_network,
                    vlans=entry.vlans,
                    subnets=(entry.subnets.prefix, entry.subnets.each),
                )
                for entry in file.networks
            ),
        )

    def flavors(self) -> tuple[FlavorSpec, ...]:
        """In the order of the file."""
        return tuple(
            FlavorSpec(
                name=name,
                role=flavor.role,
                vcpus=flavor.vcpus,
                ram_gib=flavor.ram,
                disk_gib=flavor.disk,
                extra_specs=flavor.extra_specs,
                public=flavor.public,
                devices=flavor.devices,
                whole_node=None if flavor.whole_node is None else WholeNode(**flavor.whole_node.model_dump()),
            )
            for name, flavor in self.file.flavors.items()
        )

    def images(self) -> tuple[ImageSpec, ...]:
        """In the order of the file."""
        return tuple(
            ImageSpec(
                name=name,
                properties=_properties(image.properties),
                software=ImageSoftware(**image.software.model_dump()),
                **image.model_dump(exclude={"properties", "software"}),
            )
            for name, image in self.file.images.items()
        )

    def share_types(self) -> tuple[ShareTypeSpec, ...]:
        """In the order of the file."""
        return tuple(_share_type(name, item) for name, item in self.file.share_types.items())

    def controller(self) -> Controller | None:
        """How V-IPU controllers run; None: there are none."""
        return self.file.controller

    def limits(self) -> Limits:
        """Limits of the operator's own project and of tenants."""
        file = self.file.limits
        return Limits(
            controller_instances=file.controller_instances or 0,
            controller_cores=file.controller_cores or 0,
            controller_ram_gib=file.controller_ram or 0,
            machines_per_tenant=file.machines_per_tenant,
            remote_poplar_oversubscription=file.remote_poplar_oversubscription,
        )

    def prices(self) -> PriceBook | None:
        """None if the file states none. Without a currency it was refused (`site_offer_checks`)."""
        stated = self.file.prices
        if stated is None:
            return None
        items = {item: price for item, price in stated.items() if item != CURRENCY}
        return PriceBook(currency=stated.get(CURRENCY, ""), prices=items)

    def sharing(self) -> tuple[Sharing, ...]:
        """Guards that nobody stated are None."""
        return tuple(
            Sharing(
                name=name,
                kind=entry.kind,
                node=entry.node or name,
                audience=tuple(entry.audience),
                guards=completed(entry.guards, SHARING[entry.kind].guards),
                rule=SHARING[entry.kind].rule,
            )
            for name, entry in self.file.sharing.items()
        )

    def assumptions(self) -> tuple[Assumption, ...]:
        """All assumptions of the proof, also those that the file says nothing about, and others that it states."""
        stated = {name: known for name, known in GUARDS_OF_SETTLING.items() if name in self.file.assumptions}
        return tuple(self._assumption(name, known) for name, known in (ASSUMPTION_GUARDS | stated).items())

    def _assumption(self, name: str, known: tuple[str, ...]) -> Assumption:
        stated = self.file.assumptions.get(name, {})
        evidence = {guard: value for guard, value in stated.items() if isinstance(value, RestsOnEvidence)}
        by_hand = {guard: value for guard, value in stated.items() if not isinstance(value, RestsOnEvidence)}
        return Assumption(id=name, guards=completed(by_hand, known), evidence=evidence)


def _properties(file: ImagePropertiesFile) -> ImageProperties:
    return ImageProperties(disk_gib=file.disk, **file.model_dump(exclude={"disk"}))


def _share_type(name: str, file: ShareTypeFile) -> ShareTypeSpec:
    """With what clients of its class of storage set, where the file does not say."""
    known = STORAGE_CLASSES.get(file.storage_class)
    usual = known.client_option.value.split() if known is not None else []
    options = usual if file.mount_options is None else file.mount_options
    return ShareTypeSpec(
        name=name, storage_class=file.storage_class, extra_specs=file.extra_specs, mount_options=tuple(options)
    )


def _vlan_pool(file: BareVlanPoolFile | None) -> VlanPool | None:
    return None if file is None else VlanPool(physical_networks=tuple(file.networks), vlans=file.vlans)


def _subnets(pool: VlanPoolFile | VniPoolFile | None) -> tuple[str, int] | None:
    return None if pool is None else (pool.subnets.prefix, pool.subnets.each)


def _segment_ranges(file: SegmentRangeFile) -> Iterator[SegmentRangeSpec]:
    for first, last in file.vlans or ():
        yield SegmentRangeSpec(network_type="vlan", physical_network=file.physical_network, minimum=first, maximum=last)
    for first, last in file.vnis or ():
        yield SegmentRangeSpec(network_type="vxlan", physical_network=None, minimum=first, maximum=last)
