"""What is measured of a GPU hall, each in a process of its own. INTERLOCK_STACKS names the folder of sites.

python -m benchmarks.superpod_work load    every file of the site, as most commands read them
python -m benchmarks.superpod_work place   the same, and nodes for every cluster, none placed before; nothing is written
python -m benchmarks.superpod_work peer    the floor of it: the full form by PyYAML's C loader, its cables and the
                                           partitions of the locks as a graph of networkx, and its components
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.builders.superpod import SITE

#: Where the command before it has put the full form.
FULL = "full.yaml"


def load() -> int:
    """Read and check all files; returns the number of nodes."""
    from infra.program.gate import Gate

    return len(Gate.open(SITE).workspace.site.gpu_nodes)


def place() -> int:
    """Choose nodes for every cluster, one after the other; returns how many were given."""
    from infra.program.gate import Gate
    from interlock.planning.node_choice import choose_nodes
    from interlock.planning.node_groups import spots_of

    workspace = Gate.open(SITE).workspace
    free = [*spots_of(workspace.site, [node.name for node in workspace.site.gpu_nodes])]
    before = len(free)
    for tenant in workspace.tenants.values():
        for cluster in tenant.clusters:
            chosen = {*(choose_nodes(free, cluster.nodes) or ())}
            free = [spot for spot in free if spot not in chosen]
    return before - len(free)


def peer() -> int:
    """Read the full form and the locks without a check, and join what a cable or a partition joins.

    Returns the number of components. No default, no name, no rule, no witness: a floor, and no proof.
    """
    import networkx as nx
    import yaml

    stacks = Path(os.environ["INTERLOCK_STACKS"])
    site: dict[str, Any] = yaml.load((stacks / FULL).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    graph: nx.Graph[str] = nx.Graph()
    for cable in site["cables"]:
        graph.add_edge(*(str(end).partition(":")[0] for end in cable["ends"]))
    for path in sorted((stacks / SITE / "tenants").glob("*.lock.json")):
        for cluster in json.loads(path.read_text(encoding="utf-8"))["allocation"]["clusters"].values():
            keys = [f"key {key}" for key in cluster["partition_keys"].values()]
            graph.add_edges_from((host, key) for host in cluster["hosts"] for key in keys)
    return nx.number_connected_components(graph)


#: The word of the command line -> what is done.
WAYS: dict[str, Callable[[], int]] = {"load": load, "place": place, "peer": peer}


if __name__ == "__main__":
    print(WAYS[sys.argv[1]]())
