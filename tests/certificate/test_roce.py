"""RoCE networks in certificates: what is derived again from site, plans and locks is what is stated."""

from __future__ import annotations

import json

from infra.checker import complaints
from infra.verifying.comparing import Comparing
from interlock.model.lock.record import Released
from policies.certificate import certificate
from policies.judging import judge, seen_by
from tests.builders.gpu_plans import clusters_locked, clusters_planned
from tests.builders.gpu_sites import gpu_tenant
from tests.builders.roce_sites import roce_claims, roce_cluster
from tests.policies.test_rules_roce import globex, site
from tests.policies.workspace import with_footprint


def test_what_is_derived_is_what_is_stated() -> None:
    """Also of a VLAN that was given up and not read back: its former holder is still there."""
    request, given = gpu_tenant("acme", roce_cluster()), roce_claims(1, (1, 1), (1, 2))
    released = (Released(vpod="train", claim="roce_vlan", value="roce-su01:2507"),)
    lock = clusters_locked(request, given).model_copy(update={"released": released})
    acme = with_footprint(site(), clusters_planned(request, [given], site()), lock)
    locks = [acme.lock, globex().lock]
    judgement = judge(site(), acme.plan, locks)
    found = json.loads(certificate(seen_by(site(), acme.plan, locks), judgement).model_dump_json())
    assert judgement.exit_code == 0
    assert any("SN-roce-su01:2507" in label for label in acme.lock.footprint.labels)
    assert list(complaints(found, None, found["date"])) == []
    plans = {plan.stack: json.loads(json.dumps(plan.canonical())) for plan in (acme.plan, globex().plan)}
    again = Comparing(
        json.loads(site().model_dump_json()), plans, [json.loads(made.model_dump_json()) for made in locks]
    )
    assert again.compare(found, "acme").complaints == ()
