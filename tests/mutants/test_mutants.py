"""Seeded leaks: each operator where it leaks and where it harms nobody, over generated workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random

import pytest

from infra.checker import witnesses
from policies import RULES, Finding, Judgement, Rule, Severity
from policies.findings.report import by_specificity
from policies.judging import Seen
from tests.mutants.operator import LOST, Change, Operator
from tests.mutants.operators import OPERATORS
from tests.mutants.sites import workspace_of
from tests.mutants.workspaces import OPERATOR, Workspace
from tests.support.sampling import Sampling

#: The workspaces that operators are tried on.
SEEDS = 60

#: By this scope the tests of one operator come one after the other, as long as its models are there.
every_operator = pytest.mark.parametrize(
    "operator", OPERATORS, ids=[operator.id for operator in OPERATORS], scope="module"
)


def changed(operator: Operator, change: Change, sampling: Sampling) -> Iterator[tuple[int, Workspace]]:
    """Workspaces with this change, from those in which there is something to change.

    Operators begin at different ones, so that even a short run seeds something in nearly every one; which operator
    begins at which follows from the run's seed.
    """
    name = "workspaces of a mutation operator"
    left, start = sampling.count(name), sampling.random(name).randrange(SEEDS) + OPERATORS.index(operator) * 7
    for step in range(SEEDS):
        seed = (start + step) % SEEDS
        mutant = change(workspace_of(seed), Random(seed))
        if mutant is not None:
            yield seed, mutant
            left -= 1
        if not left:
            return


@lru_cache(maxsize=1)
def mutants(operator: Operator, sampling: Sampling) -> tuple[tuple[int, Workspace], ...]:
    """The workspaces in which an operator seeds its leak."""
    return tuple(changed(operator, operator.leak, sampling))


@lru_cache(maxsize=1)
def seen(operator: Operator, sampling: Sampling) -> tuple[Seen, ...]:
    """The models of these: once for whatever rules they are judged by."""
    return tuple(mutant.seen() for _, mutant in mutants(operator, sampling))


def blocking(judgement: Judgement) -> tuple[Finding, ...]:
    """The findings that stand in the way, the most specific one first."""
    return tuple(item for item in by_specificity(judgement) if item.severity in (Severity.BLOCK, Severity.ERROR))


def without(rule: str) -> tuple[Rule, ...]:
    """All rules but one."""
    return tuple(item for item in RULES if item.id != rule)


def told(seed: int, mutant: Workspace, judgement: Judgement) -> str:
    """What a failed assertion shows."""
    found = [f"{item.rule} {item.verdict}: {item.message}" for item in by_specificity(judgement)[:3]]
    return f"workspace {seed}, asked about {mutant.asked}: {found}"


@every_operator
def test_a_leak_is_caught_by_its_rule(operator: Operator, sampling: Sampling) -> None:
    assert mutants(operator, sampling)
    for (seed, mutant), model in zip(mutants(operator, sampling), seen(operator, sampling), strict=True):
        judgement = mutant.judged(seen=model)
        found, words = by_specificity(judgement), told(seed, mutant, judgement)
        assert judgement.exit_code == operator.exit_code, words
        assert (found[0].rule, found[0].verdict) == (operator.rule, operator.verdict), words
        assert found[0].witness, words
        assert all(found[0].witness), words
        assert found[0].hint, words
        assert operator.exit_code == 1 or found[0].missing, words
        assert list(witnesses(mutant.certified(judgement, model))) == [], words


@every_operator
def test_where_it_harms_nobody_it_proves(operator: Operator, sampling: Sampling) -> None:
    """Each tenant's plan does, and where it is no guard the operator's, who may have more that rests on it."""
    tried, operators = 0, () if operator.is_guard else (OPERATOR,)
    for seed, twin in changed(operator, operator.harmless, sampling):
        for asked in dict.fromkeys((twin.asked, *twin.tenants, *operators)):
            judgement = twin.judged(asked=asked)
            assert judgement.exit_code == 0, told(seed, twin.asking(asked), judgement)
        tried += 1
    assert tried


@every_operator
def test_with_its_rule_off_it_is_lost_or_another_speaks(operator: Operator, sampling: Sampling) -> None:
    for (seed, mutant), model in zip(mutants(operator, sampling), seen(operator, sampling), strict=True):
        judgement = mutant.judged(without(operator.rule), seen=model)
        found = blocking(judgement)
        assert (found[0].rule if found else LOST) in (operator.then or (LOST,)), told(seed, mutant, judgement)


def test_the_table() -> None:
    assert len({operator.id for operator in OPERATORS}) == len(OPERATORS)
    assert len([operator for operator in OPERATORS if not operator.is_guard]) >= 40
    known = {rule.id for rule in RULES} | {LOST}
    for operator in OPERATORS:
        assert {operator.rule, *operator.then} <= known
        assert operator.rule not in operator.then


def test_nearly_every_workspace_has_a_leak_seeded(sampling: Sampling) -> None:
    assert len({seed for operator in OPERATORS for seed, _ in mutants(operator, sampling)}) >= 50
