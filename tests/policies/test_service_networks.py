"""Networks on which Ironic deploys and cleans hosts: the operator's, and no tenant's VLAN meets them."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import plan_site, plan_tenant
from policies import judge
from policies.judging import operators_part
from tests.builders.pod64 import bare_metal_vpod, given, ironic_pod64, locked, site_locked, tenant
from tests.policies.workspace import Made, P, V, verdicts, with_footprint

SITE = ironic_pod64()
OPERATORS = plan_site(SITE, site_locked(SITE))
REQUEST = tenant("acme", vpods=(bare_metal_vpod(),))


def acme(control_vlan: int | None = None) -> Made:
    """Two whole hosts, if wanted by a lock with another VLAN than it would get."""
    lock = locked(SITE, REQUEST)
    lock = lock if control_vlan is None else given(lock, control_vlan=control_vlan)
    return with_footprint(SITE, plan_tenant(SITE, site_locked(SITE), REQUEST, lock), lock)


def test_operator_and_tenant_are_proved_beside_each_other() -> None:
    one = acme()
    assert judge(SITE, one.plan, [operators_part(SITE, OPERATORS)]).exit_code == 0
    assert judge(SITE, OPERATORS, [one.lock]).exit_code == 0


@pytest.mark.parametrize("vlan", [3200, 3203])
def test_a_tenants_vlan_that_is_one_of_them_is_found_from_both_sides(vlan: int) -> None:
    """The site file is refused before (`ironic-networks-meet`); a lock that was made otherwise is not proved."""
    one = acme(control_vlan=vlan)
    beside = verdicts(judge(SITE, one.plan, [operators_part(SITE, OPERATORS)]))
    assert {rule: beside[rule] for rule in ("ISO-01", "ISO-02", "ISO-11", "ISO-12")} == dict.fromkeys(
        ("ISO-01", "ISO-02", "ISO-11", "ISO-12"), V
    )
    from_there = verdicts(judge(SITE, OPERATORS, [one.lock]))
    assert (from_there["ISO-02"], from_there["ISO-11"]) == (V, V)


def test_without_ironic_the_same_vlan_is_outside_the_pools_and_nobody_elses() -> None:
    without: Site = ironic_pod64(ironic=None)
    plan = plan_site(without, site_locked(without))
    one = acme(control_vlan=3203)
    beside = verdicts(judge(without, one.plan, [operators_part(without, plan)]))
    assert (beside["ISO-11"], beside["ISO-12"]) == (P, V)
