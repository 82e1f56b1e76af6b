"""Arithmetic of positions in a logical rack: bit p of a mask stands for position p + 1.

A *block* is aligned: its size is a power of two and its first position ≡ 1 modulo the size. Two halves of a block
are buddies. A rack that gives out blocks only, each from the smallest free block that holds it, never ends in
holes that no size fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

#: Machines of a logical rack, and the mask of all of them.
WIDTH = 16
WHOLE = (1 << WIDTH) - 1

SIZES = (1, 2, 4, 8, 16)


def run_mask(first: int, count: int) -> int:
    """The mask of `count` neighbours from bit `first` on."""
    return ((1 << count) - 1) << first


def bits(mask: int) -> Iterator[int]:
    """The bits that are set, lowest first."""
    return (bit for bit in range(mask.bit_length()) if mask >> bit & 1)


@lru_cache(maxsize=1 << WIDTH)
def maximal_blocks(free: int) -> tuple[tuple[int, int], ...]:
    """(first bit, size) of the free blocks whose buddy is not wholly free; together they cover the mask."""
    found: list[tuple[int, int]] = []
    left = free
    for size in reversed(SIZES):
        for first in range(0, WIDTH, size):
            mask = run_mask(first, size)
            if left & mask == mask:
                found.append((first, size))
                left &= ~mask
    return tuple(sorted(found))


def aligned_runs(free: int, count: int) -> list[int]:
    """First bits of the free blocks of this size."""
    return [first for first in range(0, WIDTH, count) if _is_free(free, first, count)]


def loose_runs(free: int, count: int) -> list[int]:
    """First bits of the free runs of this length that are no blocks."""
    return [first for first in range(WIDTH - count + 1) if first % count and _is_free(free, first, count)]


def is_run(mask: int, *, joined_ends: bool = False) -> bool:
    """True if no position between two of a mask is out of it; `joined_ends`: the last and the first are neighbours."""
    around = mask | mask << WIDTH if joined_ends else mask
    return any(around & (run := run_mask(first, mask.bit_count())) == run for first in range(WIDTH))


def _is_free(free: int, first: int, count: int) -> bool:
    mask = run_mask(first, count)
    return free & mask == mask
