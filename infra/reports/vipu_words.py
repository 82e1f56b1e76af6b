"""What people are told of V-IPU controllers whose teller changes: what stays, and which servers get no key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.planning import Plan
from interlock.planning.differences import ResourceChange
from interlock.resources import Server, StoredCredential, VipuCluster
from interlock.resources.asked_names import VIPU_KEY, asked_names


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


def unasked_lines(before: Mapping[str, Any] | None, plan: Plan, changes: Sequence[ResourceChange]) -> Iterator[str]:
    """A line for each server of an earlier plan that stays and never asks for the key which is left for it now."""
    servers = {
        item["name"]: item["spec"] for item in (before or {}).get("resources", ()) if item["kind"] == Server.KIND
    }
    anew = {item.name for item in changes if item.kind == Server.KIND and item.action in ("create", "replace")}
    for item in plan.resources:
        key = item.resource
        if not isinstance(key, StoredCredential) or key.item != VIPU_KEY or key.place in anew:
            continue
        names = asked_names(str(servers.get(key.place, {}).get("user_data", "")))
        if key.place in servers and names is not None and VIPU_KEY not in names:
            yield (
                f"  {key.place}: was made before `interlock` told its V-IPU controller, and never asks for its key: "
                "recreate it (`pulumi up --replace`), or bring it one by hand"
            )


def _clusters(plan: Plan) -> list[VipuCluster]:
    return [item.resource for item in plan.resources if isinstance(item.resource, VipuCluster)]
