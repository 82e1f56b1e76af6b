"""What a rack draws and weighs against what carries it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from interlock.hardware import (
    COOLING_METHODS,
    IPU_M2000,
    Feed,
    Load,
    UnitFault,
    cooling_verdict,
    feed_verdict,
    floor_verdict,
    load_of,
    unit_faults,
    weight_verdict,
)

A, B = Feed("a", 22000, 0.8), Feed("b", 22000, 0.8)


def nodes(count: int, watts: int) -> Load:
    return load_of([(f"node-{number}", watts) for number in range(count)])


@pytest.mark.parametrize(("count", "watts", "total"), [(4, 10200, 40800), (2, 14300, 28600), (6, 14300, 85800)])
def test_nameplates_add_up(count: int, watts: int, total: int) -> None:
    assert nodes(count, watts).known == total


def test_eight_racks_of_a_scalable_unit_draw_1200_kw() -> None:
    assert nodes(8, 150000).known == 1_200_000


def test_figures_add_up_exactly() -> None:
    assert load_of([("a", 0.1), ("b", 0.2), ("c", Decimal("0.3"))]).known * 10 == 6


def test_a_negative_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="below zero"):
        load_of([("node", -1)])


def test_each_of_two_feeds_must_carry_all_of_it() -> None:
    assert feed_verdict(nodes(1, 17600), [A, B]).outcome == "ok"
    found = feed_verdict(nodes(1, 17601), [A, B])
    assert found.outcome == "error"
    assert found.reason == (
        "17601 W: feed a gives 17600 W (22000 × 0.8), and must carry all of it when the other fails"
    )


def test_the_weaker_feed_counts() -> None:
    assert feed_verdict(nodes(1, 12000), [A, Feed("b", 11000, 0.8)]).outcome == "error"


def test_one_feed_is_a_warning_and_none_is_unknown() -> None:
    assert feed_verdict(nodes(1, 1000), [A]).outcome == "warn"
    assert feed_verdict(nodes(1, 1000), []).outcome == "unknown"


def test_a_nameplate_that_nobody_stated_is_no_pass() -> None:
    load = load_of([("m1", None), ("m2", 1500)])
    assert load.silent == ("m1",)
    found = feed_verdict(load, [A, B])
    assert (found.outcome, found.passes) == ("unknown", False)
    assert "m1" in found.reason


def test_too_much_is_too_much_even_when_something_is_not_stated() -> None:
    found = feed_verdict(load_of([("m1", None), ("m2", 20000)]), [A, B])
    assert found.outcome == "error"
    assert "1 more not stated" in found.reason


def test_a_remembered_nameplate_makes_no_load() -> None:
    assert IPU_M2000.nameplate is not None
    assert load_of([("m1", IPU_M2000.nameplate.known)]).silent == ("m1",)


@pytest.mark.parametrize(
    ("method", "limit"),
    [("room-air", 15), ("in-row-air", 30), ("rear-door", 50), ("direct-to-chip", 150), ("immersion", 200)],
)
def test_each_cooling_method_has_its_limit(method: str, limit: int) -> None:
    assert COOLING_METHODS[method].limit.value == limit * 1000
    assert cooling_verdict(nodes(limit, 1000), method).outcome == "ok"
    found = cooling_verdict(nodes(limit + 1, 1000), method)
    assert found.outcome == "error"
    assert "state its limit" in found.reason


def test_the_limit_of_the_rack_goes_before_the_rule_of_thumb() -> None:
    assert cooling_verdict(nodes(4, 10200), "room-air", 45000).outcome == "ok"
    assert cooling_verdict(nodes(4, 10200), "rear-door", 40000).outcome == "error"
    assert cooling_verdict(nodes(4, 10200), None, 45000).outcome == "ok"


def test_no_cooling_stated_is_unknown_and_a_wrong_name_an_error() -> None:
    assert cooling_verdict(nodes(1, 1), None).outcome == "unknown"
    with pytest.raises(ValueError, match="there are room-air"):
        cooling_verdict(nodes(1, 1), "open-window")


def test_weight() -> None:
    sixteen = load_of([(f"m{number}", IPU_M2000.weight.known) for number in range(16)])
    assert float(sixteen.known) == pytest.approx(262.32)
    assert weight_verdict(sixteen, 1000).outcome == "ok"
    assert weight_verdict(sixteen, 262).outcome == "error"
    assert weight_verdict(sixteen, None).outcome == "unknown"


def test_the_floor() -> None:
    heavy = load_of([("rack", 1080)])
    assert floor_verdict(heavy, 0.72, 1500).outcome == "ok"
    found = floor_verdict(load_of([("rack", 1081)]), 0.72, 1500)
    assert found.reason == "1081 kg: the floor carries 1500 kg/m² on 0.72 m²"
    assert floor_verdict(heavy, 0.72, None).outcome == "unknown"
    with pytest.raises(ValueError, match="stands on more"):
        floor_verdict(heavy, 0, 1500)


def test_units_of_a_rack() -> None:
    assert unit_faults(42, [("m1", 1, 1), ("m2", 2, 2), ("tor", 42, 1), ("pdu", 1, 0)]) == ()
    assert unit_faults(42, [("m1", 1, 2), ("m2", 2, 1)]) == (UnitFault("m2 and m1 both take unit 2", ("m2", "m1")),)
    tall, low = (unit_faults(42, [item]) for item in (("tall", 42, 2), ("low", 0, 1)))
    assert tall == (UnitFault("tall takes units 42 to 43: the rack has 1 to 42", ("tall",)),)
    assert list(map(str, low)) == ["low takes units 0 to 0: the rack has 1 to 42"]
