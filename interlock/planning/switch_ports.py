"""Which switch port stands behind an interface, read from the site's cables; a missing cable is never guessed."""

from __future__ import annotations

from interlock.model.site.inventory import Site
from interlock.resources import SwitchPort
from interlock.vocabulary.digits import is_number

from .errors import PlanningError
from .plan_builder import PlanBuilder
from .scope import VPodScope


def write_machine_ports(scope: VPodScope, builder: PlanBuilder) -> None:
    """RNIC into the data VLAN, gateway and BMC into the management VLAN."""
    for part, vlan in (("rnic", scope.claims.ipu_data_vlan), ("mgmt", scope.claims.management_vlan)):
        for machine in scope.claims.machines:
            builder.add(scope.name(part, machine), access_port(scope.site, machine, part, vlan))


def access_port(site: Site, device: str, interface: str, vlan: int) -> SwitchPort:
    """The switch port at the other end of a cable, in access mode. Raises PlanningError if there is none."""
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
    return SwitchPort(switch=end.device, port=int(end.interface), device=device, interface=interface, vlan=vlan)


def interfaces_on(site: Site, host: str, network: str) -> tuple[str, ...]:
    """Interfaces of a host on a physical network: as its entry lists them, else those cabled to its switches."""
    listed = site.host[host].interfaces.get(network) if host in site.host else None
    if listed:
        return listed
    physical = site.physical_network.get(network)
    switches = physical.switches if physical else ()
    cabled = (interface for device, interface in site.cable_at if device == host)
    ends = ((interface, site.far_end(host, interface)) for interface in cabled)
    return tuple(sorted(interface for interface, end in ends if end is not None and end.device in switches))
