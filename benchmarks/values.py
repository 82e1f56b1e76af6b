"""A tenant's plan as plain data: what the bare script is given instead of our model and provider.

{"threads": {"network": 8, …},                    calls at once, per service
 "existing": {"site:Flavor/poplar.half": {"kind": "Flavor", "name": "poplar.half"}, …},
 "objects": [{"name", "kind", "spec", "needs": ["acme-project", …]}, …]}      in an order that works
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.program.gate import Gate
from interlock.planning import Plan
from interlock.planning.plan import Planned
from interlock.provider.pools import SIZES
from interlock.resources import is_cloud_reference, is_site_reference

OPERATOR = "cloud:User/@operator"


def values_of(gate: Gate, tenant: str) -> dict[str, Any]:
    """The values of all objects of a tenant that can be made."""
    plan = gate.plan(tenant)
    made = [item for item in plan.resources if item.resource.is_declared]
    existing = sorted({reference for item in made for reference in _references(item) if _is_outside(reference)})
    site = gate.plan(None)
    return {
        "threads": SIZES,
        "existing": {reference: _existing(reference, site) for reference in existing},
        "objects": [_values(item) for item in made],
    }


def _values(item: Planned) -> dict[str, Any]:
    needs = dict.fromkeys((*_references(item), *item.after))
    return {
        "name": item.name,
        "kind": item.resource.KIND,
        # Some kinds have no name of their own: the provider calls them as the plan does.
        "spec": {"name": item.name} | item.resource.canonical(),
        "needs": list(needs),
    }


def _references(item: Planned) -> Iterator[str]:
    return (reference for _, reference in item.resource.references())


def _is_outside(reference: str) -> bool:
    return is_site_reference(reference) or is_cloud_reference(reference)


def _existing(reference: str, site: Plan) -> dict[str, str]:
    """Kind and name on the cloud of something that is there before the tenant."""
    kind, _, name = reference.split(":", 1)[1].partition("/")
    if is_site_reference(reference):
        name = site.by_name[name].resource.canonical()["name"]
    return {"kind": kind, "name": name}
