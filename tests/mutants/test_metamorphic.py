"""What must not change a verdict: the order in which things are told, their names, and a tenant who meets nobody."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from interlock.planning import PlanningError
from policies import Judgement
from tests.mutants.operators import OPERATORS
from tests.mutants.renaming import device_names, everybody, renamed, shuffled, with_a_stranger
from tests.mutants.sites import IDS, workspace_of
from tests.mutants.workspaces import Workspace
from tests.support.sampling import Sampling

#: Workspaces in which an operator is looked for a place.
SEEDS = 60
OTHERS = dict(zip(IDS, ("zeta", "omega", "kappa", "sigma"), strict=True))

parts = pytest.mark.parametrize("part", range(4))


def verdicts(judgement: Judgement) -> tuple[int, dict[str, tuple[str, int]]]:
    """The exit code, and of each rule verdict and count."""
    return judgement.exit_code, {item.rule: (str(item.verdict), item.count) for item in judgement.results}


def findings(judgement: Judgement) -> tuple[int, set[tuple[str, str]]]:
    """The exit code, and what stands in the way: a further tenant is one more thing to look at, no finding."""
    return judgement.exit_code, {(item.rule, str(item.verdict)) for item in judgement.findings}


def samples(part: int, sampling: Sampling) -> Iterator[tuple[str, Workspace]]:
    """A fourth of the clean workspaces and of the mutants."""
    for seed in sampling.cases("workspaces told otherwise")[part::4]:
        yield f"workspace {seed}", workspace_of(seed)
    name = "operators told otherwise"
    numbers = list(range(len(OPERATORS)))
    sampling.random(name).shuffle(numbers)
    for number in numbers[: sampling.count(name)][part::4]:
        for seed in range(number, number + SEEDS):
            mutant = OPERATORS[number].leak(workspace_of(seed % SEEDS), Random(seed))
            if mutant is not None:
                yield f"{OPERATORS[number].id} in workspace {seed % SEEDS}", mutant
                break


@parts
def test_mutants_in_another_order(part: int, sampling: Sampling) -> None:
    for words, space in samples(part, sampling):
        other = shuffled(space, Random(part))
        for asked in {space.asked, space.tenants[0] if space.tenants else space.asked}:
            assert verdicts(space.judged(asked=asked)) == verdicts(other.judged(asked=asked)), words


@parts
def test_mutants_under_other_names_of_tenants(part: int, sampling: Sampling) -> None:
    for words, space in samples(part, sampling):
        other = renamed(space, OTHERS)
        assert verdicts(space.judged()) == verdicts(other.judged()), words


@parts
def test_mutants_under_other_names_of_devices(part: int, sampling: Sampling) -> None:
    for words, space in samples(part, sampling):
        other = renamed(space, device_names(space))
        assert verdicts(space.judged()) == verdicts(other.judged()), words


@parts
def test_mutants_beside_one_more_tenant(part: int, sampling: Sampling) -> None:
    """Where a guard is not held everybody with machines is related, so the further tenant has none."""
    tried = 0
    for words, space in samples(part, sampling):
        try:
            other = with_a_stranger(space, machines=0 if "=" in words else 1)
        except PlanningError:
            continue
        for asked in {space.asked, everybody(space)[0]}:
            assert findings(space.judged(asked=asked)) == findings(other.judged(asked=asked)), words
        tried += 1
    assert tried
