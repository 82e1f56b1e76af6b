"""The prover against the oracle: random small worlds, and what both say of them.

A failure names its seed; `differences(seed)` shows the world's difference again, `told(seed)` the world.
"""

from __future__ import annotations

import ast
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

from .comparing import Difference, differences
from .deciding import deciding
from .generator import MOST, told, world
from .oracle import leaks

T = TypeVar("T")

#: Worlds in a usual run and in a long one; of those only the second asks about every tenant's stack.
WORLDS, LONG = 6_000, 1_000_000
CORES = 2
#: Seeds of the long run are not those of the usual one.
LONG_SEED = 10_000_000
#: Rows of the page, and mechanisms beside them, each of which has to decide one world in a hundred.
ROWS = {f"E{number}" for number in range(1, 20)} | {"A1", "A2", "A6", "A7", "A8", "terminal", "Excl"}
#: Explained over-reports, together, in worlds of a hundred.
MOST_OVER = 3.0


def in_parallel(work: Callable[[int], T], seeds: Iterable[int]) -> Iterable[T]:
    """The answers for these seeds, in no order."""
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        yield from pool.imap_unordered(work, seeds, chunksize=25)


def usual(seed: int) -> tuple[str, list[Difference]]:
    return differences(seed, every=False)


def verdict(seed: int) -> str:
    return leaks(world(seed)).verdict


def decided(seed: int) -> set[str]:
    return deciding(world(seed))


def test_a_world_is_the_same_each_time() -> None:
    assert [told(seed)[1].site for seed in range(5)] == [told(seed)[1].site for seed in range(5)]
    assert [told(seed)[1].plans for seed in range(5)] == [told(seed)[1].plans for seed in range(5)]


def test_worlds_are_small() -> None:
    for _, made in map(told, range(200)):
        site = made.site
        planned = [item.resource.KIND for plan in made.plans.values() for item in plan.resources]
        sending = [kind for kind in planned if kind in ("Server", "BareMetalServer", "Router")]
        assert len(sending) + len(site.hosts) + len(site.machines) + len(site.devices) <= MOST


def test_worlds_leak_and_do_not() -> None:
    """At least three in ten violate, three in ten are clean, and some rest on what nobody knows."""
    found = Counter(in_parallel(verdict, range(2_000)))
    assert found["V"] >= 600
    assert found["P"] >= 600
    assert found["N"] >= 100


def test_each_row_decides_worlds() -> None:
    """A row that decides nothing would be tested by nothing: as often as 500 in 50 000."""
    count = 4_000
    found = Counter(row for rows in in_parallel(decided, range(count)) for row in rows)
    assert {row: found[row] for row in ROWS if found[row] < count / 100} == {}


@pytest.mark.timeout(100_000)
def test_prover_against_oracle(long: bool) -> None:
    count, first = (LONG, LONG_SEED) if long else (WORLDS, 0)
    answers = in_parallel(differences if long else usual, range(first, first + count))
    found = [item for _, items in answers for item in items]
    kinds = Counter(item.kind for item in found)
    wrong = [str(item) for item in found if item.kind in ("missed", "vague", "over")]
    assert not wrong, "\n".join([f"{dict(kinds)} of {count} worlds", *wrong[:5]])
    assert len({item.seed for item in found}) * 100 <= MOST_OVER * count, kinds


def test_the_oracle_does_not_know_the_prover() -> None:
    """Independence is the point: only what compares the two may import the prover."""
    allowed = {"comparing.py", "test_oracle.py", "test_examples.py"}
    for file in Path(__file__).parent.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert file.name in allowed or not [name for name in names if name.split(".")[0] == "policies"], file.name
