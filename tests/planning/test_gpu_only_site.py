"""A site with GPU nodes alone, as `stacks/hall` is: nothing of vPODs is stated, planned or counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interlock.model.load import InputErrors, load_workspace
from interlock.planning import capacity
from interlock.planning.site_plan import site_objects

STACKS = Path(__file__).parents[2] / "stacks"


def test_it_states_no_pools_of_vpods_and_has_no_controllers() -> None:
    workspace = load_workspace(STACKS, "hall")
    site = workspace.site
    assert not site.machines
    assert (site.controller, site.pools.control, site.limits.controller_instances) == (None, (), 0)
    assert set(site.pools.vlans_by_name) == set(site.pools.subnets_by_name) == {"cluster", "roce"}
    assert not [name for name in site_objects(site) if "controllers" in name]
    # With IPU-Machines it has them.
    assert [name for name in site_objects(load_workspace(STACKS, "lyon").site) if "controllers" in name]


def test_its_capacity_counts_neither_controllers_nor_their_networks() -> None:
    found = capacity(load_workspace(STACKS, "hall").site, [])
    assert (found.vnis, found.controllers) == (None, None)
    assert {network.pool for network in found.vlans} == {pool.pool for pool in found.subnets} == {"cluster", "roce"}


def test_a_vpod_there_is_refused_in_one_line(tmp_path: Path) -> None:
    stacks = Path(shutil.copytree(STACKS, tmp_path / "stacks"))
    request = stacks / "hall" / "tenants" / "globex.yaml"
    text = request.read_text(encoding="utf-8")
    request.write_text(f"{text}vpods:\n  train: {{machines: 4}}\n", encoding="utf-8")
    with pytest.raises(InputErrors) as raised:
        load_workspace(stacks, "hall")
    line = len(text.splitlines()) + 1
    assert str(raised.value).splitlines() == [
        f"stacks/hall/tenants/globex.yaml:{line}:1: IN-008 this site has no IPU-Machines",
        "  hint: ask at another site for them, or for GPU clusters",
    ]
