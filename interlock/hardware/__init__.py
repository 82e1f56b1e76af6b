"""The catalogue of IPU-PODs: each figure with its unit and where it comes from, and the arithmetic on them.

`facts` says what a figure is; `machines`, `switches`, `racks`, `infrastructure`, `storage` and `prices` hold the
registries; `pods` and `designs` put them together; `sizes`, `placement`, `partitions`, `ports`, `addressing`,
`vlans`, `mtu`, `pkeys` and `power` are plain functions on numbers, which know nothing of any site.
GPU nodes and halls are in `gpu`; the software matrix will stand beside them, in a module `software`.
"""

from __future__ import annotations

from .addressing import factory_address, mixed_plan_fault, pod_address, readings
from .designs import (
    BOW_POD64,
    BOW_POD256,
    DESIGNS,
    IPU_POD64,
    IPU_POD128,
    POD_DESIGNS,
    GatewayMode,
    PodDesign,
    RackDesign,
)
from .facts import Fact, Provenance
from .infrastructure import INFRASTRUCTURE, InfrastructureRole
from .machines import (
    BOW_2000,
    IPU_M2000,
    MACHINE_PLUGS,
    MACHINES,
    NETWORK_IDENTITIES,
    POPLAR_R6525,
    SERVERS,
    MachineModel,
    NetworkIdentity,
    ServerModel,
)
from .mtu import path_verdict, tunnel_mtu
from .partitions import partition_faults
from .pkeys import full_member, hear_each_other, key_verdict
from .placement import gw_link_fault, vpod_fault
from .pods import PODS, PodModel, compute_pflops, memory_gb, tiles
from .ports import (
    PortBudget,
    management_budget,
    management_verdict,
    oversubscription,
    tor_budget,
    tor_verdict,
)
from .power import (
    Feed,
    Load,
    UnitFault,
    cooling_verdict,
    feed_verdict,
    floor_verdict,
    load_of,
    room_verdict,
    unit_faults,
    weight_verdict,
)
from .prices import HOURS_PER_MONTH, PRICE_ITEMS
from .racks import (
    APC_AP8886,
    COOLING_METHODS,
    FEED_DERATE,
    FEEDS,
    FLOOR_LOAD,
    PDUS,
    PDUS_PER_LOGICAL_RACK,
    RACK_AREA,
    RACK_HEIGHTS,
    RACK_WEIGHT,
    CoolingMethod,
    FeedKind,
    PduModel,
)
from .sizes import (
    IPUS_PER_LOGICAL_RACK,
    MACHINES_PER_LOGICAL_RACK,
    MAX_LOGICAL_RACKS,
    is_power_of_two,
    is_vpod_size,
    max_machines,
)
from .storage import APPLIANCE_LINK, STORAGE_CLASSES, StorageClass
from .switches import ARISTA_7010T, ARISTA_7060PX4, ARISTA_7060X, SWITCHES, SwitchModel
from .verdicts import Outcome, PlacementVerdict
from .vlans import USABLE_VLANS, USABLE_VNIS, VLANS_PER_VPOD, usable_vlans, vpods_that_fit

__all__ = [
    "APC_AP8886",
    "APPLIANCE_LINK",
    "ARISTA_7010T",
    "ARISTA_7060PX4",
    "ARISTA_7060X",
    "BOW_2000",
    "BOW_POD64",
    "BOW_POD256",
    "COOLING_METHODS",
    "DESIGNS",
    "FEEDS",
    "FEED_DERATE",
    "FLOOR_LOAD",
    "HOURS_PER_MONTH",
    "INFRASTRUCTURE",
    "IPUS_PER_LOGICAL_RACK",
    "IPU_M2000",
    "IPU_POD64",
    "IPU_POD128",
    "MACHINES",
    "MACHINES_PER_LOGICAL_RACK",
    "MACHINE_PLUGS",
    "MAX_LOGICAL_RACKS",
    "NETWORK_IDENTITIES",
    "PDUS",
    "PDUS_PER_LOGICAL_RACK",
    "PODS",
    "POD_DESIGNS",
    "POPLAR_R6525",
    "PRICE_ITEMS",
    "RACK_AREA",
    "RACK_HEIGHTS",
    "RACK_WEIGHT",
    "SERVERS",
    "STORAGE_CLASSES",
    "SWITCHES",
    "USABLE_VLANS",
    "USABLE_VNIS",
    "VLANS_PER_VPOD",
    "CoolingMethod",
    "Fact",
    "Feed",
    "FeedKind",
    "GatewayMode",
    "InfrastructureRole",
    "Load",
    "MachineModel",
    "NetworkIdentity",
    "Outcome",
    "PduModel",
    "PlacementVerdict",
    "PodDesign",
    "PodModel",
    "PortBudget",
    "Provenance",
    "RackDesign",
    "ServerModel",
    "StorageClass",
    "SwitchModel",
    "UnitFault",
    "compute_pflops",
    "cooling_verdict",
    "factory_address",
    "feed_verdict",
    "floor_verdict",
    "full_member",
    "gw_link_fault",
    "hear_each_other",
    "is_power_of_two",
    "is_vpod_size",
    "key_verdict",
    "load_of",
    "management_budget",
    "management_verdict",
    "max_machines",
    "memory_gb",
    "mixed_plan_fault",
    "oversubscription",
    "partition_faults",
    "path_verdict",
    "pod_address",
    "readings",
    "room_verdict",
    "tiles",
    "tor_budget",
    "tor_verdict",
    "tunnel_mtu",
    "unit_faults",
    "usable_vlans",
    "vpod_fault",
    "vpods_that_fit",
    "weight_verdict",
]
