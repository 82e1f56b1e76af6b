"""Killed before, after, or the answer lost, at the requests of every step; the next run ends as an uninterrupted one.

The tests stand on each other: a site, then a tenant on it, which grows, moves, has its objects recreated, and goes.
"""

from __future__ import annotations

import pytest

from tests.kills.report import FAULTS, Point, of_other_parts
from tests.kills.tenancy import Tenancy
from tests.kills.variants import CHANGED, GROWING, sampled
from tests.support.sampling import Sampling

#: With fewer, some request of some step was left out.
POINTS = 1500

#: What something rests on in a tenant's stack, and that may be recreated: see `interlock.provider.replacing`.
RESTED_ON = ("ServiceUser", "Router", "SecurityGroup", "S3Credential", "Port", "Server", "Keypair")

#: Hours on a busy machine, when every point is taken.
pytestmark = pytest.mark.timeout(24 * 3600)


def test_kill_while_a_site_is_made(tenancy: Tenancy) -> None:
    tenancy.stand(tenancy.site, "site")
    tenancy.settle(tenancy.site)


def test_kill_while_a_tenant_is_made(tenancy: Tenancy) -> None:
    tenancy.complete(tenancy.site)
    tenancy.stand(tenancy.tenant, "tenant")
    tenancy.settle(tenancy.tenant)


def test_kill_while_a_tenant_is_resized(tenancy: Tenancy) -> None:
    for stack in (tenancy.site, tenancy.tenant):
        tenancy.complete(stack)
    tenancy.resize()
    tenancy.settle(tenancy.tenant)


def test_kill_while_a_tenant_is_moved(tenancy: Tenancy) -> None:
    tenancy.resized()
    tenancy.move()
    tenancy.settle(tenancy.tenant)


def test_kill_while_what_others_rest_on_is_recreated(tenancy: Tenancy, long: bool) -> None:
    tenancy.resized()
    tenancy.replace(RESTED_ON if long else RESTED_ON[:1])
    tenancy.settle(tenancy.tenant)


def test_kill_points_cover_every_kind_and_step(tenancy: Tenancy, points: list[Point], sampling: Sampling) -> None:
    """Of a sample: each of its kinds, and each step has had every fault. Of a long run: every kind with every fault.

    The parts of a long run share the points; the last part sees those of all.
    """
    others = of_other_parts(sampling.part)
    if others is None:
        assert len(points) * sampling.part.of >= POINTS / 2
        return
    points = [*points, *others]
    made = sorted(sampled(sampling))
    taken = {(point.kind, point.step) for point in points}
    changed, replaced = [kind for kind in made if kind in CHANGED], [kind for kind in made if kind not in GROWING]
    steps = {"create": made, "delete": made, "update": changed, "replace": replaced}
    every = {(kind, step) for step, kinds in steps.items() for kind in kinds}
    assert not every - taken
    assert {step for _, step in taken} >= {"resize", "grow", "shrink", "move", "replace all"}
    faults = {(point.step, point.fault) for point in points}
    assert not {(step, fault) for step in steps for fault in FAULTS} - faults
    if sampling.long:
        whole = {(point.kind, point.step, point.fault) for point in points}
        assert not {(*one, fault) for one in every for fault in FAULTS} - whole
        assert len(points) >= POINTS
