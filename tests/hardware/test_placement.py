"""Which machines make a vPOD."""

from __future__ import annotations

import pytest

from interlock.hardware import gw_link_fault, is_vpod_size, max_machines, vpod_fault


def rack(number: int, *positions: int) -> list[tuple[int, int]]:
    return [(number, position) for position in positions]


FULL = tuple(range(1, 17))


@pytest.mark.parametrize("positions", [(1,), (1, 2), (5, 6, 7, 8), FULL, (9, 10, 11, 12, 13, 14, 15, 16)])
def test_neighbours_in_an_aligned_block_are_fine(positions: tuple[int, ...]) -> None:
    found = vpod_fault(rack(1, *positions))
    assert (found.outcome, found.reason) == ("ok", "")


def test_the_order_of_the_machines_does_not_matter() -> None:
    assert vpod_fault(rack(1, 8, 5, 7, 6)).outcome == "ok"


def test_two_whole_racks_with_gw_links_are_fine() -> None:
    machines = rack(1, *FULL) + rack(2, *FULL)
    assert vpod_fault(machines, wrap=True, gw_links=[(1, 2)]).outcome == "ok"
    assert vpod_fault(machines, wrap=True, gw_links=[(2, 1)]).outcome == "ok"


def test_two_whole_racks_without_gw_links_are_not() -> None:
    found = vpod_fault(rack(1, *FULL) + rack(2, *FULL), wrap=True)
    assert (found.outcome, found.reason) == ("error", "no GW-Links lead from logical rack 1 to 2")


def test_gw_links_through_a_rack_that_is_not_in_the_vpod_do_not_count() -> None:
    found = vpod_fault(rack(1, *FULL) + rack(3, *FULL), wrap=True, gw_links=[(1, 2), (2, 3)])
    assert found.outcome == "error"


def test_racks_joined_in_a_row_are_connected() -> None:
    machines = [place for number in (1, 2, 3, 4) for place in rack(number, *FULL)]
    assert vpod_fault(machines, wrap=True, gw_links=[(1, 2), (2, 3), (3, 4)]).outcome == "ok"
    assert vpod_fault(machines, wrap=True, gw_links=[(1, 2), (3, 4)]).outcome == "error"


def test_several_racks_need_the_torus_in_each() -> None:
    found = vpod_fault(rack(1, *FULL) + rack(2, *FULL), gw_links=[(1, 2)])
    assert found.outcome == "error"
    assert "torus" in found.reason


@pytest.mark.parametrize(
    ("machines", "why"),
    [
        (rack(1, 1, 3), "gap"),
        (rack(1, 1, 2, 3), "3 machines: a vPOD has 1, 2, 4, 8, 16"),
        (rack(1, 16, 1), "no cable from machine 16 back to 1"),
        (rack(1, 16) + rack(2, 1), "must stand in one"),
        (rack(1, *FULL) + rack(2, *range(1, 9)), "24 machines"),
        (rack(1, *range(1, 17)) + rack(2, *range(1, 9)) + rack(3, *range(1, 9)), "only whole racks"),
        ([], "0 machines"),
        (rack(1, 1, 1), "named twice"),
        (rack(1, 0), "positions are 1 to 16"),
        (rack(1, 17), "positions are 1 to 16"),
        (rack(1, 1, 2, 4, 5), "gap"),
    ],
)
def test_what_makes_no_vpod(machines: list[tuple[int, int]], why: str) -> None:
    found = vpod_fault(machines)
    assert found.outcome == "error"
    assert not found.passes
    assert why in found.reason


def test_unaligned_neighbours_are_a_warning() -> None:
    found = vpod_fault(rack(1, 4, 5))
    assert found.outcome == "warn"
    assert found.passes
    assert "not aligned" in found.reason


def test_around_the_end_with_the_cable_is_a_warning_for_it_is_not_aligned() -> None:
    assert vpod_fault(rack(1, 15, 16, 1, 2), wrap=True).outcome == "warn"
    assert vpod_fault(rack(1, 16, 1), wrap=True).outcome == "warn"


def test_the_cable_around_the_end_fills_no_gap_elsewhere() -> None:
    assert vpod_fault(rack(1, 1, 2, 8, 16), wrap=True).outcome == "error"
    assert vpod_fault(rack(1, 2, 16), wrap=True).outcome == "error"


def test_gw_links_join_equal_positions_of_different_racks() -> None:
    assert gw_link_fault((1, 7), (2, 7)).outcome == "ok"
    assert "position 7 to position 8" in gw_link_fault((1, 7), (2, 8)).reason
    assert "inside logical rack 1" in gw_link_fault((1, 7), (1, 8)).reason


def test_sizes_end_with_the_largest_system() -> None:
    assert is_vpod_size(max_machines())
    assert not is_vpod_size(2 * max_machines())
    assert not is_vpod_size(-2)
