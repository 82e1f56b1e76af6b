"""Poplar servers that are whole hosts: each network on a physical interface of its own, all untagged.

Ironic allows one network for each interface. The first 100G interface stands on `ipu-data`, the second on
`storage`, the first 1G interface on `control`; the switch port behind each is in access mode on that VLAN, and
that port is the isolation: root on a host sends any frame it likes, and no security group filters there.

Where the site has Ironic and Neutron wires the switch, Ironic attaches the `Port` of a leg when it deploys the host,
and Neutron's driver sets the switch port with it. Behind other switches an attachment sets nothing, and without Ironic
there is none: there the switch port is wired as the others of its switch are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.resources import BareMetalLeg, BareMetalServer, Port, SwitchPort
from interlock.vocabulary import NetworkRole, Reference

from .addresses import poplar_address
from .errors import PlanningError
from .guest import poplar_user_data
from .guest.fabric import FabricInterface
from .plan_builder import PlanBuilder
from .scope import VPodScope
from .share_mounts import guest_shares
from .switch_ports import Segment, access_port
from .vpod_guest import mounts_of, shares_of, vipu_api


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
    host = scope.claims.hosts[index]
    legs = _legs(scope, host)
    ports = tuple(_write_port(scope, builder, name, leg, index) for leg in legs)
    switch_ports = tuple(_write_switch_port(scope, builder, name, leg, host) for leg in legs)
    ironic = scope.site.ironic
    server = BareMetalServer(
        name=name, project=scope.project, node=host,
        resource_class=None if ironic is None else ironic.class_of(scope.site.host[host]),
        image=Reference.site("Image", scope.vpod.poplar.image),
        keypair=scope.keypair, ports=ports,
        legs=tuple(_leg_of(port) for port in switch_ports),
        user_data=poplar_user_data(
            name, vipu_api(scope, index), fabric=_fabric(scope, host, index, legs), login=scope.login_files,
            shares=guest_shares(mounts_of(scope)),
        ),
        shares=shares_of(scope),
    )  # fmt: skip
    builder.add(name, server)


def _write_switch_port(scope: VPodScope, builder: PlanBuilder, server: str, leg: Leg, host: str) -> SwitchPort:
    """The switch port behind a leg. It has no addresses: the leg's `Port` has, and Neutron gives each once."""
    network = scope.name(leg.part)
    on = Segment(scope.project, network, f"{network}-subnet", leg.vlan)
    # Ironic binds the port of the leg: a second bound port would fight over the VLAN.
    port = access_port(scope.site, host, leg.interface, on, (), "neutron" if scope.site.ironic is None else "ironic")
    builder.add(f"{server}-{leg.part}-switch", port)
    return port


def _leg_of(port: SwitchPort) -> BareMetalLeg:
    return BareMetalLeg(**{field: getattr(port, field) for field in BareMetalLeg.model_fields})


def _fabric(scope: VPodScope, host: str, index: int, legs: Sequence[Leg]) -> tuple[FabricInterface, ...]:
    """The legs without DHCP: all but `control`."""
    networks = {NetworkRole.IPU_DATA: scope.claims.ipu_data_network, NetworkRole.STORAGE: scope.claims.storage_network}
    return tuple(
        FabricInterface(
            leg.interface, poplar_address(leg.subnet, index), leg.subnet,
            mac=scope.site.host[host].macs.get(leg.interface),
            mtu=scope.site.physical_network[networks[leg.part]].mtu,
        )
        for leg in legs
        if leg.part in networks
    )  # fmt: skip


def _legs(scope: VPodScope, host: str) -> tuple[Leg, ...]:
    claims = scope.claims
    network = scope.given("control_network", claims.control_network)
    vlan = scope.given("control_vlan", claims.control_vlan)
    wanted = (
        (NetworkRole.IPU_DATA, claims.ipu_data_network, claims.ipu_data_vlan, claims.ipu_data_subnet),
        (NetworkRole.STORAGE, claims.storage_network, claims.storage_vlan, claims.storage_subnet),
        (NetworkRole.CONTROL, network, vlan, claims.control_subnet),
    )
    legs: list[Leg] = []
    for part, physical, id_, subnet in wanted:
        # Of one physical network, or of two names of it, an interface may be taken already.
        interface = _interface(scope, host, physical, [leg.interface for leg in legs])
        legs.append(Leg(part, interface, id_, subnet))
    return tuple(legs)


def _interface(scope: VPodScope, host: str, network: str, taken: Sequence[str]) -> str:
    found = scope.site.interfaces_on(host, network)
    free = [interface for interface in found if interface not in taken]
    if not free:
        raise PlanningError(
            f"bare-metal host {host} has {len(found)} interface(s) on {network}, and vPOD {scope.vpod.name} needs "
            f"{len(found) + 1} there: Ironic allows one network for each",
            f"state its interfaces and cables on {network} in the site file, take another network for one of the "
            "pools ipu_data, storage and bare_metal_control, or ask for virtual servers",
            ("vpods", scope.vpod.name, "poplar", "kind"),
        )
    return free[0]


def _write_port(scope: VPodScope, builder: PlanBuilder, server: str, leg: Leg, index: int) -> str:
    network = scope.name(leg.part)
    port = Port(
        name=f"{server}-{leg.part}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=poplar_address(leg.subnet, index), vnic_type="baremetal",
    )  # fmt: skip
    return builder.add(port.name, port)
