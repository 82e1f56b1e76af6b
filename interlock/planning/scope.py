"""What the plan of one vPOD is made from; every module that writes a part of it takes this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from interlock.model.lock.record import VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant, VPod
from interlock.vocabulary.request_parts import RequestPart

from .errors import PlanningError

T = TypeVar("T")


def private_flavors(site: Site, tenant: Tenant) -> frozenset[str]:
    """The flavours of a tenant's servers that not everybody may use."""
    closed = {item.name for item in site.flavors if not item.public}
    return frozenset(vpod.poplar.flavor for vpod in tenant.vpods if vpod.poplar.kind != "bare-metal") & closed


def access_name(tenant: Tenant, flavor: str) -> str:
    """Plan name of a tenant's place on the access list of a flavour."""
    return f"{tenant.id}-flavor-{flavor}"


@dataclass(frozen=True)
class VPodScope:
    """One vPOD of a request, with what its lock gives it."""

    site: Site
    tenant: Tenant
    vpod: VPod
    claims: VPodAllocation

    def name(self, *parts: object) -> str:
        """`<tenant>-<vPOD>` and the parts, joined by dashes."""
        return "-".join(map(str, (RequestPart(self.tenant.id, self.vpod.name), *parts)))

    def server(self, index: int) -> str:
        """Name of the Poplar server of this index, virtual or bare metal."""
        return self.name("poplar", index)

    @property
    def project(self) -> str:
        """Reference to the tenant's project."""
        return f"{self.tenant.id}-project"

    @property
    def bare_metal(self) -> bool:
        """True if the Poplar servers are whole hosts."""
        return self.vpod.poplar.kind == "bare-metal"

    def given(self, claim: str, value: T | None) -> T:
        """A claim that this vPOD must have. PlanningError if its lock does not record it."""
        if value is None:
            raise PlanningError(
                f"the lock of {self.tenant.id} gives vPOD {self.vpod.name} no {claim}, and its request needs one",
                f"run `interlock lock {self.tenant.id}`",
            )
        return value
