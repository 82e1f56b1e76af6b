"""What must not change a verdict: the order in which things are told, their names, and a tenant who meets nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
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


@dataclass(frozen=True)
class Sample:
    """A workspace as it was told first, which every test here tells otherwise; its judgements are made once."""

    words: str
    space: Workspace
    _judged: dict[str, Judgement] = field(default_factory=dict, init=False, repr=False, compare=False)

    def judged(self, asked: str = "") -> Judgement:
        """What the rules say of the plan that is asked about, or of another."""
        whose = asked or self.space.asked
        if whose not in self._judged:
            self._judged[whose] = self.space.judged(asked=whose)
        return self._judged[whose]


@cache
def samples(part: int, sampling: Sampling) -> tuple[Sample, ...]:
    """A fourth of the clean workspaces and of the mutants."""
    return tuple(Sample(words, space) for words, space in _drawn(part, sampling))


def _drawn(part: int, sampling: Sampling) -> Iterator[tuple[str, Workspace]]:
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
    for sample in samples(part, sampling):
        words, space = sample.words, sample.space
        other = shuffled(space, Random(part))
        for asked in {space.asked, space.tenants[0] if space.tenants else space.asked}:
            assert verdicts(sample.judged(asked)) == verdicts(other.judged(asked=asked)), words


@parts
def test_mutants_under_other_names_of_tenants(part: int, sampling: Sampling) -> None:
    for sample in samples(part, sampling):
        words, space = sample.words, sample.space
        other = renamed(space, OTHERS)
        assert verdicts(sample.judged()) == verdicts(other.judged()), words


@parts
def test_mutants_under_other_names_of_devices(part: int, sampling: Sampling) -> None:
    for sample in samples(part, sampling):
        words, space = sample.words, sample.space
        other = renamed(space, device_names(space))
        assert verdicts(sample.judged()) == verdicts(other.judged()), words


@parts
def test_mutants_beside_one_more_tenant(part: int, sampling: Sampling) -> None:
    """Where a guard is not held everybody with machines is related, so the further tenant has none."""
    tried = 0
    for sample in samples(part, sampling):
        words, space = sample.words, sample.space
        try:
            other = with_a_stranger(space, machines=0 if "=" in words else 1)
        except PlanningError:
            continue
        for asked in {space.asked, everybody(space)[0]}:
            assert findings(sample.judged(asked)) == findings(other.judged(asked=asked)), words
        tried += 1
    assert tried
