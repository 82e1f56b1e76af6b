"""Growing, shrinking, moving: nothing moves unasked. What a change recreates is `test_resizes.py`'s."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Lock, VPodAllocation
from interlock.model.site.inventory import Cable, Site
from interlock.planning import NeedsMove, allocate
from tests.builders.pod64 import locked, pinned, pod64, tenant, vpod
from tests.builders.states import out
from tests.planning.halls import block, cable, halls, machine


def train(lock: Lock) -> VPodAllocation:
    return lock.allocation.vpods["train"]


def released(lock: Lock) -> list[tuple[str, str]]:
    return [(item.claim, item.value) for item in lock.released]


SITE = halls([["r1", "r2"], ["r3"]], joined=[("r1", "r2")])


class TestGrowing:
    def test_the_upper_half_of_a_block_grows_downwards(self) -> None:
        before = locked(SITE, tenant("acme", machines=2, pins=pinned(machines=block("r1", 3, 4))))
        after = locked(SITE, tenant("acme", machines=4), previous=before)
        assert (train(after).machines, after.released) == (block("r1", 1, 4), ())
        assert train(after).ipu_data_vlan == train(before).ipu_data_vlan

    def test_from_a_part_of_a_rack_to_two_racks(self) -> None:
        before = locked(SITE, tenant("acme", machines=8, pins=pinned(machines=block("r2", 9, 16))))
        after = locked(SITE, tenant("acme", machines=32), previous=before)
        assert (train(after).machines, after.released) == (block("r1", 1, 16) + block("r2", 1, 16), ())

    def test_two_racks_where_the_other_is_taken_need_a_move(self) -> None:
        before = locked(SITE, tenant("acme", machines=16, pins=pinned(machines=block("r1", 1, 16))))
        other = locked(SITE, tenant("globex", machines=1, servers=1, pins=pinned(machines=(machine("r2", 7),))))
        with pytest.raises(NeedsMove, match="r2-m07 is held by globex/train"):
            locked(SITE, tenant("acme", machines=32), [other], previous=before)

    def test_another_generation_needs_a_move(self) -> None:
        site = halls([["r1", "r2"]], bow=["r2"])
        before = locked(site, tenant("acme"))
        bow = tenant("acme", vpods=(vpod().model_copy(update={"generation": "bow-2000"}),))
        with pytest.raises(NeedsMove, match="r1-m01 is ipu-m2000"):
            locked(site, bow, previous=before)
        allocation, _ = allocate(site, bow, (), before, move=True)
        assert allocation.vpods["train"].machines == block("r2", 1, 4)


class TestShrinking:
    def test_an_aligned_part_is_kept(self) -> None:
        before = locked(SITE, tenant("acme", machines=4, pins=pinned(machines=block("r1", 2, 5))))
        after = locked(SITE, tenant("acme", machines=2), previous=before)
        assert train(after).machines == block("r1", 3, 4)
        assert released(after) == [("machines", machine("r1", 2)), ("machines", machine("r1", 5))]

    def test_two_racks_to_one_and_to_a_part(self) -> None:
        before = locked(SITE, tenant("acme", machines=32))
        assert train(locked(SITE, tenant("acme", machines=16), previous=before)).machines == block("r1", 1, 16)
        assert train(locked(SITE, tenant("acme", machines=4), previous=before)).machines == block("r1", 1, 4)


class TestMoving:
    def crowded(self) -> tuple[Lock, Lock]:
        acme = locked(SITE, tenant("acme", pins=pinned(machines=block("r1", 1, 4))))
        globex = locked(SITE, tenant("globex", pins=pinned(machines=block("r1", 5, 8))), [acme])
        return acme, globex

    def test_a_move_stays_in_the_leaf_group_and_releases_all_it_leaves(self) -> None:
        acme, globex = self.crowded()
        allocation, given_up = allocate(SITE, tenant("acme", machines=8), [globex], acme, move=True)
        after = allocation.vpods["train"]
        assert after.machines == block("r1", 9, 16)
        assert [(item.claim, item.value) for item in given_up] == [("machines", name) for name in block("r1", 1, 4)]
        assert after.model_copy(update={"machines": train(acme).machines}) == train(acme)

    def test_a_move_to_another_leaf_group_takes_new_ids_and_servers_there(self) -> None:
        acme, globex = self.crowded()
        rest = [
            locked(SITE, tenant(f"t{rack}", machines=8, pins=pinned(machines=block(rack, 9, 16))))
            for rack in ("r1", "r2")
        ]
        low = locked(SITE, tenant("low", machines=1, servers=1, pins=pinned(machines=(machine("r2", 4),))))
        others = [globex, *rest, low]
        allocation, given_up = allocate(SITE, tenant("acme", machines=8), others, acme, move={"train"})
        after = allocation.vpods["train"]
        assert after.machines == block("r3", 1, 8)
        assert (after.ipu_data_network, after.management_network) == ("fabric-h2", "mgmt-h2")
        assert after.hosts == ("r3-p1", "r3-p2")
        assert after.controller_host == "infra-h2"
        assert (after.control_vni, after.ipu_data_subnet) == (train(acme).control_vni, train(acme).ipu_data_subnet)
        assert {item.claim for item in given_up} == {
            "machines", "hosts", "controller_host", "ipu_data_vlan", "storage_vlan", "management_vlan",
        }  # fmt: skip
        assert ("ipu_data_vlan", "fabric-h1:1000") in [(item.claim, item.value) for item in given_up]

    def test_a_vpod_that_needs_no_move_is_not_moved_by_the_leave_to(self) -> None:
        acme, globex = self.crowded()
        assert allocate(SITE, tenant("acme"), [globex], acme, move=True) == (acme.allocation, ())

    def test_leave_to_move_another_vpod_is_none_for_this_one(self) -> None:
        acme, globex = self.crowded()
        with pytest.raises(NeedsMove):
            allocate(SITE, tenant("acme", machines=8), [globex], acme, move={"serve"})


class TestHoles:
    """A failed machine in the middle: nothing moves unasked, and `--move` is enough to leave the place."""

    def worn(self, *positions: int) -> Site:
        return out(SITE, *(machine("r1", position) for position in positions))

    def acme(self) -> Lock:
        return locked(SITE, tenant("acme", pins=pinned(machines=block("r1", 1, 4))))

    def test_it_moves_when_it_may_and_stays_when_not(self) -> None:
        acme = self.acme()
        assert train(locked(self.worn(2), tenant("acme"), previous=acme)) == train(acme)
        allocation, given_up = allocate(self.worn(2), tenant("acme"), (), acme, move=True)
        assert allocation.vpods["train"].machines == block("r1", 5, 8)
        assert [item.value for item in given_up] == list(block("r1", 1, 4))

    def test_where_nothing_is_left_it_moves_when_it_may(self) -> None:
        acme, worn = self.acme(), self.worn(1, 2, 3, 4)
        assert allocate(worn, tenant("acme"), (), acme) == (acme.allocation, ())
        allocation, _ = allocate(worn, tenant("acme"), (), acme, move=True)
        assert allocation.vpods["train"].machines == block("r1", 5, 8)

    @pytest.mark.parametrize("failed", [(1,), (4,), (1, 2)])
    def test_at_an_end_it_leaves_a_smaller_one_and_nothing_moves(self, failed: tuple[int, ...]) -> None:
        acme = self.acme()
        assert allocate(self.worn(*failed), tenant("acme"), (), acme, move=True) == (acme.allocation, ())

    def test_it_shrinks_to_the_largest_block_that_is_left(self) -> None:
        acme = self.acme()
        for move in (False, True):
            allocation, _ = allocate(self.worn(2), tenant("acme", machines=2), (), acme, move=move)
            assert allocation.vpods["train"].machines == block("r1", 3, 4)

    def test_the_ends_of_a_torus_are_neighbours(self) -> None:
        site = halls([["r1"], ["r3"]], torus=["r1"])
        acme = locked(site, tenant("acme", machines=16))
        worn = out(site, machine("r1", 7))
        assert allocate(worn, tenant("acme", machines=16), (), acme, move=True) == (acme.allocation, ())

    def test_a_cable_around_the_failed_one_makes_it_no_hole(self) -> None:
        """As TOP-28 has it, which goes by cables: a vPOD that the proof finds whole is not moved."""
        chain = [self.linked(position, position + 1) for position in range(1, 16)]
        worn, acme = self.worn(2), self.acme()
        for links, moves in ((chain, True), ([*chain, self.linked(1, 3)], False)):
            cabled = worn.model_copy(update={"cables": (*worn.cables, *links)})
            allocation, _ = allocate(cabled, tenant("acme"), (), acme, move=True)
            assert (allocation != acme.allocation) == moves

    def linked(self, one: int, other: int) -> Cable:
        return cable(machine("r1", one), f"ipu-link-{other}", machine("r1", other), f"ipu-link-{one}", "ipu-link")

    def test_growing_around_a_hole_is_a_move_where_it_may_be_one(self) -> None:
        acme = self.acme()
        allocation, _ = allocate(self.worn(2), tenant("acme", machines=8), (), acme, move=True)
        assert allocation.vpods["train"].machines == block("r1", 9, 16)


class TestServers:
    def test_a_larger_flavour_stays_where_there_is_room(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme"))
        whole = tenant("acme", vpods=(vpod(flavor="poplar.whole"),))
        after = locked(site, whole, previous=before)
        assert (train(after).hosts, train(after).flavor) == (train(before).hosts, "poplar.whole")
        unchanged = train(before).model_copy(update={"flavor": "poplar.whole"})
        assert train(after) == unchanged

    def test_a_larger_flavour_without_room_needs_a_move(self) -> None:
        site = pod64()
        before = locked(site, tenant("acme", pins=pinned(hosts=("poplar-1", "poplar-2"))))
        other = locked(site, tenant("globex", servers=1, pins=pinned(hosts=("poplar-1",))), [before])
        whole = tenant("acme", vpods=(vpod(flavor="poplar.whole"),))
        with pytest.raises(NeedsMove, match="poplar-1 cannot carry what it asks for now") as raised:
            locked(site, whole, [other], previous=before)
        assert "a move recreates its Poplar servers" in raised.value.hint
        allocation, given_up = allocate(site, whole, [other], before, move=True)
        assert allocation.vpods["train"].hosts == ("poplar-2", "poplar-3")
        assert [(item.claim, item.value) for item in given_up] == [("hosts", "poplar-1")]

    def test_a_host_that_has_left_the_site_is_the_gates_to_judge(self) -> None:
        before = locked(pod64(), tenant("acme"))
        without = pod64(hosts=pod64().hosts[1:])
        assert locked(without, tenant("acme"), previous=before).allocation == before.allocation


class TestGone:
    def test_everything_is_released(self) -> None:
        before = locked(SITE, tenant("acme"))
        after = locked(SITE, tenant("acme", state="gone"), previous=before)
        assert after.allocation.vpods == {}
        claims = {item.claim for item in after.released}
        assert {"machines", "hosts", "ipu_data_vlan", "control_vni", "control_subnet", "controller_host"} <= claims
        again = locked(SITE, tenant("acme", state="gone"), previous=after)
        assert (again.allocation, again.released) == (after.allocation, after.released)
