"""Two leaf groups that reuse VLAN ids are apart while nothing joins them, and told to be one where something does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders.leaf_groups import SITE, TENANTS, write_stacks

from .conftest import Interlock

UPLINK = '"25": trunk 20'


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interlock: Interlock) -> Path:
    """The site's file; the site is locked."""
    write_stacks(tmp_path / "stacks")
    monkeypatch.setenv("INTERLOCK_STACKS", str(tmp_path / "stacks"))
    done = interlock("lock")
    assert done.code == 0, done.err
    return tmp_path / "stacks" / SITE / "site.yaml"


def allocated(site: Path) -> dict[str, dict[str, Any]]:
    """Claims by vPOD."""
    locks = (json.loads((site.parent / "tenants" / f"{name}.lock.json").read_text()) for name in TENANTS)
    return {name: vpod for lock in locks for name, vpod in lock["allocation"]["vpods"].items()}


def violated(interlock: Interlock, stack: str) -> set[str]:
    """Rules that a stack violates."""
    done = interlock("check", "--format", "json")
    found = {item["stack"]: item for item in json.loads(done.out)["stacks"]}[f"{SITE}-{stack}"]
    return {finding["rule"] for finding in found["findings"] if finding["verdict"] == "violated"}


def test_each_leaf_group_has_all_ids(site: Path, interlock: Interlock) -> None:
    """The allocator gives the lowest free id of the physical network that the machines are on."""
    found = {
        name: (vpod["ipu_data_network"], vpod["ipu_data_vlan"], vpod["storage_network"], vpod["storage_vlan"])
        for name, vpod in allocated(site).items()
    }
    assert found == {
        "train": ("fabric-a", 1000, "fabric-a", 2000),
        "research": ("fabric-b", 1000, "fabric-b", 2000),
        "lab": ("fabric-a", 1001, "fabric-a", 2001),
    }
    assert [violated(interlock, stack) for stack in (*TENANTS, "site")] == [set()] * 3
    assert interlock("check").code == 0


@pytest.mark.parametrize("carried", ["1000-2999", "20,1000", "all"])
def test_an_uplink_that_carries_a_reused_id_joins_two_tenants(site: Path, interlock: Interlock, carried: str) -> None:
    text = site.read_text()
    assert text.count(UPLINK) == 2
    site.write_text(text.replace(UPLINK, f'"25": "trunk {carried}"'))
    assert interlock("lock").code == 0
    for tenant in TENANTS:
        assert {"ISO-01", "ISO-11"} <= violated(interlock, tenant)
    assert "VLAN 1000 on fabric-a of acme and VLAN 1000 on fabric-b of globex are one wire" in interlock("check").out


def test_an_uplink_that_neutron_fills_joins_two_leaf_groups(site: Path, interlock: Interlock) -> None:
    """Its list names no VLAN that a pool gives out, and one end filled joins nobody yet."""
    filled = '"25": {mode: trunk 20, filled_by: neutron}'
    site.write_text(site.read_text().replace(UPLINK, filled, 1))
    assert interlock("check").code == 0
    site.write_text(site.read_text().replace(UPLINK, filled))
    for tenant in TENANTS:
        assert {"ISO-01", "ISO-11", "ISO-14"} <= violated(interlock, tenant)
    assert "which Neutron fills at tor-1 port 25" in interlock("check").out


def test_an_uplink_that_carries_it_at_one_end_only_joins_nobody(site: Path, interlock: Interlock) -> None:
    site.write_text(site.read_text().replace(UPLINK, '"25": "trunk 20,1000"', 1))
    assert interlock("lock").code == 0
    assert [violated(interlock, tenant) for tenant in TENANTS] == [set(), set()]


def test_two_labels_of_the_same_switches_are_one_physical_network(site: Path, interlock: Interlock) -> None:
    """As a driver that was told both labels for both ToRs would take it: one id is one VLAN of each switch then."""
    text, changed = re.subn(r"fabric-(a|b): \[tor-[12]\]", r"fabric-\1: [tor-1, tor-2]", site.read_text())
    assert changed == 2
    site.write_text(text)
    assert interlock("lock").code == 0
    for tenant in TENANTS:
        assert "ISO-11" in violated(interlock, tenant)
