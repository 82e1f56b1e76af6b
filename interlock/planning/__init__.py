"""Site + tenant + lock -> plan, and the allocation that a lock records. Pure: same inputs, same bytes."""

from __future__ import annotations

from .allocation import allocate
from .errors import AllocationError, PlanningError
from .hashes import request_hash, site_hash
from .plan import Component, Plan, Planned
from .site_plan import plan_site
from .tenant_plan import plan_tenant

__all__ = [
    "AllocationError",
    "Component",
    "Plan",
    "Planned",
    "PlanningError",
    "allocate",
    "plan_site",
    "plan_tenant",
    "request_hash",
    "site_hash",
]
