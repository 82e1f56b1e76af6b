"""Which form of a plan its hash is made of, and which vPOD and role are the usual ones of a resource.

vPOD and role of a resource came into plan files after hashes of plans stood in states and certificates. So that a plan
which says nothing unusual has the hash that it always had, the hash leaves both out where they are the usual ones: the
vPOD above the resource in the component tree, and for a network the role that the planner puts into its name. What
differs from that, `null` included, is hashed as it is stated, so two plans that say different things have two hashes.
Nothing else may ask for the usual role: a name is no statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interlock.resources import Network
from interlock.vocabulary import NetworkRole

Canonical = Mapping[str, Any]

#: Component types that are kept apart from their like: what lies below one belongs to it.
KEPT_APART = ("VirtualPod", "GpuCluster")


def hashed_form(plan: Canonical) -> dict[str, Any]:
    """The canonical plan without what is usual. A plan file of before the two fields is left as it is."""
    above = vpods_above((item["name"], item["type"], item["parent"]) for item in plan["components"])
    return {**plan, "resources": [_shortened(item, above.get(item["component"])) for item in plan["resources"]]}


def vpods_above(components: Iterable[tuple[str, str, str | None]]) -> dict[str, str]:
    """Component -> the vPOD or GPU cluster whose part it is, of (name, type, parent); parents may come in any order."""
    known = {name: (kind, parent) for name, kind, parent in components}
    found = ((name, _above(known, name)) for name in known)
    return {name: vpod for name, vpod in found if vpod is not None}


def _above(known: Mapping[str, tuple[str, str | None]], component: str) -> str | None:
    seen: set[str] = set()
    while component in known and component not in seen:
        seen.add(component)
        kind, parent = known[component]
        if kind in KEPT_APART:
            return component
        component = parent or ""
    return None


def _shortened(item: Canonical, vpod: str | None) -> dict[str, Any]:
    usual = {"vpod": vpod, "role": _usual_role(item, vpod)}
    return {key: value for key, value in item.items() if key not in usual or value != usual[key]}


def _usual_role(item: Canonical, vpod: str | None) -> str | None:
    if item["kind"] != Network.KIND or vpod is None:
        return None
    return next((role.value for role in NetworkRole if item["name"] == f"{vpod}-{role}"), None)
