"""The choice of a cluster's nodes against all choices there are, on small halls."""

from __future__ import annotations

from itertools import combinations
from random import Random
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from interlock.planning.node_choice import NodeSpot, choose_nodes, spread

#: Nodes that are looked at in all their combinations.
MOST = 11


@st.composite
def halls(draw: st.DrawFn) -> list[NodeSpot]:
    """A few units of a few racks, not all full."""
    units = draw(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=4))
    places = [
        (unit, f"r{unit}-{rack}")
        for unit, racks in enumerate(units, start=1)
        for rack, count in enumerate(racks)
        for _ in range(count)
    ]
    return [NodeSpot(f"n{order}", unit, rack, order) for order, (unit, rack) in enumerate(places)]


def cut(hall: list[NodeSpot], random: Random) -> tuple[list[NodeSpot], list[NodeSpot]]:
    """(free, held): some of both, in no order."""
    spots = random.sample(hall, min(len(hall), MOST))
    held = random.randint(0, min(3, len(spots)))
    return spots[held:], spots[:held]


@given(halls(), st.integers(1, MOST), st.randoms(use_true_random=False))
def test_no_other_choice_has_fewer_units_or_of_those_fewer_racks(
    hall: list[NodeSpot], count: int, random: Random
) -> None:
    free, held = cut(hall, random)
    chosen = choose_nodes(free, count, held)
    if count > len(free):
        assert chosen is None
        return
    assert chosen is not None
    assert len(set(chosen)) == count
    assert set(chosen) <= set(free)
    assert spread((*held, *chosen)) == min(spread((*held, *some)) for some in combinations(free, count))


@given(halls(), st.integers(1, MOST), st.randoms(use_true_random=False))
def test_the_order_of_the_nodes_changes_nothing(hall: list[NodeSpot], count: int, random: Random) -> None:
    free, held = cut(hall, random)
    chosen = choose_nodes(free, count, held)
    assert choose_nodes(random.sample(free, len(free)), count, random.sample(held, len(held))) == chosen


def test_of_units_that_are_equal_the_fullest_is_filled() -> None:
    hall = [NodeSpot(f"a{number}", 1, f"r1-{number // 2}", number) for number in range(6)]
    hall += [NodeSpot(f"b{number}", 2, f"r2-{number // 2}", 6 + number) for number in range(3)]
    assert [spot.name for spot in choose_nodes(hall, 2) or ()] == ["b0", "b1"]
    assert [spot.name for spot in choose_nodes(hall, 1) or ()] == ["b2"]
    assert [spot.name for spot in choose_nodes(hall, 4) or ()] == ["a0", "a1", "a2", "a3"]


def test_a_hall_of_a_thousand_nodes_is_no_matter_of_seconds() -> None:
    hall = [NodeSpot(f"n{unit}-{n}", unit, f"r{unit}-{n // 4}", unit * 32 + n) for unit in range(32) for n in range(32)]
    some = Random(7).sample(hall, 700)
    started = perf_counter()
    for count in (1, 33, 350, 700):
        assert len(choose_nodes(some, count) or ()) == count
    # Measured: 0.5 s for the worst of all sizes; ten times that would be another algorithm.
    assert perf_counter() - started < 10
