"""Mutants of rules, edges, facts and the checker: nearly all are noticed by a test, and what is not is looked at.

The changes are those of cosmic-ray and a few of our own (`changes.py`); docs/testing.md says what was measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest

from tests.mutation import running
from tests.mutation.changes import ROOT, Mutant, modules, mutants_of, source_of, text_of
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.grafting import is_graftable
from tests.mutation.reaching import reached
from tests.mutation.running import Limits, Outcome, outcomes
from tests.support.reports import REPORTS
from tests.support.sampling import Sampling, at_least

#: Tests that kill most, and take little time. Random ones with many examples are left out.
PATHS = (
    "tests/policies", "tests/certificate/test_certificate.py", "tests/certificate/test_grounded.py",
    "tests/certificate/test_answers.py", "tests/certificate/test_exact_form.py",
    "tests/certificate/test_exact_checker.py", "tests/certificate/test_exact_answers.py",
    "tests/oracle/test_examples.py", "tests/mutants/test_mutants.py",
)  # fmt: skip
LEFT_OUT = ("test_versions", "test_properties", "test_kernel", "test_proof", "test_nodes")

#: The share of mutants that the few tests of `reached.json` kill, of all modules together, and the least that all tests
#: of PATHS kill of each module; docs/testing.md says what was measured.
SHORT, WHOLE = 0.87, 0.95

PLACES = 5
"""Mutants of one module in a sample: to find all of a module takes a fifth of a second."""

RULE = "policies/rules/data_grants.py"


def sampled(sampling: Sampling) -> list[Mutant]:
    """Some mutants of some modules, or all of this part of a long run."""
    known, numbers = modules(), sampling.random("mutants of the code")
    if sampling.long:
        return [item for place, name in enumerate(known) if sampling.part.takes(place) for item in tried(name)]
    count = sampling.count("mutants of the code")
    left, found = {name: len(text_of(name)) for name in known}, list[Mutant]()
    while len(found) < count:
        # Long modules come first more often, as they have more mutants.
        (name,) = numbers.choices([*left], weights=[*left.values()])
        del left[name]
        found += some(name, PLACES, numbers)
    return found[:count]


def some(module: str, count: int, numbers: Random) -> list[Mutant]:
    """Several places of a module, and one of the changes that are tried there."""
    places: dict[tuple[int, int], list[Mutant]] = {}
    for item in mutants_of(module):
        if item.key not in EQUIVALENT:
            places.setdefault((item.line, item.column), []).append(item)
    found: list[Mutant | None] = []
    for place in numbers.sample(sorted(places), len(places)):
        if len(found) == count:
            break
        # Whether Python compiles a mutant is asked of those that are drawn alone: it takes longer than to make it.
        ways = numbers.sample(places[place], len(places[place]))
        found += [next(iter(filter(_compiles, ways)), None)]
    return [item for item in found if item is not None]


def tried(module: str) -> tuple[Mutant, ...]:
    """The mutants of a module that Python compiles, and of which nobody has shown that nothing could notice them."""
    return tuple(item for item in mutants_of(module) if item.key not in EQUIVALENT and _compiles(item))


def _compiles(mutant: Mutant) -> bool:
    try:
        compile(source_of(mutant), mutant.module, "exec")
    except SyntaxError:
        return False
    return True


def paths() -> list[str]:
    """The files of PATHS, without those that are left out."""
    found = [path for name in PATHS for path in sorted((ROOT / name).rglob("test_*.py")) or [ROOT / name]]
    return [path.relative_to(ROOT).as_posix() for path in found if path.stem not in LEFT_OUT]


def told(found: Iterable[Outcome]) -> str:
    """The survivors, one on a line; a long run keeps them beside its other reports."""
    lines = sorted(str(outcome.mutant) for outcome in found if not outcome.is_killed)
    REPORTS.mkdir(parents=True, exist_ok=True)
    with (REPORTS / "survivors.txt").open("a") as output:
        output.writelines(f"{line}\n" for line in lines)
    return "these mutants survived:\n" + "\n".join(lines)


def by_module(found: Iterable[Outcome]) -> dict[str, list[bool]]:
    """Module -> whether each of its mutants was killed."""
    rows: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in found:
        rows[outcome.mutant.module].append(outcome.is_killed)
    return dict(sorted(rows.items()))


def shares(found: Iterable[Outcome]) -> dict[str, float]:
    """Module -> the share of its mutants that was killed."""
    return {name: sum(row) / len(row) for name, row in by_module(found).items()}


def test_nearly_all_mutants_are_killed(sampling: Sampling) -> None:
    """In a usual run by the few tests that are known to reach the function, in a long one by all."""
    mutants = sampled(sampling)
    if sampling.long:
        found = outcomes(mutants, paths(), Limits(processes=2))
    else:
        named = {name.partition("::")[0] for item in mutants for name in reached().get(item.place, ())}
        files = sorted(name for name in named if (ROOT / name).exists())
        found = outcomes(mutants, files, Limits(seconds=15, again=False), reached())
    assert len(found) == len(mutants)
    words = told(found)
    if sampling.long:
        below = {name: share for name, share in shares(found).items() if share < WHOLE}
        assert not below, f"less than {WHOLE:.0%} are killed of {below}; {words}"
    else:
        killed = sum(outcome.is_killed for outcome in found)
        assert killed >= at_least(SHORT, len(found)), f"{killed} of {len(found)} mutants are killed; {words}"


def test_every_function_has_tests_that_reach_it() -> None:
    """A function that nothing of `reached.json` reaches would survive in every usual run."""
    named = {item.place for name in modules()[:: max(1, len(modules()) // 6)] for item in mutants_of(name)}
    inside = {place for place in named if not place.endswith(":")}
    assert len(inside & set(reached())) >= 0.9 * len(inside)


def test_an_equivalent_mutant_is_one_that_there_is() -> None:
    """A line that was changed since has to be looked at again."""
    known = {key.partition(":")[0] for key in EQUIVALENT}
    there = {item.key for name in known for item in mutants_of(name)}
    assert set(EQUIVALENT) <= there
    assert all(EQUIVALENT.values())


# What makes mutants.


def test_each_place_is_changed_in_several_ways() -> None:
    found = {(item.operator, item.before, item.after) for item in mutants_of(RULE)}
    assert {
        ("AddNot", "key", "not key"),
        ("ReplaceOrWithAnd", "or", "and"),
        ("ReplaceComparisonOperator_NotEq_Eq", "!=", "=="),
        ("DropCondition", "item.name == credential", "True"),
        ("SwapMembership", "not in", "in"),
        ("SwapAnyAll", "any", "all"),
        ("NumberReplacer", "67", "68"),
    } <= found
    assert any(operator == "YieldNothing" for operator, _, _ in found)
    assert any(operator == "DropStatement" for operator, _, _ in found)
    assert len({source_of(item) for item in mutants_of(RULE)}) == len(mutants_of(RULE))


def test_annotations_and_docstrings_are_left_alone() -> None:
    lines = text_of(RULE).splitlines()
    heads = [item for item in mutants_of(RULE) if lines[item.line - 1].startswith(("def ", "from ", '"""'))]
    assert heads == []


def test_what_is_changed_in_a_function_can_be_put_into_it() -> None:
    inside = [item for item in mutants_of(RULE) if item.function]
    assert inside
    assert all(is_graftable(item) for item in inside[::20])
    assert not is_graftable(replace(inside[0], function=""))


def test_a_change_of_what_a_held_function_takes_from_around_it_needs_a_process() -> None:
    """`_guests` makes the functions that two rows hold: one that does not use `service` cannot take their place."""
    made = [item for item in mutants_of("policies/edges/operated.py") if item.function == "_guests"]
    assert [item.after for item in made if not is_graftable(item)] == [""]


def test_a_mutant_that_nobody_holds_is_an_error_and_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that ends without a word is a kill: one that changed nothing counted as such."""
    monkeypatch.setattr(running, "graft", lambda mutant, held: 0)
    mutant = next(item for item in mutants_of(RULE) if is_graftable(item))
    runner = running.Runner([mutant], Limits(), {})
    with pytest.raises(RuntimeError, match="nobody holds that function"):
        runner.all_of([mutant], {}, {})
    assert runner.found == []


def test_a_test_that_fails_without_any_mutant_kills_nothing(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would kill whatever it is asked about."""
    monkeypatch.setattr(running, "_failed", lambda item: [item])
    with pytest.raises(RuntimeError, match=r"these tests fail without any mutant: .*kills_nothing"):
        running._require_passing([request.node])


def test_a_mutant_with_which_nothing_is_imported_is_killed() -> None:
    """Its module has no tests to be tried, which is not to survive them."""
    rack = next(item for item in mutants_of("policies/rules/racks.py") if item.text == "RACK = 16")
    broken = replace(rack, before="16", after="16 / 0")
    found = outcomes([broken], ["tests/policies/test_racks.py"], Limits(again=False), {})
    assert [item.by for item in found] == ["the tests are not collected"]


def test_a_mutant_is_killed_by_a_test_that_sees_it_and_survives_others() -> None:
    """The key's owner: what nobody looked at before a test was written for it."""
    owner = [item for item in mutants_of(RULE) if item.operator == "DropOperand" and "key.owner" in item.before]
    killed = next(item for item in owner if "key.owner" not in item.after)
    spared = next(item for item in mutants_of(RULE) if item.function == "_share_cause")
    clean, seeing = (f"tests/policies/test_data_rules.py::{name}" for name in (
        "test_shares_of_two_tenants", "test_a_bucket_of_anothers_key[acme-train-s3-key-change4]",
    ))  # fmt: skip
    asked = {killed.place: [clean, seeing], spared.place: [clean]}
    found = outcomes([killed, spared], ["tests/policies/test_data_rules.py"], Limits(again=False), asked)
    assert {(item.mutant.place, item.by) for item in found} == {(killed.place, seeing), (spared.place, "")}
