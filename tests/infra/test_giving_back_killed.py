"""Settle is killed while it gives devices back, at any call: the next one ends the same, and frees nothing in use."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from infra.stack.giving_back import given_back
from interlock.provider.errors import Failure
from interlock.provider.passed_devices import MANAGED
from tests.builders.placement import CutCloud, CutShort, DoubleDevice, PlacementDouble

HOSTS = ("n1", "n2")
#: By whose traits nothing is to be given back: a device for more than one use, and what is no device.
OTHERS = {"n1-lasting": (MANAGED,), "n1-numa": ("HW_NUMA_ROOT",)}


def placement() -> PlacementDouble:
    devices = {host: {f"{host}-gpu{number}": DoubleDevice() for number in range(3)} for host in HOSTS}
    devices["n1"] |= {name: DoubleDevice(traits) for name, traits in OTHERS.items()}
    return PlacementDouble(devices)


def reserved(double: PlacementDouble) -> dict[str, int]:
    return {name: device.reserved for devices in double.hosts.values() for name, device in devices.items()}


def run(cloud: Any) -> tuple[str, ...]:
    return given_back(cloud, HOSTS)


def calls() -> int:
    whole = CutCloud(placement(), last=0)
    run(whole)
    return whole.count


@pytest.mark.parametrize("answered", [False, True])
def test_killed_at_any_call_the_next_run_ends_the_same(answered: bool) -> None:
    """Before a call is carried out, and before its answer is read."""
    whole = placement()
    run(whole)
    assert reserved(whole) == {name: int(name in OTHERS) for name in reserved(whole)}
    for last in range(1, calls() + 1):
        double = placement()
        with pytest.raises(CutShort):
            run(CutCloud(double, last, answered))
        run(double)
        assert reserved(double) == reserved(whole), last
        assert run(double) == ()


@pytest.mark.parametrize("taken", ["n1-gpu0", "n1-gpu2", "n2-gpu1"])
def test_a_use_that_comes_in_between_is_not_ended(taken: str) -> None:
    """Before any call of a run: it is seen, or Placement refuses what was read before it; both are told."""
    host, told = taken.partition("-")[0], 0
    for last in range(1, calls() + 1):
        double = placement()
        cut = CutCloud(double, last, happens=lambda double=double: double.take(host, taken))  # type: ignore[misc]
        try:
            run(cut)
        except Failure:
            told += 1
        assert double.hosts[host][taken].used == double.hosts[host][taken].reserved == 1, last
    assert 0 < told < calls()


def test_after_a_kill_a_device_that_is_in_use_by_then_keeps_all_others_back() -> None:
    """What was given back already may be taken; nothing else follows until that is gone."""
    for last in count(1):
        double = placement()
        try:
            run(CutCloud(double, last, changes_only=True))
        except CutShort:
            pass
        else:
            break
        free = [name for name, value in reserved(double).items() if not value and name.startswith("n1")]
        if not free:
            continue
        double.take("n1", free[0])
        before = reserved(double)
        with pytest.raises(Failure, match=f"{free[0]} is in use"):
            run(double)
        assert reserved(double) == before
    assert last == 2 * 3 + 1
