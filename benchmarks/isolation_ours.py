"""The kernel over a fleet, as a whole process: read it, number it, find the components with two owners.

Only that one module is loaded: the package around it brings the rules and all that they read, a second of imports.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

KERNEL = Path(__file__).resolve().parents[1] / "policies" / "graph" / "kernel.py"


def load_kernel() -> ModuleType:
    """The kernel alone."""
    spec = importlib.util.spec_from_file_location("kernel", KERNEL)
    if spec is None or spec.loader is None:
        raise ImportError(str(KERNEL))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def conflicts(kernel: ModuleType, fleet: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str]]:
    """Pairs of tenants in one component."""
    networks, servers, ports = (fleet[kind] for kind in ("networks", "servers", "ports"))
    nodes, owners = kernel.Numbering(), kernel.Numbering()
    on_networks = nodes.all_of([item["id"] for item in networks])
    on_servers = nodes.all_of([item["id"] for item in servers])
    left = on_networks + nodes.all_of([item["server"] for item in ports])
    right = nodes.all_of([f"{item['physical_network']}:{item['vlan']}" for item in networks])
    right += nodes.all_of([item["network"] for item in ports])
    component = kernel.components(len(nodes), left, right)
    owned = [(node, item["tenant"]) for node, item in zip(on_networks, networks, strict=True)]
    owned += [(node, item["tenant"]) for node, item in zip(on_servers, servers, strict=True) if item["tenant"]]
    labels = owners.all_of([tenant for _, tenant in owned])
    found = kernel.mixed(component, [node for node, _ in owned], labels)
    return _pairs(component, owned, found)


def _pairs(component: Any, owned: list[tuple[int, str]], found: set[int]) -> list[tuple[str, str]]:
    tenants: dict[int, set[str]] = {number: set() for number in found}
    for node, tenant in owned:
        if component[node] in tenants:
            tenants[component[node]].add(tenant)
    return sorted(pair for names in tenants.values() for pair in combinations(sorted(names), 2))


if __name__ == "__main__":
    print(json.dumps(conflicts(load_kernel(), json.loads(Path(sys.argv[1]).read_text()))))
