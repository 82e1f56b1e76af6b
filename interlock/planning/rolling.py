"""Another image for a cluster, node by node: how far it is, which node is next, and where old and new differ.

Nothing here can see jobs, so nothing here drains a node. The request is the gate: a node gets the new image once its
tenant has named it under `roll.drained`, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.lock.record import ClusterAllocation, Lock
from interlock.model.site.inventory import Site
from interlock.model.site.software import ImageSoftware
from interlock.model.tenant.request import Cluster, Roll, Scheduler, Tenant

from .errors import PlanningError
from .scope import node_server

#: What two nodes of one job have to have alike, or are better off with.
_COMPARED = ("nccl", "cuda", "driver", "ofed", "kernel", "lustre")


@dataclass(frozen=True)
class RollNode:
    """A node in a roll: its host, and the server that it is."""

    host: str
    server: str
    #: Whether the scheduler's controller runs on it: the first node of a cluster without heads.
    is_controller: bool


@dataclass(frozen=True)
class RollState:
    """How far a cluster is on its way from one image to another."""

    cluster: str
    scheduler: Scheduler
    before: str
    after: str
    done: tuple[RollNode, ...]
    #: In the order in which they had better come: a node where the controller runs last.
    left: tuple[RollNode, ...]
    #: Software that both images state, and that differs: name, old and new version.
    differences: tuple[tuple[str, str, str], ...]


def rolls(site: Site, tenant: Tenant, lock: Lock) -> tuple[RollState, ...]:
    """Every cluster of a request that has a roll."""
    return tuple(
        _roll(site, tenant.id, cluster, cluster.roll, lock.allocation.clusters[cluster.name])
        for cluster in tenant.clusters
        if cluster.roll is not None and tenant.state == "present"
    )


def check_roll(cluster: Cluster, claims: ClusterAllocation) -> None:
    """PlanningError if a node is named as drained that the cluster does not have: a slip, or one that left it."""
    for place, host in enumerate(cluster.roll.drained if cluster.roll is not None else ()):
        if host not in claims.hosts:
            raise PlanningError(
                f"cluster {cluster.name}: `roll.drained` names {host}, which is none of its nodes",
                f"it has {', '.join(claims.hosts)}: name some of these, or take {host} out",
                ("clusters", cluster.name, "roll", "drained", place),
            )


def _roll(site: Site, tenant: str, cluster: Cluster, roll: Roll, claims: ClusterAllocation) -> RollState:
    controller = None if claims.heads else min(claims.numbered, default=0)
    nodes = [
        RollNode(host, node_server(tenant, cluster.name, number), is_controller=number == controller)
        for number, host in claims.numbered.items()
    ]
    done = tuple(node for node in nodes if node.host in roll.drained)
    left = sorted((node for node in nodes if node not in done), key=lambda node: node.is_controller)
    differences = tuple(_differences(site, cluster.image, roll.image))
    return RollState(cluster.name, cluster.scheduler, cluster.image, roll.image, done, tuple(left), differences)


def _differences(site: Site, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    stated = {image.name: image.software for image in site.images}
    old, new = (stated.get(name) or ImageSoftware() for name in (before, after))
    for name in _COMPARED:
        one, other = getattr(old, name), getattr(new, name)
        if one is not None and other is not None and one != other:
            yield name, one, other
