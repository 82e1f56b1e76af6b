"""Books of what is taken, each with the lowest free entry at hand: removing an entry is as cheap as adding one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from ipaddress import IPv4Network
from typing import Generic, TypeVar

from interlock.vocabulary import Claimant

K = TypeVar("K", bound=Hashable)


class Holders(Generic[K]):
    """Key -> who holds it. Pins may give one key to several; the others stay when one of them leaves."""

    def __init__(self) -> None:
        self._names: dict[K, list[Claimant]] = {}

    def add(self, key: K, holder: Claimant) -> bool:
        """True if the key was free."""
        names = self._names.setdefault(key, [])
        names.append(holder)
        return len(names) == 1

    def remove(self, key: K, holder: Claimant) -> bool:
        """True if the key is free now."""
        names = self._names[key]
        names.remove(holder)
        if not names:
            del self._names[key]
        return key not in self._names

    def __contains__(self, key: K) -> bool:
        return key in self._names

    def __getitem__(self, key: K) -> Claimant:
        """The holder, the first by name: who came first must not matter."""
        return min(self._names[key], key=str)

    def is_held_by(self, key: K, holder: Claimant) -> bool:
        """True if this holder has it, and nobody else."""
        return set(self._names.get(key, ())) == {holder}


class Numbers:
    """Which of the numbers of some ranges are taken, and how often."""

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)
        self._taken: dict[int, int] = {}
        self._cursor = self._ranges[0][0] if self._ranges else 0

    def add(self, number: int) -> None:
        """Take a number; one outside the ranges is noted and never in the way."""
        self._taken[number] = self._taken.get(number, 0) + 1

    def remove(self, number: int) -> None:
        """Give a number back."""
        self._taken[number] -= 1
        if not self._taken[number]:
            del self._taken[number]
            self._cursor = min(self._cursor, number)

    def lowest(self) -> int | None:
        """The lowest free number. Remembers how far everything is taken, so that thousands cost little."""
        for first, last in self._ranges:
            number = max(first, self._cursor)
            while number <= last and number in self._taken:
                number += 1
            if number <= last:
                self._cursor = number
                return number
        return None

    def free(self) -> int:
        """How many are left."""
        size = sum(last - first + 1 for first, last in self._ranges)
        inside = sum(any(first <= number <= last for first, last in self._ranges) for number in self._taken)
        return size - inside


class SubnetRegister:
    """What is cut from one prefix: blocks of one length, by number."""

    def __init__(self, prefix: str, length: int) -> None:
        network = IPv4Network(prefix)
        self.prefix, self.length = prefix, length
        self._first, self._last = int(network.network_address), int(network.broadcast_address)
        self._size = 2 ** (32 - length)
        self._blocks = Numbers([(0, network.num_addresses // self._size - 1)])

    def add(self, first: int, last: int) -> None:
        """Take all blocks that these addresses touch."""
        for block in self._touched(first, last):
            self._blocks.add(block)

    def remove(self, first: int, last: int) -> None:
        """Give them back."""
        for block in self._touched(first, last):
            self._blocks.remove(block)

    def lowest(self) -> str | None:
        """The lowest free subnet."""
        block = self._blocks.lowest()
        return None if block is None else str(IPv4Network((self._first + block * self._size, self.length)))

    def free(self) -> int:
        """How many subnets are left."""
        return self._blocks.free()

    def _touched(self, first: int, last: int) -> range:
        if last < self._first or first > self._last:
            return range(0)
        low, high = max(first, self._first), min(last, self._last)
        return range((low - self._first) // self._size, (high - self._first) // self._size + 1)
