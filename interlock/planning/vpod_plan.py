"""One vPOD: networks, S3 user, switch ports of its machines, Poplar servers, controller, in this order."""

from __future__ import annotations

from interlock.resources import RoleAssignment, S3Credential, SecurityGroup, ServiceUser

from .scope import VPodScope
from .security import poplar_rules
from .sheet import Sheet
from .site_plan import S3_ROLE
from .switch_ports import write_machine_ports
from .vpod_bare_metal import write_bare_metal_server
from .vpod_controller import write_controller
from .vpod_networks import write_networks
from .vpod_servers import write_poplar_server


def write_vpod(scope: VPodScope, sheet: Sheet) -> None:
    """Write down everything of one vPOD."""
    sheet.component(scope.name(), "VirtualPod", parent=scope.tenant.id)
    write_networks(scope, sheet)
    if not scope.bare_metal:
        _write_ssh_group(scope, sheet)
    _write_s3_user(scope, sheet)
    write_machine_ports(scope, sheet)
    write_server = write_bare_metal_server if scope.bare_metal else write_poplar_server
    for index in range(scope.vpod.poplar.servers):
        write_server(scope, sheet, index)
    write_controller(scope, sheet)


def _write_ssh_group(scope: VPodScope, sheet: Sheet) -> None:
    """Only for virtual servers: nothing applies a group to the port of a bare-metal host."""
    name = scope.name("poplar-ssh")
    rules = poplar_rules(scope.tenant.access.ssh_from)
    sheet.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))


def _write_s3_user(scope: VPodScope, sheet: Sheet) -> None:
    user = scope.name("s3")
    sheet.add(user, ServiceUser(name=user, domain=scope.site.domain, project=scope.project))
    role = RoleAssignment(project=scope.project, user=user, role=f"site:Role/{S3_ROLE}")
    sheet.add(f"{user}-role", role)
    sheet.add(f"{user}-key", S3Credential(project=scope.project, user=user), after=(f"{user}-role",))
