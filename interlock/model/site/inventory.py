"""The operator's inventory in its one full form: machines, hosts, switches, cables, pools, sharing.

Everything after `interlock.model.load` sees only these types. A guard or fact that the file does not state
is None: unknown, never assumed.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from interlock.model.waivers import Waiver
from interlock.resources import Frozen, VolumeEncryption

from .bastion import Bastion
from .completeness import KINDS_WITH_RIGHTS, OVERLAYS, SWITCH_TABLES, Completeness, Table, too_old
from .controller_readings import ControllerSeen
from .gpu import FabricSwitch, GpuHost
from .ironic import Ironic
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
from .object_storage import ObjectStorage
from .offers import (
    Assumption,
    Controller,
    FlavorSpec,
    ImageSpec,
    Limits,
    PriceBook,
    ShareTypeSpec,
    Sharing,
)
from .physical import (
    Cable,
    Device,
    Endpoint,
    Feed,
    Generation,
    Host,
    Lag,
    LogicalRack,
    Machine,
    Placement,
    PortMode,
    Rack,
    Room,
    Switch,
    SwitchPortConfig,
    SwitchRole,
    Vrf,
    Vtep,
)
from .terms_of_evidence import EvidenceTerms

__all__ = [
    "Assumption", "Cable", "Completeness", "Controller", "Device", "Endpoint", "EvidenceTerms", "ExternalNetwork",
    "FabricProfile",
    "Feed", "FlavorSpec", "Generation", "Host", "ImageSpec", "InfinibandSubnet", "Lag", "Limits", "LogicalRack",
    "Machine", "PartitionKeyPool", "PhysicalNetwork", "Placement", "Pools", "PortMode", "PriceBook", "Rack", "Room",
    "SegmentRangeSpec", "ShareTypeSpec", "Sharing", "Site", "Switch", "SwitchPortConfig", "SwitchRole", "Underlay",
    "VlanPool", "Vrf", "Vtep",
]  # fmt: skip


class Site(Frozen):
    """A site in full form."""

    name: str
    cloud: str
    #: Region of the cloud that the site is in; empty: the one of clouds.yaml, or the only one there is.
    region: str = ""
    #: URL of the operator's store of claims; empty: a folder beside the clouds.yaml in use.
    claims: str = ""
    domain: str = "default"
    rooms: tuple[Room, ...] = ()
    physical_racks: tuple[Rack, ...] = ()
    logical_racks: tuple[LogicalRack, ...] = ()
    machines: tuple[Machine, ...]
    hosts: tuple[Host, ...]
    #: What hosts of role `gpu` have besides.
    gpu_nodes: tuple[GpuHost, ...] = ()
    switches: tuple[Switch, ...]
    #: Switches of InfiniBand subnets; their cables are of the kind `infiniband`.
    fabric_switches: tuple[FabricSwitch, ...] = ()
    devices: tuple[Device, ...] = ()
    placements: tuple[Placement, ...] = ()
    cables: tuple[Cable, ...]
    lags: tuple[Lag, ...] = ()
    #: Where an absent record says that there is nothing; everywhere else there may be.
    complete: tuple[Completeness, ...] = ()
    #: How old such a declaration may be, in hours; None: of any age.
    complete_max_age_h: int | None = None
    physical_networks: tuple[PhysicalNetwork, ...]
    fabric_profiles: tuple[FabricProfile, ...] = ()
    underlays: tuple[Underlay, ...] = ()
    infiniband: tuple[InfinibandSubnet, ...] = ()
    pools: Pools
    external: ExternalNetwork
    #: Jump host of tenants' people; None: there is none.
    bastion: Bastion | None = None
    segment_ranges: tuple[SegmentRangeSpec, ...]
    #: What deploys whole hosts; None: nothing does.
    ironic: Ironic | None = None
    flavors: tuple[FlavorSpec, ...]
    images: tuple[ImageSpec, ...]
    volume_types: tuple[str, ...]
    #: Volume type -> how its volumes are encrypted; those of the others are not.
    volume_encryption: dict[str, VolumeEncryption] = {}
    share_types: tuple[ShareTypeSpec, ...] = ()
    s3_role: str = "s3_service"
    #: Whether servers are handed secrets after their first boot (`interlock.channel`).
    channel: bool = False
    #: What holds tenants' buckets; None: the cloud's own object store, of which nothing else is known.
    object_storage: ObjectStorage | None = None
    #: Version of the Lustre servers that GPU nodes mount; None: there are none, or nobody states it.
    lustre_server: str | None = None
    #: How V-IPU controllers run; None: the site has no IPU-Machines, and no project for controllers.
    controller: Controller | None = None
    #: What was read of V-IPU controllers, once the site's folder was read; of a file alone nobody has read any.
    controllers_read: tuple[ControllerSeen, ...] = ()
    limits: Limits
    prices: PriceBook | None = None
    sharing: tuple[Sharing, ...]
    assumptions: tuple[Assumption, ...]
    evidence: EvidenceTerms = EvidenceTerms()
    #: Kind/name -> id of objects that are on the cloud already and stay as they are.
    existing: dict[str, str] = {}
    #: Of the operator's own stack; a tenant's are in its request.
    waivers: tuple[Waiver, ...] = ()

    @cached_property
    def machine(self) -> dict[str, Machine]:
        """Machines by name."""
        return {item.name: item for item in self.machines}

    @cached_property
    def host(self) -> dict[str, Host]:
        """Hosts by name."""
        return {item.name: item for item in self.hosts}

    @cached_property
    def gpu_node(self) -> dict[str, GpuHost]:
        """What GPU nodes have besides being hosts, by name."""
        return {item.name: item for item in self.gpu_nodes}

    @cached_property
    def gpu_order(self) -> dict[str, int]:
        """Number of every GPU node in the site's order."""
        return {item.name: number for number, item in enumerate(self.gpu_nodes)}

    @cached_property
    def infiniband_subnet(self) -> dict[str, InfinibandSubnet]:
        """InfiniBand subnets by name."""
        return {item.name: item for item in self.infiniband}

    @cached_property
    def placement(self) -> dict[str, Placement]:
        """Where devices stand, by name."""
        return {item.device: item for item in self.placements}

    @cached_property
    def machine_of(self) -> dict[str, str]:
        """Serial -> name of the machine."""
        return {item.serial: item.name for item in self.machines}

    @cached_property
    def host_of(self) -> dict[str, str]:
        """Serial -> name of the host."""
        return {item.serial: item.name for item in self.hosts}

    @cached_property
    def whole_hosts(self) -> tuple[Host, ...]:
        """Hosts that are given out whole, by Ironic."""
        return tuple(item for item in self.hosts if item.provisioning == "bare-metal")

    @cached_property
    def switch(self) -> dict[str, Switch]:
        """Switches by name."""
        return {item.name: item for item in self.switches}

    @cached_property
    def flavor(self) -> dict[str, FlavorSpec]:
        """Flavours by name."""
        return {item.name: item for item in self.flavors}

    @cached_property
    def physical_network(self) -> dict[str, PhysicalNetwork]:
        """Physical networks by name."""
        return {item.name: item for item in self.physical_networks}

    @cached_property
    def logical_rack(self) -> dict[str, LogicalRack]:
        """Logical racks by name."""
        return {item.name: item for item in self.logical_racks}

    @cached_property
    def cable_at(self) -> dict[tuple[str, str], Cable]:
        """(device, interface) -> the cable plugged there."""
        return {(end.device, end.interface): cable for cable in self.cables for end in (cable.a, cable.b)}

    @cached_property
    def declared(self) -> frozenset[tuple[Table, str]]:
        """(table, device) of every table that is complete of a device."""
        return frozenset((item.table, device) for item in self.complete for device in item.devices)

    def is_complete(self, table: Table, device: str) -> bool:
        """True if somebody declared that a table has all records of a device: only then an absent one says anything."""
        return (table, device) in self.declared

    def as_of(self, now: datetime) -> Site:
        """The site without declarations that are too old to count, and with what evidence says of guards."""
        kept = tuple(item for item in self.complete if not too_old(item, self.complete_max_age_h, now.date()))
        held = tuple(item.as_of(now) for item in self.assumptions)
        if (kept, held) == (self.complete, self.assumptions):
            return self
        return self.with_parts(complete=kept, assumptions=held)

    def with_parts(self, **parts: object) -> Site:
        """The same site with other sections. Look-ups that were made for this one do not come along."""
        return Site.model_construct(**({name: getattr(self, name) for name in Site.model_fields} | parts))

    def subjects(self, table: Table) -> tuple[str, ...]:
        """Names of what a table can be complete of: switches, what the cloud holds, or all other devices."""
        if table in SWITCH_TABLES:
            return tuple(self.switch)
        of_cloud: dict[str, tuple[str, ...]] = {
            "rights": KINDS_WITH_RIGHTS,
            "members": (self.domain,),
            "logins": (self.domain,),
            "scopes": (self.external.name,),
            "networks": (*(item.name for item in self.physical_networks if item.switches), OVERLAYS),
        }
        if table in of_cloud:
            return of_cloud[table]
        return (*self.machine, *self.host, *(item.name for item in self.devices))

    def interfaces_on(self, host: str, network: str) -> tuple[str, ...]:
        """Interfaces of a host on a physical network: as its entry lists them, else those cabled to its switches."""
        listed = self.host[host].interfaces.get(network) if host in self.host else None
        if listed:
            return listed
        physical = self.physical_network.get(network)
        switches = physical.switches if physical else ()
        ends = ((interface, self.far_end(host, interface)) for interface in self._cabled.get(host, ()))
        return tuple(sorted(interface for interface, end in ends if end is not None and end.device in switches))

    @cached_property
    def _cabled(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for device, interface in self.cable_at:
            found.setdefault(device, []).append(interface)
        return found

    def far_end(self, device: str, interface: str) -> Endpoint | None:
        """What the cable at this plug leads to; None if there is no cable."""
        cable = self.cable_at.get((device, interface))
        if cable is None:
            return None
        return cable.b if (cable.a.device, cable.a.interface) == (device, interface) else cable.a
