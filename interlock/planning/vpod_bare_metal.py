"""Poplar servers that are whole hosts: each network on a physical interface of its own, all untagged.

Ironic allows one network for each interface. The first 100G interface stands on `ipu-data`, the second on
`storage`, the first 1G interface on `control`; the switch port behind each is in access mode on that VLAN, and
that port is the isolation: root on a host sends any frame it likes, and no security group filters there.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.resources import BareMetalServer, Port
from interlock.vocabulary import NetworkRole, Reference

from .addresses import controller_address, poplar_address
from .errors import PlanningError
from .plan_builder import PlanBuilder
from .scope import VPodScope
from .switch_ports import access_port, interfaces_on
from .user_data import poplar_user_data


@dataclass(frozen=True)
class Leg:
    """One interface of a host: the network of the vPOD that it stands on, its VLAN and its subnet."""

    part: NetworkRole
    interface: str
    vlan: int
    subnet: str


def write_bare_metal_server(scope: VPodScope, builder: PlanBuilder, index: int) -> None:
    """Write down one server with its ports and the switch ports behind them."""
    name = builder.component(scope.server(index), "BareMetalServer", parent=scope.name())
    host, claims = scope.claims.hosts[index], scope.claims
    legs = _legs(scope, host)
    ports = tuple(_write_port(scope, builder, name, leg, index) for leg in legs)
    for leg in legs:
        builder.add(f"{name}-{leg.part}-switch", access_port(scope.site, host, leg.interface, leg.vlan))
    api_host = controller_address(claims.control_subnet)
    server = BareMetalServer(
        name=name, project=scope.project, node=host, image=Reference.site("Image", scope.vpod.poplar.image),
        keypair=f"{scope.tenant.id}-key", ports=ports,
        user_data=poplar_user_data(name, api_host, scope.site.controller.user_api_port),
    )  # fmt: skip
    builder.add(name, server)


def _legs(scope: VPodScope, host: str) -> tuple[Leg, Leg, Leg]:
    claims = scope.claims
    network = scope.given("control_network", claims.control_network)
    vlan = scope.given("control_vlan", claims.control_vlan)
    # Where one physical network carries both, its first interface is taken already.
    second = 1 if claims.storage_network == claims.ipu_data_network else 0
    return (
        Leg(
            NetworkRole.IPU_DATA,
            _interface(scope, host, claims.ipu_data_network, 0),
            claims.ipu_data_vlan,
            claims.ipu_data_subnet,
        ),
        Leg(
            NetworkRole.STORAGE,
            _interface(scope, host, claims.storage_network, second),
            claims.storage_vlan,
            claims.storage_subnet,
        ),
        Leg(NetworkRole.CONTROL, _interface(scope, host, network, 0), vlan, claims.control_subnet),
    )


def _interface(scope: VPodScope, host: str, network: str, index: int) -> str:
    found = interfaces_on(scope.site, host, network)
    if len(found) <= index:
        raise PlanningError(
            f"bare-metal host {host} has {len(found)} interface(s) on {network}, and vPOD {scope.vpod.name} needs "
            f"{index + 1} there: Ironic allows one network for each",
            f"state its interfaces and cables on {network} in the site file, or ask for virtual servers",
        )
    return found[index]


def _write_port(scope: VPodScope, builder: PlanBuilder, server: str, leg: Leg, index: int) -> str:
    network = scope.name(leg.part)
    port = Port(
        name=f"{server}-{leg.part}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=poplar_address(leg.subnet, index), vnic_type="baremetal",
    )  # fmt: skip
    return builder.add(port.name, port)
