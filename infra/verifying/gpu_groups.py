"""What ISO-22 finds of GPU nodes in a plan: a node is one NVLink domain, given out whole, so its group is all its GPUs.

Written from NVIDIA's Fabric Manager user guide, GPU partitions: the id of the group of all eight GPUs by generation.
"""

from __future__ import annotations

from collections.abc import Iterator

from .plans import PlanOfStack

#: Words of a node type's name -> the partition of all its GPUs.
_WHOLE = {"a100": 1, "h100": 0, "h200": 0, "b200": 1, "b300": 1}
#: Types that are called by their GPU and have no NVSwitches, or join several trays.
_NONE = ("gb200", "gb300")
_ALL = [str(number) for number in range(1, 9)]


def parts_of_nodes(plan: PlanOfStack) -> Iterator[str]:
    """Groups that are not all of the node that is their domain."""
    types = {item["name"]: item["node_type"] for item in plan.inventory.site["gpu_nodes"]}
    for name, item in plan.all("NvlinkPartition").items():
        kind = types.get(item["domain"])
        if kind is None:
            continue
        whole = None if kind.startswith(_NONE) else next((_WHOLE[word] for word in _WHOLE if word in kind), None)
        if whole is None:
            yield f"{name} is a group of GPUs of {item['domain']}, which has no NVSwitches"
        elif sorted(item["gpus"]) != _ALL or item["partition"] != whole:
            yield f"{name} is not all of {item['domain']}"
