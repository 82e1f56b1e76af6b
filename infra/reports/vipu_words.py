"""What people are told of V-IPU controllers whose teller changes: what stays."""

from __future__ import annotations

from interlock.planning import Plan
from interlock.resources import VipuCluster


def let_go_words(plan: Plan) -> tuple[str, ...]:
    """Of a preview on a site whose controllers a person tells: what of its list does not go.

    No program knows what is in the state. What an earlier `up` told a controller is listed there as deleted.
    """
    told = sorted({item.controller for item in _clusters(plan) if not item.is_declared})
    if not told:
        return ()
    words = (
        f"V-IPU controller {' and '.join(told)}: a person tells it (`controller.managed_by: hand`). What an earlier "
        "`pulumi up` told it stays there; where this preview lists that as deleted, only the state forgets it"
    )
    return (words,)


def _clusters(plan: Plan) -> list[VipuCluster]:
    return [item.resource for item in plan.resources if isinstance(item.resource, VipuCluster)]
