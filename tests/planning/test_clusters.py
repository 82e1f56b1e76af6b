"""What GPU clusters are given: nodes near each other, ids of their own, and never a move that nobody asked for.

The site of `gpu_sites`: units su01 and su02 of 4 nodes, two in a rack.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from interlock.model.lock.record import Allocation, ClusterAllocation, Lock, Released
from interlock.model.site.inventory import Host, PartitionKeyPool, Site, VlanPool
from interlock.model.tenant.request import Pins, Tenant
from interlock.planning import AllocationError, NeedsMove, PlanningError, SiteHashes, allocate, request_hash, site_hash
from interlock.planning.claims import claimed_values, claims_of_lock
from interlock.planning.cleaning import cleaning
from interlock.planning.cluster_errors import recreated_of_cluster
from interlock.planning.cluster_spans import cluster_span
from interlock.planning.devices import next_devices
from interlock.planning.out_of_service import held_out_of_service
from interlock.planning.replacements import changes_of_devices
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, node_name
from tests.builders.pod64 import bare_metal_vpod, gone, ironic_pod64, locked, tenant
from tests.builders.states import DEAD, out

SITE = gpu_site()
ACME = locked(SITE, gpu_tenant("acme"))


def names(unit: int, *numbers: int) -> tuple[str, ...]:
    return tuple(node_name(unit, number) for number in numbers)


def given_to(lock: Lock, name: str = "train") -> ClusterAllocation:
    return lock.allocation.clusters[name]


def changed(site: Site, **fields: object) -> Site:
    """The site with other fields; made anew, for a copy would keep what was looked up before."""
    return Site(**{name: getattr(site, name) for name in Site.model_fields} | fields)


def with_pools(**pools: object) -> Site:
    return changed(SITE, pools=SITE.pools.model_copy(update=pools))


def of_size(nodes: int, name: str = "acme", **fields: object) -> Tenant:
    return gpu_tenant(name, cluster(nodes=nodes), **fields)


class TestPlaces:
    def test_a_cluster_has_its_nodes_and_ids_of_its_own(self) -> None:
        assert given_to(ACME) == ClusterAllocation(
            hosts=names(1, 1, 2), cluster_network="inband", cluster_vlan=1500, cluster_subnet="10.60.0.0/24",
            partition_keys={"compute": 1},
        )  # fmt: skip
        globex = locked(SITE, of_size(3, "globex"), [ACME])
        # Three nodes do not fit beside acme's in one unit; key 2 is reserved.
        assert given_to(globex) == ClusterAllocation(
            hosts=names(2, 1, 2, 3), cluster_network="inband", cluster_vlan=1501, cluster_subnet="10.60.1.0/24",
            partition_keys={"compute": 3},
        )  # fmt: skip

    def test_a_small_cluster_fills_what_is_begun(self) -> None:
        assert given_to(locked(SITE, of_size(2, "globex"), [ACME])).hosts == names(1, 3, 4)

    def test_a_cluster_that_fits_no_unit_is_in_as_few_as_possible(self) -> None:
        assert given_to(locked(SITE, of_size(6))).hosts == (*names(1, 1, 2, 3, 4), *names(2, 1, 2))

    def test_without_a_fabric_no_key_is_given(self) -> None:
        lock = locked(SITE, gpu_tenant("acme", cluster(fabric="none")))
        assert given_to(lock).partition_keys == {}

    def test_several_clusters_and_a_vpod_of_one_tenant_share_nothing(self) -> None:
        asked = gpu_tenant("acme", cluster("a", 2), cluster("b", 3), vpods=(bare_metal_vpod("v"),))
        lock = locked(SITE, asked)
        values = Counter((claim.field, claim.value) for claim in claims_of_lock(lock))
        assert max(values.values()) == 1
        assert given_to(lock, "a").hosts == names(1, 1, 2)
        assert given_to(lock, "b").hosts == names(2, 1, 2, 3)

    def test_nodes_go_to_no_vpod_and_hosts_of_vpods_to_no_cluster(self) -> None:
        full = [locked(SITE, tenant(f"t{number}", vpods=(bare_metal_vpod(servers=2),))) for number in range(2)]
        second = locked(SITE, tenant("t1", vpods=(bare_metal_vpod(servers=2),)), full[:1])
        with pytest.raises(AllocationError, match=r"no bare-metal host .* is free"):
            locked(SITE, tenant("t2", vpods=(bare_metal_vpod(servers=1),)), [full[0], second])
        held = {host for lock in (full[0], second) for host in lock.allocation.vpods["train"].hosts}
        assert held == {f"poplar-{number}" for number in range(1, 5)}
        whole = locked(SITE, of_size(8))
        assert {SITE.host[name].role for name in given_to(whole).hosts} == {"gpu"}

    def test_what_is_out_of_service_is_given_to_nobody(self) -> None:
        site = out(SITE, *names(1, 1, 2))
        assert given_to(locked(site, of_size(4))).hosts == names(2, 1, 2, 3, 4)

    def test_nodes_without_every_guid_are_in_no_cluster_with_infiniband(self) -> None:
        first, *others = SITE.gpu_nodes
        blind = first.model_copy(update={"ports": (first.ports[0].model_copy(update={"guid": None}), *first.ports[1:])})
        site = changed(SITE, gpu_nodes=(blind, *others))
        assert given_to(locked(site, of_size(1))).hosts == names(1, 2)
        assert given_to(locked(site, of_size(4))).hosts == names(2, 1, 2, 3, 4)
        assert given_to(locked(site, gpu_tenant("acme", cluster(nodes=4, fabric="none")))).hosts == names(1, 1, 2, 3, 4)

    def test_a_cluster_has_one_network_and_the_first_with_a_vlan(self) -> None:
        pool = VlanPool(physical_networks=("other", "inband"), vlans=((1500, 1500),))
        hosts = tuple(
            host.model_copy(update={"interfaces": {"other": ("in-band2",), "inband": ("in-band1",)}})
            if host.name in names(1, 1, 2, 3)
            else host
            for host in SITE.hosts
        )
        site = changed(SITE, hosts=hosts, pools=SITE.pools.model_copy(update={"cluster": pool}))
        assert given_to(locked(site, of_size(3))).cluster_network == "other"
        assert given_to(locked(site, of_size(4))).cluster_network == "inband"
        first = locked(site, of_size(2))
        assert given_to(first).cluster_network == "other"
        assert given_to(locked(site, of_size(1, "globex"), [first])).cluster_network == "inband"


class TestRefusals:
    def test_too_few_free_nodes_are_counted(self) -> None:
        globex = locked(SITE, of_size(3, "globex"), [ACME])
        with pytest.raises(AllocationError) as raised:
            locked(SITE, of_size(4, "initech"), [ACME, globex])
        assert str(raised.value) == (
            "cluster train needs 4 dgx-h100 nodes of one hall; closest is hall-1, with 8 of them, of which 3 are free "
            "(5 are given out or released)\n  hint: ask for 3 at most"
        )

    def test_what_failed_and_what_is_released_is_told(self) -> None:
        leaving, lock = gone(ACME, gpu_tenant("acme"))
        allocation, released = allocate(SITE, leaving, [], ACME)
        assert allocation == Allocation(vpods={})
        left = lock.model_copy(update={"released": released}).sealed()
        with pytest.raises(AllocationError) as raised:
            locked(out(SITE, node_name(2, 4)), of_size(7, "globex"), [left])
        assert str(raised.value) == (
            "cluster train needs 7 dgx-h100 nodes of one hall; closest is hall-1, with 8 of them, of which 5 are free "
            f"(2 are given out or released, 1 has failed ({node_name(2, 4)}: {DEAD}))\n  hint: ask for 5 at most; or "
            "settle what acme released; or mend what is out of service, and take its `state` out of the site file"
        )

    def test_a_site_without_the_type(self) -> None:
        with pytest.raises(PlanningError, match="no node of the type dgx-h200\n  hint: ask for what it has: dgx-h100"):
            locked(SITE, gpu_tenant("acme", cluster(node_type="dgx-h200")))
        with pytest.raises(PlanningError, match="ask at a site that has GPU nodes"):
            locked(ironic_pod64(), gpu_tenant("acme"))

    def test_an_exhausted_pool_is_named(self) -> None:
        site = with_pools(partition_keys=(PartitionKeyPool(infiniband="compute", keys=((2, 3),), reserved=(2,)),))
        first = locked(site, of_size(1))
        with pytest.raises(AllocationError) as raised:
            locked(site, of_size(1, "globex"), [first])
        assert str(raised.value) == (
            "cluster train: no free P_Key on InfiniBand subnet compute; all of 0x0002-0x0003 are claimed, reserved or "
            "released and not settled\n  hint: widen the pool in the site file"
        )
        with pytest.raises(AllocationError, match=r"add `compute` to `pools.partition_keys`"):
            locked(with_pools(partition_keys=()), of_size(1))
        site = with_pools(cluster=VlanPool(physical_networks=("inband",), vlans=((1500, 1500),)))
        with pytest.raises(AllocationError, match="no free VLAN id for cluster_vlan"):
            locked(site, of_size(1, "globex"), [locked(site, of_size(1))])

    def test_nodes_that_can_be_in_no_cluster(self) -> None:
        with pytest.raises(PlanningError, match="no VLANs for them\n  hint: add the pool `cluster`"):
            locked(with_pools(cluster=None, cluster_subnets=None), of_size(1))
        blind = tuple(node.model_copy(update={"ports": ()}) for node in SITE.gpu_nodes)
        with pytest.raises(PlanningError, match="state the GUID of every compute port"):
            locked(changed(SITE, gpu_nodes=blind), of_size(1))
        off = tuple(host.model_copy(update={"interfaces": {}}) if host.role == "gpu" else host for host in SITE.hosts)
        with pytest.raises(PlanningError, match="none has an interface on a network of the pool `cluster`"):
            locked(changed(SITE, hosts=off), of_size(1))


class TestChange:
    def test_growing_keeps_the_nodes_and_adds_beside_them(self) -> None:
        grown = locked(SITE, of_size(4), (), ACME)
        assert given_to(grown).hosts == names(1, 1, 2, 3, 4)
        assert given_to(grown).model_copy(update={"hosts": ()}) == given_to(ACME).model_copy(update={"hosts": ()})
        assert grown.released == ()

    def test_shrinking_gives_up_the_last(self) -> None:
        small = locked(SITE, of_size(1), (), ACME)
        assert given_to(small).hosts == names(1, 1)
        assert small.released == (Released(vpod="train", claim="hosts", value=node_name(1, 2)),)
        # Nobody gets it before it is clean, its former holder included.
        assert given_to(locked(SITE, of_size(2), (), small)).hosts == (*names(1, 1), *names(1, 3))
        with pytest.raises(AllocationError, match="of which 6 are free"):
            locked(SITE, of_size(7, "globex"), [small])

    def test_a_cluster_that_is_gone_releases_everything(self) -> None:
        _, released = allocate(SITE, gpu_tenant("acme", cluster("other")), [], ACME)
        assert [(item.vpod, item.claim, item.value) for item in released] == [
            ("train", "cluster_subnet", "10.60.0.0/24"),
            ("train", "cluster_vlan", "inband:1500"),
            ("train", "hosts", "su01-n01"),
            ("train", "hosts", "su01-n02"),
            ("train", "partition_keys", "compute:0x0001"),
        ]

    def test_a_fabric_that_is_asked_for_no_more_releases_its_key(self) -> None:
        after = locked(SITE, gpu_tenant("acme", cluster(fabric="none")), (), ACME)
        assert given_to(after).hosts == given_to(ACME).hosts
        assert after.released == (Released(vpod="train", claim="partition_keys", value="compute:0x0001"),)
        # The key stays out of reach until it was seen off.
        assert given_to(locked(SITE, gpu_tenant("acme"), (), after)).partition_keys == {"compute": 3}

    def test_another_type_is_a_move(self) -> None:
        site = changed(
            SITE,
            gpu_nodes=tuple(
                node.model_copy(update={"node_type": "dgx-h200"}) if node.unit == 2 else node for node in SITE.gpu_nodes
            ),
        )
        before = locked(site, gpu_tenant("acme"))
        asked = gpu_tenant("acme", cluster(node_type="dgx-h200"))
        with pytest.raises(NeedsMove) as raised:
            allocate(site, asked, [], before)
        assert str(raised.value) == (
            "cluster train asks for dgx-h200 nodes and has others; su01-n01 is a dgx-h100\n  hint: a move recreates "
            "all its nodes, and with them what is on their own disks; ask for it with `--move`, or free what is in the "
            "way"
        )
        after, released = allocate(site, asked, [], before, move=True)
        assert after.clusters["train"].hosts == names(2, 1, 2)
        assert {item.value for item in released} == set(names(1, 1, 2))

    def test_growth_that_only_another_hall_has_is_a_move(self) -> None:
        nodes = tuple(
            node.model_copy(update={"hall": "hall-2", "unit": 1}) if node.unit == 2 else node for node in SITE.gpu_nodes
        )
        site = changed(SITE, gpu_nodes=nodes)
        before = locked(site, of_size(2))
        other = locked(site, of_size(2, "globex"), [before])
        assert given_to(other).hosts == names(1, 3, 4)
        with pytest.raises(NeedsMove, match="cannot grow to 4 nodes where it is; closest is hall-1, with 4 of them"):
            allocate(site, of_size(4), [other], before)
        after, released = allocate(site, of_size(4), [other], before, move={"train"})
        assert after.clusters["train"].hosts == names(2, 1, 2, 3, 4)
        # VLAN, subnet and key are on the same network and subnet there.
        assert {item.claim for item in released} == {"hosts"}
        with pytest.raises(AllocationError, match="ask for 4 at most"):
            allocate(site, of_size(5), [other], before, move=True)

    def test_a_failed_node_stays_until_pins_say_otherwise(self) -> None:
        site = out(SITE, node_name(1, 1))
        kept = locked(site, gpu_tenant("acme"), (), ACME)
        assert given_to(kept) == given_to(ACME)
        found = held_out_of_service(site, kept.allocation)
        assert [(item.vpod, item.claim, item.device) for item in found] == [("train", "hosts", "su01-n01")]
        pins = {"train": Pins(hosts=names(1, 3, 2))}
        swapped = locked(site, gpu_tenant("acme", pins=pins), (), ACME)
        assert given_to(swapped).hosts == names(1, 3, 2)
        assert swapped.released == (Released(vpod="train", claim="hosts", value="su01-n01"),)
        assert recreated_of_cluster(given_to(ACME), given_to(swapped)) == (
            "nodes su01-n01 (now su01-n03), and what is on their own disks",
        )

    def test_nodes_that_are_cabled_elsewhere_get_another_network_only_if_asked(self) -> None:
        pool = VlanPool(physical_networks=("inband", "other"), vlans=((1500, 1599),))
        hosts = tuple(_on_other(host) for host in SITE.hosts)
        site = changed(SITE, hosts=hosts, pools=SITE.pools.model_copy(update={"cluster": pool}))
        with pytest.raises(NeedsMove, match="is on inband, and not all its nodes have an interface there"):
            allocate(site, gpu_tenant("acme"), [], ACME)
        after, released = allocate(site, gpu_tenant("acme"), [], ACME, move=True)
        assert after.clusters["train"].hosts == given_to(ACME).hosts
        assert (after.clusters["train"].cluster_network, [item.claim for item in released]) == (
            "other",
            ["cluster_vlan"],
        )


def _on_other(host: Host) -> Host:
    return host.model_copy(update={"interfaces": {"other": ("in-band1",)}}) if host.role == "gpu" else host


class TestPins:
    @pytest.mark.parametrize(
        ("pinned", "nodes", "said"),
        [
            (names(1, 1), 2, "asks for 2 nodes and pins 1"),
            (names(2, 1), 1, "pins su02-n01, which has failed"),
            (names(1, 4), 1, "pins su01-n04, which is given out already"),
        ],
    )
    def test_pins_that_cannot_be(self, pinned: tuple[str, ...], nodes: int, said: str) -> None:
        site = out(SITE, node_name(2, 1))
        taken = locked(site, gpu_tenant("globex", pins={"train": Pins(hosts=names(1, 3, 4))}))
        asked = of_size(nodes, pins={"train": Pins(hosts=pinned)})
        with pytest.raises(PlanningError, match=said):
            locked(site, asked, [taken])

    def test_pins_in_two_halls(self) -> None:
        nodes = tuple(node.model_copy(update={"hall": "hall-2"}) if node.unit == 2 else node for node in SITE.gpu_nodes)
        pins = {"train": Pins(hosts=(*names(1, 1), *names(2, 1)))}
        with pytest.raises(PlanningError, match="pins nodes of hall-1 and hall-2, and has those of one hall"):
            locked(changed(SITE, gpu_nodes=nodes), gpu_tenant("acme", pins=pins))

    def test_what_is_pinned_is_out_of_reach_of_others_of_the_tenant(self) -> None:
        asked = gpu_tenant("acme", cluster("a", 2), cluster("b", 2), pins={"b": Pins(hosts=names(1, 1, 2))})
        lock = locked(SITE, asked)
        assert given_to(lock, "b").hosts == names(1, 1, 2)
        assert given_to(lock, "a").hosts == names(1, 3, 4)


class TestRecords:
    def test_serials_and_replacements_of_nodes(self) -> None:
        now = "2026-11-25T12:00:00Z"
        devices = next_devices(SITE, None, ACME.allocation, (), now)
        assert devices.serials == {name: f"SN-{name}" for name in names(1, 1, 2)}
        lock = ACME.model_copy(update={"serials": devices.serials}).sealed()
        hosts = tuple(
            host.model_copy(update={"serial": "NEW"}) if host.name == "su01-n01" else host for host in SITE.hosts
        )
        site = changed(SITE, hosts=hosts)
        after = next_devices(site, lock, ACME.allocation, (), now)
        assert [(one.vpod, one.device, one.before, one.serial) for one in after.replaced] == [
            ("train", "su01-n01", "SN-su01-n01", "NEW")
        ]
        assert [(one.claim, one.value, one.serial) for one in after.released] == [("hosts", "su01-n01", "SN-su01-n01")]
        found = [change.name for change in changes_of_devices(site, lock.serials, ACME)]
        assert found == ["su01-n01"]

    def test_what_is_released_is_cleaning(self) -> None:
        leaving, lock = gone(ACME, gpu_tenant("acme"))
        _, released = allocate(SITE, leaving, [], ACME)
        found = cleaning(SITE, [lock.model_copy(update={"released": released})])
        assert [(one.kind, one.name) for one in found] == [
            ("P_Key", "compute:0x0001"),
            ("VLAN", "inband:1500"),
            ("host", "su01-n01"),
            ("host", "su01-n02"),
        ]
        assert found[2].ports == ("inband-1:1", "inband-1:2")

    def test_locks_and_hashes_without_clusters_are_as_before(self) -> None:
        base = ironic_pod64()
        lock = locked(base, tenant("a", vpods=(bare_metal_vpod(),)))
        names = ("cluster", "cluster_subnets", "partition_keys")
        pools = base.pools.model_copy(update={name: getattr(SITE.pools, name) for name in names})
        beside = changed(
            base, gpu_nodes=SITE.gpu_nodes, fabric_switches=SITE.fabric_switches,
            infiniband=SITE.infiniband, pools=pools,
        )  # fmt: skip
        assert SiteHashes(beside).slice_hash(lock.allocation) == SiteHashes(base).slice_hash(lock.allocation)
        assert site_hash(beside) != site_hash(base)
        assert "clusters" not in lock.allocation.model_dump()

    def test_a_request_without_clusters_hashes_as_before_there_were_any(self) -> None:
        asked = tenant("acme")
        assert request_hash(asked.model_copy(update={"clusters": ()})) == request_hash(asked)
        assert request_hash(gpu_tenant("acme")) != request_hash(gpu_tenant("acme", cluster(nodes=3)))

    def test_another_guid_makes_the_lock_of_its_holder_old_and_no_other(self) -> None:
        first, *others = SITE.gpu_nodes
        port = first.ports[0].model_copy(update={"guid": "0" * 16})
        node = first.model_copy(update={"ports": (port, *first.ports[1:])})
        site = changed(SITE, gpu_nodes=(node, *others))
        globex = locked(SITE, of_size(2, "globex"), [ACME]).allocation
        assert SiteHashes(site).slice_hash(ACME.allocation) != SiteHashes(SITE).slice_hash(ACME.allocation)
        assert SiteHashes(site).slice_hash(globex) == SiteHashes(SITE).slice_hash(globex)

    def test_claims_come_back_from_their_text(self) -> None:
        assert [claim for claim in claimed_values(given_to(ACME)) if claim[0] != "hosts"] == [
            ("cluster_vlan", "inband:1500"),
            ("cluster_subnet", "10.60.0.0/24"),
            ("partition_keys", "compute:0x0001"),
        ]
        assert Lock.model_validate_json(ACME.model_dump_json()) == ACME

    @pytest.mark.parametrize("key", [0, 0x7FFF, 0x8001])
    def test_a_lock_with_a_key_that_is_no_tenants_is_refused(self, key: int) -> None:
        stated = ACME.model_dump(mode="json")
        stated["allocation"]["clusters"]["train"]["partition_keys"] = {"compute": key}
        with pytest.raises(ValidationError, match=r"partition_keys.compute\n"):
            Lock.model_validate(stated)


class TestSpans:
    def test_what_was_achieved_in_words(self) -> None:
        inside = cluster_span(SITE, "train", given_to(ACME))
        assert str(inside) == ("2 nodes in 1 scalable unit and 1 rack of hall-1; GPUs of one rail are 1 switch apart")
        alone = cluster_span(SITE, "train", given_to(locked(SITE, of_size(1))))
        assert str(alone) == "1 node in 1 scalable unit and 1 rack of hall-1"

    def test_racks_that_nobody_stated_are_not_counted(self) -> None:
        span = cluster_span(changed(SITE, placements=()), "train", given_to(ACME))
        assert str(span).startswith("2 nodes in 1 scalable unit of hall-1;")

    def test_between_units_the_switches_are_counted_by_the_cables(self) -> None:
        wide = given_to(locked(SITE, of_size(6)))
        assert cluster_span(SITE, "train", wide).switches is None, "no cable joins the leaves"
        site = gpu_site(spines=2)
        found = cluster_span(site, "train", wide)
        assert (found.units, found.racks, found.switches) == (2, 3, 3)
        assert str(found).endswith("GPUs of one rail are 3 switches apart")


sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3)
fleets = st.lists(sizes, min_size=1, max_size=4)


def wanted(name: str, counts: list[int]) -> Tenant:
    return gpu_tenant(name, *(cluster(f"c{index}", count) for index, count in enumerate(counts)))


def locks_of(fleet: list[list[int]]) -> list[Lock]:
    """The locks of those that found room."""
    found: list[Lock] = []
    for index, counts in enumerate(fleet):
        try:
            found.append(locked(SITE, wanted(f"t{index}", counts), found))
        except AllocationError:
            continue
    return found


@given(fleets)
def test_nobody_shares_anything(fleet: list[list[int]]) -> None:
    for one, other in combinations(locks_of(fleet), 2):
        claims = [{(claim.field, claim.value) for claim in claims_of_lock(lock)} for lock in (one, other)]
        assert not claims[0] & claims[1]


@given(fleets, sizes, st.integers(0, 3))
def test_every_claim_is_kept_or_released_and_nothing_moves(
    fleet: list[list[int]], later: list[int], which: int
) -> None:
    locks = locks_of(fleet)
    assume(which < len(locks))
    before = locks[which]
    try:
        after = locked(SITE, wanted(before.id, later), [lock for lock in locks if lock is not before], before)
    except AllocationError:
        assume(False)
    once, again = (Counter((c.holder.vpod, c.field, c.value) for c in claims_of_lock(lock)) for lock in (before, after))
    assert once <= again
    for name, held in before.allocation.clusters.items():
        if name in after.allocation.clusters:
            new = after.allocation.clusters[name].hosts
            shared = min(len(new), len(held.hosts))
            assert new[:shared] == held.hosts[:shared]


@given(fleets)
def test_the_same_request_changes_nothing(fleet: list[list[int]]) -> None:
    locks = locks_of(fleet)
    for lock in locks:
        counts = [len(item.hosts) for _, item in sorted(lock.allocation.clusters.items())]
        rest = [other for other in locks if other is not lock]
        assert allocate(SITE, wanted(lock.id, counts), rest[::-1], lock) == (lock.allocation, ())
