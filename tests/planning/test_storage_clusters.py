"""What clusters get on a storage fabric: a key where each has its own, a part in the operator's where all share one."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.model.site.storage_fabric import StorageAccess
from interlock.planning import AllocationError, PlanningError, SiteHashes, plan_site, plan_tenant, site_hash
from interlock.planning.cluster_spans import cluster_span
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.pod64 import locked, site_locked
from tests.builders.storage_halls import APPLIANCE, SHARED_KEY, STORAGE, client_of, storage_site
from tests.policies.test_rules_storage_fabrics import WAYS

NAME = "acme-train-partition-storage"
REQUEST = gpu_tenant("acme", cluster(fabric="none"))


def planned(site: Site, lock: Lock | None = None) -> Plan:
    return plan_tenant(site, site_locked(site), REQUEST, lock or locked(site, REQUEST))


def unstated(site: Site) -> Site:
    """Nobody states the GUID of any node's second storage port."""
    nodes = (
        node.model_copy(
            update={
                "ports": tuple(
                    port.model_copy(update={"guid": None}) if port.name == "storage2" else port for port in node.ports
                )
            }
        )
        for node in site.gpu_nodes
    )
    return site.with_parts(gpu_nodes=tuple(nodes))


@WAYS
def test_a_cluster_without_a_fabric_for_gpus_has_its_storage(access: StorageAccess) -> None:
    site = storage_site(access)
    lock = locked(site, REQUEST)
    allocation = lock.allocation.clusters["train"]
    assert allocation.partition_keys == ({STORAGE: 1} if access == "per-tenant" else {})
    assert cluster_span(site, "train", allocation).switches is None
    found = planned(site, lock)
    spec = found.by_name[NAME].resource
    assert isinstance(spec, PartitionKey)
    clients = {client_of(1, number, rail): "limited" for number in (1, 2) for rail in (1, 2)}
    servers = dict.fromkeys(APPLIANCE, "full") if access == "per-tenant" else {}
    assert {member.guid: member.membership for member in spec.members} == clients | servers
    assert (spec.key, spec.shared, spec.index0) == (1 if servers else SHARED_KEY, not servers, False)
    assert spec.servers == (() if servers else APPLIANCE)


def test_nodes_are_deployed_after_they_hear_the_appliance() -> None:
    found = planned(storage_site("shared"))
    assert NAME in found.by_name["acme-train-node-0"].after


def test_keys_of_both_subnets_are_given_and_kept() -> None:
    site = storage_site("per-tenant")
    first = locked(site, gpu_tenant("acme"))
    second = locked(site, gpu_tenant("globex"), [first])
    keys = [lock.allocation.clusters["train"].partition_keys for lock in (first, second)]
    assert keys == [{"compute": 1, STORAGE: 1}, {"compute": 3, STORAGE: 2}]
    assert locked(site, gpu_tenant("globex"), [first], second).allocation == second.allocation


def test_a_pool_without_keys_is_named() -> None:
    site = storage_site("per-tenant")
    small = (item.model_copy(update={"keys": ((1, 1),)}) for item in site.pools.partition_keys)
    site = site.with_parts(pools=site.pools.model_copy(update={"partition_keys": tuple(small)}))
    with pytest.raises(AllocationError, match="no free P_Key on InfiniBand subnet storage"):
        locked(site, gpu_tenant("globex", cluster(fabric="none")), [locked(site, REQUEST)])


@WAYS
def test_a_node_whose_storage_port_nobody_states_is_passed_over(access: StorageAccess) -> None:
    with pytest.raises(PlanningError, match=r"(?s)GUIDs of their storage ports are not stated.*every storage port"):
        locked(unstated(storage_site(access)), REQUEST)


def test_a_lock_of_before_is_told_what_it_lacks() -> None:
    site = storage_site("per-tenant")
    with pytest.raises(PlanningError, match=r"(?s)gives cluster train no P_Key on storage.*interlock lock acme"):
        planned(site, locked(gpu_site(), REQUEST))


def test_a_storage_fabric_makes_locks_old_that_have_clusters() -> None:
    """It is in the slice of the site that a lock rests on; a site without one has the hash that it had."""
    plain, stored = gpu_site(), storage_site("shared", sharing=gpu_site().sharing)
    allocation = locked(plain, REQUEST).allocation
    assert SiteHashes(plain).slice_hash(allocation) != SiteHashes(stored).slice_hash(allocation)
    unset = stored.with_parts(
        infiniband=tuple(item.model_copy(update={"storage": None}) for item in stored.infiniband[:1]),
        pools=plain.pools, gpu_nodes=plain.gpu_nodes,
    )  # fmt: skip
    assert site_hash(unset) == site_hash(plain)


def test_the_operators_stack_makes_the_shared_partition() -> None:
    site = storage_site("shared")
    spec = plan_site(site, site_locked(site)).by_name["storage-partition-storage"].resource
    assert isinstance(spec, PartitionKey)
    assert (spec.key, spec.shared, spec.servers) == (SHARED_KEY, True, APPLIANCE)
    assert {member.membership for member in spec.members} == {"full"}
