"""Which tests a usual run asks about a function: `reached.json`.

A line is a function with the numbers of tests that reach it, the most alike first. A test that is gone is passed over,
and a function that is new has none: a long run looks for itself. `python -m tests.mutation` writes it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.mutation.running import Function

PLACE = Path(__file__).with_name("reached.json")

MOST = 20
"""Tests of one function: more of them kill little more."""


@cache
def reached() -> dict[Function, list[str]]:
    """Function -> tests, the first to be tried first."""
    found = json.loads(PLACE.read_text())
    return {name: [found["tests"][number] for number in numbers] for name, numbers in found["functions"].items()}


def write(by_function: Mapping[Function, Sequence[str]]) -> None:
    """Keep what a run of everything found: the first tests of each function."""
    kept = {name: [*tests][:MOST] for name, tests in sorted(by_function.items())}
    tests = sorted({test for names in kept.values() for test in names})
    numbers = {test: number for number, test in enumerate(tests)}
    lines = [f" {json.dumps(name)}: {json.dumps([numbers[test] for test in names])}" for name, names in kept.items()]
    listed = ",\n".join(f" {json.dumps(test)}" for test in tests)
    functions = ",\n".join(lines)
    PLACE.write_text(f'{{"tests": [\n{listed}\n],\n"functions": {{\n{functions}\n}}}}\n')
