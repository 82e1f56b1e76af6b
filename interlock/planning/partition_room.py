"""V-IPU partitions, new or larger, that have no room until others are gone: an apply makes first and deletes last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from interlock.hardware import IPU_M2000
from interlock.resources import VipuAllocation, VipuPartition

Canonical = Mapping[str, Any]
#: (kind, plan name), as the differences of plans have it.
Key = tuple[str, str]


def without_room(old: Mapping[Key, Canonical], new: Mapping[Key, Canonical], anew: Collection[str]) -> dict[str, str]:
    """New or larger partition -> why it cannot be made. `anew`: what is recreated, which takes along all that stands
    on it.

    What is recreated goes before it is made again, and what is in the request no more goes last of all.
    """
    found: dict[str, str] = {}
    leaving, coming, taken = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list), _taken(new)
    for kind, name in old.keys() - new.keys():
        if kind == VipuPartition.KIND:
            leaving[old[kind, name]["allocation"]].append(name)
    for kind, name in new:
        if kind == VipuPartition.KIND and _takes_more(old.get((kind, name)), new[kind, name]):
            coming[new[kind, name]["allocation"]].append(name)
    for allocation, names in coming.items():
        spec = new.get((VipuAllocation.KIND, allocation))
        gone = sorted(leaving[allocation])
        if spec is None or allocation in anew or not gone:
            continue
        still = sum(old[VipuPartition.KIND, name]["ipus"] for name in gone)
        if taken[allocation] + still > len(spec["machines"]) * IPU_M2000.ipus.value:
            it = "it" if len(gone) == 1 else "these"
            why = (
                f"make it: its IPUs are not free before {', '.join(gone)} is deleted, and `pulumi up` makes first and "
                f"deletes last; take {it} out of the request and apply that, then ask for what is new or larger"
            )
            found |= dict.fromkeys(names, why)
    return found


def _takes_more(before: Canonical | None, after: Canonical) -> bool:
    """Of one allocation: what is in another one than before goes with that."""
    return before is None or (before["allocation"] == after["allocation"] and before["ipus"] < after["ipus"])


def _taken(plan: Mapping[Key, Canonical]) -> defaultdict[str, int]:
    """Allocation -> IPUs of all partitions that a plan has in it."""
    taken: defaultdict[str, int] = defaultdict(int)
    for (kind, _), spec in plan.items():
        if kind == VipuPartition.KIND:
            taken[spec["allocation"]] += spec["ipus"]
    return taken
