"""What the V-IPU controller of one vPOD is to be told: agents, a cluster of them, an allocation, users, partitions.

Every id at V-IPU is the plan name of the object, shortened where that is too long for one (`vipu_ids`), but for a
user's, which is the name of its Poplar server.
"""

from __future__ import annotations

from typing import Any, Literal

from interlock.model.site.inventory import Site
from interlock.resources import (
    StoredCredential,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
)
from interlock.resources.asked_names import VIPU_KEY

from .addresses import controller_address, management_addresses
from .gw_links import joined_racks
from .machine_order import in_order, machine_numbers
from .plan_builder import PlanBuilder
from .scope import VPodScope
from .vipu_ids import check_ids, vipu_id
from .vpod_guest import fetched, vipu_user

#: A ring of GW-Links has at least two IPU-Link domains in it.
_RING = 2


def write_vipu(scope: VPodScope, builder: PlanBuilder, controller: str) -> None:
    """Write down what stands on the controller, in the order in which V-IPU has to be told of it."""
    common: dict[str, Any] = {
        "controller": controller,
        "managed_by": scope.controller.managed_by,
        "address": controller_address(scope.claims.control_subnet),
    }
    machines = in_order(scope.site, scope.claims.machines)
    topology = topology_of(scope.site, machines)
    agents = _write_agents(scope, builder, common)
    cluster = VipuCluster(
        name=scope.name("cluster"), agents=tuple(agents[name] for name in machines if name in agents),
        topology=topology, link_domains=max(1, len(_racks(scope.site, machines))),
        cluster_topology=cluster_topology_of(scope.site, machines), **common,
    )  # fmt: skip
    builder.add(cluster.name, cluster)
    allocation = VipuAllocation(
        name=scope.name("allocation"), cluster=cluster.name, machines=machines, topology=topology, **common
    )
    builder.add(allocation.name, allocation)
    _write_users(scope, builder, common, allocation.name)
    for request in scope.vpod.partitions:
        partition = VipuPartition(
            name=vipu_id(scope, "partition", request.name), allocation=allocation.name, **common,
            **request.model_dump(exclude={"name"}),
        )  # fmt: skip
        builder.add(scope.name("partition", request.name), partition)
    ids = ((item.name, vipu_id(scope, "partition", item.name)) for item in scope.vpod.partitions)
    check_ids(ids, ("vpods", scope.vpod.name, "partitions"))


def _write_agents(scope: VPodScope, builder: PlanBuilder, common: dict[str, Any]) -> dict[str, str]:
    """Machine -> its agent. A machine that the site does not have has none: another rule says so.

    Addresses go by logical racks, so those of one rack are another's once a rack comes in before it. Who has them gives
    them up before: the last rack is told first, and each one waits for the one behind it.
    """
    site, found, behind = scope.site, dict[str, str](), tuple[str, ...]()
    numbers = {machine: number for number, machine in machine_numbers(site, in_order(site, scope.claims.machines))}
    for rack in reversed(_racks(site, tuple(numbers))):
        own = [name for name in numbers if name in site.machine and site.machine[name].logical_rack == rack]
        for machine in own:
            _, gateway = management_addresses(scope.claims.management_subnet, numbers[machine])
            agent = VipuAgent(
                name=vipu_id(scope, "agent", machine), machine=machine, serial=site.machine[machine].serial,
                host=gateway, **common,
            )  # fmt: skip
            # The controller reaches the gateway once its switch port is on the management network.
            wired = {item.name for item in builder.resources if item.resource.is_declared}
            after = (*({scope.name("mgmt", machine)} & wired), *behind)
            found[machine] = builder.add(scope.name("agent", machine), agent, after=after)
        behind = (found[own[0]],) if scope.controller.managed_by == "interlock" else ()
    check_ids(((name, vipu_id(scope, "agent", name)) for name in found), ("vpods", scope.vpod.name))
    return found


def _write_users(scope: VPodScope, builder: PlanBuilder, common: dict[str, Any], allocation: str) -> None:
    """One for each Poplar server, so that the key of one can be taken back alone; and how it gets the key."""
    for index in range(scope.vpod.poplar.servers):
        server = scope.server(index)
        user = builder.add(
            f"{server}-vipu", VipuUser(name=vipu_user(scope, index), allocations=(allocation,), **common)
        )
        if not scope.bare_metal and VIPU_KEY in fetched(scope):
            handed = StoredCredential(project=scope.project, credential=user, place=server, item=VIPU_KEY)
            builder.add(f"{user}-key", handed)


def _racks(site: Site, machines: tuple[str, ...]) -> tuple[str, ...]:
    """The logical racks of machines, in their order."""
    return tuple(dict.fromkeys(site.machine[name].logical_rack for name in machines if name in site.machine))


def topology_of(site: Site, machines: tuple[str, ...]) -> Literal["mesh", "torus"]:
    """A torus needs the cable from the last machine back to the first, so whole logical racks that have it."""
    racks = set(_racks(site, machines))
    looped = all(name in site.logical_rack and site.logical_rack[name].topology == "torus" for name in racks)
    if not (machines and looped):
        return "mesh"
    whole = {item.name for item in site.machines if item.logical_rack in racks} == set(machines)
    return "torus" if whole else "mesh"


def cluster_topology_of(site: Site, machines: tuple[str, ...]) -> Literal["none", "looped"]:
    """Looped where GW-Links lead from each logical rack to the next, and from the last back to the first.

    Of two racks, one set of links is both.
    """
    racks = _racks(site, machines)
    if len(racks) < _RING:
        return "none"
    own: dict[str, list[str | None]] = {rack: [] for rack in racks}
    for name in machines:
        if name in site.machine:
            own[site.machine[name].logical_rack].append(name)
    joined = joined_racks(site, own)
    ring = zip(racks, (*racks[1:], racks[0]), strict=True)
    return "looped" if all(other in joined[one] for one, other in ring) else "none"
