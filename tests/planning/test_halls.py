"""Several racks and leaf groups: which networks, which racks together, which hosts, and what is said if none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from interlock.model.lock.record import Allocation, Lock, VPodAllocation
from interlock.model.site.inventory import Cable, Host, Limits, Site, Switch, VlanPool
from interlock.model.tenant.request import Poplar, ShareRequest, Tenant, VPod
from interlock.planning import AllocationError, AllocationState, PlanningError, allocate
from tests.builders.pod64 import locked, pinned, tenant, vpod
from tests.planning.halls import block, cable, halls, machine

PAIR = (("r1", "r2"),)


def train(lock: Lock) -> VPodAllocation:
    return lock.allocation.vpods["train"]


def fleet(site: Site, *requests: Tenant) -> list[Lock]:
    locks: list[Lock] = []
    for request in requests:
        locks.append(locked(site, request, locks))
    return locks


def sized(name: str, *machines: int, servers: int = 1) -> list[Tenant]:
    return [tenant(f"{name}{index}", machines=size, servers=servers) for index, size in enumerate(machines)]


def bow_only(machines: int) -> Tenant:
    wanted = vpod(machines=machines, servers=1).model_copy(update={"generation": "bow-2000"})
    return tenant("acme", vpods=(wanted,))


def bare(name: str, servers: int = 1) -> Tenant:
    poplar = Poplar(servers=servers, kind="bare-metal", flavor="", image="poplar", volume=None)
    return tenant(name, vpods=(VPod(name="train", machines=1, poplar=poplar),))


class TestLeafGroups:
    def test_the_networks_follow_from_the_cables_of_the_machines(self) -> None:
        site = halls([["r1"], ["r2"]])
        lock = locked(site, tenant("acme", pins=pinned(machines=block("r2", 1, 4))))
        claims = train(lock)
        assert (claims.ipu_data_network, claims.storage_network) == ("fabric-h2", "fabric-h2")
        assert (claims.management_network, claims.controller_host) == ("mgmt-h2", "infra-h2")
        assert claims.hosts == ("r2-p1", "r2-p2")

    def test_one_id_serves_two_leaf_groups_and_only_one_vpod_in_each(self) -> None:
        locks = fleet(halls([["r1"], ["r2"]]), *sized("t", 16, 8, 8))
        given = [(train(lock).ipu_data_network, train(lock).ipu_data_vlan) for lock in locks]
        assert given == [("fabric-h1", 1000), ("fabric-h2", 1000), ("fabric-h2", 1001)]

    def test_networks_that_share_a_switch_share_its_ids(self) -> None:
        site = halls([["r1"]])
        again = site.physical_networks[0].model_copy(update={"name": "again"})
        pool = VlanPool(physical_networks=("again",), vlans=((1000, 1999),))
        pools = site.pools.model_copy(update={"storage": pool})
        hosts = tuple(
            host.model_copy(update={"interfaces": host.interfaces | {"again": ("f1",)}}) for host in site.hosts
        )
        both = site.model_copy(
            update={"physical_networks": (*site.physical_networks, again), "pools": pools, "hosts": hosts}
        )
        claims = train(locked(both, tenant("acme")))
        assert (claims.ipu_data_vlan, claims.storage_network, claims.storage_vlan) == (1000, "again", 1001)

    def test_a_full_leaf_group_is_passed_over(self) -> None:
        site = halls([["r1"], ["r2"]], hosts=1)
        whole = tenant("whole", vpods=(vpod(machines=1, servers=1, flavor="poplar.whole"),))
        lock = fleet(site, whole, *sized("t", 1))[1]
        assert train(lock).machines == (machine("r2", 1),)

    def test_machines_whose_cables_no_pool_knows_are_refused_with_the_reason(self) -> None:
        site = halls([["r1"]], physical_networks=())
        with pytest.raises(AllocationError, match="no physical network of pool ipu_data and storage and management"):
            locked(site, tenant("acme"))

    def test_without_hosts_on_the_data_network_there_is_no_place(self) -> None:
        site = halls([["r1"]])
        cut = tuple(
            host.model_copy(update={"interfaces": {}}) if host.role == "poplar" else host for host in site.hosts
        )
        with pytest.raises(AllocationError, match="no hypervisor host of role poplar has interfaces on fabric-h1"):
            locked(site.model_copy(update={"hosts": cut}), tenant("acme"))

    def test_exhaustion_names_what_would_be_free_after_settling(self) -> None:
        pool = VlanPool(physical_networks=("mgmt-h1",), vlans=((110, 110),))
        site = halls([["r1"]])
        site = site.model_copy(update={"pools": site.pools.model_copy(update={"management": pool})})
        acme = locked(site, tenant("acme"))
        gone = locked(site, tenant("acme", state="gone"), previous=acme)
        with pytest.raises(AllocationError, match="no free VLAN id for management_vlan") as raised:
            locked(site, tenant("globex"), [gone])
        assert raised.value.hint == "widen the pool in the site file, or settle what is released: acme (1)"


class TestBestFit:
    def test_the_smallest_free_block_is_broken_first(self) -> None:
        site = halls([["r1", "r2"]], hosts=8)
        locks = fleet(site, *sized("t", 8, 2, 16, 4, 1))
        assert [train(lock).machines[0] for lock in locks] == [
            machine("r1", 1),
            machine("r1", 9),
            machine("r2", 1),
            machine("r1", 13),
            machine("r1", 11),
        ]

    def test_a_rack_of_its_own_is_broken_before_one_of_a_joined_pair(self) -> None:
        site = halls([["r1", "r2", "r3"]], joined=PAIR)
        locks = fleet(site, *sized("t", 1, 32))
        assert train(locks[0]).machines == (machine("r3", 1),)
        assert train(locks[1]).machines == block("r1", 1, 16) + block("r2", 1, 16)

    def test_the_generation_asked_for_is_given(self) -> None:
        site = halls([["r1", "r2"]], bow=["r2"])
        assert train(locked(site, bow_only(4))).machines == block("r2", 1, 4)
        with pytest.raises(AllocationError, match="16 neighbouring bow-2000 IPU-Machines"):
            locked(site, bow_only(16), fleet(site, tenant("first", pins=pinned(machines=block("r2", 1, 4)))))


class TestSeveralRacks:
    def test_racks_must_be_joined_at_every_position(self) -> None:
        site = halls([["r1", "r2"]], joined=PAIR)
        assert len(train(locked(site, tenant("acme", machines=32))).machines) == 32
        missing = site.model_copy(update={"cables": site.cables[:-1]})
        with pytest.raises(AllocationError, match="no more than 1 racks of one kind are joined"):
            locked(missing, tenant("acme", machines=32))

    def test_a_cable_between_different_positions_joins_nothing(self) -> None:
        site = halls([["r1", "r2"]], joined=PAIR)
        crossed = cable(machine("r1", 16), "gw-to-r2", machine("r2", 15), "gw-extra", kind="gw-link")
        with pytest.raises(AllocationError, match="no more than 1 racks"):
            locked(site.model_copy(update={"cables": (*site.cables[:-1], crossed)}), tenant("acme", machines=32))

    @pytest.mark.parametrize(("torus", "bow"), [(["r1"], []), ([], ["r1"])])
    def test_racks_of_two_kinds_do_not_go_together(self, torus: list[str], bow: list[str]) -> None:
        with pytest.raises(AllocationError, match="no more than 1 racks of one kind"):
            locked(halls([["r1", "r2"]], joined=PAIR, torus=torus, bow=bow), tenant("acme", machines=32))

    def test_racks_of_two_leaf_groups_do_not_go_together(self) -> None:
        with pytest.raises(AllocationError, match="no physical network of pool ipu_data"):
            locked(halls([["r1"], ["r2"]], joined=PAIR), tenant("acme", machines=32))

    def test_a_ring_gives_out_neighbours_on_the_wire(self) -> None:
        # The ring runs r1 - r3 - r2 - r4 - r1, not in the order of the names.
        ring = [("r1", "r3"), ("r3", "r2"), ("r2", "r4"), ("r4", "r1")]
        site = halls([["r1", "r2", "r3", "r4"]], joined=ring)
        first, second = fleet(site, *sized("t", 32, 32))
        assert {name[:2] for name in train(first).machines} == {"r1", "r3"}
        assert {name[:2] for name in train(second).machines} == {"r2", "r4"}
        assert len(train(locked(site, tenant("acme", machines=64))).machines) == 64

    def test_a_gw_link_switch_joins_all_racks_on_it(self) -> None:
        names = ["r1", "r2", "r3", "r4"]
        switch = Switch(name="gw-1", serial="SN-gw-1", model="x", role="gw-link", port_groups=((400, 64),))
        site = halls([names])
        links: tuple[Cable, ...] = tuple(
            cable(machine(rack, position), "gw-1", "gw-1", str(16 * index + position), kind="gw-link")
            for index, rack in enumerate(names)
            for position in range(1, 17)
        )
        site = site.model_copy(update={"switches": (*site.switches, switch), "cables": (*site.cables, *links)})
        assert len(train(locked(site, tenant("acme", machines=64))).machines) == 64
        one = locked(site, tenant("one", machines=1, servers=1, pins=pinned(machines=(machine("r2", 5),))))
        assert {name[:2] for name in train(locked(site, tenant("acme", machines=32), [one])).machines} == {"r3", "r4"}

    def test_a_taken_rack_in_the_group_is_named(self) -> None:
        site = halls([["r1", "r2"]], joined=PAIR)
        small = locked(site, tenant("small", machines=2, servers=1, pins=pinned(machines=block("r2", 1, 2))))
        with pytest.raises(AllocationError, match="r2-m01 is held by small/train"):
            locked(site, tenant("acme", machines=32), [small])


class TestHosts:
    def test_servers_stand_on_the_machines_tor_first_then_elsewhere_on_the_network(self) -> None:
        site = halls([["r1", "r2"]], hosts=2)
        six = train(locked(site, tenant("acme", machines=4, servers=6)))
        assert sorted(six.hosts) == ["r1-p1", "r1-p1", "r1-p2", "r1-p2", "r2-p1", "r2-p2"]

    def test_a_vpod_over_two_racks_has_servers_in_both(self) -> None:
        site = halls([["r1", "r2"]], joined=PAIR)
        assert {host[:2] for host in train(locked(site, tenant("acme", machines=32))).hosts} == {"r1", "r2"}

    def test_bare_metal_hosts_are_given_out_whole_with_a_vlan_for_control(self) -> None:
        site = halls([["r1"]], hosts=1, bare_metal=2)
        locks = fleet(site, bare("acme"), bare("globex"), *sized("t", 1))
        assert [train(lock).hosts for lock in locks] == [("r1-p2",), ("r1-p3",), ("r1-p1",)]
        claims = train(locks[1])
        assert (claims.control_vlan, claims.control_network, claims.control_vni) == (3001, "mgmt-h1", None)
        assert (train(locks[2]).control_vlan, train(locks[2]).control_vni) == (None, 5000)
        with pytest.raises(AllocationError, match=r"no bare-metal host on .* is free"):
            locked(site, bare("late"), locks)

    def test_vms_never_stand_on_bare_metal_hosts(self) -> None:
        site = halls([["r1"]], hosts=0, bare_metal=2)
        with pytest.raises(AllocationError, match="no hypervisor host"):
            locked(site, tenant("acme"))

    def test_bare_metal_needs_a_pool_for_its_control_network(self) -> None:
        site = halls([["r1"]], bare_metal=1)
        site = site.model_copy(update={"pools": site.pools.model_copy(update={"bare_metal_control": None})})
        with pytest.raises(PlanningError, match="no VLANs for their control network"):
            locked(site, bare("acme"))

    def test_a_host_listed_twice_by_name_of_network_is_one(self) -> None:
        site = halls([["r1"]], hosts=1)
        double = [
            Host.model_validate(host.model_dump() | {"interfaces": {"fabric-h1": ("f0", "f1"), "other": ("f0",)}})
            if host.role == "poplar"
            else host
            for host in site.hosts
        ]
        lock = locked(site.model_copy(update={"hosts": tuple(double)}), tenant("acme", servers=2))
        assert train(lock).hosts == ("r1-p1", "r1-p1")


class TestStorageVip:
    SHARE = ShareRequest(name="home", size_gib=10, share_type="x", vpods=("train",), on_delete="keep")

    def with_vips(self, vips: tuple[int, int] | None) -> Site:
        site = halls([["r1"]])
        return site.model_copy(update={"pools": site.pools.model_copy(update={"storage_vips": vips})})

    def test_a_vpod_that_mounts_a_share_has_an_address_of_the_appliance(self) -> None:
        site = self.with_vips((250, 251))
        with_share = tenant("acme", shares=(self.SHARE,))
        before = locked(site, with_share)
        assert train(before).storage_vip == "10.64.0.250"
        assert train(locked(site, tenant("globex"), [before])).storage_vip is None
        without = locked(site, tenant("acme"), previous=before)
        assert [(item.claim, item.value) for item in without.released] == [("storage_vip", "10.64.0.250")]
        # What is released is given to nobody before it is settled, not even to its own vPOD.
        assert train(locked(site, with_share, previous=without)).storage_vip == "10.64.0.251"

    def test_a_site_without_addresses_for_it_says_so(self) -> None:
        with pytest.raises(PlanningError, match="mounts a share") as raised:
            locked(self.with_vips(None), tenant("acme", shares=(self.SHARE,)))
        assert "add `storage_vips`" in raised.value.hint


class TestLimits:
    def test_more_machines_than_the_site_gives_a_tenant_are_refused(self) -> None:
        limits = Limits(controller_instances=8, controller_cores=32, controller_ram_gib=64, machines_per_tenant=6)
        site = halls([["r1"]], limits=limits)
        with pytest.raises(PlanningError, match="ask for 8 IPU-Machines in all; the site gives a tenant no more"):
            locked(site, tenant("acme", vpods=(vpod("a"), vpod("b"))))
        assert len(train(locked(site, tenant("acme"))).machines) == 4

    def test_reserved_vnis_are_never_given(self) -> None:
        site = halls([["r1"]])
        site = site.model_copy(update={"pools": site.pools.model_copy(update={"reserved_vnis": (5000, 5001)})})
        assert train(locked(site, tenant("acme"))).control_vni == 5002


class TestPreparedTaken:
    def answers(self, site: Site, requests: Sequence[Tenant]) -> list[Allocation]:
        allocated, found = AllocationState(site), list[Allocation]()
        for request in requests:
            allocation, released = allocate(site, request, allocated, None)
            assert allocate(site, request, allocated, None) == (allocation, released), "an allocation left a trace"
            lock = locked(site, request, allocated)
            allocated.add_lock(lock)
            found.append(allocation)
        return found

    def test_one_index_for_all_tenants_answers_as_the_list_of_locks_does(self) -> None:
        site = halls([["r1", "r2"], ["r3"]], joined=PAIR)
        requests = sized("t", 1, 2, 16, 4, 8, 1)
        assert self.answers(site, requests) == [lock.allocation for lock in fleet(site, *requests)]

    def test_what_is_removed_is_free_again(self) -> None:
        site = halls([["r1", "r2"], ["r3"]], joined=PAIR)
        allocated = AllocationState(site)
        fresh = allocate(site, tenant("acme", machines=32), allocated, None)
        locks = fleet(site, *sized("t", 1, 2, 16, 4))
        for lock in locks:
            allocated.add_lock(lock)
        for lock in locks:
            allocated.remove_lock(lock)
        assert allocate(site, tenant("acme", machines=32), allocated, None) == fresh

    def test_a_rack_that_was_full_is_found_again_when_something_there_is_given_back(self) -> None:
        site = halls([["r1"], ["r2"], ["r3"]], hosts=1)
        whole = vpod(machines=1, servers=1, flavor="poplar.whole")
        requests = [tenant(f"t{index}", vpods=(whole,)) for index in range(4)]
        allocated, locks = AllocationState(site), []
        for request in requests[:3]:
            lock = locked(site, request, allocated)
            allocated.add_lock(lock)
            locks.append(lock)
        for _ in range(2):
            with pytest.raises(AllocationError, match=r"r1-p1 has 0 CPUs.*; 2 more leaf groups"):
                allocate(site, requests[3], allocated, None)
        allocated.remove_lock(locks[1])
        assert allocate(site, requests[3], allocated, None)[0] == locks[1].allocation

    def test_an_error_leaves_no_trace(self) -> None:
        site = halls([["r1"]])
        allocated = AllocationState.of(site, [locked(site, tenant("acme", machines=16))])
        with pytest.raises(AllocationError):
            allocate(site, tenant("globex"), allocated, None)
        with pytest.raises(AllocationError, match="0 are free"):
            allocate(site, tenant("globex"), allocated, None)


PROGRAM = """
from tests.planning.halls import halls
from tests.builders.pod64 import locked, tenant
site = halls([["r1", "r2"], ["r3"]], joined=[("r1", "r2")])
locks = []
for size in (2, 16, 4, 1, 8):
    locks.append(locked(site, tenant(f"t{size}", machines=size), locks))
print([lock.hash for lock in locks])
"""


def test_the_hash_seed_changes_nothing() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert len(answers) == 1
