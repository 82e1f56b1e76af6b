"""`halls:` of a site file as an operator writes it: a design by its name, and what the design cannot know."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interlock.model.rack.values import Kilograms, Watts
from interlock.model.site.full_file import FeedFile
from interlock.model.site.physical import CoolingMethod, Provisioning, ServiceState
from interlock.model.site.service_states import REASON, STATE
from interlock.model.site.values import End, Mac
from interlock.model.tenant.values import Reason
from interlock.model.text.names import DeviceName, Interface, NetworkName, Serial
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Count, MemoryGiB, Positive

from .values import Guid, InventoryName


class HallNodeFile(FileModel):
    """The node that stands at a place of the hall."""

    name: DeviceName | None = Field(default=None, description="its name, as Ironic has it; `<hall>-<place>` without it")
    serial: Serial = Field(description="its serial: the identity of the node")
    macs: dict[Interface, Mac] = Field(
        default_factory=dict, description="interface → its MAC address; of one left out it is unknown"
    )
    guids: dict[Interface, Guid] = Field(
        default_factory=dict,
        description="InfiniBand port, as in `compute1` or `storage2` → its port GUID; one without a GUID gets no "
        "partition",
    )
    rack: DeviceName | None = Field(
        default=None, description="the physical rack it stands in; without it the design's, where `racks` is given"
    )
    unit: Positive | None = Field(
        default=None, description="the lowest unit that it takes; without it the design's, in a rack of the design"
    )
    provisioning: Provisioning = Field(
        default="bare-metal",
        description="`bare-metal`: given out by Ironic; `hypervisor`: as one virtual server that has all its devices",
    )
    dedicated_cpus: Count = Field(default=0, description="of a hypervisor, threads for that server")
    huge_pages: MemoryGiB = Field(default=0, description="of a hypervisor, memory for that server, in pages of 1 GiB")
    state: ServiceState = Field(default="ok", description=STATE)
    reason: Reason | None = Field(default=None, description=REASON)


class InBandFile(FileModel):
    """The Ethernet ports that a node boots from and is reached by."""

    physical_network: NetworkName = Field(description="the physical network that they are on")
    ports: dict[Interface, list[End]] = Field(
        description="interface → the switch ports behind it, one for each place in the order of the places, as in "
        "`[inband-1:1-32, inband-2:1-31]`; `[]`: the cables are unknown"
    )


class ComputeEthernetFile(FileModel):
    """The compute ports of the nodes of one scalable unit, where they are Ethernet: one leaf group."""

    physical_network: NetworkName = Field(
        description="the physical network of the unit's leaf group; no tenant's RDMA leaves it"
    )
    ports: dict[Interface, list[End]] = Field(
        description="compute port, as in `compute1` → the switch ports behind it, one for each place of the unit in "
        "the order of the places; every compute port of the design is named; `[]`: the cables are unknown"
    )


class OutOfBandFile(FileModel):
    """The ports of the BMCs."""

    interface: Interface = Field(default="bmc", description="the interface that leads to the BMC, as cables name it")
    ports: list[End] = Field(
        default_factory=list,
        description="the switch ports behind them, one for each place in the order of the places; without it, the "
        "cables are unknown",
    )


class HallRacksFile(FileModel):
    """The physical racks that the design has, all alike. Limits that are left out are unknown."""

    room: DeviceName | None = Field(default=None, description="the room they stand in")
    units: Annotated[int, Field(ge=1, le=100)] = Field(default=48, description="their height")
    max_weight: Kilograms | None = Field(default=None, description="what each carries")
    cooling: CoolingMethod | None = Field(default=None, description="how their heat is taken away")
    cooling_limit: Watts | None = Field(
        default=None, description="heat that each rack gets rid of, instead of the method's"
    )
    feeds: dict[DeviceName, FeedFile] = Field(default_factory=dict, description="power feeds of each, by name")


class HallSwitchFile(FileModel):
    """What the design cannot know of one of its InfiniBand switches."""

    serial: Serial | None = Field(default=None, description="its serial; without it, unknown")
    guid: Guid | None = Field(default=None, description="its node GUID; without it, unknown")


class HallFile(FileModel):
    """A hall of GPU nodes, by a design of the catalogue."""

    design: str = Field(description="h100-superpod, h200-superpod or b200-superpod")
    units: Positive = Field(description="how many scalable units it has")
    node_type: str | None = Field(
        default=None, description="node type of the catalogue that stands in it, instead of the design's"
    )
    compute: DeviceName | None = Field(
        default=None, description="InfiniBand subnet of its compute fabric, of no other hall; or else `roce`"
    )
    roce: list[ComputeEthernetFile] = Field(
        default_factory=list,
        description="instead of `compute`: its compute ports are Ethernet; one entry for each scalable unit, in their "
        "order",
    )
    storage: DeviceName | None = Field(
        default=None, description="InfiniBand subnet of its storage fabric; without it, the hall has none"
    )
    in_band: InBandFile | None = Field(
        default=None, description="Ethernet of the nodes; without it, nothing deploys them"
    )
    out_of_band: OutOfBandFile | None = Field(
        default=None, description="ports of the BMCs; without it, which interface leads there is unknown"
    )
    power: Watts | None = Field(
        default=None, description="what its nodes may draw in all; without it, only racks and rooms say"
    )
    racks: HallRacksFile | None = Field(
        default=None, description="makes the racks of the design; without it, nodes stand where they say"
    )
    nodes: dict[DeviceName, HallNodeFile] = Field(
        default_factory=dict,
        description="place, as in `su01-n01` → the node that stands there; a place that is left out is empty",
    )
    inventory: InventoryName | None = Field(
        default=None, description="a file beside `site.yaml` with nodes, see below; `nodes` may have others"
    )
    switches: dict[DeviceName, HallSwitchFile] = Field(
        default_factory=dict,
        description="InfiniBand switch of the design, as in `compute-su01-leaf1` → its serial and GUID",
    )
