"""The same question asked of networkx as anybody would: one graph, its components, the tenants in each."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx


def conflicts(fleet: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str]]:
    """Pairs of tenants in one component."""
    graph: nx.Graph[str] = nx.Graph()
    for item in fleet["networks"]:
        graph.add_node(item["id"], tenant=item["tenant"])
        graph.add_edge(item["id"], f"{item['physical_network']}:{item['vlan']}")
    for item in fleet["servers"]:
        graph.add_node(item["id"], tenant=item["tenant"])
    for item in fleet["ports"]:
        graph.add_edge(item["server"], item["network"])
    found: set[tuple[str, str]] = set()
    for component in nx.connected_components(graph):
        tenants = {tenant for node in component if (tenant := graph.nodes[node].get("tenant")) is not None}
        found |= set(combinations(sorted(tenants), 2))
    return sorted(found)


if __name__ == "__main__":
    print(json.dumps(conflicts(json.loads(Path(sys.argv[1]).read_text()))))
