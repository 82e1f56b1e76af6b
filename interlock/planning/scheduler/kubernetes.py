"""For a Kubernetes cluster that somebody else bootstraps: groups of nodes for its chart, and a label for each node.

Keys of the values are those of `openstack-cluster`, azimuth-cloud's chart for Cluster API, `charts/openstack-cluster/
values.yaml`. Flavor, image, networks and the control plane are its operator's, in values of their own.
"""

from __future__ import annotations

from typing import Any

import yaml

from .layout import ClusterLayout

#: Not files of a server: for whoever installs the chart, and for whoever may label nodes.
VALUES = "kubernetes/values.yaml"
LABELS = "kubernetes/labels.yaml"

#: The closest tier of the fabric, as NVIDIA's Topograph labels it: nodes with one value are one switch apart.
CLOSEST = "fabric.topograph.run/tier-0"
RACK = "rack"


def kubernetes_files(layout: ClusterLayout) -> dict[str, str]:
    """Path -> YAML."""
    return {VALUES: _yaml(chart_values(layout)), LABELS: _yaml(labels(layout))}


def chart_values(layout: ClusterLayout) -> dict[str, Any]:
    """A group of nodes for each scalable unit: the chart labels groups, not nodes."""
    return {
        "nodeGroups": [
            {"name": unit, "machineCount": len(nodes), "nodeLabels": _unit(layout, unit)}
            for unit, nodes in layout.units
        ]
    }


def labels(layout: ClusterLayout) -> dict[str, dict[str, str]]:
    """Node -> its labels."""
    return {node.name: {**_unit(layout, unit), RACK: node.rack} for unit, nodes in layout.units for node in nodes}


def _unit(layout: ClusterLayout, unit: str) -> dict[str, str]:
    """Nodes without a fabric are close to nobody."""
    return {CLOSEST: unit} if layout.type.has_rdma_fabric else {}


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False)
