"""The networks of one vPOD: `ipu-data` and `storage` without router or DHCP, `control` behind the router."""

from __future__ import annotations

from interlock.resources import Network, RouterInterface, Subnet
from interlock.vocabulary import NetworkRole

from .addresses import automatic_pool, router_address
from .plan_builder import PlanBuilder
from .scope import VPodScope


def write_networks(scope: VPodScope, builder: PlanBuilder) -> None:
    """Write down all three with their subnets."""
    claims = scope.claims
    _write_data_network(
        scope, builder, NetworkRole.IPU_DATA, claims.ipu_data_network, claims.ipu_data_vlan, claims.ipu_data_subnet
    )
    _write_data_network(
        scope, builder, NetworkRole.STORAGE, claims.storage_network, claims.storage_vlan, claims.storage_subnet
    )
    _write_control_network(scope, builder)


def _write_data_network(
    scope: VPodScope, builder: PlanBuilder, role: NetworkRole, physnet: str, vlan: int, cidr: str
) -> None:
    """No MTU: Neutron takes the physical network's own."""
    name = scope.name(role)
    network = Network(
        name=name, project=scope.project, network_type="vlan", physical_network=physnet, segmentation_id=vlan
    )
    builder.add(name, network, role=role)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=cidr, dhcp=False,
        pools=automatic_pool(cidr),
    )  # fmt: skip
    builder.add(f"{name}-subnet", subnet)


def _write_control_network(scope: VPodScope, builder: PlanBuilder) -> None:
    name, cidr = scope.name(NetworkRole.CONTROL), scope.claims.control_subnet
    builder.add(name, _control_segment(scope, name), role=NetworkRole.CONTROL)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=cidr,
        gateway=router_address(cidr), pools=automatic_pool(cidr),
    )  # fmt: skip
    builder.add(f"{name}-subnet", subnet)
    uplink = RouterInterface(project=scope.project, router=f"{scope.tenant.id}-router", subnet=f"{name}-subnet")
    builder.add(f"{name}-uplink", uplink)


def _control_segment(scope: VPodScope, name: str) -> Network:
    """VXLAN for virtual servers. Bare metal ends no tunnel itself, so there it is a VLAN of the hosts' switch."""
    claims = scope.claims
    if not scope.bare_metal:
        return Network(
            name=name,
            project=scope.project,
            network_type="vxlan",
            segmentation_id=scope.given("control_vni", claims.control_vni),
        )
    return Network(
        name=name,
        project=scope.project,
        network_type="vlan",
        physical_network=scope.given("control_network", claims.control_network),
        segmentation_id=scope.given("control_vlan", claims.control_vlan),
    )
