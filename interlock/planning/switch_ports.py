"""Which switch port stands behind an interface, read from the site's cables; a missing cable is never guessed."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.site.inventory import Site
from interlock.resources import SwitchPort
from interlock.resources.fabric import Wirer
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.digits import is_number

from .addresses import management_addresses, rnic_address
from .errors import PlanningError
from .machine_order import machine_numbers
from .plan_builder import PlanBuilder
from .scope import VPodScope


@dataclass(frozen=True)
class Segment:
    """The network that a switch port is put on: references to it and to its project and subnet, and its VLAN."""

    project: str
    network: str
    subnet: str
    vlan: int


def write_rnic_ports(scope: VPodScope, builder: PlanBuilder) -> None:
    """The RNIC of each machine on `ipu-data`."""
    claims, name = scope.claims, scope.name(NetworkRole.IPU_DATA)
    on = Segment(scope.project, name, f"{name}-subnet", claims.ipu_data_vlan)
    for number, machine in machine_numbers(scope.site, claims.machines):
        addresses = (rnic_address(claims.ipu_data_subnet, number, len(claims.hosts)),)
        builder.add(scope.name("rnic", machine), access_port(scope.site, machine, "rnic", on, addresses))


def write_management_ports(scope: VPodScope, builder: PlanBuilder, on: Segment) -> None:
    """BMC and gateway of each machine, behind one switch port, on the management network.

    They are one port at Neutron: of two bound ports the one that is deleted would take the VLAN from the other.
    """
    for number, machine in machine_numbers(scope.site, scope.claims.machines):
        addresses = management_addresses(scope.claims.management_subnet, number)
        builder.add(scope.name("mgmt", machine), access_port(scope.site, machine, "mgmt", on, addresses))


def access_port(
    site: Site, device: str, interface: str, on: Segment, addresses: tuple[str, ...], by_neutron: Wirer = "neutron"
) -> SwitchPort:
    """The switch port at the other end of a cable, in access mode. Raises PlanningError if there is none.

    `by_neutron`: who has Neutron's driver set it, where Neutron wires the switch.
    """
    end = site.far_end(device, interface)
    if end is None:
        raise PlanningError(
            f"no cable at {device}:{interface}, so the switch port to set is unknown",
            "add the cable to the site file, or pin others",
        )
    if end.device not in site.switch or not is_number(end.interface):
        raise PlanningError(
            f"the cable at {device}:{interface} ends at {end}, which is no port of a switch of the site",
            "correct the cable in the site file",
        )
    switch, port = site.switch[end.device], int(end.interface)
    wired_by: Wirer = by_neutron if switch.wired_by == "neutron" else switch.wired_by
    return SwitchPort(
        switch=end.device, port=port, device=device, interface=interface, vlan=on.vlan,
        wired_by=wired_by, port_name=switch.port_name(port), switch_mac=switch.mac,
        quarantine_vlan=switch.quarantine_vlan,
        project=on.project, network=on.network, subnet=on.subnet, addresses=addresses,
    )  # fmt: skip
