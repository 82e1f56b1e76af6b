"""VLANs, MTU and partition keys."""

from __future__ import annotations

import pytest

from interlock.hardware import (
    USABLE_VNIS,
    VLANS_PER_VPOD,
    full_member,
    hear_each_other,
    key_verdict,
    path_verdict,
    tunnel_mtu,
    usable_vlans,
    vpods_that_fit,
)
from interlock.hardware.pkeys import DEFAULT_KEY, TENANT_KEYS


def test_usable_vlans() -> None:
    assert usable_vlans() == 4093
    assert usable_vlans([(2, 99)]) == 3995


def test_reserved_ranges_may_overlap_and_reach_beyond() -> None:
    assert usable_vlans([(2, 99), (50, 99), (0, 1), (4095, 4095)]) == 3995
    assert usable_vlans([(0, 5000)]) == 0


def test_a_range_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="99-2 ends before it starts"):
        usable_vlans([(99, 2)])


def test_vpods_for_these_vlans() -> None:
    left = usable_vlans([(2, 99)])
    each = [fact.value for fact in VLANS_PER_VPOD.values()]
    assert each == [2, 3, 4]
    assert [vpods_that_fit(left, count) for count in each] == [1997, 1331, 998]


def test_a_vpod_takes_at_least_one_vlan() -> None:
    with pytest.raises(ValueError, match="at least one"):
        vpods_that_fit(10, 0)


def test_vxlan_has_24_bits() -> None:
    assert USABLE_VNIS.value == (1, 16777215)


def test_vxlan_takes_50_bytes() -> None:
    assert tunnel_mtu(9000) == 8950
    assert tunnel_mtu(1500) == 1450


def test_nothing_is_left_of_a_tiny_frame() -> None:
    with pytest.raises(ValueError, match="takes 50 bytes"):
        tunnel_mtu(50)


def test_a_path_carries_what_its_smallest_part_does() -> None:
    assert path_verdict(9000, {"tor": 9214, "vf": 9000}).outcome == "ok"
    assert path_verdict(9000, {"tor": 1500, "vf": 9000}).reason == "the host sends 9000 bytes, tor takes 1500"


def test_an_mtu_that_nobody_stated_is_no_pass() -> None:
    found = path_verdict(9000, {"tor": None, "vf": 9000})
    assert (found.outcome, found.passes) == ("unknown", False)
    assert path_verdict(9000, {"tor": None, "vf": 1500}).outcome == "error"


@pytest.mark.parametrize(
    ("key", "outcome"), [(0x0000, "error"), (0x0001, "ok"), (0x7FFE, "ok"), (0x7FFF, "error"), (0x8001, "error")]
)
def test_keys_of_tenants(key: int, outcome: str) -> None:
    assert key_verdict(key).outcome == outcome


def test_the_default_key_says_why_not() -> None:
    assert TENANT_KEYS.value == (0x0001, 0x7FFE)
    assert DEFAULT_KEY.value == 0x7FFF
    assert "default partition" in key_verdict(0x7FFF).reason


def test_a_full_member_has_the_highest_bit() -> None:
    assert full_member(0x0001) == 0x8001
    assert full_member(DEFAULT_KEY.value) == 0xFFFF
    with pytest.raises(ValueError, match="15 bits"):
        full_member(0x8000)


def test_two_limited_members_do_not_hear_each_other() -> None:
    assert not hear_each_other(0x0005, 0x0005)
    assert hear_each_other(0x8005, 0x0005)
    assert hear_each_other(0x8005, 0x8005)
    assert not hear_each_other(0x8005, 0x8006)
