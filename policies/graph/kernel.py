"""Bulk questions over numbers instead of names: connected components, and which of them carry two labels.

Both are asked of the whole union; graphs that rules walk are built only for the components that matter. Numbers of
components are dense and follow their least nodes, so that the two ways of finding them give the same answer: plain
Python, and above `ENOUGH` edges scipy, whose import alone takes about as long as that many edges.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]

#: Edges (or labels) from which arrays are quicker, with the import of scipy counted in.
ENOUGH = 400_000


class Numbering:
    """Names as numbers, in the order in which they are first met."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.number: dict[str, int] = {name: n for n, name in enumerate(dict.fromkeys(names))}

    def __len__(self) -> int:
        return len(self.number)

    def of(self, name: str) -> int:
        """The number of a name; a new one for a new name."""
        return self.number.setdefault(name, len(self.number))

    def all_of(self, names: Iterable[str]) -> array[int]:
        """The numbers of several names."""
        number = self.number
        return array("i", [number.setdefault(name, len(number)) for name in names])


def components(count: int, left: Sequence[int], right: Sequence[int]) -> Sequence[int]:
    """For each of `count` nodes the number of its component; edges join `left[n]` and `right[n]`."""
    if len(left) < ENOUGH:
        return plain_components(count, left, right)
    found: list[int] = array_components(count, _column(left), _column(right)).tolist()
    return found


def mixed(component: Sequence[int], nodes: Sequence[int], labels: Sequence[int]) -> set[int]:
    """The components that carry two labels; node `nodes[n]` carries `labels[n]`, and may carry others besides."""
    if len(nodes) < ENOUGH:
        return plain_mixed(component, nodes, labels)
    return set(array_mixed(_column(component), _column(nodes), _column(labels)).tolist())


def plain_components(count: int, left: Iterable[int], right: Iterable[int]) -> list[int]:
    """`components` by union-find; the least node of a component is its root."""
    parent = list(range(count))
    for near, far in zip(left, right, strict=True):
        a, b = near, far
        while parent[a] != a:
            parent[a] = parent[parent[a]]  # every second step is saved for the next who comes this way
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b
    found: list[int] = []
    roots = 0
    for node, above in enumerate(parent):
        # A parent is less than its node, so it has its number already.
        found.append(roots if above == node else found[above])
        roots += above == node
    return found


def array_components(count: int, left: Numbers, right: Numbers) -> Numbers:
    """`components` over arrays, by scipy.

    Most nodes are endpoints with one edge: they take the component of what they hang on, and only the rest is searched.
    """
    import numpy as np

    degree = np.bincount(left, minlength=count) + np.bincount(right, minlength=count)
    left_hangs = degree[left] == 1
    right_hangs = (degree[right] == 1) & ~left_hangs
    hanging = np.concatenate([left[left_hangs], right[right_hangs]])
    holding = np.concatenate([right[left_hangs], left[right_hangs]])
    rest = np.ones(count, dtype=bool)
    rest[hanging] = False
    number = np.cumsum(rest, dtype=np.int32) - 1
    between = ~(left_hangs | right_hangs)
    found = np.empty(count, dtype=np.int32)
    found[rest] = _searched(int(rest.sum()), number[left[between]], number[right[between]])
    found[hanging] = found[holding]
    return _by_least_node(found)


def _searched(count: int, left: Numbers, right: Numbers) -> Numbers:
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(count, count))
    _, found = connected_components(matrix, directed=False)
    return np.asarray(found, dtype=np.int32)


def _by_least_node(found: Numbers) -> Numbers:
    """The same components, numbered in the order of their least nodes."""
    import numpy as np

    first = np.empty(int(found.max(initial=-1)) + 1, dtype=np.int32)
    first[found[::-1]] = np.arange(len(found) - 1, -1, -1, dtype=np.int32)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[found]


def plain_mixed(component: Sequence[int], nodes: Iterable[int], labels: Iterable[int]) -> set[int]:
    """`mixed`, label by label: the first of each component against all others."""
    first: dict[int, int] = {}
    return {
        number
        for node, label in zip(nodes, labels, strict=True)
        if first.setdefault(number := component[node], label) != label
    }


def array_mixed(component: Numbers, nodes: Numbers, labels: Numbers) -> Numbers:
    """`mixed` over arrays: the components whose least label is not their greatest."""
    import numpy as np

    where = component[nodes]
    count = int(component.max(initial=-1)) + 1
    least = np.full(count, np.iinfo(np.int32).max, dtype=np.int32)
    most = np.full(count, -1, dtype=np.int32)
    np.minimum.at(least, where, labels)
    np.maximum.at(most, where, labels)
    return np.flatnonzero(least < most).astype(np.int32)


def _column(numbers: Sequence[int]) -> Numbers:
    """Numbers as an array; those of an `array` are not copied."""
    import numpy as np

    return np.asarray(numbers, dtype=np.int32)
