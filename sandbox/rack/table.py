"""A rack as frozen types."""

from dataclasses import dataclass
from functools import cached_property

from sandbox.infiniband.racks import RackSubnet
from sandbox.rack.ipu_racks import IpuRack
from sandbox.services.hosts import Host
from sandbox.switches.devices import Switch


@dataclass(frozen=True)
class PhysicalNetwork:
    """A physical network of Neutron. `bridge`: what leads there on every host; `flat`: networks without a VLAN, too."""

    name: str
    bridge: str | None
    flat: bool


@dataclass(frozen=True)
class Rack:
    """Everything that stands in a sandbox. `quarantine_vlan`: where Neutron's driver puts a port that it unbinds."""

    quarantine_vlan: int
    physical_networks: tuple[PhysicalNetwork, ...]
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    #: None: there is no InfiniBand.
    infiniband: RackSubnet | None = None
    #: Logical racks of IPU-Machines; with any, there are controllers of V-IPU.
    ipu_racks: tuple[IpuRack, ...] = ()

    @cached_property
    def host(self) -> dict[str, Host]:
        """Hosts by name."""
        return {host.name: host for host in self.hosts}

    @cached_property
    def switch(self) -> dict[str, Switch]:
        """Switches by name."""
        return {switch.name: switch for switch in self.switches}

    @property
    def bridges(self) -> dict[str, str]:
        """Physical network -> the bridge that leads there, where one does."""
        return {network.name: network.bridge for network in self.physical_networks if network.bridge}
