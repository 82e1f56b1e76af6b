"""What the nodes of a GPU cluster are told at their first boot: who its nodes are, and what its scheduler reads.

There are no servers beside the nodes, so the first of them is the scheduler's controller as well.
"""

from __future__ import annotations

from .addresses import node_address
from .scheduler import ClusterLayout, ClusterNode, ClusterServer, Scheduler, files_of
from .scheduler.bare import NCCL_CONF
from .scope import ClusterScope

#: Of a cluster without InfiniBand: its ports are in the default partition alone, where NCCL would wait for its peers.
_NO_INFINIBAND = (
    "# This cluster has no partition of the InfiniBand fabric: NCCL goes by the in-band network.\nNCCL_IB_DISABLE=1\n"
)
#: Of a node whose place the site does not state.
_SOME_RACK = "unknown"


def files_of_node(scope: ClusterScope, number: int) -> dict[str, str]:
    """Path -> text of all that the node of this number is told of its cluster."""
    files = files_of(Scheduler(scope.cluster.scheduler), layout_of(scope), scope.node(number))
    if scope.cluster.fabric == "none" and NCCL_CONF in files:
        files[NCCL_CONF] = _NO_INFINIBAND
    return files


def layout_of(scope: ClusterScope) -> ClusterLayout:
    """The cluster as its scheduler sees it. PlanningError where no scheduler could take it."""
    racks = {item.device: item.rack for item in scope.site.placements}
    subnet = scope.claims.cluster_subnet
    nodes = tuple(
        ClusterNode(
            scope.node(number), node_address(subnet, number), unit=node.unit, rack=racks.get(node.name, _SOME_RACK)
        )
        for number, node in zip(scope.claims.numbered, scope.nodes(), strict=True)
    )
    first = min(scope.claims.numbered)
    head = ClusterServer(scope.node(first), node_address(subnet, first))
    return ClusterLayout(name=scope.cluster.name, head=head, nodes=nodes, node_type=scope.cluster.node_type)
