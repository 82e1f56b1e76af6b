"""Rows of edges, guards, kinds, theorems beside rules, oracle, examples, mutants: no empty cell without a reason.

A cell counts if something changes without its line: with a row of the table of edges less, or a guard denied, a named
example and a named mutant have another verdict. A reason for what is not empty any more fails as well.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

import pytest

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.resources import KINDS
from policies import RULES, Verdict
from policies.edges.shape import EdgeRule
from tests.mutants import matrix
from tests.mutants import matrix_table as table
from tests.mutants.operators import OPERATORS
from tests.oracle.deciding import ROWS as DECIDING
from tests.oracle.examples import EXAMPLES
from tests.oracle.found import FOUND
from tests.oracle.generator import world as random_world
from tests.oracle.oracle import leaks
from tests.oracle.world import World
from tests.support.sampling import Sampling

ROWS = {f"{row.id} {row.title}": row for row in matrix.ROWS}
GUARDS = [
    f"{place}.{guard}" for place, guards in (ASSUMPTION_GUARDS | SHARING_GUARDS).items() for guard in guards
]  # fmt: skip
MUTANTS = {item.id: item for item in OPERATORS}
#: Worlds that are tried where the generator was changed, and the world of a seed is another by now.
TRIED = 600


@cache
def examples() -> dict[str, World]:
    """Name -> world; one without a name goes by its number."""
    return {item.name.partition("-<")[0]: item.world() for item in (*EXAMPLES, *FOUND)}


@cache
def before(name: str) -> matrix.Verdicts:
    return matrix.verdicts(examples()[name])


def decides(row: EdgeRule[object], world: World) -> bool:
    """Whether some verdict of a world is another without the row."""
    known = matrix.verdicts(world)
    with matrix.without(row):
        return bool(matrix.changed(known, matrix.verdicts(world)))


# Rows.


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_needed_in_an_example(name: str, sampling: Sampling) -> None:
    """Where none has it, all examples are asked in a long run, and some of them in a usual one."""
    where = table.ROWS[name][0]
    if where is None:
        assert (name, "example") in table.NO_ROW
        asked = list(sampling.some(f"examples without {name}", examples(), 20))
        with matrix.without(ROWS[name]):
            after = {example: matrix.verdicts(examples()[example]) for example in asked}
        assert [item for item in asked if matrix.changed(before(item), after[item])] == []
    elif isinstance(where, int):
        assert any(decides(ROWS[name], random_world(seed)) for seed in chain([where], range(TRIED)))
    else:
        assert decides(ROWS[name], examples()[where])


@pytest.mark.parametrize("name", [name for name in ROWS if table.ROWS[name][1] is not None])
def test_a_row_is_needed_for_a_mutant(name: str) -> None:
    mutant = MUTANTS[table.ROWS[name][1] or ""]
    known = matrix.verdicts_of_leak(mutant)
    with matrix.without(ROWS[name]):
        found = matrix.changed(known, matrix.verdicts_of_leak(mutant))
    assert found


def test_every_row_has_a_line_or_a_reason() -> None:
    assert table.ROWS.keys() == ROWS.keys()
    empty = {(name, column) for name, cells in table.ROWS.items() for column, cell in _columns(cells) if cell is None}
    # Random worlds that each row has to decide: `test_each_row_decides_worlds`.
    empty |= {(name, "oracle") for name, row in ROWS.items() if row.id not in DECIDING}
    assert empty == table.NO_ROW.keys()
    assert all(table.NO_ROW.values())


def _columns(cells: tuple[str | int | None, str | None]) -> tuple[tuple[str, str | int | None], ...]:
    return ("example", cells[0]), ("mutant", cells[1])


# Guards.


def _example_of(guard: str) -> str | None:
    return table.GUARDS.get(guard) or table.GUARDS.get(guard.partition(".")[0])


@pytest.mark.parametrize("name", [name for name in GUARDS if _example_of(name) is not None])
def test_oracle_and_prover_need_a_guard(name: str) -> None:
    place, _, guard = name.partition(".")
    where = _example_of(name) or ""
    world = matrix.denied(examples()[where], place, guard)
    assert matrix.changed(before(where), matrix.verdicts(world))
    assert leaks(world).verdict == "V" != leaks(examples()[where]).verdict


def test_every_guard_has_a_line_or_a_reason() -> None:
    without_mutant = {name.partition(".")[0] for name in GUARDS if f"{name}=false" not in MUTANTS}
    without_example = {name.partition(".")[0] for name in GUARDS if _example_of(name) is None}
    empty = {(place, "mutant") for place in without_mutant} | {(place, "example") for place in without_example}
    assert empty == table.NO_GUARD.keys()
    assert all(table.NO_GUARD.values())
    assert {name.partition(".")[0] for name in table.GUARDS} <= ASSUMPTION_GUARDS.keys() | SHARING_GUARDS.keys()


# Kinds.


def test_every_kind_has_a_line_or_a_reason() -> None:
    told, seen = matrix.mutants_of_kinds(), matrix.read_by_the_oracle()
    in_examples = {kind for world in examples().values() for stack in world.stacks for kind in stack.by_kind}
    cells = {"rule": set(told), "mutant": set(told), "oracle": set(seen), "example": in_examples}
    empty = {(kind, column) for kind in KINDS for column, found in cells.items() if kind not in found}
    assert empty == table.NO_KIND.keys()
    assert all(table.NO_KIND.values())


# Theorems.


@pytest.mark.parametrize("theorem", table.THEOREMS)
def test_a_theorem_is_broken_in_an_example_and_by_a_mutant(theorem: str) -> None:
    """Seen by its own rule, and by the oracle in the same example."""
    rule = table.THEOREMS[theorem]
    assert rule in {item.id for item in RULES}
    broken = [
        name for name in examples() if any(found.get(rule) is Verdict.VIOLATED for found in before(name).values())
    ]
    assert any(leaks(examples()[name]).verdict == "V" for name in broken)
    assert [item.id for item in OPERATORS if item.rule == rule or rule in item.then]
