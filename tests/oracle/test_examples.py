"""Every worked example that a world can say: the oracle and the prover give the page's verdict."""

from __future__ import annotations

import pytest

from policies import RULES, judge

from .comparing import MEETING, compared, judgements, lock_of
from .examples import EXAMPLES, UNSAID
from .found import FOUND
from .oracle import leaks
from .sayings import Example

NUMBERS = range(1, 52)


def prover(example: Example) -> str:
    """The worst verdict of the prover over all stacks."""
    wanted = example.rules or MEETING
    rules = [rule for rule in RULES if rule.id in wanted]
    assert {rule.id for rule in rules} == set(wanted)
    world = example.world()
    assert world.site_plan is not None
    locks = [lock_of(world, tenant) for tenant in world.plans]
    codes = {judge(world.site, plan, locks, rules=rules).exit_code for plan in (world.site_plan, *world.plans.values())}
    return "V" if 1 in codes else "N" if 3 in codes else "P"


def test_every_example_is_said_or_listed() -> None:
    said = {int(item.number.rstrip("abcd")) for item in EXAMPLES} | {int(number.rstrip("abcd")) for number in UNSAID}
    assert said == set(NUMBERS)
    assert not {item.number for item in EXAMPLES} & UNSAID.keys()


@pytest.mark.parametrize("example", [*EXAMPLES, *FOUND], ids=lambda item: item.name)
def test_oracle(example: Example) -> None:
    found = leaks(example.world())
    assert found.verdict == example.expected, found.traces


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda item: item.name)
def test_prover(example: Example) -> None:
    assert prover(example) == example.expected


@pytest.mark.parametrize("example", FOUND, ids=lambda item: item.name)
def test_prover_on_what_was_found(example: Example) -> None:
    """Also the operator's own judgement, which knows a tenant by its footprint alone."""
    world = example.world()
    for stack, judgement in judgements(world, ["site", *world.plans]).items():
        assert compared(leaks(world), stack, judgement) == "", stack
