"""Every node type by name, and whether a cluster of it can be asked for: why not, and what would work.

These are the answers that requests for clusters get.
"""

from __future__ import annotations

from difflib import get_close_matches

from interlock.hardware.verdicts import OK, PlacementVerdict, fault, unknown

from .dgx_nodes import DGX_NODES
from .nodes import NodeType
from .other_nodes import GCORE_NODES, OTHER_ACCELERATORS

#: Every node type of the catalogue, by the name that files will use.
NODE_TYPES: dict[str, NodeType] = DGX_NODES | GCORE_NODES | OTHER_ACCELERATORS

#: Those of which clusters are to be offered.
OFFERED = tuple(name for name, node in NODE_TYPES.items() if node.not_offered is None)


def cluster_verdict(name: str, *, fabric: bool = False) -> PlacementVerdict:
    """Whether a cluster of this node type can be offered, and with `fabric` one whose GPUs reach each other by RDMA.

    A fault says why not and names the nearest type that would do. A name that is no node type is a fault, too.
    """
    node = NODE_TYPES.get(name)
    if node is None:
        near = get_close_matches(name.lower(), OFFERED, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(OFFERED)}"
        return fault(f"node type {name!r} is not in the catalogue: {meant}")
    if node.not_offered is not None:
        return fault(f"no cluster of {name}: {node.not_offered.why}; the nearest type is {node.not_offered.instead}")
    if fabric and not node.has_rdma_fabric:
        return fault(f"{name} has no ports for a compute fabric: {_with_fabric(node)}")
    return OK


def gpu_count_verdict(name: str, gpus: int) -> PlacementVerdict:
    """Whether so many GPUs are whole nodes of this type: anything less shares NVSwitches with somebody else."""
    of_type = cluster_verdict(name)
    if not of_type.passes:
        return of_type
    count = NODE_TYPES[name].gpus
    if count is None:
        return unknown(f"how many GPUs a {name} has is in no document that was read")
    each = count.value
    if gpus > 0 and gpus % each == 0:
        return OK
    down, up = gpus // each * each, (max(gpus, 0) // each + 1) * each
    fits = f"{down} or {up}" if down > 0 else str(up)
    return fault(f"{gpus} GPUs are no whole nodes: a {name} has {each}, and is given whole; {fits} would do")


def _with_fabric(node: NodeType) -> str:
    """The offered types with a fabric: those of the same GPU, or else of the same maker."""
    able = [NODE_TYPES[name] for name in OFFERED if NODE_TYPES[name].has_rdma_fabric]
    near = [item for item in able if item.gpu == node.gpu] or [item for item in able if item.maker == node.maker]
    return f"{', '.join(item.name for item in near or able)} would do"
