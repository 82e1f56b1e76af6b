"""Bulk questions over numbers instead of names: connected components, and which of them carry two labels.

Both are asked of the whole union; graphs that rules walk are built only for the components that matter. Numbers of
components are dense and follow their least nodes, so that the two ways of finding them give the same answer: plain
Python, and above `ENOUGH` edges scipy, whose import alone takes about as long as that many edges. scipy is an extra of
the package: without it plain Python answers at any size, slower. No rule sees numbers; rules walk `networkx` graphs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]
    #: Count of nodes, left and right ends -> for each node the number of its component.
    Search = Callable[[int, Numbers, Numbers], Numbers]

#: Edges (or labels) from which arrays are quicker, with the import of scipy counted in.
ENOUGH = 700_000
#: Arrays are gone through in parts of so many numbers: half a megabyte once they are indices.
PART = 1 << 16


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
    if len(left) < ENOUGH or not _has_arrays():
        return plain_components(count, left, right)
    found: list[int] = array_components(count, _column(left), _column(right)).tolist()
    return found


def mixed(component: Sequence[int], nodes: Sequence[int], labels: Sequence[int]) -> set[int]:
    """The components that carry two labels; node `nodes[n]` carries `labels[n]`, and may carry others besides."""
    if len(nodes) < ENOUGH or not _has_arrays():
        return plain_mixed(component, nodes, labels)
    return set(array_mixed(_column(component), _column(nodes), _column(labels)).tolist())


@cache
def _has_arrays() -> bool:
    """True if the extra `fleet` is installed. Without it the answers are the same, and come later."""
    return find_spec("scipy") is not None and find_spec("numpy") is not None


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
        else:
            parent[a] = b
    found: list[int] = []
    roots = 0
    for node, above in enumerate(parent):
        # A parent is less than its node, so it has its number already.
        found.append(roots if above == node else found[above])
        roots += above == node
    return found


def array_components(count: int, left: Numbers, right: Numbers) -> Numbers:
    """`components` over arrays. Most nodes are endpoints, which only hang on something; scipy searches what is left.

    Random access to a million numbers is what it costs, so every step goes through them once, part by part.
    """
    return _by_least_node(_gathered(count, left, right, _turned))


def _gathered(count: int, left: Numbers, right: Numbers, search: Search) -> Numbers:
    """Components of which only those of the right ends are searched.

    A node that is never a right end takes the component of one of those that it hangs on; its other edges are then
    edges between that one and the others.
    """
    import numpy as np

    on = np.full(count, -1, dtype=np.int32)
    held = np.zeros(count, dtype=bool)
    for part in _parts(left):
        on[_wide(left[part])] = right[part]
        held[_wide(right[part])] = True
    rest = np.flatnonzero(held | (on < 0)).astype(np.int32)
    on[rest] = rest
    number = np.empty(count, dtype=np.int32)
    number[rest] = np.arange(len(rest), dtype=np.int32)
    near, far = _between(on, left, right)
    number[rest] = search(len(rest), number[near], number[far])
    return _looked_up(number, on)


def _between(on: Numbers, left: Numbers, right: Numbers) -> tuple[Numbers, Numbers]:
    """The ends of the edges that are left once every node is where it hangs `on`."""
    import numpy as np

    near: list[Numbers] = []
    far: list[Numbers] = []
    for part in _parts(left):
        holder, end = on.take(left[part]), right[part]
        apart = np.flatnonzero(holder != end)
        near.append(holder[apart])
        far.append(end[apart])
    return np.concatenate(near), np.concatenate(far)


def _turned(count: int, left: Numbers, right: Numbers) -> Numbers:
    """Where endpoints are right ends."""
    return _gathered(count, right, left, _searched)


def _searched(count: int, left: Numbers, right: Numbers) -> Numbers:
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(count, count))
    _, found = connected_components(matrix, directed=False)
    return np.asarray(found, dtype=np.int32)


def _by_least_node(found: Numbers) -> Numbers:
    """The same components, numbered in the order of their least nodes; in place."""
    import numpy as np

    if not len(found):
        return found
    first = np.full(int(found.max()) + 1, len(found), dtype=np.int32)
    for part in _parts(found):
        where = _wide(found[part])
        np.minimum.at(first, where, np.arange(part.start, part.start + len(where), dtype=np.int32))
        if first.max() < len(found):
            break  # all components were met, and further nodes are greater
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return _looked_up(rank, found)


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

    count = len(component)  # there are no more components than nodes
    least = np.full(count, np.iinfo(np.int32).max, dtype=np.int32)
    most = np.full(count, np.iinfo(np.int32).min, dtype=np.int32)
    for part in _parts(nodes):
        where = _wide(component.take(nodes[part]))
        np.minimum.at(least, where, labels[part])
        np.maximum.at(most, where, labels[part])
    return np.flatnonzero(least < most).astype(np.int32)


def _parts(numbers: Numbers) -> Iterator[slice]:
    """An array in parts, at least one; copies of a part stay in the processor's cache and in memory that is had."""
    return (slice(begin, begin + PART) for begin in range(0, max(len(numbers), 1), PART))


def _wide(numbers: Numbers) -> NDArray[np.intp]:
    """Indices as wide as numpy wants them: widening them itself it is twice as slow."""
    import numpy as np

    return numbers.astype(np.intp)


def _looked_up(values: Numbers, places: Numbers) -> Numbers:
    """`values[places]`, in place of the places."""
    for part in _parts(places):
        places[part] = values.take(places[part])
    return places


def _column(numbers: Sequence[int]) -> Numbers:
    """Numbers as an array; those of an `array` are not copied."""
    import numpy as np

    return np.asarray(numbers, dtype=np.int32)
