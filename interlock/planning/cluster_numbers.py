"""The number of each node of a cluster, which its server's name and its address are made from.

A node keeps its number for as long as it is the cluster's, whoever leaves: another number would be another server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def number_nodes(before: Mapping[int, str], nodes: Sequence[str], most: int) -> dict[int, str]:
    """Number -> node, ascending. `before`: as it was; `most`: how many numbers have an address.

    A new node stands where another left: it has its name and address. One that is added has a number above the lowest,
    because the first node is the scheduler's controller; below only where nothing else is left.
    """
    found = {number: node for number, node in before.items() if node in nodes}
    left = [number for number in sorted(before) if number not in found]
    new = [node for node in nodes if node not in found.values()]
    found |= zip(left, new, strict=False)
    added = new[len(left) :]
    lowest = min(found, default=0)
    order = (*range(lowest, max(most, len(nodes))), *range(lowest))
    found |= zip((number for number in order if number not in found), added, strict=False)
    return dict(sorted(found.items()))


def written_numbers(numbers: Sequence[int]) -> tuple[int, ...]:
    """As a lock records them: nothing where they are 0, 1, 2 …, as they are at first."""
    return () if list(numbers) == list(range(len(numbers))) else tuple(numbers)
