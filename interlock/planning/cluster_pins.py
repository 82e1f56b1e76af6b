"""Nodes that a request pins for a GPU cluster: refused where they are not what it asks for, or somebody else's."""

from __future__ import annotations

from interlock.model.lock.record import ClusterAllocation
from interlock.model.tenant.request import Cluster, Pins

from .allocation_state import AllocationState
from .errors import AllocationError, PlanningError
from .out_of_service import BRING_BACK, refused_pin, said_of

_BY_KEYS = "on the same InfiniBand subnets with every GUID stated"
#: What joins nodes of a cluster, by its fabric. Without one, storage may still be on InfiniBand.
_JOINED = {"infiniband": _BY_KEYS, "none": _BY_KEYS, "roce": "with all rails on one network of the pool `roce`"}


def check_pins(allocated: AllocationState, cluster: Cluster, pins: Pins, before: ClusterAllocation | None) -> None:
    """Raises PlanningError or AllocationError. `before`: what the cluster had, which it may pin whatever its state."""
    names, name, site, had = pins.hosts or (), cluster.name, allocated.site, before.hosts if before else ()
    out, path = "pin others, or remove `hosts` from its pins", ("pins", name, "hosts")
    if len(names) != cluster.nodes:
        what = f"cluster {name} asks for {cluster.nodes} nodes and pins {len(names)}"
        raise PlanningError(what, f"pin {cluster.nodes}, or remove `hosts` from its pins", path)
    refused = refused_pin(site, pins, had)
    if refused is not None:
        what = f"cluster {name} pins {said_of(refused[1], 'which ')}"
        raise PlanningError(what, f"{out}; or {BRING_BACK}", ("pins", name, refused[0]))
    halls = sorted({site.gpu_node[node].hall for node in names if node in site.gpu_node})
    if len(halls) > 1:
        what = f"cluster {name} pins nodes of {' and '.join(halls)}, and has those of one hall"
        raise PlanningError(what, out, path)
    for node in names:
        if node not in had and allocated.hosts.servers.get(node):
            what = f"cluster {name} pins {node}, which is given out already"
            raise AllocationError(what, hint=out, path=path)


def pinned_apart(cluster: Cluster) -> PlanningError:
    """The error for pinned nodes that cannot be one cluster."""
    return PlanningError(
        f"cluster {cluster.name}: the nodes that it pins are not on one network of the pool `cluster`, or "
        f"not {_JOINED[cluster.fabric]}",
        "pin others, or remove `hosts` from its pins",
        ("pins", cluster.name, "hosts"),
    )
