"""What a change does to the nodes of GPU clusters: which leave, come, move and are deployed anew, told before it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from interlock.model.lock.record import Lock
from interlock.model.tenant.request import Cluster, Tenant
from interlock.resources import BareMetalServer, Image, PartitionKey, Server
from interlock.vocabulary import Reference
from interlock.vocabulary.references import Scheme

from .plan import Plan
from .scheduler.hostlists import folded
from .scheduler.slurm import SLURM_CONF, STATE
from .scope import node_server

Canonical = Mapping[str, Any]
#: `leaves`: another number, or none, is on its host. `moves`: its name and address are those of another host. `redone`:
#: on the same host with another image.
NodeAction = Literal["comes", "leaves", "moves", "redone"]
#: What a change leaves of a cluster's partitions: it has none, they stay, they go with their last member.
Partitions = Literal["none", "stay", "go"]
_NODE, _HEAD = "ClusterNode", "ClusterHead"


@dataclass(frozen=True)
class NodeStep:
    """One node of a cluster: what becomes of it, from which host and image to which (empty: none)."""

    cluster: str
    #: Its server, by whose name its scheduler knows it.
    server: str
    action: NodeAction
    host: str
    image: str
    host_before: str = ""
    image_before: str = ""
    #: Whether Slurm was set up on it at its first boot.
    runs_slurm: bool = False
    #: Whether the scheduler's controller ran on it: the first node of a cluster without heads.
    is_controller: bool = False
    partitions: Partitions = "none"
    #: Whether it is, or was, a virtual server, which Nova makes and deletes; else Ironic deploys it.
    is_virtual: bool = False

    @property
    def is_lost(self) -> bool:
        """True if what is on its own disks goes."""
        return self.action != "comes" and not self.is_refused

    @property
    def is_refused(self) -> bool:
        """True if no apply does it: the devices of a virtual server are for one use, and the next one had none."""
        return self.action == "redone" and self.is_virtual


@dataclass(frozen=True)
class LeavingNodes:
    """The nodes of one cluster that a lock gives up, and what to do before they go."""

    cluster: str
    hosts: tuple[str, ...]
    servers: tuple[str, ...]
    runs_slurm: bool
    #: Whether its first node is among them, and it had no heads: the scheduler's controller ran there.
    has_controller: bool

    def __str__(self) -> str:
        leave, disks = ("leaves", "its own disks") if len(self.hosts) == 1 else ("leave", "their own disks")
        told = drained_first(self.servers, runs_slurm=self.runs_slurm, has_controller=self.has_controller)
        return f"{', '.join(self.hosts)} {leave}, and what is on {disks} is lost: {told}"


def drained_first(servers: Sequence[str], *, runs_slurm: bool, has_controller: bool) -> str:
    """What a person does before nodes are undeployed: nothing here can see their jobs."""
    names = folded(servers)
    if not runs_slurm:
        return f"before `pulumi up` end what runs on {names}"
    quoted = f"'{names}'" if "[" in names else names
    kept = f"; {servers[0]} is the controller: save {STATE} as well" if has_controller else ""
    return (
        f"before `pulumi up` run `scontrol update NodeName={quoted} State=DRAIN Reason=undeploy`, and wait until "
        f"`sinfo -h -n {quoted} -o %T` says drained{kept}"
    )


def leaving_nodes(tenant: Tenant, before: Lock | None, after: Lock) -> tuple[LeavingNodes, ...]:
    """The nodes that a new lock gives up. What scheduler a cluster had that is gone, no file says any more."""
    asked = {cluster.name: cluster for cluster in tenant.clusters}
    found = []
    for name, was in before.allocation.clusters.items() if before else ():
        now = after.allocation.clusters.get(name)
        gone = {number: host for number, host in was.numbered.items() if now is None or host not in now.hosts}
        servers = tuple(node_server(tenant.id, name, number) for number in gone)
        has_controller = not was.heads and min(was.numbered, default=-1) in gone
        if gone:
            found.append(LeavingNodes(name, tuple(gone.values()), servers, _has_slurm(asked.get(name)), has_controller))
    return tuple(found)


def node_steps(before: Canonical | None, plan: Plan) -> tuple[NodeStep, ...]:
    """What becomes of each node against an earlier plan in canonical form; by cluster and number."""
    old = dict(_earlier(before)) if before else {}
    new = dict(_planned(plan))
    headed = {item["parent"] for item in before.get("components", ()) if item["type"] == _HEAD} if before else set()
    first = {min(names, key=_number) for part, names in _by_cluster(old).items() if part not in headed}
    had = {item["component"] for item in before["resources"] if item["kind"] == PartitionKey.KIND} if before else set()
    has = {item.component for item in plan.resources if item.resource.KIND == PartitionKey.KIND}
    every = {**old, **new}
    names = sorted(every, key=lambda name: (every[name].cluster, _number(name)))
    found = [_step(name, old.get(name), new.get(name), is_controller=name in first) for name in names]
    return tuple(replace(step, partitions=_partitions(step, had, has)) for step in found if step is not None)


def _partitions(step: NodeStep, had: Collection[str], has: Collection[str]) -> Partitions:
    if step.cluster in has:
        return "stay"
    return "go" if step.cluster in had else "none"


@dataclass(frozen=True)
class _Node:
    cluster: str
    host: str
    image: str
    runs_slurm: bool
    is_virtual: bool


def _earlier(before: Canonical) -> Iterator[tuple[str, _Node]]:
    clusters = {item["name"]: item["parent"] for item in before.get("components", ()) if item["type"] == _NODE}
    for item in before["resources"]:
        if item["kind"] in (BareMetalServer.KIND, Server.KIND) and item["component"] in clusters:
            spec, is_virtual = item["spec"], item["kind"] == Server.KIND
            host = spec["host"] if is_virtual else spec["node"]
            part = clusters[item["component"]]
            yield item["name"], _node(part, host, spec["image"], spec["user_data"], is_virtual=is_virtual)


def _planned(plan: Plan) -> Iterator[tuple[str, _Node]]:
    for item in plan.resources:
        above = plan.component[item.component]
        spec = item.resource
        if isinstance(spec, BareMetalServer | Server) and above.type == _NODE:
            is_virtual = isinstance(spec, Server)
            host = spec.host if isinstance(spec, Server) else spec.node
            yield item.name, _node(above.parent or "", host, spec.image, spec.user_data, is_virtual=is_virtual)


def _node(cluster: str, host: str, image: str, user_data: str, *, is_virtual: bool) -> _Node:
    name = Reference.name_in(image, Scheme.SITE, Image.KIND) or image
    return _Node(cluster, host, name, SLURM_CONF in user_data, is_virtual)


def _step(name: str, old: _Node | None, new: _Node | None, *, is_controller: bool) -> NodeStep | None:
    if old is None and new is not None:
        return NodeStep(new.cluster, name, "comes", new.host, new.image, is_virtual=new.is_virtual)
    if old is None or (new is not None and (old.host, old.image) == (new.host, new.image)):
        return None
    action: NodeAction = "leaves" if new is None else "moves" if old.host != new.host else "redone"
    return NodeStep(
        old.cluster, name, action, new.host if new else "", new.image if new else "", old.host, old.image,
        old.runs_slurm, is_controller, is_virtual=old.is_virtual,
    )  # fmt: skip


def _by_cluster(nodes: Mapping[str, _Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, node in nodes.items():
        found.setdefault(node.cluster, []).append(name)
    return found


def _number(server: str) -> int:
    return int(server.rpartition("-")[2])


def _has_slurm(cluster: Cluster | None) -> bool:
    return cluster is not None and cluster.scheduler == "slurm"
