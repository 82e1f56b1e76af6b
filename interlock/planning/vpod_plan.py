"""One vPOD: its networks, the switch ports of its machines, its Poplar servers and its controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from interlock.model.lock import VPodAllocation
from interlock.model.site import Site
from interlock.model.tenant import Tenant, VPod
from interlock.resources import (
    Network,
    Port,
    RoleAssignment,
    RouterInterface,
    S3Credential,
    SecurityGroup,
    Server,
    ServiceUser,
    Subnet,
    SwitchPort,
    Volume,
    VolumeAttachment,
)

from .addresses import automatic_pool, controller_address, poplar_address, router_address
from .errors import PlanningError
from .security import controller_api_rules, controller_management_rules, poplar_rules
from .sheet import Sheet
from .site_plan import S3_ROLE
from .user_data import controller_user_data, poplar_user_data

#: The operator's project for controllers: nobody of the tenant can enter, rescue or see them.
CONTROLLERS = "site:Project/controllers"


@dataclass(frozen=True)
class VPodScope:
    """What the plan of one vPOD is made from."""

    site: Site
    tenant: Tenant
    vpod: VPod
    claims: VPodAllocation

    def name(self, *parts: object) -> str:
        """`<tenant>-<vPOD>` and the parts, joined by dashes."""
        return "-".join(str(part) for part in (self.tenant.id, self.vpod.name, *parts))

    @property
    def project(self) -> str:
        """Reference to the tenant's project."""
        return f"{self.tenant.id}-project"


def write_vpod(scope: VPodScope, sheet: Sheet) -> None:
    """Write down everything of one vPOD."""
    sheet.component(scope.name(), "VirtualPod", parent=scope.tenant.id)
    claims = scope.claims
    _write_data_network(
        scope,
        sheet,
        "ipu-data",
        claims.ipu_data_network,
        claims.ipu_data_vlan,
        claims.ipu_data_subnet,
    )
    _write_data_network(
        scope, sheet, "storage", claims.storage_network, claims.storage_vlan, claims.storage_subnet
    )
    _write_control_network(scope, sheet)
    group = SecurityGroup(
        name=scope.name("poplar-ssh"), project=scope.project, rules=poplar_rules(scope.tenant.access.ssh_from)
    )
    sheet.add(scope.name("poplar-ssh"), group)
    _write_s3_user(scope, sheet)
    _write_switch_ports(scope, sheet)
    for index in range(scope.vpod.poplar.servers):
        _write_poplar_server(scope, sheet, index)
    _write_controller(scope, sheet)


def _write_data_network(
    scope: VPodScope, sheet: Sheet, part: str, physnet: str, vlan: int, cidr: str
) -> None:
    """A VLAN without router and DHCP. No MTU: Neutron takes the physical network's own."""
    name = scope.name(part)
    network = Network(
        name=name, project=scope.project, network_type="vlan", physical_network=physnet, segmentation_id=vlan
    )
    sheet.add(name, network)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=cidr, dhcp=False,
        pools=automatic_pool(cidr),
    )  # fmt: skip
    sheet.add(f"{name}-subnet", subnet)


def _write_control_network(scope: VPodScope, sheet: Sheet) -> None:
    name, cidr = scope.name("control"), scope.claims.control_subnet
    network = Network(
        name=name, project=scope.project, network_type="vxlan", segmentation_id=scope.claims.control_vni
    )
    sheet.add(name, network)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=cidr,
        gateway=router_address(cidr), pools=automatic_pool(cidr),
    )  # fmt: skip
    sheet.add(f"{name}-subnet", subnet)
    uplink = RouterInterface(
        project=scope.project, router=f"{scope.tenant.id}-router", subnet=f"{name}-subnet"
    )
    sheet.add(f"{name}-uplink", uplink)


def _write_s3_user(scope: VPodScope, sheet: Sheet) -> None:
    user = scope.name("s3")
    sheet.add(user, ServiceUser(name=user, domain=scope.site.domain, project=scope.project))
    role = RoleAssignment(project=scope.project, user=user, role=f"site:Role/{S3_ROLE}")
    sheet.add(f"{user}-role", role)
    sheet.add(f"{user}-key", S3Credential(project=scope.project, user=user), after=(f"{user}-role",))


def _write_switch_ports(scope: VPodScope, sheet: Sheet) -> None:
    """RNIC into the data VLAN, gateway and BMC into the management VLAN."""
    for machine in scope.claims.machines:
        port = _switch_port(scope.site, machine, "rnic", scope.claims.ipu_data_vlan)
        sheet.add(scope.name("rnic", machine), port)
    for machine in scope.claims.machines:
        port = _switch_port(scope.site, machine, "mgmt", scope.claims.management_vlan)
        sheet.add(scope.name("mgmt", machine), port)


def _switch_port(site: Site, machine: str, interface: Literal["rnic", "mgmt"], vlan: int) -> SwitchPort:
    cable = site.cable_at.get((machine, interface))
    if cable is None:
        raise PlanningError(
            f"no cable at {machine}:{interface}, so nobody can say which switch port to set",
            "add the cable to the site file, or pin other machines",
        )
    end = cable.b if cable.a.device == machine else cable.a
    if end.device not in site.switch or not end.interface.isdigit():
        raise PlanningError(
            f"the cable at {machine}:{interface} ends at {end}, which is no port of a switch of the site",
            "correct the cable in the site file",
        )
    return SwitchPort(
        switch=end.device, port=int(end.interface), device=machine, interface=interface, vlan=vlan
    )


def _write_poplar_server(scope: VPodScope, sheet: Sheet, index: int) -> None:
    name = sheet.component(scope.name("poplar", index), "PoplarServer", parent=scope.name())
    poplar, claims = scope.vpod.poplar, scope.claims
    ports = (
        _write_direct_port(scope, sheet, "ipu-data", poplar_address(claims.ipu_data_subnet, index), name),
        _write_direct_port(scope, sheet, "storage", poplar_address(claims.storage_subnet, index), name),
        _write_control_port(scope, sheet, index, name),
    )
    if poplar.volume is not None:
        volume = Volume(
            name=f"{name}-data", project=scope.project, size_gib=poplar.volume.size_gib,
            volume_type=f"site:VolumeType/{poplar.volume.volume_type}", on_delete=poplar.volume.on_delete,
        )  # fmt: skip
        sheet.add(f"{name}-data", volume)
    api_host = controller_address(claims.control_subnet)
    server = Server(
        name=name, project=scope.project, flavor=f"site:Flavor/{poplar.flavor}",
        image=f"site:Image/{poplar.image}", host=claims.hosts[index], keypair=f"{scope.tenant.id}-key",
        ports=ports, user_data=poplar_user_data(name, api_host, scope.site.controller.user_api_port),
    )  # fmt: skip
    sheet.add(name, server)
    if poplar.volume is not None:
        attachment = VolumeAttachment(project=scope.project, server=name, volume=f"{name}-data")
        sheet.add(f"{name}-attachment", attachment)


def _write_direct_port(scope: VPodScope, sheet: Sheet, part: str, address: str, server: str) -> str:
    """A virtual function. Security groups do nothing there, so it names none: the VLAN is the isolation."""
    network = scope.name(part)
    port = Port(
        name=f"{server}-{part}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=address, vnic_type="direct",
    )  # fmt: skip
    return sheet.add(port.name, port)


def _write_control_port(scope: VPodScope, sheet: Sheet, index: int, server: str) -> str:
    network = scope.name("control")
    port = Port(
        name=f"{server}-control", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=poplar_address(scope.claims.control_subnet, index),
        security_groups=(scope.name("poplar-ssh"),),
    )  # fmt: skip
    return sheet.add(port.name, port)


def _write_controller(scope: VPodScope, sheet: Sheet) -> None:
    name = sheet.component(scope.name("controller"), "VipuController", parent=scope.name())
    claims, controller = scope.claims, scope.site.controller
    management = _write_management_network(scope, sheet)
    api_rules = controller_api_rules(controller.user_api_port, claims.control_subnet)
    api = SecurityGroup(name=f"{name}-api", project=CONTROLLERS, rules=api_rules)
    sheet.add(api.name, api)
    inside = SecurityGroup(
        name=f"{name}-mgmt", project=CONTROLLERS, rules=controller_management_rules(claims.management_subnet)
    )
    sheet.add(inside.name, inside)
    ports = tuple(
        _write_controller_port(sheet, name, part, network, cidr, group)
        for part, network, cidr, group in (
            ("control", scope.name("control"), claims.control_subnet, api.name),
            ("management", management, claims.management_subnet, inside.name),
        )
    )
    server = Server(
        name=name, project=CONTROLLERS, flavor=f"site:Flavor/{controller.flavor}",
        image=f"site:Image/{controller.image}", host=claims.controller_host, ports=ports,
        user_data=controller_user_data(name),
    )  # fmt: skip
    sheet.add(name, server)


def _write_management_network(scope: VPodScope, sheet: Sheet) -> str:
    """The VLAN of BMCs and gateways: no gateway address and no DHCP, it is routed nowhere."""
    name, cidr = scope.name("management"), scope.claims.management_subnet
    network = Network(
        name=name, project=CONTROLLERS, network_type="vlan",
        physical_network=scope.claims.management_network,
        segmentation_id=scope.claims.management_vlan,
    )  # fmt: skip
    sheet.add(name, network)
    subnet = Subnet(
        name=f"{name}-subnet", project=CONTROLLERS, network=name, cidr=cidr, dhcp=False,
        pools=automatic_pool(cidr),
    )  # fmt: skip
    sheet.add(f"{name}-subnet", subnet)
    return name


def _write_controller_port(sheet: Sheet, server: str, part: str, network: str, cidr: str, group: str) -> str:
    port = Port(
        name=f"{server}-{part}", project=CONTROLLERS, network=network, subnet=f"{network}-subnet",
        address=controller_address(cidr), security_groups=(group,),
    )  # fmt: skip
    return sheet.add(port.name, port)
