"""What bulk questions need not look at: endpoints, parts after the last new component, arrays that are empty."""

from __future__ import annotations

import numpy as np
import pytest

from policies.graph import kernel


def column(*numbers: int) -> kernel.Numbers:
    """As an array."""
    return np.array(numbers, dtype=np.int32)


@pytest.mark.parametrize(
    ("left", "right", "nodes", "expected"),
    [
        # Of eight endpoints on two segments the segments alone are searched, also where one of them is node 0.
        ((2, 3, 4, 5, 6, 7, 8, 9), (0, 0, 0, 0, 1, 1, 1, 1), 2, [0, 1, 0, 0, 0, 0, 1, 1, 1, 1]),
        ((0, 1, 2, 3, 4, 5, 6, 7), (8, 8, 8, 8, 9, 9, 9, 9), 2, [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]),
        # What hangs on nothing is searched with them.
        ((2, 3, 4, 5, 6, 7, 8), (0, 0, 0, 0, 1, 1, 1), 3, [0, 1, 0, 0, 0, 0, 1, 1, 1, 2]),
        ((), (), 10, [*range(10)]),
    ],
)
def test_endpoints_are_not_searched(
    monkeypatch: pytest.MonkeyPatch, left: tuple[int, ...], right: tuple[int, ...], nodes: int, expected: list[int]
) -> None:
    searched: list[int] = []
    by_scipy = kernel._searched

    def counted(count: int, left: kernel.Numbers, right: kernel.Numbers) -> kernel.Numbers:
        searched.append(count)
        return by_scipy(count, left, right)

    monkeypatch.setattr(kernel, "_searched", counted)
    for one, other in ((left, right), (right, left)):
        assert kernel.array_components(10, column(*one), column(*other)).tolist() == expected
    assert searched == [nodes, nodes]


@pytest.mark.parametrize(
    ("found", "expected", "parts"),
    [
        ((), [], 0),
        ((0,), [0], 1),
        # The third part is needed for the last component that is met, and the fourth for none.
        ((2, 2, 0, 2, 1, 0, 1, 2), [0, 0, 1, 0, 2, 1, 2, 0], 3),
        ((0, 0, 0, 0), [0, 0, 0, 0], 1),
        ((1, 1, 1, 0), [0, 0, 0, 1], 2),
    ],
)
def test_components_are_numbered_until_all_are_met(
    monkeypatch: pytest.MonkeyPatch, found: tuple[int, ...], expected: list[int], parts: int
) -> None:
    looked: list[int] = []
    wide = kernel._wide

    def counted(numbers: kernel.Numbers) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        looked.append(len(numbers))
        return wide(numbers)

    monkeypatch.setattr(kernel, "PART", 2)
    monkeypatch.setattr(kernel, "_wide", counted)
    assert kernel._by_least_node(column(*found)).tolist() == expected
    assert len(looked) == parts


@pytest.mark.parametrize(("size", "parts"), [(0, [(0, 1)]), (1, [(0, 1)]), (2, [(0, 1), (1, 2)])])
def test_parts_of_one_number(monkeypatch: pytest.MonkeyPatch, size: int, parts: list[tuple[int, int]]) -> None:
    monkeypatch.setattr(kernel, "PART", 1)
    assert [(part.start, part.stop) for part in kernel._parts(column(*range(size)))] == parts
