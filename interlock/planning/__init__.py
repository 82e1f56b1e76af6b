"""Site + tenant + lock -> plan, and the allocation that a lock records. Pure: same inputs, same bytes."""

from __future__ import annotations

from .allocation import allocate
from .allocation_state import AllocationState
from .capacity import Capacity, capacity
from .errors import AllocationError, NeedsMove, PlanningError
from .hashes import SiteHashes, site_hash
from .makeable import NotMakeable, not_makeable
from .plan import Component, Plan, Planned
from .request_hashes import request_hash
from .site_plan import nameable, plan_site, site_objects, stated_existing
from .tenant_plan import plan_tenant

__all__ = [
    "AllocationError",
    "AllocationState",
    "Capacity",
    "Component",
    "NeedsMove",
    "NotMakeable",
    "Plan",
    "Planned",
    "PlanningError",
    "SiteHashes",
    "allocate",
    "capacity",
    "nameable",
    "not_makeable",
    "plan_site",
    "plan_tenant",
    "request_hash",
    "site_hash",
    "site_objects",
    "stated_existing",
]
