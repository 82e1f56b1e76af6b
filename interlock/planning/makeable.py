"""What a plan holds and nothing can make yet. The proof covers it; an apply refuses it before the first component."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import BareMetalServer, BucketPolicy, Frozen, Resource, StoredCredential, VipuObject

from .origins import request_path
from .plan import Plan, Planned

#: Kind without an actuator -> why nothing can make it.
WHY = {
    "NvlinkPartition": "nothing here talks to fabric managers yet",
    "Trunk": "nothing here makes trunks at Neutron yet",
    "RbacPolicy": "nothing here gives rights to other projects at Neutron yet",
}
#: Of a partition on a site whose controllers a person tells.
BY_HAND = "the site's V-IPU controllers are told by hand (`controller.managed_by: hand`)"
#: Of a credential that is to be written where data is.
NOT_INTO_STORAGE = "nothing here writes credentials into storage yet"
#: Of a whole host on a site that states no Ironic.
NO_IRONIC = "the site file has no `ironic`, so nothing deploys hosts"
#: Of a bucket policy where the object storage keeps to none.
NO_POLICIES = "the site's object storage is not known to enforce bucket policies (readers, writers, public)"
#: Kind of which nothing can keep a copy with `on_delete: snapshot` -> why. Volumes are kept as Cinder backups.
WHY_NO_COPY = {
    "Bucket": "S3 has no copy of a bucket that outlives it: say `keep` or `erase`",
    "Share": "nothing here takes a copy of a share before it is deleted yet: say `keep` or `erase`",
}


class NotMakeable(Frozen):
    """One planned resource in the way of an apply, and the place of the request that asks for it."""

    name: str
    kind: str
    why: str
    #: Dotted path in the tenant's words, such as `shares.datasets`; empty where no request asks for it.
    where: str

    def __str__(self) -> str:
        """One line for people."""
        asked = f"{self.where}: " if self.where else ""
        return f"{asked}{self.kind} {self.name}: {self.why}"


def not_makeable(plan: Plan) -> tuple[NotMakeable, ...]:
    """Everything in the way, in the order of the plan. Reserved kinds are not: they are listed as not wired."""
    return tuple(entry for item in plan.resources for entry in _of(plan, item))


def _of(plan: Plan, item: Planned) -> Iterator[NotMakeable]:
    resource = item.resource
    if not resource.is_declared and not resource.RESERVED and not resource.comes_with_another:
        yield NotMakeable(name=item.name, kind=resource.KIND, why=_why(resource), where=_where(plan, item))
    if getattr(resource, "on_delete", None) == "snapshot" and resource.KIND in WHY_NO_COPY:
        where = request_path(plan, item, "on_delete") or ""
        yield NotMakeable(name=item.name, kind=resource.KIND, why=WHY_NO_COPY[resource.KIND], where=where)


def _why(resource: Resource) -> str:
    if isinstance(resource, BareMetalServer) and resource.resource_class is None:
        return NO_IRONIC
    if isinstance(resource, BucketPolicy):
        return NO_POLICIES
    if isinstance(resource, VipuObject):
        return BY_HAND
    if isinstance(resource, StoredCredential):
        return NOT_INTO_STORAGE
    return WHY.get(resource.KIND, "it has no actuator yet")


#: Kinds that a part of an entry asks for, and not the entry as a whole: the field that shows which part.
_ASKED_BY = {"BareMetalServer": "node", "ShareAccess": "network"}


def _where(plan: Plan, item: Planned) -> str:
    return request_path(plan, item, _ASKED_BY.get(item.resource.KIND)) or ""
