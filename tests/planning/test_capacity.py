"""What `capacity` counts, against giving it out until nothing is left."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.model.lock.record import Footprint, Lock
from interlock.model.site.inventory import Feed, Placement, Rack, Room, Site, VlanPool
from interlock.planning import AllocationError, AllocationState, Capacity, allocate, capacity
from interlock.planning.capacity import PoolRoom
from interlock.vocabulary.owners import OwnerId
from tests.builders.pod64 import locked, pinned, tenant
from tests.builders.states import out
from tests.planning.halls import halls, machine

SITE = halls([["r1", "r2"], ["r3"]], joined=[("r1", "r2")], hosts=8, bow=["r3"])

positions = st.sets(st.tuples(st.sampled_from(["r1", "r2", "r3"]), st.integers(1, 16)), max_size=12)


def holding(site: Site, allocated: set[tuple[str, int]]) -> list[Lock]:
    """Locks of tenants with one machine each."""
    return [
        locked(site, tenant(f"h-{rack}-{position}", 1, 1, pins=pinned(machines=(machine(rack, position),))))
        for rack, position in sorted(allocated)
    ]


def given_out(site: Site, locks: list[Lock], machines: int) -> int:
    """How many vPODs of a size can really be had, one after the other."""
    allocated, count = AllocationState.of(site, locks), 0
    while True:
        request = tenant(f"t{count}", machines=machines, servers=1)
        try:
            allocation, _ = allocate(site, request, allocated, None)
        except AllocationError:
            return count
        allocated.add_lock(
            Lock(
                id=request.id, owner=OwnerId(""), serial=1, request="", site="", allocation=allocation,
                footprint=Footprint(classes=(), labels={}, exclusive=()),
            )
        )  # fmt: skip
        count += 1


def more(found: Capacity, machines: int) -> int:
    return sum(item.aligned + item.unaligned for item in found.vpods if item.machines == machines)


@settings(max_examples=25)
@given(positions, positions, st.sampled_from([2, 4, 8, 16, 32]))
def test_vpods_of_each_size_are_as_many_as_can_be_given_out(
    allocated: set[tuple[str, int]], failed: set[tuple[str, int]], machines: int
) -> None:
    locks, site = holding(SITE, allocated), out(SITE, *(machine(*place) for place in failed))
    assert more(capacity(site, locks), machines) == given_out(site, locks, machines)


def test_each_generation_is_counted_by_itself() -> None:
    found = capacity(SITE, [])
    sizes = [(item.generation, item.machines, item.aligned) for item in found.vpods]
    assert sizes == [
        *(("ipu-m2000", size, 32 // size) for size in (1, 2, 4, 8, 16, 32)),
        *(("bow-2000", size, 16 // size) for size in (1, 2, 4, 8, 16)),
        ("bow-2000", 32, 0),
    ]


def test_racks_say_their_largest_free_block() -> None:
    found = capacity(SITE, holding(SITE, {("r1", 3), ("r1", 16)}))
    assert [(item.rack, item.free, item.largest_block) for item in found.racks] == [
        ("r1", 14, 4),
        ("r2", 16, 16),
        ("r3", 16, 16),
    ]


def test_ids_addresses_and_servers() -> None:
    acme = locked(SITE, tenant("acme", machines=4, servers=3))
    gone = locked(SITE, tenant("acme", state="gone"), previous=acme)
    older = tuple(item.model_copy(update={"flavor": ""}) for item in gone.released)
    # Of a flavour that an earlier lock did not record it counts as the largest.
    unrecorded = gone.model_copy(update={"released": older})
    for locks, halves in (([acme], 45), ([gone], 45), ([unrecorded], 42)):
        found = capacity(SITE, locks)
        rooms = {(item.pool, item.network): (item.free, item.pairs) for item in found.vlans}
        # Tenants without a generation to ask for get the smallest block first: that is the rack that stands alone.
        assert rooms["ipu_data", "fabric-h2"] == (999, 999)
        assert rooms["ipu_data", "fabric-h1"] == (1000, 1000)
        assert rooms["management", "mgmt-h2"] == (89, None)
        assert rooms["control", "mgmt-h1"] == (5, None)
        assert (found.vnis, found.controllers) == (PoolRoom("control", 20000), 7)
        assert {item.pool: item.free for item in found.subnets} == {
            "ipu_data": 2**14 - 1, "storage": 2**14 - 1, "control": 2**14 - 1, "management": 2**16 - 1,
        }  # fmt: skip
        assert {item.flavor: item.servers for item in found.servers} == {"poplar.whole": 21, "poplar.half": halves}


def test_a_pair_needs_both_ids() -> None:
    odd = VlanPool(physical_networks=("fabric-h1", "fabric-h2"), vlans=((2000, 2009), (2500, 2999)))
    site = SITE.model_copy(update={"pools": SITE.pools.model_copy(update={"storage": odd})})
    assert {item.pairs for item in capacity(site, []).vlans if item.pool == "ipu_data"} == {510}


def test_ports_are_free_where_no_cable_is() -> None:
    found = {item.role: (item.free, item.of) for item in capacity(SITE, []).ports}
    # Three ToRs of 32 with 16 machines and 8 hosts twice; three switches of 48 with 16 machines, 8 hosts, one infra.
    assert found == {"tor": (0, 96), "management": (3 * 24 - 2, 144)}


def test_bare_metal_hosts_are_counted_whole() -> None:
    assert capacity(halls([["r1"]], hosts=2, bare_metal=3), []).bare_metal_hosts == 3


def test_power_is_left_only_where_all_of_it_is_stated() -> None:
    feeds = (Feed(name="a", capacity_w=20000), Feed(name="b", capacity_w=20000))
    placed = [
        Placement(device=machine("r1", 1), rack="known", nameplate_w=1500),
        Placement(device=machine("r1", 2), rack="known", nameplate_w=1500),
        Placement(device=machine("r1", 3), rack="unknown"),
    ]
    site = halls(
        [["r1"]],
        rooms=(Room(name="hall", power_w=50000), Room(name="cellar")),
        physical_racks=(
            Rack(name="known", room="hall", feeds=feeds),
            Rack(name="cooled", room="hall", feeds=feeds, cooling_limit_w=9000),
            Rack(name="unknown", room="cellar", feeds=feeds),
            Rack(name="unfed", room="cellar"),
        ),
        placements=(*placed, Placement(device=machine("r1", 4), rack="cooled", nameplate_w=1000)),
    )
    found = capacity(site, [])
    left = {item.place: (item.limit_w, item.left_w) for item in (*found.racks_power, *found.rooms_power)}
    assert left == {
        "known": (16000, 13000),
        "cooled": (9000, 8000),
        "unknown": (16000, None),
        "unfed": (None, None),
        "hall": (50000, 46000),
        "cellar": (None, None),
    }
