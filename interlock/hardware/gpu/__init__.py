"""The catalogue of GPU nodes and halls: figures with their sources, and a hall expanded to its last cable.

`processors`, `nvlink` and `nodes` say what a node is made of; `dgx_nodes`, `other_nodes` and `node_types` hold the
nodes; `fat_tree`, `hall_designs`, `halls` and `expanding` are about halls; `software` says which software fits which.
Requests are held against it, and GPUs are priced by its node types.
"""

from __future__ import annotations

from .expanding import expand, hall_fault
from .fat_tree import FatTree, fat_tree
from .hall_designs import HALL_DESIGNS, FabricDesign, HallDesign, HallRow
from .halls import (
    FabricCounts,
    GpuHall,
    HallCable,
    HallEnd,
    HallHca,
    HallNode,
    HallSwitch,
    counts,
    oversubscribed,
    rack_loads,
)
from .node_types import NODE_TYPES, OFFERED, cluster_verdict, gpu_count_verdict
from .nodes import (
    INFINIBAND_RATES,
    NodeBuild,
    NodeHost,
    NodePorts,
    NodeType,
    NotOffered,
    PortRole,
    PowerSupplies,
)
from .nvlink import NVLINK_TABLES, NvlinkTable
from .processors import GPUS, GpuModel, PeakRate

__all__ = [
    "GPUS",
    "HALL_DESIGNS",
    "INFINIBAND_RATES",
    "NODE_TYPES",
    "NVLINK_TABLES",
    "OFFERED",
    "FabricCounts",
    "FabricDesign",
    "FatTree",
    "GpuHall",
    "GpuModel",
    "HallCable",
    "HallDesign",
    "HallEnd",
    "HallHca",
    "HallNode",
    "HallRow",
    "HallSwitch",
    "NodeBuild",
    "NodeHost",
    "NodePorts",
    "NodeType",
    "NotOffered",
    "NvlinkTable",
    "PeakRate",
    "PortRole",
    "PowerSupplies",
    "cluster_verdict",
    "counts",
    "expand",
    "fat_tree",
    "gpu_count_verdict",
    "hall_fault",
    "oversubscribed",
    "rack_loads",
]
