"""Many worlds, each made once: what the oracle says of it, which rows decide it, and where the prover differs."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.support.forking import nothing_to_collect

from .comparing import Difference, differing
from .completing import Decision, decided, unknowns
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
    #: Worlds that are decided by all of their completions, and how many these are.
    exact: int = 0
    completions: int = 0
    #: Worlds with more than one.
    several: int = 0

    def add(self, other: Survey) -> None:
        """Count what was seen elsewhere as well."""
        self.worlds += other.worlds
        self.verdicts += other.verdicts
        self.rows += other.rows
        self.exact += other.exact
        self.completions += other.completions
        self.several += other.several
        self.differences += other.differences

    @property
    def kinds(self) -> Counter[str]:
        """Kind of difference -> judgements."""
        return Counter(item.kind for item in self.differences)

    def __str__(self) -> str:
        tables = (self.verdicts, self.rows, self.kinds)
        counted = (", ".join(f"{name} {count}" for name, count in sorted(table.items())) for table in tables)
        decided_ = f"{self.exact} decided by {self.completions} completions"
        return "; ".join([f"{self.worlds} worlds", decided_, *counted])


def surveyed(seeds: range, *, every: bool) -> Iterator[Survey]:
    """Survey after survey of these worlds, in no order. `every`: as in `differing`."""
    batches = [seeds[first : first + BATCH] for first in range(0, len(seeds), BATCH)]
    with nothing_to_collect(), multiprocessing.get_context("fork").Pool(CORES) as pool:
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
        # What nobody knows nothing of is decided already, and leaves only one completion.
        decision = decided(world) if unknowns(world) else Decision((seen,))
        found.exact += decision is not None
        completions = len(decision.each) if decision is not None else 0
        found.completions += completions
        found.several += completions > 1
        found.differences += differing(seed, plots, world, seen, decision, every=every)
    return found
