"""Rules about RoCE networks of GPU clusters: each with a defect beside the twin that is whole, and what else finds it.

hall-1: acme has su01-n01, n02 (train) and su01-n03, n04 (serve), globex has su02-n01, n02, all with RoCE: acme's two
are behind one leaf group, in two VLANs.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from infra.verifying.answers import found_in
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import BareMetalServer
from policies import Judgement
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import clusters_locked, clusters_planned
from tests.builders.gpu_sites import gpu_tenant, node_name
from tests.builders.roce_sites import roce_claims, roce_cluster, roce_site
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    assumptions,
    changed,
    edited,
    first,
    judged,
    sharing,
    verdicts,
    with_footprint,
)

RULES = ("ISO-02", "ISO-03", "ISO-30", "SW-08", "TOP-06", "TOP-26")


@cache
def site() -> Site:
    return declared_complete(roce_site(sharing=sharing(), assumptions=assumptions()))


@cache
def two_clusters() -> Plan:
    request = gpu_tenant("acme", roce_cluster("train"), roce_cluster("serve"))
    return clusters_planned(request, [roce_claims(1, (1, 1), (1, 2)), roce_claims(3, (1, 3), (1, 4))], site())


def one_cluster() -> Plan:
    return clusters_planned(gpu_tenant("acme", roce_cluster("train")), [roce_claims(1, (1, 1), (1, 2))], site())


def globex_at(given: ClusterAllocation) -> Made:
    request = gpu_tenant("globex", roce_cluster())
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


@cache
def globex() -> Made:
    return globex_at(roce_claims(4, (2, 1), (2, 2), roce_network="roce-su02"))


def of(plan: Plan, known: Site | None = None) -> Judgement:
    return judged(known or site(), plan, globex())


def again(plan: Plan) -> set[str]:
    """Rules that find something by the second derivation."""
    document, full = json.loads(json.dumps(plan.canonical())), json.loads(site().model_dump_json())
    ports = Ports(full, asked_of([document]), claimed_of([document], []))
    return set(found_in(PlanOfStack(Inventory(full, ports), document)))


def rules(judgement: Judgement) -> set[str]:
    return {item.rule for item in judgement.findings}


def in_vlan(plan: Plan, vlan: int, part: str = "acme-serve") -> Plan:
    """The plan with the RoCE network of a cluster, and the switch ports of its rails, in another VLAN."""
    plan = edited(plan, f"{part}-roce", segmentation_id=vlan)
    for name in [name for name in plan.by_name if name.startswith(part) and name.endswith("-switch")]:
        if "-roce" in name:
            plan = edited(plan, name, vlan=vlan)
    return plan


def test_clusters_that_are_whole_and_apart() -> None:
    found = of(two_clusters())
    assert not found.findings
    wanted = dict.fromkeys(RULES, P) | {"ISO-03": NA}
    assert {rule: verdicts(found)[rule] for rule in RULES} == wanted
    assert again(two_clusters()) == set()


def test_one_roce_vlan_of_two_tenants() -> None:
    """acme and globex behind one leaf group, by one id: whoever is in the VLAN hears all of it."""
    plan, other = one_cluster(), globex_at(roce_claims(3, (1, 3), (1, 4)))
    assert judged(site(), plan, other).exit_code == 0
    found = judged(site(), in_vlan(plan, 2503, "acme-train"), other)
    assert verdicts(found)["ISO-02"] == V
    assert verdicts(judged(site(), in_vlan(plan, 2504, "acme-train"), other))["ISO-02"] == P


def test_one_roce_vlan_of_two_clusters() -> None:
    assert verdicts(of(in_vlan(two_clusters(), 2504)))["ISO-30"] == P
    found = of(in_vlan(two_clusters(), 2501))
    assert verdicts(found)["ISO-30"] == V
    assert any("acme-serve and acme-train are joined" in item.message for item in found.findings)


# TOP-26


@pytest.mark.parametrize("rail", [1, 8])
def test_a_rail_that_is_left_in_another_vlan(rail: int) -> None:
    plan = edited(two_clusters(), f"acme-train-node-1-roce{rail}-switch", vlan=2599)
    found = of(plan)
    assert "TOP-26" in rules(found)
    said = f"the switch port of eth{rail} of su01-n02 is not in its RoCE network acme-train-roce"
    assert said in {item.message.removeprefix("cluster acme-train: ") for item in found.findings}
    assert "TOP-26" in again(plan)


def _with_ports(plan: Plan, name: str, ports: tuple[str, ...]) -> Plan:
    server = plan.by_name[name].resource
    assert isinstance(server, BareMetalServer)
    return edited(plan, name, ports=ports, legs=server.legs[: len(ports)])


def test_a_rail_without_a_leg() -> None:
    server = two_clusters().by_name["acme-train-node-0"].resource
    assert isinstance(server, BareMetalServer)
    plan = _with_ports(two_clusters(), "acme-train-node-0", server.ports[:-1])
    found = of(plan)
    messages = {item.message for item in found.findings if item.rule == "TOP-26"}
    told = "the server on su01-n01 has 7 ports on its RoCE network acme-train-roce, and 8 rails"
    assert messages == {f"cluster acme-train: {told}"}
    assert "TOP-26" in again(plan)


def test_a_rail_without_a_switch_port() -> None:
    kept = (item for item in two_clusters().resources if item.name != "acme-train-node-0-roce3-switch")
    fields = {name: getattr(two_clusters(), name) for name in Plan.model_fields}
    plan = Plan(**fields | {"resources": tuple(kept)})
    found = of(plan)
    assert "eth3 of su01-n01" in first(found).message
    assert "TOP-26" in rules(found)
    assert "TOP-26" in again(plan)


def test_rails_that_nobody_states_are_unknown() -> None:
    hosts = tuple(
        host.model_copy(update={"interfaces": {"inband": host.interfaces["inband"]}})
        if host.name == node_name(1, 1)
        else host
        for host in site().hosts
    )
    found = of(two_clusters(), changed(site(), hosts=hosts))
    assert verdicts(found)["TOP-26"] == N


# SW-08


@pytest.mark.parametrize(("change", "verdict"), [({"ecn": False}, V), ({"pfc_priority": 4}, V), ({"ecn": None}, N)])
def test_nodes_that_do_not_pause_as_the_switches_do(change: dict[str, object], verdict: object) -> None:
    images = tuple(
        item.model_copy(update={"software": item.software.model_copy(update=change)}) if item.name == "dgx-os" else item
        for item in site().images
    )
    found = of(two_clusters(), changed(site(), images=images))
    assert rules(found) == {"SW-08"}
    assert verdicts(found)["SW-08"] == verdict
