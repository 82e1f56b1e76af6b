"""Heads of GPU clusters in the proof: who gets in to them, and what they take of hosts; each defect with a whole twin.

acme has a public head on head-1 and another on head-2, globex one on head-2, at the hall of `gpu_heads`.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from infra.checker import complaints
from infra.verifying.answers import found_in
from infra.verifying.comparing import Comparing
from infra.verifying.deriving import derived_from
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant
from interlock.planning.plan import Plan
from interlock.resources import SecurityGroup, SecurityGroupRule
from policies.certificate import certificate
from policies.edges.residue import still_held
from policies.facts.site import SiteFacts
from policies.judging import judge, seen_by
from tests.builders.completeness import declared_complete
from tests.builders.gpu_heads import FLAVOR, head_claims, headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import gpu_tenant
from tests.builders.virtual_nodes import virtual_site, virtual_tenant
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    assumptions,
    edited,
    first,
    judged,
    replaced,
    sharing,
    verdicts,
    with_footprint,
)

GROUP = "acme-train-head-public"
STATED = "198.51.100.0/24"


@cache
def site(**hosts: int) -> Site:
    """`hosts`: fields that each hypervisor for heads has instead."""
    found = site_with_heads(sharing=sharing(), assumptions=assumptions())
    changed = tuple(item.model_copy(update=hosts) if item.name.startswith("head-") else item for item in found.hosts)
    return declared_complete(site_with_heads(sharing=sharing(), assumptions=assumptions(), hosts=changed))


def _request(name: str, heads: int) -> Tenant:
    request = gpu_tenant(name, headed(heads))
    public = ({"vpod": "train", "servers": (0,), "ssh_from": (STATED,)},) if name == "acme" else ()
    access = type(request.access).model_validate(dict(request.access) | {"public": public})
    return request.model_copy(update={"access": access})


@cache
def acme() -> Made:
    request, given = _request("acme", 2), head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2"))
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


@cache
def globex() -> Made:
    request, given = _request("globex", 1), head_claims(4, (2, 1), (2, 2), heads=("head-2",))
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


def letting_in(prefix: str) -> Plan:
    """acme's plan with one more filter at its public head."""
    group = acme().plan.by_name[GROUP].resource
    assert isinstance(group, SecurityGroup)
    more = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=22, port_max=22, remote_prefix=prefix)
    return edited(acme().plan, GROUP, rules=(*group.rules, more))


def found_again(plan: Plan, at: Site | None = None) -> set[str]:
    """Rules that find something by the second derivation."""
    known, documents = json.loads((at or site()).model_dump_json()), [json.loads(json.dumps(plan.canonical()))]
    ports = Ports(known, asked_of(documents), claimed_of(documents, []))
    return set(found_in(PlanOfStack(Inventory(known, ports), documents[0])))


@pytest.mark.parametrize("made", [acme, globex])
def test_heads_beside_each_other_are_proved_and_derived_again(made: Any) -> None:
    plan, locks = made().plan, [acme().lock, globex().lock]
    judgement = judge(site(), plan, locks)
    assert [(item.rule, item.message) for item in judgement.findings] == []
    found = json.loads(certificate(seen_by(site(), plan, locks), judgement).model_dump_json())
    assert list(complaints(found, None, found["date"])) == []
    plans = {item.plan.stack: json.loads(json.dumps(item.plan.canonical())) for item in (acme(), globex())}
    known = json.loads(site().model_dump_json())
    comparing = Comparing(known, plans, [json.loads(lock.model_dump_json()) for lock in locks])
    assert comparing.compare(found, plan.tenant or "").complaints == ()


@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [("10.60.1.0/24", P), ("10.60.1.128/25", P), (STATED, P), ("10.60.0.0/23", V), ("192.0.2.0/24", V)],
)
def test_nodes_may_come_in_to_a_public_head_and_nobody_else_who_is_not_stated(prefix: str, verdict: str) -> None:
    plan = letting_in(prefix)
    assert verdicts(judged(site(), plan, globex()))["EXPO-01"] == verdict
    assert ("EXPO-01" in found_again(plan)) == (verdict == V)


def test_a_subnet_that_is_no_part_of_a_pool_may_be_addresses_of_anybody_outside() -> None:
    """The plan calls half of all addresses its own subnet, and lets it in."""
    half = "0.0.0.0/1"
    plan = edited(letting_in(half), "acme-train-cluster-subnet", cidr=half)
    assert verdicts(judged(site(), plan, globex()))["EXPO-01"] == V
    assert "EXPO-01" in found_again(plan)
    cut = edited(letting_in("10.60.0.0/16"), "acme-train-cluster-subnet", cidr="10.60.0.0/16")
    assert verdicts(judged(site(), cut, globex()))["EXPO-01"] == P
    assert "EXPO-01" not in found_again(cut)


def test_a_head_below_which_there_is_no_hypervisor() -> None:
    """On a node of its own cluster, which is given out as bare metal."""
    plan = edited(acme().plan, "acme-train-head-0", host="su01-n01")
    assert verdicts(judged(site(), plan, globex()))["LIF-03"] == V
    assert found_again(plan) == {"LIF-03"}


def test_a_head_takes_cpus_and_pages_and_no_functions() -> None:
    """Two heads of 16 CPUs stand on head-2."""
    assert verdicts(judged(site(dedicated_cpus=32), acme().plan, globex()))["CAP-02"] == P
    found = first(judged(site(dedicated_cpus=31), acme().plan, globex()))
    assert (found.rule, found.verdict) == ("CAP-02", V)
    assert "has 31 dedicated CPUs" in found.message


def test_a_node_that_is_called_a_head_is_a_node() -> None:
    """By no name does a whole host escape what is asked of nodes: its ports belong there, and none is left out."""
    plan, key = acme().plan, "acme-train-partition-compute"
    there = plan.by_name["acme-train-node-1"].model_copy(update={"component": "acme-train-head-1"})
    called = replaced(plan, there)
    assert judged(site(), called, globex()).exit_code == 0
    assert found_again(called) == set()
    members = plan.by_name[key].resource.members[:8]  # type: ignore[attr-defined]
    left = edited(called, key, members=members)
    assert verdicts(judged(site(), left, globex()))["TOP-26"] == V
    assert found_again(left) == {"TOP-26"}


def test_a_server_on_a_virtual_node_that_is_called_a_head_is_a_node() -> None:
    """Nothing of the plan says so: the host is a GPU node of the site's."""
    request, given = virtual_tenant(), claims(1, (2, 3))
    known = declared_complete(virtual_site(sharing=sharing(), assumptions=assumptions()))
    plan = clusters_planned(request, [given], known)
    item = plan.by_name["acme-train-node-0"]
    parts = tuple(
        part.model_copy(update={"type": "ClusterHead"}) if part.name == item.component else part
        for part in plan.components
    )
    called = Plan(**{name: getattr(plan, name) for name in Plan.model_fields} | {"components": parts})
    assert verdicts(judged(known, called))["TOP-26"] == P
    left = edited(called, "acme-train-partition-compute", members=())
    assert verdicts(judged(known, left))["TOP-26"] == V
    assert found_again(left, known) == {"TOP-26"}


@pytest.mark.parametrize(("has", "verdict"), [(48, P), (32, N)])
def test_a_head_that_was_given_up_takes_room_until_it_is_gone(has: int, verdict: str) -> None:
    """Its host has no virtual functions, and it had none: that is no reason to doubt."""
    entry = Released(vpod="old", claim="heads", value="head-2", flavor=FLAVOR)
    lock = globex().lock.model_copy(update={"released": (entry,)})
    there = site(dedicated_cpus=has, huge_pages_gib=200)
    left = with_footprint(there, globex().plan, lock)
    judgement = judged(there, acme().plan, left)
    assert verdicts(judgement)["CAP-02"] == verdict
    assert not any("virtual functions" in item.message for item in judgement.findings)


def test_a_head_that_was_given_up_holds_nothing_exclusive_in_either_derivation() -> None:
    """The host is the operator's: only its room was lent."""
    entry = Released(vpod="old", claim="heads", value="head-2", flavor=FLAVOR)
    assert list(still_held(SiteFacts(site()), entry)) == []
    lock = json.loads(globex().lock.model_copy(update={"released": (entry,)}).model_dump_json())
    ground, _ = derived_from(json.loads(site().model_dump_json()), {}, [lock])
    assert not any("head-2" in thing for thing in ground.exclusive)
