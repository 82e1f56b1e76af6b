"""What the servers of a GPU cluster are told at their first boot: who is in it, and what its scheduler reads.

With heads the first of them is the scheduler's controller, and the second one another controller or a place to log in.
Without, the first node is the controller as well.
"""

from __future__ import annotations

from dataclasses import replace

from .addresses import head_address, node_address
from .cluster_roce import roce_conf
from .guest.files import GuestFile
from .scheduler import (
    ClusterLayout,
    ClusterNode,
    ClusterServer,
    Scheduler,
    SecondController,
    guest_files,
    scheduler_files,
)
from .scheduler.bare import NCCL_CONF
from .scope import ClusterScope
from .share_mounts import ShareMount, share_mounts

#: Of a cluster without InfiniBand: its ports are in the default partition alone, where NCCL would wait for its peers.
_NO_INFINIBAND = (
    "# This cluster has no partition of the InfiniBand fabric: NCCL goes by the in-band network.\nNCCL_IB_DISABLE=1\n"
)
#: Of a node whose place the site does not state.
_SOME_RACK = "unknown"


def files_of_server(
    scope: ClusterScope, layout: ClusterLayout, server: str, *, has_gpus: bool = True
) -> tuple[GuestFile, ...]:
    """All that a node or a head is told of its cluster, by its name. `layout` is that of all of them."""
    files = guest_files(Scheduler(scope.cluster.scheduler), layout, server)
    # NCCL runs where GPUs are.
    return tuple(_as_joined(scope, file) for file in files if has_gpus or file.path != NCCL_CONF)


def _as_joined(scope: ClusterScope, file: GuestFile) -> GuestFile:
    if file.path != NCCL_CONF or scope.cluster.fabric == "infiniband":
        return file
    return replace(file, content=roce_conf(scope) if scope.cluster.fabric == "roce" else _NO_INFINIBAND)


def texts_of_cluster(scope: ClusterScope) -> dict[str, str]:
    """Path -> text of all that its scheduler reads, whichever server it is for, and of what its people take elsewhere:
    values and labels for Kubernetes.
    """
    texts = scheduler_files(Scheduler(scope.cluster.scheduler), layout_of(scope))
    return {path: _as_joined(scope, GuestFile(path, text)).content for path, text in texts.items()}


def mounts_of(scope: ClusterScope) -> tuple[ShareMount, ...]:
    """What each head and node of the cluster mounts of its tenant's shares."""
    return share_mounts(scope.site, scope.tenant, scope.cluster.name, scope.claims)


def layout_of(scope: ClusterScope) -> ClusterLayout:
    """The cluster as its scheduler sees it. PlanningError where no scheduler could take it."""
    racks = {item.device: item.rack for item in scope.site.placements}
    subnet, slurm = scope.claims.cluster_subnet, scope.cluster.slurm
    nodes = tuple(
        ClusterNode(
            scope.node(number), node_address(subnet, number), unit=node.unit, rack=racks.get(node.name, _SOME_RACK)
        )
        for number, node in zip(scope.claims.numbered, scope.nodes(), strict=True)
    )
    count = 0 if scope.heads is None else scope.heads.count
    heads = [ClusterServer(scope.head(index), head_address(subnet, index)) for index in range(count)]
    lowest = min(scope.claims.numbered)
    first, *others = heads or [ClusterServer(scope.node(lowest), node_address(subnet, lowest))]
    second = SecondController(others[0], slurm.state) if others and slurm.state is not None else None
    layout = ClusterLayout(
        name=scope.cluster.name, head=first, nodes=nodes, node_type=scope.cluster.node_type, second=second,
        logins=() if second is not None else tuple(others), accounting=first if slurm.accounting else None,
        leaf_group=scope.claims.roce_network,
    )  # fmt: skip
    return layout if slurm.release is None else replace(layout, release=slurm.release)
