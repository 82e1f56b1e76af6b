"""What a V-IPU partition may be."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.hardware import partition_faults


def faults(ipus: int, gcds: int = 1, replicas: int = 1, **options: Any) -> tuple[str, ...]:
    given = {"allocation_ipus": 128, "torus": True} | options
    return partition_faults(ipus, gcds, replicas, **given)


@pytest.mark.parametrize(("ipus", "gcds", "replicas"), [(16, 1, 1), (128, 32, 32), (4, 2, 4), (128, 2, 16)])
def test_what_is_in_use_elsewhere_is_fine(ipus: int, gcds: int, replicas: int) -> None:
    assert faults(ipus, gcds, replicas) == ()


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (faults(12), "12 IPUs: a partition has 1, 2, 4, 8"),
        (faults(0), "0 IPUs"),
        (faults(32, allocation_ipus=16), "its allocation has 16"),
        (faults(16, 3, 3), "3 GCDs of 16 IPUs"),
        (faults(16, 2, 3), "3 replicas over 2 GCDs"),
        (faults(16, 0), "each is at least 1"),
        (
            faults(16, reconfigurable=True, sync_type="pod-native-default"),
            "reconfigurable with sync type pod-native-default",
        ),
        (faults(64, routing="ringswnc", torus=False), "routing ringswnc on a mesh"),
        (faults(64, routing="RINGSWNC", torus=False), "on a mesh"),
        (faults(16, routing="ringswnc"), "16 of 64 IPUs: a part of the ring is a path"),
    ],
)
def test_what_is_none(found: tuple[str, ...], why: str) -> None:
    assert len(found) == 1
    assert why in found[0]


def test_every_fault_is_told_at_once() -> None:
    assert len(faults(48, 5, 7, allocation_ipus=16, routing="ringswnc", torus=False)) == 5


def test_rings_on_a_full_torus_are_fine() -> None:
    assert faults(64, routing="ringswnc") == ()
    assert faults(16, routing="ringswnc", allocation_ipus=16) == ()


def test_a_reconfigurable_partition_with_its_sync_type_is_fine() -> None:
    assert faults(16, reconfigurable=True, sync_type="c2-compatible") == ()
