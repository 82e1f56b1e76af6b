"""A GPU cluster that was given up and returns: before an `up` of its release it has what it had, to the last claim.

In memory, on sites of `gpu_sites`; what is applied is what the tests say. With files and a store: `test_returned_vpod`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from infra.locking.changes import document, lines
from infra.locking.making import Made, Making
from infra.program.claiming import Applied
from infra.program.gate import Gate, NotPlanned
from interlock.model.lock.record import ClusterAllocation, Lock
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Cluster, Pins, Tenant
from interlock.planning.returning import waiting_devices
from interlock.store.records import StackRecord
from tests.builders.gpu_heads import headed, site_with_heads
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.pod64 import bare_metal_vpod
from tests.builders.roce_sites import roce_cluster, roce_site
from tests.infra.conftest import Lyon

SITE = gpu_site()
NODES = ("su01-n01", "su01-n02")
AGAIN = "  train has again what it had: nothing of its release (lock serial 2) was applied"
SIBLING = cluster("infer", 2)


@dataclass(frozen=True)
class World:
    """A site without files, and the newest serial of the tenant's lock that was applied."""

    gate: Gate
    site: Site = SITE
    applied: int | None = None

    def make(self, tenant: Tenant, old: Lock | None = None, others: Iterable[Lock] = ()) -> Made:
        locks = {lock.id: lock for lock in (*others, *([old] if old else []))}
        workspace = replace(self.gate.workspace, site=self.site, tenants={tenant.id: tenant}, locks=locks)
        records = [] if self.applied is None or old is None else [record(old, self.applied)]
        gate = Gate(workspace, Applied({item.stack: item for item in records}))
        return Making(gate, locks.values()).make(tenant.id)

    def lock(self, tenant: Tenant, old: Lock | None = None, others: Iterable[Lock] = ()) -> Lock:
        return self.make(tenant, old, others).new


def record(lock: Lock, serial: int) -> StackRecord:
    return StackRecord(
        stack=f"lyon-{lock.id}", tenant=lock.id, owner=lock.owner, lineage="l", serial=serial, confirmed=True,
        entries=(), written_by="a test",
    )  # fmt: skip


@pytest.fixture
def world(unlocked: Lyon) -> World:
    return World(Gate(replace(unlocked.gate().workspace, site_lock=None)))


def train(lock: Lock) -> ClusterAllocation:
    return lock.allocation.clusters["train"]


def same(lock: Lock) -> dict[str, Any]:
    """All of a lock but how often it was written."""
    return lock.model_dump(mode="json", exclude={"serial", "hash"})


def asked(*clusters: Cluster, **fields: object) -> Tenant:
    return gpu_tenant("acme", *clusters, **fields)


def without(found: Tenant) -> Tenant:
    """The request without its cluster."""
    return found.model_copy(update={"clusters": ()})


def released(found: Tenant) -> Tenant:
    """The request with its cluster released."""
    (one,) = found.clusters
    return found.model_copy(update={"clusters": (one.model_copy(update={"state": "released"}),)})


def gone(found: Tenant) -> Tenant:
    """The tenant leaves."""
    return found.model_copy(update={"state": "gone", "clusters": ()})


Step = Callable[[Tenant], Tenant]
WAYS: tuple[tuple[Step, ...], ...] = (
    (without,),
    (released,),
    (gone,),
    (released, without),
    (without, released),
    (released, released),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(step.__name__ for step in way))
@pytest.mark.parametrize(
    ("site", "of"),
    [(site_with_heads(), headed(2, nodes=3)), (roce_site(), roce_cluster(nodes=3))],
    ids=["heads", "roce"],
)
def test_the_lock_after_is_the_lock_before(world: World, site: Site, of: Cluster, way: tuple[Step, ...]) -> None:
    """Nodes, their numbers, heads, VLANs, subnets, P_Keys; also what it gave up earlier. Twice, it is the same."""
    there = replace(world, site=site)
    whole = there.lock(asked(of))
    now = asked(of.model_copy(update={"nodes": 2, "without": ("su01-n01",)}))
    before = there.lock(now, whole)
    assert (train(before).numbers, len(before.released)) == ((1, 2), 1)
    lock = before
    for step in way:
        lock = there.lock(step(now), lock)
        assert [*lock.former] == ["train"]
    back = replace(there, applied=before.serial).make(now, lock)
    assert "  train has again what it had: nothing of its release (lock serial 3) was applied" in lines(back)
    assert same(back.new) == same(before)
    assert document(back)["returns"] == [
        {"cluster": "train", "hosts": ["su01-n02", "su01-n03"], "serial": 3, "why_not": ""}
    ]
    assert not there.make(now, back.new).is_changed


@pytest.mark.parametrize("step", [without, released])
def test_after_an_up_of_the_release_it_goes_elsewhere_and_lock_and_plan_say_so(world: World, step: Step) -> None:
    before = world.lock(asked())
    lock = world.lock(step(asked()), before)
    back = replace(world, applied=2).make(asked(), lock)
    why = "its release (lock serial 2) was applied, and nobody saw them clean since"
    assert f"  warning: train does not get {', '.join(NODES)} back: {why}" in lines(back)
    assert train(back.new).hosts == ("su01-n03", "su01-n04")
    assert back.new.former == {}
    (waits,) = waiting_devices(back.new)
    assert waits.document() == {"cluster": "train", "hosts": [*NODES]}
    assert "gave up su01-n01, su01-n02: nobody gets them, itself included, before" in waits.told("acme")


def test_where_nobody_else_has_room_it_has_its_own_nodes_again_and_only_before_an_up(world: World) -> None:
    """As of a hall that is full: what it had is all that there is."""
    small = replace(world, site=gpu_site(units=1, nodes=2))
    before = small.lock(asked())
    lock = small.lock(released(asked()), before)
    assert same(replace(small, applied=1).lock(asked(), lock)) == same(before)
    with pytest.raises(NotPlanned, match="settle what acme released"):
        replace(small, applied=2).make(asked(), lock)


def test_one_that_was_taken_out_and_returns_released_has_its_networks_again_and_later_its_nodes(world: World) -> None:
    before = world.lock(asked())
    out = world.lock(without(asked()), before)
    away = replace(world, applied=1).make(released(asked()), out)
    told = "  train has again the networks that it had: nothing of its release (lock serial 2) was applied"
    assert told in lines(away)
    assert train(away.new).cluster_vlan == train(before).cluster_vlan
    assert (train(away.new).hosts, away.new.former["train"].serial) == ((), 2)
    # Its networks may be on the cloud no more, and what it has by now says nothing of its nodes.
    with pytest.raises(NotPlanned, match="it has nothing yet"):
        replace(world, applied=2).make(released(asked()), out)


def test_a_sibling_that_came_meanwhile_has_other_nodes_and_it_returns_smaller(world: World) -> None:
    """What it does not ask for again is given up now, and its jobs end: the lock says so."""
    before = world.lock(asked())
    lock = world.lock(asked(cluster(state="released"), SIBLING), before)
    assert not {*lock.allocation.clusters["infer"].hosts} & {*NODES}
    back = replace(world, applied=1).make(asked(cluster(nodes=1), SIBLING), lock)
    assert train(back.new).hosts == NODES[:1]
    assert [(one.claim, one.value) for one in back.new.released] == [("hosts", "su01-n02")]
    assert [one.hosts for one in back.leaving] == [NODES[1:]]
    assert back.new.allocation.clusters["infer"] == lock.allocation.clusters["infer"]


@pytest.mark.parametrize("who", ["globex", "infer"])
def test_another_unit_under_the_name_of_a_node_is_whose_it_was_given_to(world: World, who: str) -> None:
    """The node itself left the site, so its name was free; another tenant has it, or a cluster of its own."""
    before = world.lock(asked())
    lock = world.lock(without(asked()), before)
    hosts = tuple(
        host.model_copy(update={"serial": "SN-new"}) if host.name == NODES[1] else host for host in SITE.hosts
    )
    swapped = replace(world, site=Site(**{name: getattr(SITE, name) for name in Site.model_fields} | {"hosts": hosts}))
    pins = {"infer": Pins(hosts=(NODES[1],))}
    one = cluster("infer", 1)
    others: list[Lock] = []
    now = asked()
    if who == "globex":
        others = [swapped.lock(gpu_tenant("globex", one, pins=pins), None, [lock])]
    else:
        lock = swapped.lock(asked(one, pins=pins), lock)
        now = asked(cluster(), one, pins=pins)
    back = replace(swapped, applied=1).make(now, lock, others)
    assert f"  warning: train does not get {', '.join(NODES)} back: by now {who} has {NODES[1]}" in lines(back)
    assert NODES[1] not in train(back.new).hosts


def test_what_is_released_no_more_is_not_taken_back(world: World) -> None:
    """As after settling: nothing of it is the tenant's, whatever its lock remembers."""
    lock = world.lock(without(asked()), world.lock(asked()))
    settled = lock.model_copy(update={"released": lock.released[1:]}).sealed()
    back = world.make(asked(), settled)
    assert (back.returns, back.new.former) == ((), {})


def test_a_vpod_of_its_name_ends_what_is_remembered_of_it(world: World) -> None:
    """The name is another part's now; claims of the one are none of the other."""
    lock = world.lock(without(asked()), world.lock(asked()))
    pod = world.make(asked().model_copy(update={"clusters": (), "vpods": (bare_metal_vpod(),)}), lock)
    assert ([*pod.new.allocation.vpods], pod.returns, pod.new.former) == (["train"], (), {})
