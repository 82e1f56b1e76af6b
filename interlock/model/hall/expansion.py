"""`design: h100-superpod` -> everything that the hall has, with the file's names, serials and GUIDs.

Places without a node are empty; leaves, spines and the cables between them are there in any case, as makers build them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from interlock.hardware.gpu import HallCable, HallEnd, HallNode, NodeType, PortRole
from interlock.model.site.gpu import FabricSwitch, GpuHost, HcaPort, HcaUse
from interlock.model.site.physical import Cable, Device, Endpoint, Feed, Host, Placement, Rack
from interlock.model.site.service_states import state_fields

from .ethernet import ethernet_ports, interfaces_on
from .file import HallFile, HallNodeFile
from .names import USES, Layout, appliance_name, infiniband_fabrics, layout_of, node_name, rack_name, switch_name

#: GiB of what makers of memory call a TB.
GIB_PER_TB = 1024


@dataclass(frozen=True)
class ExpandedHall:
    """One entry of `halls:` in full form. Each field goes to the field of `Site` of that name."""

    hosts: tuple[Host, ...]
    gpu_nodes: tuple[GpuHost, ...]
    fabric_switches: tuple[FabricSwitch, ...]
    devices: tuple[Device, ...]
    physical_racks: tuple[Rack, ...]
    placements: tuple[Placement, ...]
    cables: tuple[Cable, ...]


def expand_halls(halls: Mapping[str, HallFile]) -> list[ExpandedHall]:
    """Every entry in full form. Designs, places and ports were checked (`form_checks`)."""
    return [_Expansion(name, hall, layout_of(hall)).full() for name, hall in halls.items()]


@dataclass(frozen=True)
class _Expansion:
    """One entry, and the hall of its design."""

    name: str
    file: HallFile
    layout: Layout

    def full(self) -> ExpandedHall:
        """All of it."""
        return ExpandedHall(
            hosts=tuple(self._host(place, node) for place, node in self._standing),
            gpu_nodes=tuple(self._gpu_node(place, node) for place, node in self._standing),
            fabric_switches=tuple(self._switches()),
            devices=tuple(self._managers()),
            physical_racks=tuple(self._racks()),
            placements=tuple(self._placements()),
            cables=tuple(self._cables()),
        )

    @cached_property
    def _standing(self) -> tuple[tuple[HallNode, HallNodeFile], ...]:
        """The places with a node, in the order of the places."""
        nodes = self.file.nodes
        return tuple((place, nodes[place.name]) for place in self.layout.hall.nodes if place.name in nodes)

    @cached_property
    def _subnets(self) -> dict[PortRole, tuple[HcaUse, str]]:
        """The InfiniBand fabrics that the hall has: what they are for, and the subnet of each."""
        return {role: (USES[role], subnet) for role, subnet in infiniband_fabrics(self.file).items()}

    @property
    def _type(self) -> NodeType:
        return self.layout.node_type

    def _host(self, place: HallNode, node: HallNodeFile) -> Host:
        ram = self._type.host.ram
        return Host(
            name=node_name(self.name, place.name, node),
            serial=node.serial,
            role="gpu",
            model=self._type.name,
            provisioning=node.provisioning,
            bmc=None if self.file.out_of_band is None else self.file.out_of_band.interface,
            dedicated_cpus=node.dedicated_cpus,
            huge_pages_gib=node.huge_pages,
            ram_gib=(ram.known or 0) * GIB_PER_TB if ram is not None else 0,
            interfaces=interfaces_on(self.file, self.layout, place.unit),
            macs=node.macs,
            **state_fields(node.state, node.reason),
        )

    def _gpu_node(self, place: HallNode, node: HallNodeFile) -> GpuHost:
        ports = tuple(
            HcaPort(name=port, use=use, infiniband=subnet, rail=rail, guid=node.guids.get(port))
            for role, (use, subnet) in self._subnets.items()
            for rail, port in self.layout.hcas[role]
        )
        name = node_name(self.name, place.name, node)
        return GpuHost(name=name, node_type=self._type.name, hall=self.name, unit=place.unit, ports=ports)

    def _managers(self) -> Iterator[Device]:
        """Appliances of the subnet manager, which hang on leaves of the compute fabric: none without these."""
        for item in self.layout.hall.managers if self.file.compute is not None else ():
            yield Device(name=appliance_name(self.name, item), role="appliance")

    def _switches(self) -> Iterator[FabricSwitch]:
        for switch in self.layout.hall.switches:
            if switch.fabric in self._subnets:
                stated = self.file.switches.get(switch.name)
                yield FabricSwitch(
                    name=switch_name(self.name, switch.name),
                    infiniband=self._subnets[switch.fabric][1],
                    tier=switch.tier,
                    ports=self.layout.design.fabric(switch.fabric).radix.value,
                    unit=switch.unit,
                    rail=switch.rail,
                    guid=None if stated is None else stated.guid,
                    serial=None if stated is None else stated.serial,
                )

    def _racks(self) -> Iterator[Rack]:
        file = self.file.racks
        for rack in self.layout.hall.racks if file is not None else ():
            assert file is not None
            yield Rack(
                name=rack_name(self.name, rack),
                room=file.room,
                units=file.units,
                max_weight_kg=file.max_weight,
                cooling=file.cooling,
                cooling_limit_w=file.cooling_limit,
                feeds=tuple(
                    Feed(name=feed, capacity_w=stated.capacity, derate=stated.derate)
                    for feed, stated in file.feeds.items()
                ),
            )

    def _placements(self) -> Iterator[Placement]:
        """Where each node stands: as it says, or else as the design has it in a rack of the design."""
        build = self._type.build
        height = None if build.height is None else build.height.known
        weight = None if build.weight is None else build.weight.known
        for place, node in self._standing:
            of_design = rack_name(self.name, place.rack) if self.file.racks is not None else None
            rack = node.rack or of_design
            if rack is not None:
                yield Placement(
                    device=node_name(self.name, place.name, node),
                    rack=rack,
                    unit=node.unit or (self.layout.unit_of(place) if rack == of_design else None),
                    height_u=height or 1,
                    nameplate_w=None if build.nameplate is None else build.nameplate.known,
                    weight_kg=None if weight is None else float(weight),
                )

    def _cables(self) -> Iterator[Cable]:
        for cable in self.layout.hall.cables:
            if cable.fabric in self._subnets and (lower := self._end(cable, cable.lower)) is not None:
                yield Cable(a=lower, b=self._switch_port(cable.upper), kind="infiniband")
        plugged: dict[str, list[tuple[str, Endpoint]]] = {}
        for ports in ethernet_ports(self.file, self.layout):
            for named, end in zip(ports.places, ports.ends, strict=False):
                plugged.setdefault(named, []).append((ports.interface, end))
        for place, node in self._standing:
            name = node_name(self.name, place.name, node)
            for interface, end in plugged.get(place.name, ()):
                yield Cable(a=Endpoint(device=name, interface=interface), b=end)

    def _end(self, cable: HallCable, end: HallEnd) -> Endpoint | None:
        """The lower end of a cable; None at a place without a node, where there is no cable."""
        if cable.tier != "node-leaf":
            return self._switch_port(end)
        if end.device in self.layout.hall.managers:
            return Endpoint(device=appliance_name(self.name, end.device), interface=end.port)
        node = self.file.nodes.get(end.device)
        return None if node is None else Endpoint(device=node_name(self.name, end.device, node), interface=end.port)

    def _switch_port(self, end: HallEnd) -> Endpoint:
        return Endpoint(device=switch_name(self.name, end.device), interface=end.port)
