"""How much of a random test one run does: the run's seed, and for each test a budget.

A run takes a sample with a fresh seed, which pytest prints in its header and beside every failure; `--seed N` takes the
same sample again. `--long` takes all of it, or with `--part 2/8` the second eighth. What a sample finds becomes a case
of its own in the tests.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from random import Random
from typing import TypeVar

import pytest

C = TypeVar("C")


class Size(StrEnum):
    """How much a run does: after every edit, before every merge, or for hours."""

    FAST = "fast"
    USUAL = "usual"
    LONG = "long"


@dataclass(frozen=True)
class Budget:
    """How many of a test's random cases a run of each size takes."""

    fast: int
    usual: int
    long: int

    def of(self, size: Size) -> int:
        """The number for one size."""
        return {Size.FAST: self.fast, Size.USUAL: self.usual, Size.LONG: self.long}[size]


BUDGETS: dict[str, Budget] = {
    "oracle worlds": Budget(400, 2_000, 1_000_000),
    "clean sites": Budget(10, 30, 10_000),
    "workspaces of a mutation operator": Budget(1, 1, 25),
    "workspaces told otherwise": Budget(4, 8, 24),
    "operators told otherwise": Budget(8, 20, 1_000),
    "certificate alterations": Budget(200, 400, 10_000),
    "certificates of another form": Budget(100, 300, 20_000),
    "certificates of worlds": Budget(100, 150, 20_000),
    "derivations of worlds": Budget(40, 60, 20_000),
    "judgements beside neighbours": Budget(50, 100, 10_000),
    "worlds with meddling": Budget(60, 120, 20_000),
    "mutants of the code": Budget(20, 60, 5_000),
    "derived worlds": Budget(1, 2, 500),
    "fuzz acme.yaml": Budget(300, 1_000, 850_000),
    "fuzz site.yaml": Budget(25, 150, 50_000),
    "fuzz acme.lock.json": Budget(150, 500, 100_000),
    "fuzz site.lock.json": Budget(150, 500, 50_000),
    "hypothesis examples": Budget(20, 50, 2_000),
    "steps of the state machine": Budget(0, 25, 20_000),
    "kinds killed": Budget(0, 5, 1_000),
    "kinds of V-IPU killed": Budget(0, 2, 1_000),
    "random wirings": Budget(0, 30, 200),
    "random partition tables": Budget(0, 40, 300),
    "calls of a V-IPU controller": Budget(200, 300, 50_000),
}
"""Test -> its random cases. A number above what there is means all: see `kinds killed`."""

SPAN = 10**12
"""Numbers of random cases are drawn below this."""


@dataclass(frozen=True)
class Part:
    """One of several parts of a long run: `number` from 1 to `of`."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Part:
        """From `2/8`. Raises ValueError."""
        number, _, of = text.partition("/")
        found = cls(int(number), int(of))
        if not 1 <= found.number <= found.of:
            raise ValueError(f"{text!r} is no part, such as 2/8")
        return found

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def share(self, count: int) -> range:
        """The places, of so many, that belong to this part; all parts together are all places."""
        return range(count * (self.number - 1) // self.of, count * self.number // self.of)

    def takes(self, place: int) -> bool:
        """True if the case at this place belongs to this part, where cases are dealt out in turn."""
        return place % self.of == self.number - 1


WHOLE = Part()
"""A run that is not divided."""


@dataclass(frozen=True)
class Sampling:
    """What one run takes of its random tests."""

    seed: int
    size: Size = Size.USUAL
    part: Part = WHOLE

    @property
    def long(self) -> bool:
        """True where everything is taken rather than a sample."""
        return self.size is Size.LONG

    def count(self, name: str) -> int:
        """How many cases of a test this run, or its part of a long one, takes."""
        return len(self.part.share(BUDGETS[name].of(self.size)))

    def cases(self, name: str) -> range:
        """The numbers of the cases that a test takes: consecutive, from a beginning that follows from the seed."""
        first = self.random(name).randrange(SPAN)
        share = self.part.share(BUDGETS[name].of(self.size))
        return range(first + share.start, first + share.stop)

    def some(self, name: str, cases: Iterable[C], count: int) -> list[C]:
        """So many of a table's cases, in the order of the table; a long run takes all."""
        whole = list(cases)
        if self.long:
            return whole
        places = sorted(self.random(name).sample(range(len(whole)), min(count, len(whole))))
        return [whole[place] for place in places]

    def random(self, name: str) -> Random:
        """Random numbers of a test's own, the same for the same seed in every process."""
        digest = hashlib.sha256(f"{self.seed} {name}".encode()).digest()
        return Random(int.from_bytes(digest[:8]))

    def __str__(self) -> str:
        part = f", part {self.part}" if self.part.of > 1 else ""
        return f"{self.size} sample{part}, again with --seed {self.seed}"


def fresh_seed() -> int:
    """A seed that nobody has had: short enough to be typed."""
    return secrets.randbelow(10**9)


def at_least(share: float, count: int) -> float:
    """The least number of hits in a sample of `count`, if this share of all cases or more are hits.

    Five standard deviations below the mean: a true share is refused less than once in a million samples.
    """
    return share * count - 5 * sqrt(share * (1 - share) * count)


def at_most(share: float, count: int) -> float:
    """The largest number of hits in a sample of `count`, if at most this share of all cases are hits."""
    return share * count + 5 * sqrt(share * (1 - share) * count)


KEY = pytest.StashKey[Sampling]()


def sampling_of(config: pytest.Config) -> Sampling:
    """What the run takes, where there is no fixture: tests/conftest.py puts it there."""
    return config.stash[KEY]
