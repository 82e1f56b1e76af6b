"""ISO-28: what the operator runs for all tenants, and what stays in a device (A16 to A24)."""

from __future__ import annotations

import json
from itertools import chain

import pytest

from infra.checker import KEPT_AWAY, complaints, guarded
from interlock.model.site.guards import ASSUMPTION_GUARDS
from interlock.planning import plan_site
from policies import Severity
from policies.certificate import certificate
from policies.edges.operated import OPERATED
from policies.judging import seen_by
from tests.builders.pod64 import site_locked, tenant
from tests.policies.workspace import NA, N, P, V, assumptions, first, full_site, judged, made, pair, verdicts

#: What everybody has who has a vPOD here.
OF_ALL = ("A16", "A17", "A18", "A19", "A20", "A21", "A22", "A24")
GUARDS = [(name, guard) for name in OF_ALL for guard in ASSUMPTION_GUARDS[name]]


@pytest.mark.parametrize(("name", "guard"), GUARDS)
@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N)])
def test_each_guard_decides(name: str, guard: str, value: bool | None, verdict: str) -> None:
    """The tenant's own judgement and the operator's, which meets all tenants."""
    site = full_site(assumptions=assumptions(**{guard: value}))
    acme, globex = pair(full_site())
    own = plan_site(site, site_locked(site))
    for judgement in (judged(site, acme.plan, globex), judged(site, own, acme, globex)):
        found = first(judgement)
        assert (found.rule, found.verdict, found.severity) == ("ISO-28", verdict, Severity.BLOCK)
        assert found.missing == (() if value is False else (f"assumptions.{name}.{guard}",))
        assert found.witness[-1] == f"assumptions.{name}.{guard}"
        assert found.hint


def test_held_it_is_proved_and_the_certificate_says_on_what() -> None:
    acme, globex = pair(full_site())
    judgement = judged(full_site(), acme.plan, globex)
    assert verdicts(judgement)["ISO-28"] == P
    said = certificate(seen_by(full_site(), acme.plan, [globex.lock]), judgement).model_dump(mode="json")
    assert list(complaints(json.loads(json.dumps(said)))) == []
    away = {row: frozenset(chain(*parts)) for row, _, _, _, parts, is_away in guarded(said["statement"]) if is_away}
    for name in OF_ALL:
        assert away[name] == {f"assumptions.{name}.{guard}" for guard in ASSUMPTION_GUARDS[name]}


def test_the_checker_has_every_row() -> None:
    assert {item.assumption for item in OPERATED} <= KEPT_AWAY.keys()


def test_without_tenants_nothing_rests_on_it() -> None:
    """The operator's own networks and controllers are on the operator's services."""
    site = full_site(assumptions=tuple(item for item in assumptions() if item.id not in OF_ALL))
    judgement = judged(site, plan_site(site, site_locked(site)))
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-28"] == NA


def test_a_tenant_with_buckets_alone_rests_on_what_it_may_call_and_its_way_out() -> None:
    """It may call the cloud, and has a router; no network, server or machine."""
    kept = tuple(item for item in assumptions() if item.id not in OF_ALL)
    site = full_site(assumptions=kept)
    plan = made(site, tenant("guest", vpods=(), buckets=())).plan
    judgement = judged(site, plan)
    assert {fact for item in judgement.findings for fact in item.missing} == {
        "assumptions.A16.load_balancers_apart",
        "assumptions.A21.upstream_filtered",
    }
