"""Ports of a logical rack's switches."""

from __future__ import annotations

from fractions import Fraction

import pytest

from interlock.hardware import (
    BOW_2000,
    management_budget,
    management_verdict,
    oversubscription,
    tor_budget,
    tor_verdict,
)
from interlock.hardware.ports import DESIGN_OVERSUBSCRIPTION


def test_machines_servers_and_uplinks_fill_the_tor() -> None:
    budget = tor_budget()
    assert (budget.used, budget.available, budget.spare) == (32, 32, 0)
    assert tor_verdict(budget).outcome == "ok"


def test_both_rnic_ports_of_16_machines_leave_none_for_servers() -> None:
    assert BOW_2000.rnic_ports.value == 2
    alone = tor_budget(rnics=2, servers=0, uplinks=0)
    assert (alone.used, alone.spare) == (32, 0)
    found = tor_verdict(tor_budget(rnics=2, uplinks=0))
    assert (found.outcome, found.reason) == ("error", "40 ports needed, 32 there: 8 are missing")


def test_storage_on_the_tor_takes_uplinks() -> None:
    assert tor_verdict(tor_budget(storage=1)).outcome == "error"
    assert tor_verdict(tor_budget(storage=4, uplinks=4)).outcome == "ok"


@pytest.mark.parametrize(
    ("machine_ports", "pdus", "used", "outcome"),
    [(1, 1, 30, "ok"), (1, 2, 31, "ok"), (2, 1, 46, "ok"), (2, 2, 47, "warn"), (2, 3, 48, "warn"), (2, 4, 49, "error")],
)
def test_management_ports(machine_ports: int, pdus: int, used: int, outcome: str) -> None:
    budget = management_budget(machine_ports=machine_ports, pdus=pdus)
    assert (budget.used, budget.available) == (used, 48)
    assert management_verdict(budget).outcome == outcome


def test_the_uplinks_are_oversubscribed_three_to_one() -> None:
    assert oversubscription((16 + 8) * 100, 8 * 100) == Fraction(3, 1) == DESIGN_OVERSUBSCRIPTION.value


def test_without_uplinks_there_is_no_ratio() -> None:
    with pytest.raises(ValueError, match="at least one"):
        oversubscription(2400, 0)
