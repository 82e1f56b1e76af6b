"""Many worlds, each made once: what the oracle says of it, which rows decide it, and where the prover differs."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from .comparing import Difference, differing
from .deciding import deciding
from .generator import told
from .oracle import leaks_in, terrain_of

CORES = 2
#: Worlds that a process answers for at once.
BATCH = 250


@dataclass
class Survey:
    """What was seen of a number of worlds."""

    worlds: int = 0
    #: Verdict of the oracle (V, N, P) -> worlds.
    verdicts: Counter[str] = field(default_factory=Counter)
    #: Row of the page -> worlds that it decides.
    rows: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Survey) -> None:
        """Count what was seen elsewhere as well."""
        self.worlds += other.worlds
        self.verdicts += other.verdicts
        self.rows += other.rows
        self.differences += other.differences

    @property
    def kinds(self) -> Counter[str]:
        """Kind of difference -> judgements."""
        return Counter(item.kind for item in self.differences)

    def __str__(self) -> str:
        tables = (self.verdicts, self.rows, self.kinds)
        counted = (", ".join(f"{name} {count}" for name, count in sorted(table.items())) for table in tables)
        return "; ".join([f"{self.worlds} worlds", *counted])


def surveyed(seeds: range, *, every: bool) -> Iterator[Survey]:
    """Survey after survey of these worlds, in no order. `every`: as in `differing`."""
    batches = [seeds[first : first + BATCH] for first in range(0, len(seeds), BATCH)]
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        yield from pool.imap_unordered(partial(survey, every=every), batches)


def survey(seeds: Iterable[int], *, every: bool) -> Survey:
    """What is seen of these worlds."""
    found = Survey()
    for seed in seeds:
        plots, world = told(seed)
        terrain = terrain_of(world)
        seen = leaks_in(world, terrain)
        found.worlds += 1
        found.verdicts[seen.verdict] += 1
        found.rows.update(deciding(world, terrain, seen))
        found.differences += differing(seed, plots, world, seen, every=every)
    return found
