"""The V-IPU controller of one vPOD, in the operator's project; what stands on it is written by `vpod_vipu`."""

from __future__ import annotations

from interlock.resources import Network, Port, SecurityGroup, Server, Subnet
from interlock.vocabulary import NetworkRole, Reference
from interlock.vocabulary.references import CONTROLLERS_PROJECT

from .addresses import automatic_pool, controller_address
from .guest import controller_user_data
from .plan_builder import PlanBuilder
from .scope import VPodScope
from .security import controller_api_rules, controller_management_rules
from .switch_ports import Segment, write_management_ports
from .vpod_vipu import write_vipu


def write_controller(scope: VPodScope, builder: PlanBuilder) -> None:
    """Write down the controller with its management network, and what it is to be told."""
    name = builder.component(scope.name("controller"), "VipuController", parent=scope.name())
    claims, controller = scope.claims, scope.controller
    management = _write_management_network(scope, builder)
    on = Segment(CONTROLLERS_PROJECT, management, f"{management}-subnet", claims.management_vlan)
    write_management_ports(scope, builder, on)
    api_rules = controller_api_rules(controller.user_api_port, claims.control_subnet)
    api = SecurityGroup(name=f"{name}-api", project=CONTROLLERS_PROJECT, rules=api_rules)
    builder.add(api.name, api)
    inside = SecurityGroup(
        name=f"{name}-mgmt", project=CONTROLLERS_PROJECT, rules=controller_management_rules(claims.management_subnet)
    )
    builder.add(inside.name, inside)
    ports = tuple(
        _write_port(builder, name, part, network, cidr, group)
        for part, network, cidr, group in (
            (NetworkRole.CONTROL, scope.name(NetworkRole.CONTROL), claims.control_subnet, api.name),
            (NetworkRole.MANAGEMENT, management, claims.management_subnet, inside.name),
        )
    )
    server = Server(
        name=name, project=CONTROLLERS_PROJECT, flavor=Reference.site("Flavor", controller.flavor),
        image=Reference.site("Image", controller.image), host=claims.controller_host, ports=ports,
        user_data=controller_user_data(name),
    )  # fmt: skip
    builder.add(name, server)
    write_vipu(scope, builder, name)


def _write_management_network(scope: VPodScope, builder: PlanBuilder) -> str:
    """The VLAN of BMCs and gateways: no gateway address and no DHCP, it is routed nowhere."""
    name, cidr = scope.name(NetworkRole.MANAGEMENT), scope.claims.management_subnet
    network = Network(
        name=name, project=CONTROLLERS_PROJECT, network_type="vlan",
        physical_network=scope.claims.management_network,
        segmentation_id=scope.claims.management_vlan,
    )  # fmt: skip
    builder.add(name, network, role=NetworkRole.MANAGEMENT)
    subnet = Subnet(
        name=f"{name}-subnet", project=CONTROLLERS_PROJECT, network=name, cidr=cidr, dhcp=False,
        pools=automatic_pool(cidr),
    )  # fmt: skip
    builder.add(f"{name}-subnet", subnet)
    return name


def _write_port(builder: PlanBuilder, server: str, part: str, network: str, cidr: str, group: str) -> str:
    port = Port(
        name=f"{server}-{part}", project=CONTROLLERS_PROJECT, network=network, subnet=f"{network}-subnet",
        address=controller_address(cidr), security_groups=(group,),
    )  # fmt: skip
    return builder.add(port.name, port)
