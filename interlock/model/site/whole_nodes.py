"""Flavours whose servers take a GPU node whole: what they ask of Nova follows from the type of the node."""

from __future__ import annotations

from interlock.hardware.gpu.passing_through import PASSED_DEVICES, PassedDevice, PassedDevices, passed_devices
from interlock.resources import Frozen

#: Extra specification by which Nova hands out PCI devices.
ALIAS = "pci_passthrough:alias"
#: What such a server needs besides, unless the flavour states it: whole cores, and pages that a device can write to.
_PINNED = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"}

__all__ = ["ALIAS", "PassedDevice", "WholeNode"]


class WholeNode(Frozen):
    """The node that a server of a flavour takes whole."""

    #: In the catalogue.
    type: str
    #: Kind of device -> its alias in nova.conf.
    aliases: dict[PassedDevice, str]
    #: Whether each device stays reserved after its server until it is given back; None: not stated.
    one_time_use: bool | None = None

    @property
    def devices(self) -> tuple[tuple[PassedDevice, int], ...]:
        """How many of each kind; none for a type that cannot be handed out so."""
        found = passed_devices(self.type)
        return found.counts if isinstance(found, PassedDevices) else ()

    @property
    def extra_specs(self) -> dict[str, str]:
        """What the flavour asks for: each device of the node, and memory of each socket, beside its devices."""
        found = passed_devices(self.type)
        if not isinstance(found, PassedDevices):
            return {}
        asked = ((kind, self.aliases.get(kind), count) for kind, count in found.counts)
        alias = ",".join(f"{name}:{count}" for _, name, count in asked if name is not None)
        numa = {} if found.sockets is None else {"hw:numa_nodes": str(found.sockets)}
        return {ALIAS: alias, **numa, **_PINNED}


def kinds_of(node_type: str) -> tuple[PassedDevice, ...]:
    """The kinds of devices that a node of a type has."""
    found = passed_devices(node_type)
    kinds = {kind for kind, _ in found.counts} if isinstance(found, PassedDevices) else set[str]()
    return tuple(kind for kind in PASSED_DEVICES if kind in kinds)
