"""What `interlock lock` and `capacity` say of GPU clusters, and whom they name where two hold one thing.

The site is the one of `gpu_sites`, put in the place of lyon: site files cannot state GPU nodes here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from infra.commands.capacity import table
from infra.commands.plan import Shown, _scheduler
from infra.commands.plan import _text as plan_text
from infra.locking.changes import document, lines
from infra.locking.conflicts import conflicts
from infra.locking.making import Made, Making, keep
from infra.locking.places import Places
from infra.locking.slices import Slices
from infra.program.gate import Gate
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Pins, Tenant
from interlock.planning import capacity, plan_site
from interlock.planning.cluster_spans import cluster_span
from interlock.planning.node_rooms import NodeRoom
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.pod64 import locked, site_locked
from tests.builders.roce_sites import roce_site
from tests.builders.states import out
from tests.infra.conftest import Lyon

SITE = gpu_site(spines=1)
#: What a first cluster of two nodes is given.
FIRST = "GPU node su01-n01, su01-n02; cluster VLAN inband:1500; cluster subnet 10.60.0.0/24; P_Key compute:0x0001"


@pytest.fixture
def gate(unlocked: Lyon) -> Gate:
    workspace = replace(unlocked.gate().workspace, site=SITE, site_lock=None, tenants={}, locks={})
    return Gate(workspace)


def asking(gate: Gate, *tenants: Tenant, locks: Iterable[Lock] = (), site: Site = SITE) -> Gate:
    """The same site with these requests and locks."""
    wanted, held = {item.id: item for item in tenants}, {lock.id: lock for lock in locks}
    return Gate(replace(gate.workspace, site=site, tenants=wanted, locks=held))


def made(gate: Gate, name: str = "acme") -> Made:
    return Making(gate, gate.workspace.locks.values()).make(name)


def test_a_lock_says_what_a_cluster_is_given_and_how_near_its_nodes_are(gate: Gate) -> None:
    first = made(asking(gate, gpu_tenant("acme")))
    assert list(lines(first)) == [
        "acme: written, serial 1",
        f"  train is given {FIRST}",
        "  train is 2 nodes in 1 scalable unit and 1 rack of hall-1; GPUs of one rail are 1 switch apart",
    ]
    assert first.new.serials == {"su01-n01": "SN-su01-n01", "su01-n02": "SN-su01-n02"}
    (told,) = document(first)["clusters"]
    assert told["cluster"] == "train"
    assert told["span"] == {
        "cluster": "train", "nodes": 2, "halls": ("hall-1",), "units": 1, "racks": 1, "switches": 1,
    }  # fmt: skip

    grown = made(asking(gate, gpu_tenant("acme", cluster(nodes=5)), locks=[first.new]))
    assert list(lines(grown))[1:] == [
        "  train is given GPU node su01-n03, su01-n04, su02-n01",
        f"  train keeps {FIRST}",
        "  train is 5 nodes in 2 scalable units and 3 racks of hall-1; GPUs of one rail are 3 switches apart",
    ]
    again = made(asking(gate, gpu_tenant("acme", cluster(nodes=5)), locks=[grown.new]))
    assert list(lines(again)) == ["acme: unchanged, serial 2"]


def test_another_node_costs_what_is_on_the_old_one(gate: Gate) -> None:
    first = made(asking(gate, gpu_tenant("acme"))).new
    failed = out(SITE, "su01-n02")
    kept = made(asking(gate, gpu_tenant("acme"), locks=[first], site=failed))
    (warning,) = (line for line in lines(kept) if "warning" in line)
    assert warning == (
        "  warning: train keeps host su01-n02, which has failed (RNIC dead, ticket 123): mend it and take its `state` "
        "out of the site file, or name it under `clusters.train.without` and lock again, which gives the cluster "
        "another and recreates the server on it, and what is on its own disks"
    )
    pinned = gpu_tenant("acme", pins={"train": Pins(hosts=("su01-n01", "su01-n03"))})
    for asked in (gpu_tenant("acme", cluster(without=("su01-n02",))), pinned):
        swapped = list(lines(made(asking(gate, asked, locks=[first], site=failed))))
        assert "  train gives up GPU node su01-n02; nobody gets them before they are settled" in swapped
        assert swapped[-2] == (
            "  warning: train: recreated: nodes su01-n02 (now su01-n03), and what is on their own disks"
        )
        assert swapped[-1] == (
            "  warning: train: su01-n02 leaves, and what is on its own disks is lost: before `pulumi up` end what runs "
            "on acme-train-node-1"
        )


def test_what_to_do_before_nodes_leave_is_told_for_all_of_a_cluster_at_once(gate: Gate) -> None:
    first = made(asking(gate, gpu_tenant("acme", cluster(nodes=3, scheduler="slurm")))).new
    asked = gpu_tenant("acme", cluster(nodes=3, scheduler="slurm", state="released"))
    left = made(asking(gate, asked, locks=[first]))
    *said, warning = list(lines(left))[1:]
    assert said == [
        "  train gives up GPU node su01-n01, su01-n02, su01-n03; nobody gets them before they are settled",
        "  train keeps cluster VLAN inband:1500; cluster subnet 10.60.0.0/24; P_Key compute:0x0001",
        "  train is released, and has no nodes",
    ]
    assert warning == (
        "  warning: train: su01-n01, su01-n02, su01-n03 leave, and what is on their own disks is lost: before `pulumi "
        "up` run `scontrol update NodeName='acme-train-node-[0-2]' State=DRAIN Reason=undeploy`, and wait until `sinfo "
        "-h -n 'acme-train-node-[0-2]' -o %T` says drained; acme-train-node-0 is the controller: save "
        "/var/lib/slurm/slurmctld as well"
    )
    (told,) = document(left)["leaving"]
    assert told["servers"] == ("acme-train-node-0", "acme-train-node-1", "acme-train-node-2")
    # What was not there before leaves nothing.
    assert document(made(asking(gate, gpu_tenant("acme"))))["leaving"] == []


def test_what_two_locks_hold_is_told_with_both_files(gate: Gate) -> None:
    acme, globex = (locked(SITE, gpu_tenant(name)) for name in ("acme", "globex"))
    both = asking(gate, gpu_tenant("acme"), gpu_tenant("globex"), locks=[acme, globex])
    for lock in (acme, globex):
        keep(both, None, lock)
    found = conflicts(SITE, [acme, globex], Places(both.workspace))
    assert [item.what for item in found] == [
        "VLAN 1500 on inband-1",
        "P_Key compute:0x0001",
        "addresses of 10.60.0.0/24",
        "host su01-n01 (given out whole)",
        "host su01-n02 (given out whole)",
    ]
    said = [str(holder) for item in found for holder in item.holders]
    assert all(line.startswith("stacks/lyon/tenants/") for line in said)
    assert [line.split(": ", 1)[1] for line in said if "acme.lock" in line] == [
        "acme, cluster train: cluster VLAN inband:1500",
        "acme, cluster train: P_Key compute:0x0001",
        "acme, cluster train: cluster subnet 10.60.0.0/24",
        "acme, cluster train: GPU node su01-n01",
        "acme, cluster train: GPU node su01-n02",
    ]
    positions = {line.split(": ")[0] for line in said}
    assert len(positions) == len(said), "each claim has a place of its own"


def test_the_slice_around_a_cluster_has_its_nodes_and_their_switch() -> None:
    lock = locked(SITE, gpu_tenant("acme"))
    around = Slices(SITE).around(lock.allocation, ())
    assert {node.name for node in around.gpu_nodes} == {node.name for node in SITE.gpu_nodes}, "all hang on one switch"
    assert [switch.name for switch in around.switches] == ["inband-1"]
    assert not around.machines
    none = Slices(SITE).around(lock.allocation.model_copy(update={"clusters": {}}), ())
    assert none.gpu_nodes == ()


def test_capacity_counts_nodes_and_keys() -> None:
    acme = locked(SITE, gpu_tenant("acme", cluster(nodes=3)))
    small = locked(SITE, gpu_tenant("acme", cluster(nodes=2)), (), acme)
    site = out(SITE, "su02-n04")
    found = capacity(site, [small])
    assert found.nodes == (
        NodeRoom("hall-1", "dgx-h100", of=8, free=4, largest=4, largest_in_unit=3, failed=1, maintenance=0, cleaning=1),
    )
    rows = [line.strip() for line in table(found).splitlines()]
    assert "4  dgx-h100 nodes in hall-1, of 8, the largest cluster has 4, in one unit 3, 1 failed, 1 cleaning" in rows
    assert "97  P_Keys on InfiniBand subnet compute" in rows
    assert "99  cluster VLANs on inband" in rows
    assert f"{found.bare_metal_hosts}  bare-metal hosts" in rows
    assert found.bare_metal_hosts == 4, "GPU nodes are no hosts for Poplar servers"
    # As many as that, and not one more.
    assert len(locked(site, gpu_tenant("globex", cluster(nodes=4)), [small]).allocation.clusters["train"].hosts) == 4


def test_capacity_says_the_largest_cluster_with_roce() -> None:
    """It is in one leaf group, here a unit, whatever InfiniBand reaches beyond it."""
    rows = table(capacity(roce_site(), ())).splitlines()
    words = "8  dgx-h100 nodes in hall-1, of 8, the largest cluster has 8, in one unit 4, with RoCE 4"
    assert words in [row.strip() for row in rows]


def test_without_a_key_there_is_no_room_for_a_cluster() -> None:
    pools = SITE.pools.model_copy(update={"partition_keys": ()})
    site = Site(**{name: getattr(SITE, name) for name in Site.model_fields} | {"pools": pools})
    (room,) = capacity(site, []).nodes
    assert (room.free, room.largest) == (8, 0)


def test_a_plan_says_it_too(gate: Gate) -> None:
    lock = made(asking(gate, gpu_tenant("acme"))).new
    span = cluster_span(SITE, "train", lock.allocation.clusters["train"])
    shown = Shown(plan_site(SITE, site_locked(SITE)), (), None, None, clusters=[span])
    assert "clusters\n  train: 2 nodes in 1 scalable unit and 1 rack of hall-1;" in plan_text(shown, None)
    assert shown.document()["clusters"][0]["units"] == 1


def test_the_plan_of_a_released_cluster_has_no_files_of_a_scheduler(gate: Gate) -> None:
    """No node and no head reads any."""
    asked = gpu_tenant("acme", cluster(scheduler="slurm"))
    released = gpu_tenant("acme", cluster(scheduler="slurm", state="released"))
    before = locked(SITE, asked)
    after = locked(SITE, released, previous=before)
    assert list(_scheduler(asking(gate, asked, locks=[before]), "acme", before)) == ["train"]
    assert _scheduler(asking(gate, released, locks=[after]), "acme", after) == {}
