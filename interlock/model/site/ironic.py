"""Ironic of a site in full form. Nodes are enrolled by the operator: no credential of theirs is stated anywhere."""

from __future__ import annotations

from interlock.resources import Frozen

from .networks import Ranges
from .physical import Host, Machine

#: Resource class of a whole host of which nobody states a model.
POPLAR_CLASS = "poplar"


class ServiceNetworks(Frozen):
    """VLANs and subnets on one physical network; the first VLAN goes with the first subnet, and so on."""

    physical_network: str
    vlans: Ranges
    #: (prefix, length of what is cut from it).
    subnets: tuple[str, int]


class Ironic(Frozen):
    """How Ironic calls the nodes of a site, and where it deploys and cleans them."""

    conductor_group: str
    driver: str = "redfish"
    #: Of all whole hosts; None: the model of each.
    poplar_class: str | None = None
    #: Of all IPU-Machines; None: the generation of each.
    machine_class: str | None = None
    networks: tuple[ServiceNetworks, ...] = ()

    def class_of(self, device: Host | Machine) -> str:
        """The resource class of the node that a device is."""
        if isinstance(device, Machine):
            return self.machine_class or device.generation
        return self.poplar_class or device.model or POPLAR_CLASS
