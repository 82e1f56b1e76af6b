"""First fit: what is chosen, what stays, what is given up, and what is said when there is no room."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from interlock.model.lock.record import Lock, Released, VPodAllocation
from interlock.model.site.inventory import Site, VlanPool
from interlock.model.tenant.request import Pins, Tenant
from interlock.planning import AllocationError, NeedsMove, PlanningError
from tests.builders.pod64 import MACHINES, hosts, locked, machines, pinned, pod64, pools, tenant, vpod

ONE_VLAN = VlanPool(physical_networks=("mgmt1g",), vlans=((110, 110),))


def train(lock: Lock) -> VPodAllocation:
    return lock.allocation.vpods["train"]


def fleet(site: Site, *requests: Tenant) -> list[Lock]:
    locks: list[Lock] = []
    for request in requests:
        locks.append(locked(site, request, locks))
    return locks


def names(positions: Sequence[int]) -> tuple[str, ...]:
    return tuple(MACHINES[position - 1] for position in positions)


class TestMachines:
    def test_a_rack_holds_sixteen_over_n_aligned_blocks(self) -> None:
        locks = fleet(pod64(), *(tenant(f"t{number}", machines=4, servers=1) for number in range(4)))
        assert [train(lock).machines[0] for lock in locks] == list(names([1, 5, 9, 13]))

    def test_an_aligned_block_is_preferred_to_an_earlier_run(self) -> None:
        one, four = fleet(pod64(), tenant("one", machines=1, servers=1), tenant("four", machines=4, servers=1))
        assert train(one).machines == names([1])
        assert train(four).machines == names(range(5, 9))

    def test_without_an_aligned_block_a_run_of_neighbours_is_taken(self) -> None:
        site = pod64()
        in_the_way = [
            locked(site, tenant(f"t{position}", machines=1, servers=1, pins=pinned(machines=names([position]))))
            for position in (1, 8, 9, 16)
        ]
        assert train(locked(site, tenant("acme", machines=4), in_the_way)).machines == names(range(2, 6))

    def test_a_run_never_crosses_logical_racks_or_generations(self) -> None:
        two_racks = tuple(
            machine.model_copy(update={"logical_rack": "lrack-2", "position": machine.position - 8})
            if machine.position > 8
            else machine
            for machine in machines()
        )
        with pytest.raises(AllocationError, match="the largest logical rack has 8 machines"):
            locked(pod64(machines=two_racks), tenant("acme", machines=16))
        mixed = tuple(
            machine.model_copy(update={"generation": "bow-2000"}) if machine.position not in range(3, 11) else machine
            for machine in machines()
        )
        assert train(locked(pod64(machines=mixed), tenant("acme", machines=8))).machines == names(range(3, 11))

    def test_no_room_says_what_is_missing_what_is_closest_and_what_frees_it(self) -> None:
        site = pod64()
        holes = [
            locked(site, tenant(f"t{position}", machines=1, servers=1, pins=pinned(machines=names([position]))))
            for position in (3, 6, 9, 12, 15)
        ]
        with pytest.raises(AllocationError) as raised:
            locked(site, tenant("acme", machines=4), holes)
        assert raised.value.what == (
            "vPOD train needs 4 neighbouring IPU-Machines in one logical rack; "
            "11 are free, none of it in such a run; "
            "closest is ipum-01 to ipum-04, where ipum-03 is held by t3/train"
        )
        assert raised.value.closest == "closest is ipum-01 to ipum-04, where ipum-03 is held by t3/train"
        assert raised.value.hint == "free these (t3/train) or ask for fewer machines"

    def test_a_vpod_grows_where_it_is(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme", machines=4))
        after = locked(site, tenant("acme", machines=8), previous=before)
        assert train(after).machines == names(range(1, 9))
        assert after.released == ()

    def test_a_vpod_that_cannot_grow_where_it_is_is_not_moved(self) -> None:
        site = pod64()
        acme, globex = fleet(site, tenant("acme", machines=4), tenant("globex", machines=4))
        with pytest.raises(NeedsMove, match="ipum-05 is held by globex/train") as raised:
            locked(site, tenant("acme", machines=8), [globex], previous=acme)
        assert raised.value.vpod == "train"
        assert "ask for it with `--move`" in raised.value.hint


class TestHosts:
    def test_servers_of_a_vpod_stand_apart_and_away_from_others(self) -> None:
        acme, globex = fleet(pod64(), tenant("acme", servers=2), tenant("globex", servers=2))
        assert train(acme).hosts == ("poplar-1", "poplar-2")
        assert train(globex).hosts == ("poplar-3", "poplar-4")

    def test_hosts_are_shared_when_none_is_free(self) -> None:
        locks = fleet(pod64(), tenant("acme", servers=4), tenant("globex", servers=1))
        assert train(locks[1]).hosts == ("poplar-1",)

    @pytest.mark.parametrize(
        ("limit", "left"), [("dedicated_cpus", 111), ("huge_pages_gib", 231), ("virtual_functions", 1)]
    )
    def test_a_host_without_room_is_passed_over(self, limit: str, left: int) -> None:
        first, *rest = hosts()
        site = pod64(hosts=(first.model_copy(update={limit: left}), *rest))
        assert train(locked(site, tenant("acme", servers=1))).hosts == ("poplar-2",)

    def test_the_size_of_others_servers_counts(self) -> None:
        whole = tenant("whole", machines=1, vpods=(vpod(machines=1, servers=4, flavor="poplar.whole"),))
        with pytest.raises(AllocationError, match="poplar-1 has 0 CPUs, 0 pages, 14 virtual functions left"):
            fleet(pod64(), whole, tenant("acme", machines=1, servers=1))

    def test_hosts_of_the_machines_own_logical_rack_come_first(self) -> None:
        first, *rest = hosts()
        site = pod64(hosts=(first.model_copy(update={"logical_rack": "lrack-9"}), *rest))
        assert train(locked(site, tenant("acme", servers=2))).hosts == ("poplar-2", "poplar-3")

    def test_controllers_are_spread(self) -> None:
        locks = fleet(pod64(), *(tenant(f"t{number}", machines=1, servers=1) for number in range(3)))
        assert [train(lock).controller_host for lock in locks] == ["infra-1", "infra-2", "infra-1"]


class TestIdentifiers:
    def test_storage_is_ipu_data_plus_a_thousand_where_both_are_free(self) -> None:
        site = pod64()
        blocker = locked(site, tenant("t1", machines=1, servers=1, pins=pinned(storage_vlan=2000)))
        assert (train(blocker).ipu_data_vlan, train(blocker).storage_vlan) == (1000, 2000)
        second = locked(site, tenant("t2", machines=1, servers=1, pins=pinned(storage_vlan=2001)), [blocker])
        assert train(second).ipu_data_vlan == 1001
        third = locked(site, tenant("t3", machines=1, servers=1, pins=pinned(ipu_data_vlan=1500)), [blocker])
        assert train(third).storage_vlan == 2500

    def test_without_a_pair_the_lowest_free_ids_are_taken(self) -> None:
        odd = pools().vlans_by_name["storage"].model_copy(update={"vlans": ((3000, 3001),)})
        lock = locked(pod64(pools=pools(storage=odd)), tenant("acme"))
        assert (train(lock).ipu_data_vlan, train(lock).storage_vlan) == (1000, 3000)

    def test_pools_that_share_ids_on_one_switch_share_the_ids(self) -> None:
        same = pools().vlans_by_name["storage"].model_copy(update={"vlans": ((1000, 1999),)})
        locks = fleet(pod64(pools=pools(storage=same)), tenant("acme"), tenant("globex"))
        given = [vlan for lock in locks for vlan in (train(lock).ipu_data_vlan, train(lock).storage_vlan)]
        assert len(set(given)) == 4

    def test_ids_may_repeat_on_switches_that_share_none(self) -> None:
        same = pools().vlans_by_name["management"].model_copy(update={"vlans": ((1000, 1099),)})
        assert train(locked(pod64(pools=pools(management=same)), tenant("acme"))).management_vlan == 1000

    def test_reserved_ids_and_that_of_the_external_network_are_never_given(self) -> None:
        external = pod64().external.model_copy(
            update={"physical_network": "fabric100g", "network_type": "vlan", "vlan": 1001}
        )
        site = pod64(pools=pools(reserved_vlans=(1, 1000)), external=external)
        assert train(locked(site, tenant("acme"))).ipu_data_vlan == 1002

    def test_subnets_overlap_nothing_on_the_site(self) -> None:
        one = ("10.20.0.0/16", 24)
        site = pod64(pools=pools(storage_subnets=one, control_subnets=one, management_subnets=one))
        lock = locked(
            site,
            tenant("acme"),
            [locked(site, tenant("t", machines=1, pins=pinned(control_subnet="10.20.0.0/22")))],
        )
        assert train(lock).ipu_data_subnet == "10.20.7.0/24"

    @pytest.mark.parametrize(
        ("pool", "message"),
        [
            ({"management": ONE_VLAN}, "no free VLAN id for management_vlan"),
            ({"control": ((5000, 5000),)}, "no free VNI for control"),
            ({"control_subnets": ("10.30.0.0/24", 24)}, "no free subnet for control_subnet"),
        ],
    )
    def test_an_exhausted_pool_is_named(self, pool: dict[str, object], message: str) -> None:
        with pytest.raises(AllocationError, match=message) as raised:
            fleet(pod64(pools=pools(**pool)), tenant("acme", machines=1), tenant("globex", machines=1))
        assert "widen the pool" in raised.value.hint


class TestPins:
    def test_pins_are_taken_as_given_even_where_they_collide(self) -> None:
        site = pod64()
        acme = locked(site, tenant("acme"))
        stolen = pinned(**train(acme).model_dump(include=set(Pins.model_fields) - {"controller_host"}))
        globex = locked(site, tenant("globex", pins=stolen), [acme])
        assert train(globex).model_dump(exclude={"controller_host"}) == train(acme).model_dump(
            exclude={"controller_host"}
        )

    def test_a_run_with_a_hole_can_be_pinned(self) -> None:
        hole = names([1, 2, 3, 5])
        assert train(locked(pod64(), tenant("acme", pins=pinned(machines=hole)))).machines == hole

    def test_a_pin_of_one_vpod_is_out_of_reach_of_another(self) -> None:
        request = tenant("acme", vpods=(vpod("first", machines=1, servers=1), vpod("train", machines=1, servers=1)))
        request = request.model_copy(update={"pins": pinned(ipu_data_vlan=1000, machines=names([1]))})
        first = locked(pod64(), request).allocation.vpods["first"]
        assert (first.ipu_data_vlan, first.machines) == (1001, names([2]))

    def test_a_pin_moves_a_claim_and_the_old_one_is_released(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme"))
        after = locked(site, tenant("acme", pins=pinned(ipu_data_vlan=1500)), previous=before)
        assert train(after) == train(before).model_copy(update={"ipu_data_vlan": 1500})
        assert after.released == (Released(vpod="train", claim="ipu_data_vlan", value="fabric100g:1000"),)

    def test_pins_that_contradict_the_request_are_refused(self) -> None:
        with pytest.raises(PlanningError, match="asks for 4 machines and pins 2 machines"):
            locked(pod64(), tenant("acme", pins=pinned(machines=names([1, 2]))))


class TestChange:
    def test_nothing_asked_nothing_moved(self) -> None:
        site = pod64()
        acme, globex = fleet(site, tenant("acme"), tenant("globex", machines=8, servers=1))
        again = locked(site, tenant("acme"), [globex], previous=acme)
        assert (again.allocation, again.released) == (acme.allocation, acme.released)

    def test_the_order_of_the_other_locks_changes_nothing(self) -> None:
        site = pod64()
        locks = fleet(site, *(tenant(name, machines=1, servers=1) for name in ("a", "b", "c")))
        results = {locked(site, tenant("z"), order).hash for order in itertools.permutations(locks)}
        assert len(results) == 1

    def test_one_more_server_only_adds_a_host(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme", servers=2))
        after = locked(site, tenant("acme", servers=3), previous=before)
        assert train(after) == train(before).model_copy(update={"hosts": ("poplar-1", "poplar-2", "poplar-3")})
        assert after.released == ()

    def test_one_more_vpod_only_adds_claims(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme"))
        both = tenant("acme", vpods=(vpod("serve", machines=8, servers=1), vpod("train")))
        after = locked(site, both, previous=before)
        assert train(after) == train(before)
        assert after.allocation.vpods["serve"].machines == names(range(9, 17))

    def test_fewer_servers_and_machines_release_the_rest(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme", machines=4, servers=2))
        after = locked(site, tenant("acme", machines=2, servers=1), previous=before)
        assert (train(after).machines, train(after).hosts) == (names([1, 2]), ("poplar-1",))
        assert [(entry.claim, entry.value) for entry in after.released] == [
            ("hosts", "poplar-2"),
            ("machines", "ipum-03"),
            ("machines", "ipum-04"),
        ]

    def test_what_is_released_is_given_to_nobody_not_even_to_oneself(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme", machines=4))
        renamed = tenant("acme", vpods=(vpod("serve"),))
        after = locked(site, renamed, previous=before)
        serve = after.allocation.vpods["serve"]
        assert (serve.machines, serve.ipu_data_vlan, serve.control_subnet) == (
            names(range(5, 9)),
            1001,
            "10.30.1.0/24",
        )
        later = locked(site, renamed, previous=after)
        assert (later.allocation, later.released) == (after.allocation, after.released)
        globex = train(locked(site, tenant("globex", machines=4), [later]))
        assert (globex.machines, globex.ipu_data_vlan) == (names(range(9, 13)), 1002)

    def test_the_holder_of_a_released_machine_is_said_to_have_released_it(self) -> None:
        site = pod64()
        gone = locked(site, tenant("acme", vpods=(), buckets=()), previous=locked(site, tenant("acme", machines=16)))
        with pytest.raises(AllocationError, match=r"held by acme/train \(released, not settled yet\)"):
            locked(site, tenant("globex", machines=1, servers=1), [gone])


def test_a_pin_to_a_host_that_is_full() -> None:
    """The gate would refuse the plan (CAP-02); nobody should have to commit the lock before they are told."""
    site = pod64()
    half = pinned(hosts=("poplar-1", "poplar-1"))
    acme = locked(site, tenant("acme", pins=half))
    with pytest.raises(AllocationError, match="pins host poplar-1, which has no room for one more") as error:
        locked(site, tenant("globex", servers=1, pins=pinned(hosts=("poplar-1",))), [acme])
    assert "poplar-1 has 0 CPUs, 0 pages, 12 virtual functions left" in str(error.value)
    with pytest.raises(AllocationError):
        locked(site, tenant("globex", servers=3, pins=pinned(hosts=("poplar-2",) * 3)), [acme])
