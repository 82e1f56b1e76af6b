"""Which rows of the page decide a world: without them another verdict, or others who meet."""

from __future__ import annotations

import re

from .oracle import leaks
from .world import World

_ROW = re.compile(r" \(([A-Za-z0-9]+)\)$")


def deciding(world: World) -> set[str]:
    """Rows without which the answer is another. Only what lies on a way that was found can be one."""
    seen = leaks(world)
    steps = (step for way in seen.traces.values() for step in way)
    walked = {found[1] for found in map(_ROW.search, steps) if found}
    walked |= {"Excl"} if any(step.startswith("only:") for way in seen.traces.values() for step in way) else set()
    return {row for row in walked if _answer(world, frozenset({row})) != (seen.must, seen.may)}


def _answer(world: World, without: frozenset[str]) -> tuple[frozenset[frozenset[str]], frozenset[frozenset[str]]]:
    found = leaks(world, without)
    return found.must, found.may
