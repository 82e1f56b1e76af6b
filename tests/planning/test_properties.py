"""Over random tenants: claims are disjoint, and what one tenant does moves nobody else."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Network
from itertools import combinations

from hypothesis import assume, given
from hypothesis import strategies as st

from interlock.model.lock import Lock
from interlock.model.tenant import Tenant
from interlock.planning import AllocationError, plan_tenant
from interlock.planning.claims import SUBNET_CLAIMS, claims_of_lock
from tests.builders.pod64 import locked, pod64, site_locked, tenant, vpod

SITE = pod64()

sizes = st.sampled_from([1, 2, 4, 8])
vpods = st.lists(st.tuples(sizes, st.integers(1, 2)), min_size=1, max_size=2)
fleets = st.lists(vpods, min_size=1, max_size=4)


def request(name: str, wanted: list[tuple[int, int]]) -> Tenant:
    parts = tuple(
        vpod(f"v{index}", machines=size, servers=count) for index, (size, count) in enumerate(wanted)
    )
    return tenant(name, vpods=parts)


def locks_of(fleet: list[list[tuple[int, int]]]) -> dict[str, tuple[Tenant, Lock]]:
    """The locks of those that found room."""
    found: dict[str, tuple[Tenant, Lock]] = {}
    for index, wanted in enumerate(fleet):
        asked = request(f"t{index}", wanted)
        try:
            found[asked.id] = (asked, locked(SITE, asked, [lock for _, lock in found.values()]))
        except AllocationError:
            continue
    return found


def others(found: dict[str, tuple[Tenant, Lock]], name: str) -> list[Lock]:
    return [lock for key, (_, lock) in found.items() if key != name]


@given(fleets)
def test_claims_are_disjoint(fleet: list[list[tuple[int, int]]]) -> None:
    claims = [claim for _, lock in locks_of(fleet).values() for claim in claims_of_lock(lock)]
    for identity in (
        ("machines",),
        ("ipu_data_vlan", "storage_vlan"),
        ("management_vlan",),
        ("control_vni",),
    ):
        values = Counter(claim.value for claim in claims if claim.field in identity)
        assert all(count == 1 for count in values.values()), values
    subnets = [IPv4Network(claim.value) for claim in claims if claim.field in SUBNET_CLAIMS]
    assert not any(one.overlaps(other) for one, other in combinations(subnets, 2))
    servers = Counter(claim.value for claim in claims if claim.field == "hosts")
    assert all(count * 112 <= SITE.host[name].dedicated_cpus for name, count in servers.items())


@given(fleets, st.integers(0, 3), vpods)
def test_no_neighbour_moves(
    fleet: list[list[tuple[int, int]]], which: int, wanted: list[tuple[int, int]]
) -> None:
    found = locks_of(fleet)
    name = f"t{which}"
    assume(name in found)
    try:
        changed = locked(SITE, request(name, wanted), others(found, name), previous=found[name][1])
    except AllocationError:
        assume(False)
    for neighbour in found.keys() - {name}:
        asked, before = found[neighbour]
        around = [*(lock for key, (_, lock) in found.items() if key not in (name, neighbour)), changed]
        after = locked(SITE, asked, around, previous=before)
        assert (after.allocation, after.released) == (before.allocation, before.released)
        plans = [plan_tenant(SITE, site_locked(SITE), asked, lock).hash for lock in (before, after)]
        assert plans[0] == plans[1]


@given(vpods, st.integers(0, 1), st.booleans())
def test_growth_only_adds(wanted: list[tuple[int, int]], which: int, another: bool) -> None:
    before = locked(SITE, request("acme", wanted))
    index = which % len(wanted)
    size, count = wanted[index]
    more = [*wanted[:index], (size, count + 1), *wanted[index + 1 :]] + ([(1, 1)] if another else [])
    try:
        after = locked(SITE, request("acme", more), previous=before)
    except AllocationError:
        assume(False)
    assert after.released == ()
    assert Counter(claims_of_lock(before)) <= Counter(claims_of_lock(after))


@given(vpods, vpods)
def test_every_claim_is_kept_or_released(wanted: list[tuple[int, int]], later: list[tuple[int, int]]) -> None:
    before = locked(SITE, request("acme", wanted))
    try:
        after = locked(SITE, request("acme", later), previous=before)
    except AllocationError:
        assume(False)
    once = Counter((claim.holder.split()[0], claim.field, claim.value) for claim in claims_of_lock(before))
    again = Counter((claim.holder.split()[0], claim.field, claim.value) for claim in claims_of_lock(after))
    assert once <= again
