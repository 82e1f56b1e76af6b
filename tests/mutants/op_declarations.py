"""Operators on declarations of sharing: left out, or for others."""

from __future__ import annotations

from random import Random

from tests.mutants.op_guards import behind_ceph, guest, watched
from tests.mutants.operator import Operator, strangers
from tests.mutants.workspaces import Workspace


def _left_out(space: Workspace, kind: str) -> Workspace:
    return space.with_site(sharing=tuple(item for item in space.site.sharing if item.kind != kind))


def undeclared_back_end(space: Workspace, rng: Random) -> Workspace | None:
    found = behind_ceph(space, rng)
    return None if found is None else _left_out(found, "routed-back-end")


def back_end_for_others(space: Workspace, rng: Random) -> Workspace | None:
    found = behind_ceph(space, rng)
    return None if found is None else _audience(found, "routed-back-end", "umbrella")


def back_end_for_its_tenants(space: Workspace, rng: Random) -> Workspace | None:
    found = behind_ceph(space, rng)
    return None if found is None else _audience(found, "routed-back-end", *found.tenants)


def _audience(space: Workspace, kind: str, *tenants: str) -> Workspace:
    entries = (
        item.model_copy(update={"audience": tenants}) if item.kind == kind else item for item in space.site.sharing
    )
    return space.with_site(sharing=tuple(entries))


def undeclared_controllers(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    return None if found is None else _left_out(space, "vipu-controller").asking(found[0].tenant)


def undeclared_for_a_guest(space: Workspace, rng: Random) -> Workspace | None:
    found = guest(space, rng)
    return None if found is None else _left_out(found, "vipu-controller")


def undeclared_monitoring(space: Workspace, rng: Random) -> Workspace | None:
    found = watched(space, rng)
    return None if found is None else _left_out(found, "monitoring")


def monitoring_without_a_cable(space: Workspace, rng: Random) -> Workspace | None:
    found = undeclared_monitoring(space, rng)
    if found is None:
        return None
    cables = tuple(item for item in found.site.cables if "watch" not in (item.a.device, item.b.device))
    return found.with_site(cables=cables)


DECLARATIONS = (
    Operator(
        "back-end-undeclared", "a routed back end that is not declared",
        undeclared_back_end, back_end_for_its_tenants, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "back-end-audience", "a routed back end for others only",
        back_end_for_others, back_end_for_its_tenants, "L3-06", ("ISO-02",),
    ),
    Operator(
        "controllers-undeclared", "controllers that are not declared",
        undeclared_controllers, undeclared_for_a_guest, "ISO-05", ("ISO-06",),
    ),
    Operator(
        "monitoring-undeclared", "a monitoring device that is not declared",
        undeclared_monitoring, monitoring_without_a_cable, "ISO-07",
    ),
)  # fmt: skip
