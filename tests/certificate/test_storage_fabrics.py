"""Storage fabrics in certificates: what is derived again is what is stated, and defects are found once more."""

from __future__ import annotations

import json

import pytest

from infra.checker import complaints
from infra.verifying.answers import found_in
from infra.verifying.comparing import Comparing
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.site.storage_fabric import StorageAccess
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.certificate import certificate
from policies.judging import judge, operators_part, seen_by
from tests.builders.gpu_plans import clusters_locked
from tests.builders.gpu_sites import cluster, gpu_tenant
from tests.builders.pod64 import site_locked
from tests.builders.storage_halls import APPLIANCE, client_of, storage_claims
from tests.certificate.test_clusters import document
from tests.policies.test_rules_storage_fabrics import TRAIN, WAYS, acme, globex, site, with_members
from tests.policies.workspace import edited, with_footprint


@WAYS
def test_what_is_derived_is_what_is_stated(access: StorageAccess) -> None:
    request = gpu_tenant("acme", cluster("train"), cluster("serve", nodes=1))
    given = (storage_claims(access, 1, (1, 1), (1, 2)), storage_claims(access, 3, (1, 3)))
    made = with_footprint(site(access), acme(access), clusters_locked(request, *given))
    own = plan_site(site(access), site_locked(site(access)))
    locks = [made.lock, globex(access).lock, operators_part(site(access), own)]
    judgement = judge(site(access), made.plan, locks)
    found = json.loads(certificate(seen_by(site(access), made.plan, locks), judgement).model_dump_json())
    assert judgement.exit_code == 0
    assert list(complaints(found, None, found["date"])) == []
    plans = {plan.stack: document(plan) for plan in (made.plan, globex(access).plan, own)}
    texts = [json.loads(item.lock.model_dump_json()) for item in (made, globex(access))]
    comparing = Comparing(json.loads(site(access).model_dump_json()), plans, texts)
    assert comparing.compare(found, "acme").complaints == ()


def rules_found(access: StorageAccess, plan: Plan) -> set[str]:
    """Rules that find something by the second derivation."""
    known, documents = json.loads(site(access).model_dump_json()), [document(plan)]
    ports = Ports(known, asked_of(documents), claimed_of(documents, []))
    return set(found_in(PlanOfStack(Inventory(known, ports), documents[0])))


@WAYS
def test_ports_that_are_left_out_or_anothers_are_found_again(access: StorageAccess) -> None:
    guid = client_of(1, 1, 1)
    assert rules_found(access, acme(access)) == set()
    assert rules_found(access, with_members(access, without=(guid,))) == {"TOP-27"}
    assert rules_found(access, with_members(access, (client_of(2, 1, 1), "limited"))) == {"ISO-29"}


@pytest.mark.parametrize(
    ("access", "plan"),
    [
        ("per-tenant", lambda: with_members("per-tenant", (client_of(1, 1, 1), "full"), without=(client_of(1, 1, 1),))),
        ("per-tenant", lambda: with_members("per-tenant", without=APPLIANCE[:1])),
        ("shared", lambda: edited(acme("shared"), TRAIN, key=0x0021)),
        ("shared", lambda: edited(acme("shared"), TRAIN, shared=False)),
        ("shared", lambda: edited(acme("shared"), TRAIN, servers=APPLIANCE[:1])),
    ],
)
def test_clients_that_do_not_hear_the_appliance_alone_are_found_again(access: StorageAccess, plan: object) -> None:
    assert callable(plan)
    assert rules_found(access, plan()) == {"TOP-27"}
