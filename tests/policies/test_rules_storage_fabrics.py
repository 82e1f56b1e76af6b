"""Storage on InfiniBand: TOP-27, and ISO-20, ISO-21, ISO-29 there, each with a defect beside the twin that is whole.

hall-1: acme has su01-n01, n02 (train) and su01-n03 (serve); globex has su02-n01. The appliance is a declared terminal.
"""

from __future__ import annotations

import json
from functools import cache
from typing import get_args

import pytest

from infra.verifying.answers import found_in
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.site.inventory import Site
from interlock.model.site.storage_fabric import StorageAccess
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey, PartitionMember
from policies import Judgement
from policies.judging import operators_part
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.pod64 import site_locked
from tests.builders.storage_halls import APPLIANCE, SHARED_KEY, client_of, declared, storage_claims, storage_site
from tests.builders.virtual_nodes import virtual_site, virtual_tenant
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    edited,
    first,
    judged,
    sharing,
    verdicts,
    with_footprint,
)

ACCESS: tuple[StorageAccess, ...] = get_args(StorageAccess)
WAYS = pytest.mark.parametrize("access", ACCESS)
TRAIN, SERVE = "acme-train-partition-storage", "acme-serve-partition-storage"
GLOBEX = "globex-train-partition-storage"
RULES = ("ISO-02", "ISO-20", "ISO-21", "ISO-29", "ISO-30", "TOP-06", "TOP-27")


@cache
def site(access: StorageAccess) -> Site:
    plain = gpu_site(sharing=sharing(), assumptions=assumptions())
    return declared_complete(storage_site(access, plain))


@cache
def acme(access: StorageAccess) -> Plan:
    request = gpu_tenant("acme", cluster("train"), cluster("serve", nodes=1))
    given = [storage_claims(access, 1, (1, 1), (1, 2)), storage_claims(access, 3, (1, 3))]
    return clusters_planned(request, given, site(access))


@cache
def globex(access: StorageAccess) -> Made:
    request, given = gpu_tenant("globex", cluster(nodes=1)), storage_claims(access, 4, (2, 1))
    plan = clusters_planned(request, [given], site(access))
    return with_footprint(site(access), plan, clusters_locked(request, given))


def of(access: StorageAccess, plan: Plan, known: Site | None = None) -> Judgement:
    """acme's plan beside globex and what the operator's own stack has."""
    known = known or site(access)
    operators = plan_site(known, site_locked(known))
    return judged(known, plan, globex(access), Made(operators, operators_part(known, operators)))


def rules(judgement: Judgement) -> set[str]:
    return {item.rule for item in judgement.findings}


def key(plan: Plan, name: str) -> PartitionKey:
    found = plan.by_name[name].resource
    assert isinstance(found, PartitionKey)
    return found


def with_members(access: StorageAccess, *added: tuple[str, str], without: tuple[str, ...] = ()) -> Plan:
    """acme's plan with other members in the storage partition of `train`."""
    old = tuple(item for item in key(acme(access), TRAIN).members if item.guid not in without)
    new = (PartitionMember.model_validate({"guid": guid, "membership": how}) for guid, how in added)
    return edited(acme(access), TRAIN, members=(*old, *new))


@WAYS
def test_tenants_reach_the_appliance_and_nobody_else(access: StorageAccess) -> None:
    found = of(access, acme(access))
    assert not found.findings
    assert {rule: verdicts(found)[rule] for rule in RULES} == dict.fromkeys(RULES, P)
    assert {member.membership for member in key(acme(access), TRAIN).members if member.guid not in APPLIANCE} == {
        "limited"
    }


@WAYS
def test_the_operators_stack_has_the_appliance_in_a_shared_partition_alone(access: StorageAccess) -> None:
    plan = plan_site(site(access), site_locked(site(access)))
    found = [item.resource for item in plan.resources if isinstance(item.resource, PartitionKey)]
    assert [(item.key, [member.guid for member in item.members]) for item in found] == (
        [(SHARED_KEY, [*APPLIANCE])] if access == "shared" else []
    )
    judgement = judged(site(access), plan, globex(access))
    assert verdicts(judgement)["ISO-21"] == P
    assert rules(judgement).isdisjoint(RULES)


def test_a_site_without_a_storage_fabric_is_not_asked() -> None:
    plain = declared_complete(gpu_site(sharing=sharing(), assumptions=assumptions()))
    request = gpu_tenant("acme", cluster())
    plan = clusters_planned(request, [storage_claims("shared", 1, (1, 1), (1, 2))], plain)
    assert verdicts(judged(plain, plan))["TOP-27"] == NA


# TOP-27


@WAYS
def test_a_storage_port_that_is_left_out(access: StorageAccess) -> None:
    found = of(access, with_members(access, without=(client_of(1, 2, 2),)))
    assert rules(found) == {"TOP-27"}
    assert "storage2 of su01-n02 is not in its partition for storage" in first(found).message


def test_an_appliance_that_is_left_out_of_a_key_of_the_clusters_own() -> None:
    found = of("per-tenant", with_members("per-tenant", without=APPLIANCE[1:]))
    assert rules(found) == {"TOP-27"}
    assert f"the appliance's port {APPLIANCE[1]} is no full member" in first(found).message


def test_another_key_than_the_one_that_all_share() -> None:
    found = of("shared", edited(acme("shared"), TRAIN, key=0x0021))
    assert rules(found) == {"TOP-27"}
    assert "P_Key 0x0021, and the appliance is in 0x0070" in first(found).message


def test_a_stranger_among_the_servers() -> None:
    """A writer takes full members for the appliance by these."""
    found = of("shared", edited(acme("shared"), TRAIN, servers=(*APPLIANCE, client_of(2, 4, 1))))
    assert rules(found) == {"TOP-27"}
    assert "lets others than the appliance be full members" in first(found).message


@WAYS
def test_a_guid_that_nobody_states(access: StorageAccess) -> None:
    node, *others = site(access).gpu_nodes
    ports = tuple(port.model_copy(update={"guid": None}) if port.name == "storage1" else port for port in node.ports)
    unsure = site(access).with_parts(gpu_nodes=(node.model_copy(update={"ports": ports}), *others))
    found = of(access, acme(access), unsure)
    assert verdicts(found)["TOP-27"] == N


# ISO-21, ISO-20, ISO-29


def test_a_client_that_is_full_in_a_key_of_its_own_joins_whoever_else_the_appliance_serves() -> None:
    guid = client_of(1, 1, 1)
    found = of("per-tenant", with_members("per-tenant", (guid, "full"), without=(guid,)))
    assert {"ISO-02", "ISO-21", "TOP-27"} <= rules(found)


def test_a_full_client_in_a_shared_partition_is_no_specification() -> None:
    """The twin with a limited one is planned; a full member is one of the servers or nothing."""
    good = key(acme("shared"), TRAIN)
    members = tuple(item.model_copy(update={"membership": "full"}) for item in good.members)
    with pytest.raises(ValueError, match="the servers alone are full members"):
        PartitionKey.model_validate(good.model_dump() | {"members": members})


def test_a_full_client_that_calls_itself_a_server() -> None:
    guid = client_of(1, 1, 1)
    plan = edited(with_members("shared", (guid, "full"), without=(guid,)), TRAIN, servers=(*APPLIANCE, guid))
    found = of("shared", plan)
    assert {"ISO-02", "ISO-21", "TOP-06", "TOP-27"} <= rules(found)


def test_a_part_in_the_shared_key_that_is_called_its_own() -> None:
    """Without `shared` it would claim the operator's key, and its stack take everybody else's members for foreign."""
    found = of("shared", edited(acme("shared"), TRAIN, shared=False, servers=()))
    assert {"TOP-27", "TOP-06"} <= rules(found)


@WAYS
def test_the_storage_port_of_anothers_node(access: StorageAccess) -> None:
    found = of(access, with_members(access, (client_of(2, 1, 1), "limited")))
    assert {"ISO-20", "ISO-29", "TOP-06"} <= rules(found)
    assert verdicts(found)["ISO-29"] == V


def test_the_key_of_another_tenants_storage() -> None:
    found = of("per-tenant", edited(acme("per-tenant"), TRAIN, key=key(globex("per-tenant").plan, GLOBEX).key))
    assert "TOP-06" in rules(found)


@WAYS
def test_an_appliance_that_nobody_declares_joins_its_clients(access: StorageAccess) -> None:
    undeclared = site(access).with_parts(
        sharing=tuple(item for item in site(access).sharing if "filer-" not in item.name)
    )
    assert "ISO-02" in rules(of(access, acme(access), undeclared))


@WAYS
def test_an_appliance_that_may_forward_is_not_known_to_keep_them_apart(access: StorageAccess) -> None:
    others = tuple(item for item in site(access).sharing if "filer-" not in item.name)
    unsure = (declared(APPLIANCE[0], no_routing_between_vips=None), declared(APPLIANCE[1]))
    found = of(access, acme(access), site(access).with_parts(sharing=(*others, *unsure)))
    assert verdicts(found)["ISO-02"] == N


@WAYS
def test_the_storage_ports_of_a_virtual_node_stay_the_hypervisors(access: StorageAccess) -> None:
    """The cluster is in no partition for storage; with a port of its node in one, it has what is the operator's."""
    plain = virtual_site(sharing=sharing(), assumptions=assumptions())
    known = declared_complete(storage_site(access, plain))
    plan = clusters_planned(virtual_tenant(), [claims(1, (2, 3))], known)
    found = judged(known, plan)
    assert found.exit_code == 0
    assert verdicts(found)["TOP-27"] == NA
    member = PartitionMember(guid=client_of(2, 3, 1), membership="limited")
    key = PartitionKey(infiniband="storage", key=0x21, members=(member,))
    grown = added(plan, "acme-train-partition-storage", "acme-train", key)
    assert {"ISO-02", "ISO-20", "ISO-29"} <= rules(judged(known, grown))
    document, full = json.loads(json.dumps(grown.canonical())), json.loads(known.model_dump_json())
    ports = Ports(full, asked_of([document]), claimed_of([document], []))
    assert {"ISO-29", "TOP-27"} == found_in(PlanOfStack(Inventory(full, ports), document)).keys()
