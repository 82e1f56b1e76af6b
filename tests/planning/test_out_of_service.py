"""Machines and hosts that failed or are in maintenance: given to nobody new, kept by whoever has them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.model.lock.record import Lock, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.site.physical import ServiceState
from interlock.model.tenant.request import Tenant
from interlock.planning import AllocationState, NeedsMove, PlanningError, allocate, capacity
from interlock.planning.out_of_service import counted, held_out_of_service
from tests.builders.pod64 import (
    INFRA_HOSTS,
    MACHINES,
    POPLAR_HOSTS,
    bare_metal_pod64,
    bare_metal_vpod,
    locked,
    pinned,
    pod64,
    tenant,
    vpod,
)
from tests.builders.states import DEAD, out
from tests.planning.halls import block, halls

SITE = pod64()
ACME = locked(SITE, tenant("acme"))


def train(lock: Lock) -> VPodAllocation:
    return lock.allocation.vpods["train"]


def refused(site: Site, request: Tenant, others: Sequence[Lock] = ()) -> str:
    with pytest.raises(PlanningError) as raised:
        locked(site, request, others)
    return str(raised.value)


class TestMachines:
    def test_one_that_failed_is_given_to_nobody_and_no_block_goes_through_it(self) -> None:
        site = out(SITE, "ipum-03")
        assert train(locked(site, tenant("acme", machines=4))).machines == MACHINES[4:8]
        assert train(locked(site, tenant("acme", machines=2))).machines == MACHINES[:2]
        assert train(locked(site, tenant("acme", machines=1))).machines == ("ipum-04",)

    @pytest.mark.parametrize("state", ["failed", "maintenance"])
    def test_who_has_one_keeps_it_and_its_lock_stays_as_it_is(self, state: ServiceState) -> None:
        site = out(SITE, "ipum-03", "poplar-1", "infra-1", state=state)
        after = locked(site, tenant("acme"), previous=ACME)
        assert (after.allocation, after.released, after.site) == (ACME.allocation, (), ACME.site)

    def test_what_its_holder_gives_up_is_free_to_nobody(self) -> None:
        site = out(SITE, "ipum-03")
        allocated = AllocationState.of(site, [ACME])
        before = list(allocated.free)
        allocated.remove_lock(ACME)
        assert (allocated.free[0] ^ before[0]).bit_count() == 3
        allocated.add_lock(ACME)
        assert allocated.free == before

    def test_a_vpod_grows_around_its_own_and_not_over_others(self) -> None:
        grown = tenant("acme", machines=8)
        site = out(SITE, "ipum-03")
        assert train(locked(site, grown, previous=ACME)).machines == MACHINES[:8]
        with pytest.raises(NeedsMove) as raised:
            locked(out(SITE, "ipum-06"), grown, previous=ACME)
        assert raised.value.closest == f"closest is ipum-01 to ipum-08, where ipum-06 has failed ({DEAD})"

    def test_a_vpod_that_shrinks_gives_up_what_is_out_of_service(self) -> None:
        shrunk = locked(out(SITE, "ipum-02"), tenant("acme", machines=2), previous=ACME)
        assert train(shrunk).machines == ("ipum-03", "ipum-04")
        assert train(locked(SITE, tenant("acme", machines=2), previous=ACME)).machines == ("ipum-01", "ipum-02")

    def test_a_group_of_racks_is_whole_only_without_one(self) -> None:
        site = halls([["r1", "r2", "r3", "r4"]], joined=[("r1", "r2"), ("r3", "r4")])
        assert train(locked(site, tenant("acme", machines=32))).machines[0] == "r1-m01"
        failed = out(site, "r1-m07")
        assert train(locked(failed, tenant("acme", machines=32))).machines[0] == "r3-m01"
        said = refused(out(failed, "r4-m09"), tenant("acme", machines=32))
        assert f"none in such a group; 2 have failed (r1-m07, r4-m09: {DEAD})" in said


class TestPins:
    @pytest.mark.parametrize(
        ("device", "pins"),
        [
            ("ipum-03", {"machines": MACHINES[:4]}),
            ("poplar-2", {"hosts": ("poplar-1", "poplar-2")}),
            ("infra-2", {"controller_host": "infra-2"}),
        ],
    )
    def test_a_pin_to_one_is_refused_with_its_reason(self, device: str, pins: dict[str, object]) -> None:
        said = refused(out(SITE, device), tenant("acme", pins=pinned(**pins)))
        assert said == (
            f"vPOD train pins {device}, which has failed ({DEAD})\n"
            f"  hint: pin another, or remove `{next(iter(pins))}` from its pins; or mend what is out of service, and "
            "take its `state` out of the site file"
        )

    def test_what_a_vpod_has_it_may_go_on_to_pin(self) -> None:
        pins = pinned(machines=train(ACME).machines, hosts=train(ACME).hosts, controller_host="infra-1")
        before = locked(SITE, tenant("acme", pins=pins))
        site = out(SITE, "ipum-03", train(before).hosts[0], "infra-1")
        assert locked(site, tenant("acme", pins=pins), previous=before).allocation == before.allocation

    def test_a_pin_to_others_moves_a_vpod_away(self) -> None:
        pins = pinned(machines=MACHINES[4:8])
        after = locked(out(SITE, "ipum-03"), tenant("acme", pins=pins), previous=ACME)
        assert train(after).machines == MACHINES[4:8]
        assert "ipum-03" in {entry.value for entry in after.released}


class TestErrors:
    def test_no_room_says_how_many_and_why(self) -> None:
        site = out(out(SITE, "ipum-03", "ipum-07"), "ipum-11", "ipum-15", state="maintenance", reason="firmware")
        assert refused(site, tenant("acme", machines=4)).splitlines() == [
            (
                "vPOD train needs 4 neighbouring IPU-Machines in one logical rack; 12 are free, none of it in such a "
                f"run; 2 have failed (ipum-03, ipum-07: {DEAD}), 2 are in maintenance (ipum-11, ipum-15: firmware); "
                "closest is ipum-01 to ipum-04, where ipum-03 has failed"
            ),
            "  hint: mend what is out of service, and take its `state` out of the site file",
        ]

    def test_many_are_counted_and_those_that_somebody_has_are_not(self) -> None:
        said = refused(out(SITE, *MACHINES), tenant("acme"), [locked(SITE, tenant("globex"))])
        assert "0 are free, none of it in such a run; 12 have failed (ipum-05, ipum-06, ipum-07, ipum-08: " in said
        assert f"ipum-08: {DEAD}; and 8 more); closest is ipum-01 to ipum-04, where ipum-01 has failed" in said

    def test_one_that_is_held_and_one_that_failed_are_both_in_the_way(self) -> None:
        site = out(SITE, "ipum-03", "ipum-07", "ipum-11", "ipum-15")
        holder = locked(SITE, tenant("globex", machines=1, pins=pinned(machines=("ipum-04",))))
        said = refused(site, tenant("acme", machines=4), [holder])
        assert "closest is ipum-05 to ipum-08, where ipum-07 has failed" in said
        said = refused(site, tenant("acme", machines=16), [holder])
        assert "where ipum-04 is held by globex/train, ipum-03 has failed, ipum-07 has failed" in said
        assert "free these (globex/train) or ask for fewer machines; mend what is out of service" in said

    def test_reasons_are_told_once_each(self) -> None:
        site = out(out(SITE, "ipum-01", "ipum-02"), "ipum-05", reason="fan")
        assert counted(site.machines) == f"3 have failed (ipum-01, ipum-02: {DEAD}; ipum-05: fan)"
        assert counted(SITE.machines) == ""


class TestHosts:
    def test_one_that_is_out_of_service_carries_nobody_new(self) -> None:
        site = out(SITE, *POPLAR_HOSTS[:3], "infra-1", state="maintenance", reason="new kernel")
        lock = train(locked(site, tenant("acme", servers=2)))
        assert (set(lock.hosts), lock.controller_host) == ({"poplar-4"}, "infra-2")

    def test_where_no_host_has_room_the_error_says_which_are_out_of_service(self) -> None:
        said = refused(out(SITE, *POPLAR_HOSTS[:3]), tenant("acme", servers=3))
        assert "poplar-4 has 224 CPUs, 464 pages, 16 virtual functions left; 3 have failed (poplar-1, " in said
        assert "or mend what is out of service" in said
        said = refused(out(SITE, *INFRA_HOSTS), tenant("acme"))
        assert "no host of role infra in service has interfaces on mgmt1g, where its V-IPU controller must" in said
        assert f"stand; 2 have failed (infra-1, infra-2: {DEAD})" in said

    def test_whole_hosts_are_counted_with_those_that_are_given_out(self) -> None:
        site = out(bare_metal_pod64(), "poplar-3", "poplar-4")
        whole = [host.name for host in site.hosts if host.provisioning == "bare-metal"]
        assert set(whole) >= {"poplar-3", "poplar-4"}
        said = refused(site, tenant("acme", vpods=(bare_metal_vpod(servers=len(whole)),)))
        assert f"2 have failed (poplar-3, poplar-4: {DEAD})" in said

    def test_other_servers_go_to_other_hosts_and_only_when_a_move_is_allowed(self) -> None:
        site = out(SITE, train(ACME).hosts[0])
        other = tenant("acme", vpods=(vpod(flavor="poplar.whole"),))
        with pytest.raises(NeedsMove, match=f"cannot carry what it asks for now: 1 has failed .*{DEAD}"):
            locked(site, other, previous=ACME)
        moved, _ = allocate(site, other, [], ACME, move=True)
        assert train(ACME).hosts[0] not in moved.vpods["train"].hosts

    def test_a_vpod_that_grows_by_a_server_keeps_the_host_that_failed(self) -> None:
        failed = train(ACME).hosts[0]
        after = train(locked(out(SITE, failed), tenant("acme", servers=3), previous=ACME))
        assert after.hosts[:2] == train(ACME).hosts
        assert failed not in after.hosts[2:]


def test_what_a_tenant_has_that_is_out_of_service_is_known_by_vpod() -> None:
    host, controller = train(ACME).hosts[0], train(ACME).controller_host
    site = out(SITE, "ipum-03", "ipum-09", host, controller)
    assert [(item.vpod, item.kind, item.device, item.why) for item in held_out_of_service(site, ACME.allocation)] == [
        ("train", "IPU-Machine", "ipum-03", f"has failed ({DEAD})"),
        ("train", "host", host, f"has failed ({DEAD})"),
        ("train", "the host of its controller,", controller, f"has failed ({DEAD})"),
    ]
    assert held_out_of_service(SITE, ACME.allocation) == ()


def test_capacity_counts_none_as_free_and_says_how_many_there_are() -> None:
    site = halls([["r1"]], bare_metal=2)
    whole = [host.name for host in site.hosts if host.provisioning == "bare-metal"]
    broken = out(out(site, *block("r1", 1, 2), whole[0]), "r1-m09", "r1-p1", state="maintenance", reason="fan")
    before, after = capacity(site, []), capacity(broken, [])
    (rack,) = after.racks
    assert (rack.free, rack.largest_block, rack.failed, rack.maintenance) == (13, 4, 2, 1)
    assert [(item.role, item.of, item.failed, item.maintenance) for item in after.hosts] == [
        ("poplar", 6, 1, 1), ("infra", 1, 0, 0)
    ]  # fmt: skip
    assert (before.bare_metal_hosts, after.bare_metal_hosts) == (2, 1)
    assert after.servers[0].servers == before.servers[0].servers * 3 // 4
