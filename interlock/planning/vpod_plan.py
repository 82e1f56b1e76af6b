"""One vPOD: networks, S3 user, switch ports of its machines, Poplar servers, controller, in this order."""

from __future__ import annotations

from interlock.resources import SecurityGroup

from .plan_builder import PlanBuilder
from .public_servers import public_sources
from .s3_users import write_s3_user
from .scope import VPodScope
from .security import poplar_rules
from .switch_ports import write_rnic_ports
from .vpod_bare_metal import write_bare_metal_server
from .vpod_controller import write_controller
from .vpod_networks import write_networks
from .vpod_servers import write_poplar_server


def write_vpod(scope: VPodScope, builder: PlanBuilder) -> None:
    """Write down everything of one vPOD."""
    builder.component(scope.name(), "VirtualPod", parent=scope.tenant.id)
    write_networks(scope, builder)
    if not scope.bare_metal:
        _write_ssh_group(scope, builder)
    write_s3_user(scope, builder, scope.vpod.s3_keys)
    write_rnic_ports(scope, builder)
    write_server = write_bare_metal_server if scope.bare_metal else write_poplar_server
    for index in range(scope.vpod.poplar.servers):
        write_server(scope, builder, index)
    write_controller(scope, builder)


def _write_ssh_group(scope: VPodScope, builder: PlanBuilder) -> None:
    """Only for virtual servers: nothing applies a group to the port of a bare-metal host.

    Public servers have a group of their own in its place, so that they are reached from the prefixes stated for them.
    """
    name = scope.name("poplar-ssh")
    rules = poplar_rules(scope.tenant.access.ssh_from)
    builder.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))
    if scope.public is not None:
        name, rules = scope.public_group, poplar_rules(public_sources(scope.site, scope.public))
        builder.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))
