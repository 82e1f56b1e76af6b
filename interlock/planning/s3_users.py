"""The service user by which a vPOD or GPU cluster uses buckets, and its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.model.tenant.request import Tenant
from interlock.resources import RoleAssignment, S3Credential, ServiceUser
from interlock.vocabulary import Reference
from interlock.vocabulary.request_parts import RequestPart

from .plan_builder import PlanBuilder
from .scope import PartScope, s3_key_name
from .site_plan import S3_ROLE


def write_s3_user(scope: PartScope, builder: PlanBuilder, numbers: Sequence[int]) -> None:
    """Write down the user, its role, and a key for each of these numbers."""
    user = s3_user_name(scope.tenant, scope.part)
    builder.add(user, ServiceUser(name=user, domain=scope.site.domain, project=scope.project))
    role = RoleAssignment(project=scope.project, user=user, role=Reference.site("Role", S3_ROLE))
    builder.add(f"{user}-role", role)
    for number in numbers:
        key = S3Credential(project=scope.project, user=user, number=number)
        builder.add(s3_key_name(user, number), key, after=(f"{user}-role",))


def s3_user_name(tenant: Tenant, part: str) -> str:
    """Plan name of the user of a vPOD or cluster, by its name in the request."""
    return f"{RequestPart(tenant.id, part)}-s3"


def s3_keys_of(tenant: Tenant) -> Mapping[str, tuple[int, ...]]:
    """vPOD or cluster -> the numbers of its valid keys, in the order in which a bucket looks for whoever makes it.

    A cluster has a user only where its tenant asks for a bucket: nothing hands a key to a whole host, so one that
    nobody needs would lie about.
    """
    found = {vpod.name: vpod.s3_keys for vpod in tenant.vpods}
    # The buckets stay, and who made one is who may use it.
    found |= {vpod.name: vpod.s3_keys for vpod in (tenant.released if tenant.buckets else ())}
    found = {name: found[name] for name in tenant.order if name in found} or found
    return found | {cluster.name: cluster.s3_keys for cluster in (tenant.clusters if tenant.buckets else ())}
