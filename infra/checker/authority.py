"""What an owner can do by API calls alone: closed under all grants, and nothing of it is somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Way of a grant -> how its source must be held, and how its target is held then.
WAYS = {
    "acts as": ("write", "write"), "reads": ("write", "read"), "writes": ("write", "write"), "keeps": ("read", "write"),
    "serves": ("read", "write"), "controls": ("write", "write"),
}  # fmt: skip


def authority_faults(said: dict[str, Any], holds: list[str]) -> Iterator[str]:
    """What the owner holds is closed under all grants, and nothing of it is somebody else's."""
    owner, public, held = said["owner"], {*said["public"]}, {tuple(item.split(" ", 1)) for item in holds}
    if ("write", f"prin:{owner}") not in held:
        yield f"{owner} is not in its own set"
    for way, source, target in said["grants"]:
        needs, gives = WAYS[way]
        reached = ("write", source) in held or (needs == "read" and ("read", source) in held)
        if reached and (gives, target) not in held:
            yield f"{source} {way} {target}, which is not in the set of {owner}"
    for access, node in sorted(held):
        others = set(said["owners"].get(node, ())) - {owner}
        may_read = access == "read" and (node in public or others == {"op"})
        if others and owner != "op" and not may_read:
            yield f"{owner} holds {node} of {' and '.join(sorted(others))}"
