"""A partition that several stacks fill, in an audit: who is in it and in no plan, limited members, too."""

from __future__ import annotations

from infra.audit.subnets import territory_of
from interlock.model.lock.record import Released
from interlock.planning import Plan, plan_site
from interlock.provider.audit.subnets import ReadSubnet, SubnetTerritory, foreign_partitions
from interlock.ufm.answers import FabricMember, FabricPartition, Membership
from tests.builders.gpu_plans import clusters_planned
from tests.builders.gpu_sites import cluster, gpu_tenant, node_name
from tests.builders.pod64 import locked, site_locked
from tests.builders.storage_halls import APPLIANCE, SHARED_KEY, STORAGE, client_of, storage_claims, storage_site

SITE = storage_site("shared")
ACMES = tuple(client_of(1, 1, rail) for rail in (1, 2))
STRANGER, GONE = client_of(2, 3, 1), "00000000000000ff"


def planned() -> list[Plan]:
    """The operator's plan and that of one tenant with one node."""
    acme = clusters_planned(gpu_tenant("acme", cluster(nodes=1)), [storage_claims("shared", 1, (1, 1))], SITE)
    return [plan_site(SITE, site_locked(SITE)), acme]


def told(territory: SubnetTerritory, *clients: tuple[str, Membership]) -> list[str]:
    """What is found where the appliance, acme's ports and these are in it."""
    members: list[tuple[str, Membership]] = [(guid, "full") for guid in APPLIANCE]
    members += [*((guid, "limited") for guid in ACMES), *clients]
    inside = tuple(FabricMember(guid, how, index0=False) for guid, how in members)
    partitions = {SHARED_KEY: FabricPartition(SHARED_KEY, inside, None)}
    return [item.why for item in foreign_partitions(ReadSubnet(STORAGE, partitions=partitions), territory)]


def test_whoever_is_in_it_by_no_plan_is_named() -> None:
    territory = territory_of(SITE, STORAGE, planned())
    assert told(territory) == []
    (limited,) = told(territory, (STRANGER, "limited"))
    assert limited.startswith("several stacks fill it, and no plan has these members: ")
    assert f"{STRANGER}" in limited
    assert f"({node_name(2, 3)}:storage1)" in limited
    (both,) = told(territory, (STRANGER, "full"), (GONE, "limited"))
    assert f"({node_name(2, 3)}:storage1, no port of the site)" in both


def test_ports_of_a_node_that_a_lock_gave_up_may_be_in_it_still() -> None:
    lock = locked(SITE, gpu_tenant("old", cluster(nodes=1)))
    entry = Released(vpod="train", claim="hosts", value=node_name(2, 3))
    given_up = lock.model_copy(update={"released": (entry,)})
    assert told(territory_of(SITE, STORAGE, planned(), [given_up]), (STRANGER, "limited")) == []
    assert told(territory_of(SITE, STORAGE, planned(), [lock]), (STRANGER, "limited")) != []


def test_a_key_of_one_cluster_alone_is_its_stacks_to_look_after() -> None:
    own = storage_site("per-tenant")
    acme = clusters_planned(gpu_tenant("acme", cluster(nodes=1)), [storage_claims("per-tenant", 1, (1, 1))], own)
    territory = territory_of(own, STORAGE, [plan_site(own, site_locked(own)), acme])
    assert (dict(territory.shared), len(territory.planned)) == ({}, 1)
