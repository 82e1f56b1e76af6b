"""ISO-17, ISO-18, L3-13 and SEC-16, where hosts are given out whole; L3-14, where there are S3 keys."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Severity
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, site_locked, tenant
from tests.policies.workspace import NA, N, P, V, assumptions, first, full_site, judged, made, sharing, verdicts

OF_IRONIC = {
    "neutron_interface": "ISO-17",
    "service_networks_closed": "ISO-18",
    "ramdisk_endpoints_closed": "L3-13",
    "operator_owns_nodes": "SEC-16",
    "consoles_disabled": "SEC-16",
}


def whole(**guards: bool | None) -> Site:
    return bare_metal_pod64(assumptions=assumptions(**guards), sharing=sharing())


def plans(site: Site) -> tuple[Plan, Plan]:
    """The operator's and a tenant's."""
    vpods = (bare_metal_vpod(servers=1),) if any(host.provisioning == "bare-metal" for host in site.hosts) else None
    wish = tenant("acme", vpods=vpods) if vpods else tenant("acme")
    return plan_site(site, site_locked(site)), made(site, wish).plan


@pytest.mark.parametrize("guard", OF_IRONIC)
@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N)])
def test_what_ironic_does_not_keep_apart(guard: str, value: bool | None, verdict: str) -> None:
    site = whole(**{guard: value})
    for plan in plans(site):
        judgement = judged(site, plan)
        found = first(judgement)
        assert (found.rule, found.verdict, found.severity) == (OF_IRONIC[guard], verdict, Severity.BLOCK)
        assert found.missing == (() if value is False else (f"assumptions.A14.{guard}",))
        assert found.witness == ("root on poplar-1", f"assumptions.A14.{guard}")
        assert "poplar-1 and 3 more are given out whole" in found.message


def test_what_ironic_keeps_apart() -> None:
    for plan in plans(whole()):
        found = verdicts(judged(whole(), plan))
        assert {found[rule] for rule in OF_IRONIC.values()} == {P}


def test_a_site_without_whole_hosts_need_not_say() -> None:
    left_out = tuple(item for item in assumptions() if item.id != "A14")
    site = full_site(assumptions=left_out)
    for plan in plans(site):
        judgement = judged(site, plan)
        assert judgement.exit_code == 0
        assert {verdicts(judgement)[rule] for rule in OF_IRONIC.values()} == {NA}


# L3-14.


@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N), (True, P)])
def test_tokens_for_signatures(value: bool | None, verdict: str) -> None:
    site = full_site(assumptions=assumptions(token_endpoints_closed=value))
    judgement = judged(site, made(site, tenant("acme")).plan)
    assert verdicts(judgement)["L3-14"] == verdict
    if value is not True:
        found = first(judgement)
        assert (found.rule, found.severity) == ("L3-14", Severity.ERROR)
        assert found.missing == (() if value is False else ("assumptions.A15.token_endpoints_closed",))


def test_no_keys_no_signatures() -> None:
    site = full_site(assumptions=assumptions(token_endpoints_closed=None))
    judgement = judged(site, made(site, tenant("acme", vpods=(), buckets=())).plan)
    assert (verdicts(judgement)["L3-14"], judgement.exit_code) == (NA, 0)
