"""vPODs that are released: of each the volumes of its servers stay, under the names they had, and go on being paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant, VPod
from interlock.resources import Volume
from interlock.vocabulary.request_parts import RequestPart

from .costs import Cost, cost_of
from .plan import Plan
from .plan_builder import PlanBuilder
from .s3_users import write_s3_user
from .scope import PartScope
from .vpod_servers import write_own_volume


@dataclass(frozen=True)
class PaidData:
    """What of one released vPOD stays, and what it costs per month."""

    vpod: str
    volumes: tuple[str, ...]
    gib: int
    cost: Cost

    def document(self) -> dict[str, Any]:
        """The JSON form; the amount is decimal text, null where a price is not stated."""
        price = None if self.cost.at_least else str(self.cost.total)
        return {
            "vpod": self.vpod,
            "volumes": list(self.volumes),
            "gib": self.gib,
            "per_month": price,
            "currency": self.cost.currency,
        }

    def __str__(self) -> str:
        names, stay = ", ".join(self.volumes), "stays" if len(self.volumes) == 1 else "stay"
        if not self.volumes:
            return "released: nothing of it stays"
        unknown = self.cost.unknown
        paid = (
            f"the site states no price of {', '.join(unknown)}"
            if unknown
            else f"{self.cost.total:,.2f} " + (self.cost.currency or "")
        )
        return f"released: {names} {stay} ({self.gib} GiB), and per month is paid: {paid}"


@dataclass(frozen=True)
class ReleasedScope(PartScope):
    """A vPOD of a request that has no claims."""

    vpod: VPod

    @property
    def part(self) -> str:
        """Name in the request."""
        return self.vpod.name


def write_released(site: Site, tenant: Tenant, vpod: VPod, builder: PlanBuilder) -> None:
    """The volumes, each below its vPOD and server as before: what it stands below is part of its identity.

    And the user of its buckets, where there are any: they stay, and are that user's.
    """
    scope, volume = ReleasedScope(site, tenant, vpod), vpod.poplar.volume
    if volume is None and not tenant.buckets:
        return
    builder.component(scope.name(), "VirtualPod", parent=tenant.id)
    if tenant.buckets:
        write_s3_user(scope, builder, vpod.s3_keys)
    for index in range(vpod.poplar.servers if volume else 0):
        server = builder.component(scope.name("poplar", index), "PoplarServer", parent=scope.name())
        if volume is not None:
            write_own_volume(site, scope.project, server, volume, builder)


def paid_data(site: Site, tenant: Tenant, plan: Plan) -> Iterator[PaidData]:
    """Of each vPOD that the request releases, in its order."""
    for vpod in tenant.released if tenant.state == "present" else ():
        part = str(RequestPart(tenant.id, vpod.name))
        kept = tuple(item for item in plan.resources if item.vpod == part and isinstance(item.resource, Volume))
        sizes = [item.resource.size_gib for item in kept if isinstance(item.resource, Volume)]
        cost = cost_of(site, plan.model_copy(update={"resources": kept}))
        yield PaidData(vpod.name, tuple(item.name for item in kept), sum(sizes), cost)
