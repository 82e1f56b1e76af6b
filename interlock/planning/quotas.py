"""Quotas: exactly what a plan needs in a project, and room for one replacement of each kind at a time.

`ROWS` is the whole rule. The limit of a field is the sum over its rows of

    standing + what every resource of the kind takes + the most that one of them takes

where `standing` is what the cloud itself puts into every project, and the last term is the headroom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from interlock.model.site.inventory import Site
from interlock.resources import Quota, Resource, SecurityGroup, Server, Share, ShareQuota, Subnet, Volume
from interlock.vocabulary import Reference

from .security import RULES_OF_A_CONTROLLER

MIB_PER_GIB = 1024

#: Every project has Neutron's group `default`.
DEFAULT_GROUPS = 1
#: Rules of Neutron's own: four in the group `default`, and two that each new group starts with.
OWN_RULES = 4 + 2

Amount = Callable[[Site, Resource], int]


@dataclass(frozen=True)
class Row:
    """How much of the quota `field` each resource of one kind takes."""

    field: str
    kind: str
    amount: Amount
    standing: int = 0


def _one(_: Site, __: Resource) -> int:
    return 1


def _cores(site: Site, resource: Resource) -> int:
    return _flavor(site, resource)[0]


def _ram_mib(site: Site, resource: Resource) -> int:
    return _flavor(site, resource)[1] * MIB_PER_GIB


def _flavor(site: Site, resource: Resource) -> tuple[int, int]:
    """(CPUs, GiB) of a server."""
    if not isinstance(resource, Server):
        return (0, 0)
    flavor = site.flavor[Reference.parse(resource.flavor).name]
    return (flavor.vcpus, flavor.ram_gib)


def _dhcp_port(_: Site, resource: Resource) -> int:
    return int(isinstance(resource, Subnet) and resource.dhcp)


def _bound(_: Site, resource: Resource) -> int:
    return int(resource.is_declared)


def _rules(_: Site, resource: Resource) -> int:
    return len(resource.rules) if isinstance(resource, SecurityGroup) else 0


def _gib(_: Site, resource: Resource) -> int:
    return resource.size_gib if isinstance(resource, Share | Volume) else 0


ROWS = (
    Row("instances", "Server", _one),
    Row("cores", "Server", _cores),
    Row("ram_mib", "Server", _ram_mib),
    Row("networks", "Network", _one),
    Row("subnets", "Subnet", _one),
    Row("ports", "Port", _one),
    Row("ports", "RouterInterface", _one),
    Row("ports", "SwitchPort", _bound),
    Row("ports", "Subnet", _dhcp_port),
    Row("routers", "Router", _one),
    Row("security_groups", "SecurityGroup", _one, DEFAULT_GROUPS),
    Row("security_group_rules", "SecurityGroup", _rules, OWN_RULES),
    Row("floating_ips", "FloatingIp", _one),
    Row("volumes", "Volume", _one),
    Row("volume_gib", "Volume", _gib),
)
#: Those at Manila, which a cloud without shares may be without.
SHARE_ROWS = (Row("shares", "Share", _one), Row("share_gib", "Share", _gib))


def quota_for(site: Site, project: str, resources: Sequence[Resource]) -> Quota:
    """The quota of a project, given by its reference; it holds those of `resources` that name it."""
    return Quota(project=project, **_limits(ROWS, site, project, resources))


def share_quota_for(site: Site, project: str, resources: Sequence[Resource]) -> ShareQuota:
    """The same of shares."""
    return ShareQuota(project=project, **_limits(SHARE_ROWS, site, project, resources))


def _limits(rows: Sequence[Row], site: Site, project: str, resources: Sequence[Resource]) -> dict[str, int]:
    own = [item for item in resources if getattr(item, "project", None) == project]
    limits: dict[str, int] = {}
    for row in rows:
        amounts = [row.amount(site, item) for item in own if row.kind == item.KIND]
        limits[row.field] = limits.get(row.field, 0) + row.standing + _with_headroom(amounts)
    return limits


def controllers_quota(site: Site, project: str) -> Quota:
    """The quota of the operator's project for controllers: one for each vPOD that the limits allow.

    A controller has a management network with a subnet without DHCP, two ports and two security groups. The headroom
    is one more of each. Where Neutron wires the management switches, each machine has a port on them besides.
    """
    vpods = site.limits.controller_instances
    wired = sum(1 for machine in site.machines if _wired_by_neutron(site, machine.name))
    return Quota(
        project=project,
        instances=vpods,
        cores=site.limits.controller_cores,
        ram_mib=site.limits.controller_ram_gib * MIB_PER_GIB,
        networks=vpods + 1,
        subnets=vpods + 1,
        ports=2 * vpods + 1 + wired,
        routers=0,
        security_groups=DEFAULT_GROUPS + 2 * vpods + 1,
        security_group_rules=OWN_RULES + RULES_OF_A_CONTROLLER * (vpods + 1),
        floating_ips=0,
        volumes=0,
        volume_gib=0,
    )


def _wired_by_neutron(site: Site, machine: str) -> bool:
    end = site.far_end(machine, "mgmt")
    return end is not None and end.device in site.switch and site.switch[end.device].wired_by == "neutron"


def _with_headroom(amounts: Iterable[int]) -> int:
    listed = list(amounts)
    return sum(listed) + max(listed, default=0)
