"""Slices of a site: the footprint made from one is that of the whole site, whatever nobody states."""

from __future__ import annotations

import pytest

from infra.locking.making import Making
from infra.locking.slices import Slices
from infra.program.gate import Gate
from interlock.model.lock.record import Allocation, Released
from interlock.model.site.inventory import Site
from interlock.planning import plan_tenant
from policies import footprint
from tests.infra.conftest import STACKS, Lyon

LEAKY = sorted(folder.name for folder in (STACKS / "leaky").iterdir() if folder.is_dir())
#: What the site file may leave unstated; edges that rest on it are marked in footprints.
UNSTATED = ("    vlan_lists_enforced: true\n", "      ip_routing: false\n", "        26-32: disabled\n")


def footprints(gate: Gate) -> dict[str, tuple[object, object]]:
    """By tenant: the footprint as its lock holds it, and as the whole site gives it."""
    making = Making(gate, gate.workspace.locks.values())
    made = {name: making.make(name).new for name in gate.workspace.tenants}
    plans = {name: plan_tenant(making.site, making.site_lock, gate.tenant(name), lock) for name, lock in made.items()}
    return {name: (lock.footprint, footprint(making.site, plans[name], lock.released)) for name, lock in made.items()}


@pytest.mark.parametrize("gone", [*UNSTATED, ""])
def test_the_footprint_is_that_of_the_whole_site(lyon: Lyon, gone: str) -> None:
    text = lyon.file("site.yaml").read_text()
    assert gone in text
    lyon.file("site.yaml").write_text(text.replace(gone, ""))
    for name, (sliced, whole) in footprints(lyon.gate()).items():
        assert sliced == whole, name


@pytest.mark.parametrize("case", LEAKY)
def test_so_it_is_for_the_leaky_examples(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STACKS", str(STACKS))
    for name, (sliced, whole) in footprints(Gate.open(f"leaky/{case}")).items():
        assert sliced == whole, name


def test_released_claims_are_in_it(lyon: Lyon) -> None:
    site = lyon.gate().workspace.site
    released = [Released(vpod="gone", claim="machines", value="ipum-01")]
    assert [machine.name for machine in Slices(site).around(Allocation(vpods={}), released).machines][:1] == ["ipum-01"]
    assert Slices(site).around(Allocation(vpods={}), []).machines == ()


def test_another_rack_is_not_in_it(lyon: Lyon) -> None:
    gate = lyon.gate()
    site, lock = gate.workspace.site, gate.workspace.locks["acme"]
    machines = tuple(
        item.model_copy(update={"name": f"{item.name}-b", "serial": f"{item.serial}-b", "logical_rack": "rack-2"})
        for item in site.machines
    )
    larger = Site.model_validate(site.model_dump() | {"machines": [*site.machines, *machines]})
    small, large = (Slices(item).around(lock.allocation, ()) for item in (site, larger))
    assert small.model_dump() == large.model_dump()
    assert set(small.machine) == set(site.machine)
