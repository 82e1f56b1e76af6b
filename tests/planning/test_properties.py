"""Over random tenants: claims are disjoint, and what one tenant does moves nobody else."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Network
from itertools import combinations
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant
from interlock.planning import AllocationError, AllocationState, allocate, capacity, plan_tenant
from interlock.planning.claims import SUBNET_CLAIMS, VLAN_CLAIMS, claims_of_lock
from interlock.vocabulary import Vlan
from tests.builders.pod64 import locked, pod64, site_locked, tenant, vpod
from tests.planning.halls import halls

SITE = pod64()

sizes = st.sampled_from([1, 2, 4, 8])
vpods = st.lists(st.tuples(sizes, st.integers(1, 2)), min_size=1, max_size=2)
fleets = st.lists(vpods, min_size=1, max_size=4)


def request(name: str, wanted: list[tuple[int, int]]) -> Tenant:
    parts = tuple(vpod(f"v{index}", machines=size, servers=count) for index, (size, count) in enumerate(wanted))
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
def test_no_neighbour_moves(fleet: list[list[tuple[int, int]]], which: int, wanted: list[tuple[int, int]]) -> None:
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
    once = Counter(
        (claim.holder.tenant, claim.holder.vpod, claim.field, claim.value) for claim in claims_of_lock(before)
    )
    again = Counter(
        (claim.holder.tenant, claim.holder.vpod, claim.field, claim.value) for claim in claims_of_lock(after)
    )
    assert once <= again


HALLS = halls([["r1", "r2"], ["r3"]], joined=[("r1", "r2")], hosts=8, bare_metal=1)

several = st.lists(st.sampled_from([1, 2, 4, 8, 16, 32]), min_size=1, max_size=12)


def placed(site: Site, wanted: list[int]) -> tuple[list[Lock], list[int]]:
    """The locks of those that found room, and the sizes of the others."""
    allocated, locks, refused = AllocationState(site), [], []
    for index, size in enumerate(wanted):
        asked = tenant(f"t{index}", machines=size, servers=1)
        try:
            lock = locked(site, asked, allocated)
        except AllocationError:
            refused.append(size)
            continue
        allocated.add_lock(lock)
        locks.append(lock)
    return locks, refused


def positions(lock: Lock) -> list[tuple[str, int]]:
    found = [HALLS.machine[name] for name in lock.allocation.vpods["train"].machines]
    return [(item.logical_rack, item.position) for item in found]


@given(several)
def test_on_an_empty_site_only_blocks_are_given_and_all_that_fits_fits(wanted: list[int]) -> None:
    locks, refused = placed(HALLS, wanted)
    for lock in locks:
        spots = positions(lock)
        size = min(len(spots), 16)
        assert (spots[0][1] - 1) % size == 0
        for start in range(0, len(spots), size):
            rack, first = spots[start]
            assert spots[start : start + size] == [(rack, first + step) for step in range(size)]
    # Buddy blocks that only come, never go: a size is refused only if no block of it is left at all.
    free = {item.machines: item.aligned for item in capacity(HALLS, locks).vpods}
    assert all(free[size] == 0 for size in refused)


@given(several, st.sampled_from([1, 2, 4, 8, 16]))
def test_what_is_free_is_free_in_blocks(wanted: list[int], size: int) -> None:
    """However vPODs of at least a size came, the machines left are that many more vPODs of that size."""
    locks, _ = placed(HALLS, [max(size, count) for count in wanted])
    left = len(HALLS.machines) - sum(len(positions(lock)) for lock in locks)
    rooms = {item.machines: item.aligned for item in capacity(HALLS, locks).vpods}
    assert rooms[size] == left // size


@given(several)
def test_nothing_is_shared_between_halls_either(wanted: list[int]) -> None:
    locks, _ = placed(HALLS, wanted)
    wires: Counter[tuple[str, int]] = Counter()
    layout = AllocationState(HALLS).layout
    for claim in (claim for lock in locks for claim in claims_of_lock(lock)):
        if claim.field in VLAN_CLAIMS:
            network, vlan = Vlan.parse(claim.value)
            wires.update((switch, vlan) for switch in layout.switches(network))
    assert all(count == 1 for count in wires.values())
    machines = Counter(spot for lock in locks for spot in positions(lock))
    assert all(count == 1 for count in machines.values())


@given(several, st.randoms(use_true_random=False))
def test_the_order_in_which_locks_are_read_changes_nothing(wanted: list[int], random: Random) -> None:
    locks, _ = placed(HALLS, wanted)
    shuffled = random.sample(locks, len(locks))
    for size in (1, 4, 16):
        asked = tenant("late", machines=size, servers=1)
        answers = []
        for others in (locks, shuffled):
            try:
                answers.append(repr(allocate(HALLS, asked, others, None)))
            except AllocationError as error:
                answers.append(str(error))
        assert answers[0] == answers[1]


@given(several, st.data())
def test_a_move_never_happens_unasked(wanted: list[int], data: st.DataObject) -> None:
    locks, _ = placed(HALLS, wanted)
    assume(locks)
    chosen = data.draw(st.sampled_from(locks))
    size = data.draw(st.sampled_from([1, 2, 4, 8, 16, 32]))
    rest = [lock for lock in locks if lock is not chosen]
    asked = tenant(chosen.id, machines=size, servers=1)
    before = chosen.allocation.vpods["train"]
    try:
        after = allocate(HALLS, asked, rest, chosen)[0].vpods["train"]
    except AllocationError:
        # Whatever is refused is refused with leave to move as well, or is then really moved.
        try:
            after = allocate(HALLS, asked, rest, chosen, move=True)[0].vpods["train"]
        except AllocationError:
            return
        assert set(after.machines).isdisjoint(before.machines)
        return
    smaller, larger = sorted((set(before.machines), set(after.machines)), key=len)
    assert smaller <= larger
    assert after.model_copy(update={"machines": before.machines}) == before


@given(several)
def test_an_index_kept_over_all_tenants_is_the_one_recreated(wanted: list[int]) -> None:
    locks, _ = placed(HALLS, wanted)
    kept = AllocationState.of(HALLS, locks)
    for lock in locks:
        kept.remove_lock(lock)
        asked = tenant(lock.id, machines=len(lock.allocation.vpods["train"].machines), servers=1)
        assert allocate(HALLS, asked, kept, lock) == (lock.allocation, ())
        fresh = allocate(HALLS, asked, [other for other in locks if other is not lock], None)
        assert allocate(HALLS, asked, kept, None) == fresh
        kept.add_lock(lock)
