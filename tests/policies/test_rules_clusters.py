"""Rules about GPU clusters: ISO-29, ISO-30, TOP-26, each with defects and a twin that is whole, and what else finds it.

hall-1: acme has su01-n01, n02 (train) and su01-n03, n04 (serve); globex has su02-n01, n02; su02-n03, n04 are free.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from infra.verifying.answers import found_in
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.lock.record import Released
from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember
from policies import Judgement
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, guid_of, node_name
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    changed,
    edited,
    first,
    judged,
    sharing,
    text,
    verdicts,
    with_footprint,
)

TRAIN, SERVE = "acme-train-partition-compute", "acme-serve-partition-compute"
RULES = ("ISO-29", "ISO-30", "TOP-26")


@cache
def site() -> Site:
    return declared_complete(gpu_site(sharing=sharing(), assumptions=assumptions()))


@cache
def two_clusters() -> Plan:
    """Two clusters of two nodes each."""
    request = gpu_tenant("acme", cluster("train"), cluster("serve"))
    return clusters_planned(request, [claims(1, (1, 1), (1, 2)), claims(3, (1, 3), (1, 4))], site())


@cache
def globex() -> Made:
    request = gpu_tenant("globex")
    given = claims(4, (2, 1), (2, 2))
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


def of(plan: Plan) -> Judgement:
    """A plan of acme's beside globex."""
    return judged(site(), plan, globex())


def members(plan: Plan, name: str) -> tuple[PartitionMember, ...]:
    key = plan.by_name[name].resource
    assert isinstance(key, PartitionKey)
    return key.members


def also(guid: str, plan: Plan | None = None) -> Plan:
    """acme's plan with one more full member in the partition of `train`."""
    plan = plan or two_clusters()
    return edited(plan, TRAIN, members=(*members(plan, TRAIN), PartitionMember(guid=guid, membership="full")))


def without(name: str, guid: str) -> Plan:
    return edited(
        two_clusters(), name, members=tuple(item for item in members(two_clusters(), name) if item.guid != guid)
    )


def again(plan: Plan, known: Site) -> list[str]:
    """Rules that find something by the second derivation."""
    document, full = json.loads(json.dumps(plan.canonical())), json.loads(known.model_dump_json())
    ports = Ports(full, asked_of([document]), claimed_of([document], []))
    return sorted(found_in(PlanOfStack(Inventory(full, ports), document)))


def rules(judgement: Judgement) -> set[str]:
    return {item.rule for item in judgement.findings}


def test_clusters_that_are_whole_and_apart() -> None:
    found = of(two_clusters())
    assert found.exit_code == 0
    assert {rule: verdicts(found)[rule] for rule in RULES} == dict.fromkeys(RULES, P)
    assert not found.findings


def test_nothing_is_asked_of_a_tenant_without_clusters() -> None:
    plan = clusters_planned(gpu_tenant("acme", cluster(fabric="none", nodes=1)), [claims(1, (1, 1), partition_keys={})])
    found = verdicts(judged(site(), plan, globex()))
    assert {rule: found[rule] for rule in RULES} == {"ISO-29": NA, "ISO-30": NA, "TOP-26": NA}


# ISO-29


def test_the_port_of_anothers_node() -> None:
    found = of(also(guid_of(2, 1, 1)))
    assert first(found).rule == "ISO-29"
    assert "compute1 of su02-n01" in text(first(found))
    assert rules(found) >= {"ISO-20", "ISO-02", "TOP-06"}


def test_the_port_of_a_node_that_nobody_has() -> None:
    """It is the operator's, who gives it out next; no P_Key of anybody else tells of it."""
    found = of(also(guid_of(2, 3, 1)))
    assert first(found).rule == "ISO-29"
    assert verdicts(found)["ISO-02"] == V


def test_the_port_of_the_tenants_other_cluster() -> None:
    found = of(also(guid_of(1, 3, 1)))
    assert verdicts(found)["ISO-29"] == V
    assert verdicts(found)["ISO-30"] == V
    assert verdicts(found)["ISO-02"] == P


def test_a_guid_that_no_port_has() -> None:
    found = of(also("00000000000000aa"))
    assert rules(found) == {"ISO-29"}
    assert verdicts(found)["ISO-29"] == V


def test_a_storage_port_of_ones_own_node() -> None:
    """It is the cluster's node, and the port is for something else, where others' ports are."""
    name = node_name(1, 1)
    stored = HcaPort(name="storage1", use="storage", infiniband="compute", rail=1, guid="00000000000000bb")
    other = changed(site(), gpu_nodes=_with_port(site(), name, stored))
    found = judged(other, also("00000000000000bb"), globex())
    assert rules(found) == {"ISO-29"}
    assert f"storage1 of {name}" in text(first(found))


def test_guids_in_capitals_are_the_same_ports() -> None:
    upper = tuple(item.model_copy(update={"guid": item.guid.upper()}) for item in members(two_clusters(), TRAIN))
    assert of(edited(two_clusters(), TRAIN, members=upper)).exit_code == 0


# TOP-26


def test_a_port_that_is_left_out() -> None:
    found = of(without(TRAIN, guid_of(1, 2, 5)))
    assert rules(found) == {"TOP-26"}
    assert "compute5 of su01-n02" in first(found).message
    assert "not in" in first(found).message


def test_a_limited_port() -> None:
    limited = (
        members(two_clusters(), TRAIN)[0].model_copy(update={"membership": "limited"}),
        *members(two_clusters(), TRAIN)[1:],
    )
    found = of(edited(two_clusters(), TRAIN, members=limited))
    assert rules(found) == {"TOP-26"}
    assert "a limited member of" in first(found).message


def test_a_partition_that_is_not_at_index_0() -> None:
    found = of(edited(two_clusters(), TRAIN, index0=False))
    assert rules(found) == {"TOP-26"}
    assert "not at index 0 in" in first(found).message


def test_a_node_without_any_port() -> None:
    bare = changed(site(), gpu_nodes=_with_ports(site(), node_name(1, 2), ()))
    found = verdicts(judged(bare, two_clusters(), globex()))
    assert found["TOP-26"] == V


# ISO-30


def test_one_key_for_two_clusters() -> None:
    key = two_clusters().by_name[TRAIN].resource
    assert isinstance(key, PartitionKey)
    found = of(edited(two_clusters(), SERVE, key=key.key))
    assert rules(found) == {"ISO-30"}
    assert first(found).message.startswith("acme-serve and acme-train are joined")


def test_one_in_band_vlan_for_two_clusters() -> None:
    plan = edited(two_clusters(), "acme-serve-cluster", segmentation_id=1501)
    for index in (0, 1):
        plan = edited(plan, f"acme-serve-node-{index}-cluster-switch", vlan=1501)
    assert verdicts(of(plan))["ISO-30"] == V


def test_clusters_that_need_not_be_apart() -> None:
    plan = edited(two_clusters(), "acme-serve-cluster", segmentation_id=1501).model_copy(update={"separate": "no"})
    assert verdicts(of(plan))["ISO-30"] == NA


def test_the_router_of_the_tenant_joins_no_clusters() -> None:
    """It is behind both in-band networks, as behind control networks of vPODs."""
    uplinks = [name for name in two_clusters().by_name if name.endswith("-uplink")]
    assert len(uplinks) == 2
    assert verdicts(of(two_clusters()))["ISO-30"] == P


@pytest.mark.parametrize(("held", "verdict"), [(None, N), (False, V)])
def test_keys_that_nobody_enforces(held: bool | None, verdict: object) -> None:
    open_site = changed(site(), assumptions=assumptions(keys_enforced_at_switch=held))
    found = verdicts(judged(open_site, two_clusters(), globex()))
    assert found["ISO-30"] == verdict
    assert found["ISO-02"] == verdict


# What is not stated


def test_a_guid_that_nobody_states() -> None:
    """The plan has it in its partition, from a site that stated it: nobody knows by now whose port it is."""
    ports = site().gpu_node[node_name(1, 1)].ports
    forgotten = (ports[0].model_copy(update={"guid": None}), *ports[1:])
    found = judged(changed(site(), gpu_nodes=_with_ports(site(), node_name(1, 1), forgotten)), two_clusters(), globex())
    assert {rule: verdicts(found)[rule] for rule in ("ISO-29", "TOP-26")} == {"ISO-29": N, "TOP-26": N}
    assert "gpu_nodes.su01-n01.ports.compute1.guid" in first(found).missing


@pytest.mark.parametrize(("stated", "verdict"), [(True, V), (False, N)])
def test_a_key_outside_of_clusters(stated: bool, verdict: object) -> None:
    """Written by hand, with the port of a node: known, it is the operator's; not stated, it may be any node's."""
    ports = site().gpu_node[node_name(2, 3)].ports
    kept = ports if stated else (ports[0].model_copy(update={"guid": None}), *ports[1:])
    known = changed(site(), gpu_nodes=_with_ports(site(), node_name(2, 3), kept))
    member = PartitionMember(guid=guid_of(2, 3, 1), membership="full")
    plan = added(two_clusters(), "acme-pkey", "acme", PartitionKey(infiniband="compute", key=0x20, members=(member,)))
    found = judged(known, plan, globex())
    assert max(verdicts(found)["ISO-02"], verdicts(found)["ISO-29"], key=(P, NA, N, V).index) == verdict
    assert [rule for rule in again(plan, known) if rule == "ISO-29"] == ([] if stated else ["ISO-29"])


# Whose a port is


def test_the_ports_of_a_node_are_its_holders() -> None:
    """A cluster without InfiniBand has its ports all the same: nobody else puts them into a partition."""
    request = gpu_tenant("globex", cluster(fabric="none"))
    given = claims(4, (2, 1), (2, 2), partition_keys={})
    other = with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))
    assert judged(site(), two_clusters(), other).exit_code == 0
    found = judged(site(), also(guid_of(2, 1, 1)), other)
    assert verdicts(found)["ISO-02"] == V
    assert verdicts(found)["ISO-20"] == V


def test_a_node_that_was_given_up_is_its_former_holders() -> None:
    """Its ports run the code of whoever had it until it is seen clean."""
    request = gpu_tenant("globex", cluster(nodes=1))
    given = claims(4, (2, 1))
    plan = clusters_planned(request, [given], site())
    released = (Released(vpod="train", claim="hosts", value=node_name(2, 2)),)
    lock = clusters_locked(request, given).model_copy(update={"released": released})
    found = judged(site(), also(guid_of(2, 2, 1)), with_footprint(site(), plan, lock))
    assert {"ISO-02", "ISO-29"} <= rules(found)
    assert any("globex" in item.message for item in found.findings if item.rule == "ISO-02")


def _with_ports(known: Site, name: str, ports: tuple[HcaPort, ...]) -> tuple[GpuHost, ...]:
    return tuple(node.model_copy(update={"ports": ports}) if node.name == name else node for node in known.gpu_nodes)


def _with_port(known: Site, name: str, port: HcaPort) -> tuple[GpuHost, ...]:
    return _with_ports(known, name, (*known.gpu_node[name].ports, port))
