"""Which rows of the page decide a world: without them another verdict, or others who meet."""

from __future__ import annotations

import re
from collections.abc import Collection

from .oracle import Leaks, leaks_in
from .terrain import Terrain
from .world import World

#: Rows of the page, and mechanisms beside them, that have to decide worlds. Each is hops or marks of its own, so that
#: a terrain can be walked without it.
_BESIDE = ("A1", "A2", "A6", "A7", "A8", "terminal", "Excl", "kernel", "address", "device")
ROWS = frozenset((*(f"E{number}" for number in range(1, 22)), *_BESIDE))
_ROW = re.compile(r" \(([A-Za-z0-9]+)\)$")


def deciding(world: World, terrain: Terrain, seen: Leaks, rows: Collection[str] = ROWS) -> set[str]:
    """Those of these rows without which the answer is another. Only what lies on a way that was found can be one."""
    steps = [step for way in seen.traces.values() for step in way]
    walked = {found[1] for found in map(_ROW.search, steps) if found}
    walked |= {"Excl"} if any(step.startswith("only:") for step in steps) else set()
    answers = {row: leaks_in(world, terrain.leaving_out(row)) for row in walked.intersection(rows)}
    return {row for row, found in answers.items() if (found.must, found.may) != (seen.must, seen.may)}
