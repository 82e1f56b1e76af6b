"""`python -m tests.mutation [MODULE ...]` tries all mutants of modules, and keeps what it learns about tests.

Without a module it tries all: some hours. A survivor has seen 160 tests, or six seconds of them. What survives is
written to `survivors.txt` beside other reports; the tests of each function go into `reached.json`, those first that
killed most. Which test reaches which function is looked for once, in some minutes, and kept in `reaching.json` there;
`--again` looks again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence

from tests.mutation.changes import modules
from tests.mutation.reaching import reached, write
from tests.mutation.running import Function, Limits, Outcome, looked_for, measured
from tests.mutation.test_mutation import by_module, paths, told, tried
from tests.support.reports import REPORTS

LIMITS = Limits(seconds=6, tests=160, again=False)

#: Tests that look at all that the prover makes of a small world. They are quick, and nothing is kept for the next.
EXACT = "tests/policies/test_approved_rows.py::test_rows_of_an_example"


#: Tests of a function that come before the exact ones.
ALIKE = 12


def known(*, again: bool) -> dict[Function, list[str]]:
    """Which tests reach each function, all of them."""
    place = REPORTS / "reaching.json"
    if again or not place.exists():
        REPORTS.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(looked_for(paths())))
    found: dict[Function, list[str]] = json.loads(place.read_text())
    return {name: _mixed(tests) for name, tests in found.items()}


def _mixed(tests: Sequence[str]) -> list[str]:
    """Those that are most alike, then the exact ones, then the others."""
    exact = [name for name in tests[ALIKE:] if name.startswith(EXACT)]
    return [*tests[:ALIKE], *exact, *(name for name in tests[ALIKE:] if not name.startswith(EXACT))]


def kept(found: Mapping[Function, Sequence[str]]) -> None:
    """Functions of modules that are changed, with their tests; those of `found` in place of what stands there."""
    there = set(modules())
    everything = {**reached(), **found}
    write({name: tests for name, tests in everything.items() if name.partition(":")[0] in there})


def figures(found: Iterable[Outcome]) -> str:
    """Module, mutants tried, and how many were killed."""
    return "\n".join(
        f"{name} {len(row)} {sum(row)} {sum(row) / len(row):.0%}" for name, row in by_module(found).items()
    )


def main(arguments: Sequence[str]) -> None:
    """Measure these modules, or all."""
    chosen = [name for name in arguments if name != "--again"] or list(modules())
    tests = known(again="--again" in arguments)
    found, order = measured([item for name in chosen for item in tried(name)], paths(), LIMITS, tests)
    kept({name: order[name] for name in order if name.partition(":")[0] in chosen})
    print(told(found))
    print(figures(found))


if __name__ == "__main__":
    main(sys.argv[1:])
