"""Rows of edges, guards, kinds, theorems beside rules, oracle, examples, mutants: no empty cell without a reason.

A cell counts if something changes without its line: with a row of the table of edges less, or a guard denied, a named
example and a named mutant have another verdict. A reason for what is not empty any more fails as well.
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.resources import KINDS
from policies import RULES, Verdict
from policies.edges.shape import EdgeRule
from tests.mutants import matrix
from tests.mutants import matrix_table as table
from tests.mutants import theorem_table as theorems
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
#: Worlds that are looked through for one that a row decides.
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


def deciding_seed(name: str) -> int | None:
    """The first world that a row decides. The world of a seed is another where the generator was changed."""
    return next((seed for seed in range(TRIED) if decides(ROWS[name], random_world(seed))), None)


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
        assert decides(ROWS[name], random_world(where)), f"put the seed of such a world there: {deciding_seed(name)}"
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


def deciding(rules: frozenset[str]) -> set[str]:
    """The theorems of which some rule is among these."""
    return {theorem for theorem, own in theorems.RULES.items() if own & rules}


def verdicts_without(row: str, where: str) -> matrix.Verdicts:
    """Of an example, without a row. What `before` keeps is never made here: it would be kept without the row."""
    with matrix.without(ROWS[row]):
        return matrix.verdicts(examples()[where])


@pytest.mark.parametrize("theorem", theorems.ROWS)
def test_rows_decide_a_theorem_in_their_examples(theorem: str) -> None:
    for name, where in theorems.ROWS[theorem].items():
        assert theorem in deciding(matrix.changed(before(where), verdicts_without(name, where))), name


@pytest.mark.parametrize("name", ROWS)
def test_no_row_decides_another_theorem(name: str, sampling: Sampling) -> None:
    """In no example: all of them in a long run, and some in a usual one."""
    told = {"Sep", *(theorem for theorem, rows in theorems.ROWS.items() if name in rows)}
    asked = sampling.some(f"theorems of {name}", examples(), 5)
    found = {where: deciding(matrix.changed(before(where), verdicts_without(name, where))) for where in asked}
    assert {where: theorem - told for where, theorem in found.items() if theorem - told} == {}


@pytest.mark.parametrize("theorem", theorems.GUARDS)
def test_guards_decide_a_theorem_in_their_examples(theorem: str) -> None:
    for place, where in theorems.GUARDS[theorem].items():
        worlds = [matrix.denied(examples()[where], place, item.partition(".")[2]) for item in GUARDS
                  if item.partition(".")[0] == place]  # fmt: skip
        assert any(theorem in deciding(matrix.changed(before(where), matrix.verdicts(item))) for item in worlds), place


@pytest.mark.parametrize("name", GUARDS)
def test_no_guard_decides_another_theorem(name: str, sampling: Sampling) -> None:
    place, _, guard = name.partition(".")
    told = {"Sep", *(theorem for theorem, places in theorems.GUARDS.items() if place in places)}
    asked = sampling.some(f"theorems of {name}", examples(), 5)
    worlds = {where: matrix.denied(examples()[where], place, guard) for where in asked}
    found = {where: deciding(matrix.changed(before(where), matrix.verdicts(item))) for where, item in worlds.items()}
    assert {where: theorem - told for where, theorem in found.items() if theorem - told} == {}


def test_every_kind_decides_a_theorem_or_has_a_reason() -> None:
    """A cell names a mutant of that kind that breaks the theorem; what no mutant fills has a reason."""
    broken = matrix.mutants_of_theorems(theorems.RULES)
    for theorem, kinds in theorems.KINDS.items():
        assert kinds.keys() == broken[theorem].keys(), theorem
        assert [mutant for kind, mutant in kinds.items() if mutant not in broken[theorem][kind]] == [], theorem
    in_all = set.intersection(*(set(theorems.KINDS[theorem]) for theorem in theorems.KINDS))
    assert KINDS.keys() - in_all == theorems.NO_KIND.keys()
    assert all(theorems.NO_KIND.values())


def test_a_theorem_without_any_cell_of_a_column_has_a_reason() -> None:
    columns = {"row": {"Sep", *theorems.ROWS}, "guard": {"Sep", *theorems.GUARDS}, "kind": set(theorems.KINDS)}
    empty = {(theorem, column) for column, told in columns.items() for theorem in table.THEOREMS.keys() - told}
    assert empty == theorems.NOTHING.keys()
    assert all(theorems.NOTHING.values())
