"""GPU nodes and InfiniBand switches in the full form of a site file. `halls:` is short for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from interlock.model.hall.values import Guid
from interlock.model.text.names import DeviceName, Interface, Serial
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Positive

from .gpu import FabricSwitch, FabricTier, GpuHost, HcaPort, HcaUse
from .values import MOST_PORTS


class HcaPortFile(FileModel):
    """A port of a GPU node on an InfiniBand subnet."""

    use: HcaUse = Field(description="what it is for")
    infiniband: DeviceName = Field(description="the subnet, among `infiniband`")
    rail: Positive = Field(description="its rail: port n of every node of a scalable unit hangs on leaf n")
    guid: Guid | None = Field(default=None, description="its port GUID; without it, no partition can have the port")


class GpuNodeFile(FileModel):
    """What a host of role `gpu` has besides."""

    node_type: str = Field(description="its node type in the catalogue")
    hall: DeviceName = Field(description="the hall it stands in, by a name of your own")
    unit: Positive = Field(description="scalable unit of the hall")
    ports: dict[Interface, HcaPortFile] = Field(
        default_factory=dict, description="its InfiniBand ports, as cables name them; none, if it has no such fabric"
    )


class FabricSwitchFile(FileModel):
    """A switch of an InfiniBand subnet. How its ports are set decides no isolation: P_Keys do."""

    infiniband: DeviceName = Field(description="the subnet, among `infiniband`")
    tier: FabricTier = Field(description="where in the fat tree it is")
    ports: Annotated[int, Field(ge=1, le=MOST_PORTS)] = Field(description="how many ports it has, numbered from 1")
    unit: Positive | None = Field(default=None, description="of a leaf, the scalable unit that it serves")
    rail: Positive | None = Field(default=None, description="of a leaf, the rail that it serves")
    guid: Guid | None = Field(default=None, description="its node GUID; without it, unknown")
    serial: Serial | None = Field(default=None, description="its serial; without it, unknown")


def gpu_nodes_of(file: Mapping[str, GpuNodeFile]) -> Iterator[GpuHost]:
    """Those of the full form, in its order."""
    for name, node in file.items():
        ports = tuple(HcaPort(name=port, **stated.model_dump()) for port, stated in node.ports.items())
        yield GpuHost(name=name, node_type=node.node_type, hall=node.hall, unit=node.unit, ports=ports)


def fabric_switches_of(file: Mapping[str, FabricSwitchFile]) -> Iterator[FabricSwitch]:
    """Those of the full form, in its order."""
    return (FabricSwitch(name=name, **switch.model_dump()) for name, switch in file.items())
