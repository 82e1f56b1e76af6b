"""GPU clusters in certificates: what is derived again from site and plans is what is stated, and defects are found."""

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
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies.certificate import certificate
from policies.judging import judge, seen_by
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_tenant, guid_of
from tests.policies.test_rules_clusters import TRAIN, also, globex, members, site, two_clusters, without
from tests.policies.workspace import Made, edited, with_footprint


@cache
def acme() -> Made:
    request = gpu_tenant("acme", cluster("train"), cluster("serve"))
    given = (claims(1, (1, 1), (1, 2)), claims(3, (1, 3), (1, 4)))
    return with_footprint(site(), clusters_planned(request, given, site()), clusters_locked(request, *given))


def document(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(plan.canonical()))
    return found


def comparing(known: Site) -> Comparing:
    plans = {plan.stack: document(plan) for plan in (acme().plan, globex().plan)}
    locks = [json.loads(made.lock.model_dump_json()) for made in (acme(), globex())]
    return Comparing(json.loads(known.model_dump_json()), plans, locks)


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_what_is_derived_is_what_is_stated(tenant: str) -> None:
    plan = {"acme": acme(), "globex": globex()}[tenant].plan
    locks = [acme().lock, globex().lock]
    judgement = judge(site(), plan, locks)
    found = json.loads(certificate(seen_by(site(), plan, locks), judgement).model_dump_json())
    assert judgement.exit_code == 0
    assert list(complaints(found, None, found["date"])) == []
    assert comparing(site()).compare(found, tenant).complaints == ()


def test_a_site_without_a_port_of_the_node_is_another() -> None:
    """The certificate joins the port to its node; a site that does not have it there is not the one it is about."""
    locks = [acme().lock, globex().lock]
    judgement = judge(site(), acme().plan, locks)
    found = json.loads(certificate(seen_by(site(), acme().plan, locks), judgement).model_dump_json())
    first, *others = site().gpu_nodes
    fewer = first.model_copy(update={"ports": first.ports[1:]})
    other = site().model_copy(update={"gpu_nodes": (fewer, *others)})
    assert comparing(other).compare(found, "acme").complaints


def rules_found(plan: Plan) -> set[str]:
    """Rules that find something by the second derivation."""
    known, documents = json.loads(site().model_dump_json()), [document(plan)]
    ports = Ports(known, asked_of(documents), claimed_of(documents, []))
    return set(found_in(PlanOfStack(Inventory(known, ports), documents[0])))


def test_defects_are_found_again() -> None:
    limited = tuple(item.model_copy(update={"membership": "limited"}) for item in members(two_clusters(), TRAIN))
    assert rules_found(two_clusters()) == set()
    assert rules_found(also(guid_of(2, 1, 1))) == {"ISO-29"}
    assert rules_found(without(TRAIN, guid_of(1, 1, 1))) == {"TOP-26"}
    assert rules_found(edited(two_clusters(), TRAIN, members=limited)) == {"TOP-26"}
    assert rules_found(edited(two_clusters(), TRAIN, index0=False)) == {"TOP-26"}


def test_whose_a_port_is_follows_from_the_node() -> None:
    known, plans = json.loads(site().model_dump_json()), {"a": document(acme().plan)}
    ground, _ = derived_from(known, plans)
    port = f"guid:{guid_of(1, 1, 1)}"
    assert ground.labels[port] == {"acme"}
