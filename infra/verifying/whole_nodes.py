"""Servers on GPU nodes, asked again: each has its node whole, by a flavour whose devices are given back by hand."""

from __future__ import annotations

from collections.abc import Iterator

from . import references
from .plans import PlanOfStack


def parts_and_reused(plan: PlanOfStack) -> Iterator[str]:
    """Servers that have a part of a node, and those whose devices the next one gets as they are."""
    inventory = plan.inventory
    types = {item["name"]: item["node_type"] for item in inventory.site["gpu_nodes"]}
    for name, server in plan.all("Server").items():
        host = server["host"]
        if not inventory.is_lent(host):
            continue
        flavor = inventory.flavors.get(references.sites_flavor(server["flavor"]) or "")
        node = flavor["whole_node"] if flavor is not None else None
        if node is None or node["type"] != types.get(host):
            yield f"{name} does not have {host} whole"
        elif not node["one_time_use"]:
            yield f"devices of {host} are not kept back after {name}"
