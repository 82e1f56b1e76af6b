"""Every site that is shipped, asked in each run: what the prover says of it, the oracle says, too."""

from __future__ import annotations

from functools import cache

import pytest

from tests.builders.leaky import LEAKS

from .comparing import FAULTS, answers, compared, exactly
from .completing import decided, listed
from .oracle import leaks
from .shipped import SITES, shipped
from .world import World

#: Leaky sites that are so by the order of machines or by addresses: nobody meets anybody.
NO_MEETING = ("leaky/machines-with-a-hole", "leaky/overlapping-subnets")

CLEAN = ("hall", "lyon", "superpod")


@cache
def world(place: str) -> World:
    return shipped(place)


def test_all_are_looked_at() -> None:
    assert {*CLEAN, *(f"leaky/{item.case}" for item in LEAKS)} == set(SITES)


@pytest.mark.parametrize("place", SITES)
def test_prover_and_oracle_say_the_same(place: str) -> None:
    made = world(place)
    seen, decision = leaks(made), decided(made)
    for stack, judgement in answers(made, ["site", *made.plans]).items():
        kind = compared(seen, stack, judgement) if decision is None else exactly(seen, decision, stack, judgement)
        assert kind not in FAULTS, (stack, seen.traces)


@pytest.mark.parametrize("place", CLEAN)
def test_a_site_that_is_proved_is_clean_in_every_completion(place: str) -> None:
    decision = decided(world(place))
    assert decision is not None
    assert decision.verdict == "P", decision.some


@pytest.mark.parametrize("place", [place for place in SITES if place not in CLEAN])
def test_leaky_sites_leak_by_what_their_files_say(place: str) -> None:
    """With nothing there that is not listed: no adversary is needed."""
    found = leaks(listed(world(place)))
    assert found.verdict == ("P" if place in NO_MEETING else "V"), found.traces
