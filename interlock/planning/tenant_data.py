"""A tenant's data beside its servers: volumes of their own, shares, buckets.

They come after all vPODs, but for the shares themselves: servers are told where each is exported. Who may mount them
comes after the networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from interlock.model.lock.record import Allocation, ClusterAllocation, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import BucketRequest, ShareRequest, Tenant, VolumeRequest
from interlock.model.text.source import KEY
from interlock.object_storage import Capability, Support, object_storage, refusal
from interlock.resources import (
    Bucket,
    BucketPolicy,
    BucketStatement,
    Share,
    ShareAccess,
    Volume,
    VolumeAttachment,
)
from interlock.resources.storage import Enforcing
from interlock.vocabulary import NetworkRole, Reference
from interlock.vocabulary.request_parts import RequestPart

from .errors import PlanningError
from .plan_builder import PlanBuilder
from .s3_users import s3_keys_of, s3_user_name
from .scope import is_encrypted, s3_key_name
from .share_mounts import share_name

Actions = tuple[Literal["read", "write"], ...]

#: What a vPOD or cluster that is named under `writers` may do: who writes checkpoints reads them again.
WRITER: Actions = ("read", "write")
READER: Actions = ("read",)


def write_data(site: Site, tenant: Tenant, claims: Allocation, builder: PlanBuilder) -> None:
    """Write down all but the shares themselves.

    Raises PlanningError if a request names a vPOD, cluster or server that is not there.
    """
    for volume in tenant.volumes:
        _write_volume(site, tenant, volume, builder)
    for share in tenant.shares:
        _write_accesses(tenant, share, claims, builder)
    for bucket in tenant.buckets:
        _write_bucket(site, tenant, bucket, builder)


def write_shares(tenant: Tenant, builder: PlanBuilder) -> None:
    """Write down the shares, which are there before the first server."""
    for request in tenant.shares:
        name = builder.component(share_name(tenant, request), "Share", parent=tenant.id)
        share = Share(
            name=name, project=f"{tenant.id}-project", size_gib=request.size_gib,
            share_type=Reference.site("ShareType", request.share_type), on_delete=request.on_delete,
        )  # fmt: skip
        builder.add(name, share)


def public_names(tenant: Tenant) -> tuple[str, ...]:
    """Plan names of what the request declares open to everybody; nothing of a tenant that is to go."""
    declared = (request for request in tenant.buckets if request.public and tenant.state == "present")
    return tuple(str(RequestPart(tenant.id, request.name)) for request in declared)


def _write_volume(site: Site, tenant: Tenant, request: VolumeRequest, builder: PlanBuilder) -> None:
    project = f"{tenant.id}-project"
    name = builder.component(str(RequestPart(tenant.id, request.name)), "Volume", parent=tenant.id)
    volume = Volume(
        name=name, project=project, size_gib=request.size_gib,
        volume_type=Reference.site("VolumeType", request.volume_type), on_delete=request.on_delete,
        encrypted=is_encrypted(site, request),
    )  # fmt: skip
    builder.add(name, volume)
    if request.vpod is not None:
        server = _server(tenant, request, request.vpod)
        builder.add(f"{name}-attachment", VolumeAttachment(project=project, server=server, volume=name))


def _server(tenant: Tenant, request: VolumeRequest, vpod: str) -> str:
    """The server that a volume is attached to; a bare-metal host has no hypervisor that could attach it."""
    found = next((item for item in tenant.vpods if item.name == vpod), None)
    index = request.server or 0
    if found is None or index >= found.poplar.servers:
        raise PlanningError(
            f"volume {request.name} is for server {index} of vPOD {vpod}, which {tenant.id} does not ask for",
            "correct `vpod:` and `server:` of the volume",
            ("volumes", request.name, "server" if found is not None else "vpod"),
        )
    if found.poplar.kind == "bare-metal":
        raise PlanningError(
            f"volume {request.name} is for server {index} of vPOD {vpod}, a bare-metal host: nothing attaches it",
            "use a share, or leave `vpod:` out",
            ("volumes", request.name, "vpod"),
        )
    return f"{tenant.id}-{vpod}-poplar-{index}"


def _write_accesses(tenant: Tenant, request: ShareRequest, claims: Allocation, builder: PlanBuilder) -> None:
    """For each vPOD and cluster the one network and the one address through which a share is mounted."""
    project, name = f"{tenant.id}-project", share_name(tenant, request)
    for part, what, claimed in (
        *((vpod, "vPOD", claims.vpods.get(vpod)) for vpod in request.vpods),
        *((cluster, "cluster", claims.clusters.get(cluster)) for cluster in request.clusters),
    ):
        role, subnet, vip = _mount(tenant, request, claimed, f"{what} {part}")
        access = ShareAccess(
            project=project, share=name, network=f"{tenant.id}-{part}-{role}", prefix=subnet, vip=vip,
            level=request.access,
        )  # fmt: skip
        builder.add(f"{name}-access-{part}", access, component=name)


def _mount(
    tenant: Tenant, request: ShareRequest, claims: VPodAllocation | ClusterAllocation | None, part: str
) -> tuple[NetworkRole, str, str]:
    """(role of the network, its subnet, address of the appliance in it): a node is on its cluster's network alone."""
    if claims is None:
        raise PlanningError(
            f"share {request.name} is for {part}, which {tenant.id} does not ask for",
            "correct `vpods:` and `clusters:` of the share",
            ("shares", request.name, KEY),
        )
    if claims.storage_vip is None:
        raise PlanningError(
            f"the lock of {tenant.id} gives {part} no storage_vip, and share {request.name} needs one",
            f"run `interlock lock {tenant.id}`",
            ("shares", request.name, KEY),
        )
    if isinstance(claims, VPodAllocation):
        return NetworkRole.STORAGE, claims.storage_subnet, claims.storage_vip
    return NetworkRole.CLUSTER, claims.cluster_subnet, claims.storage_vip


def _write_bucket(site: Site, tenant: Tenant, request: BucketRequest, builder: PlanBuilder) -> None:
    keys = s3_keys_of(tenant)
    if not keys:
        raise PlanningError(
            f"{tenant.id} asks for a bucket and has no vPOD or cluster whose key could make it",
            "add one, or remove the bucket",
            ("buckets", request.name, KEY),
        )
    maker = next(iter(keys))
    project, key = f"{tenant.id}-project", s3_key_name(s3_user_name(tenant, maker), keys[maker][-1])
    name = builder.component(str(RequestPart(tenant.id, request.name)), "Bucket", parent=tenant.id)
    storage = site.object_storage
    bucket = Bucket(
        name=name, project=project, credential=key, versioning=request.versioning, on_delete=request.on_delete,
        storage=storage.kind if storage else "", address=storage.endpoint if storage else "",
        lifecycle=request.lifecycle, cors=request.cors, object_lock=request.object_lock,
        encryption=request.encryption, public_access_block=request.public_access_block,
    )  # fmt: skip
    _hold_against_storage(request, bucket)
    builder.add(name, bucket)
    statements = tuple(_statements(tenant, request))
    if statements:
        users, told = _told(tenant, maker, statements)
        policy = BucketPolicy(
            project=project, bucket=name, credential=key, statements=statements, users=users, keys=told,
            enforced_by=_enforcing(bucket.storage), address=bucket.address,
        )  # fmt: skip
        builder.add(f"{name}-policy", policy)


def _hold_against_storage(request: BucketRequest, bucket: Bucket) -> None:
    """A request that is read from a file was held against it there, with its line."""
    for wish in bucket.wishes():
        refused = refusal(bucket.storage, Capability(wish))
        if refused is not None:
            why, hint = refused
            raise PlanningError(f"bucket {request.name}, `{wish}`: {why}", hint, ("buckets", request.name, wish))


def _statements(tenant: Tenant, request: BucketRequest) -> Iterator[BucketStatement]:
    if request.writers:
        yield BucketStatement(principals=_users(tenant, request, request.writers), actions=WRITER)
    readers = tuple(part for part in request.readers if part not in request.writers)
    if readers:
        yield BucketStatement(principals=_users(tenant, request, readers), actions=READER)
    if request.public:
        yield BucketStatement(principals=("*",), actions=READER)


def _enforcing(kind: str) -> Enforcing:
    """The kind of storage if it was seen to enforce policies in a form that is known here; else empty."""
    enforced = object_storage(kind).capabilities.get(Capability.POLICY) is Support.ENFORCED
    return next((known for known in get_args(Enforcing) if enforced and known == kind), "")


def _told(
    tenant: Tenant, maker: str, statements: tuple[BucketStatement, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(who made the bucket and whoever a statement names, every key of theirs): while keys change, two of one user."""
    named = {principal for statement in statements for principal in statement.principals}
    numbers = {s3_user_name(tenant, part): keys for part, keys in s3_keys_of(tenant).items()}
    users = tuple(user for user in numbers if user in named or user == s3_user_name(tenant, maker))
    return users, tuple(s3_key_name(user, number) for user in users for number in numbers[user])


def _users(tenant: Tenant, request: BucketRequest, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The service users of these vPODs and clusters."""
    strangers = sorted(set(parts) - set(s3_keys_of(tenant)))
    if strangers:
        raise PlanningError(
            f"bucket {request.name} is for {strangers[0]}, no vPOD or cluster that {tenant.id} asks for",
            "correct `readers:` and `writers:` of the bucket",
            ("buckets", request.name, "writers" if parts == request.writers else "readers"),
        )
    return tuple(s3_user_name(tenant, part) for part in parts)
