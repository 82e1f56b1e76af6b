"""Volumes, shares, buckets and the keys to them as facts."""

from __future__ import annotations

from interlock.planning.plan import Planned
from interlock.resources import (
    Bucket,
    BucketPolicy,
    S3Credential,
    ServiceUser,
    Share,
    ShareAccess,
    Volume,
    VolumeAttachment,
    VolumeType,
)

from .data import (
    AttachmentFact,
    BucketFact,
    BucketPolicyFact,
    CredentialFact,
    ServiceUserFact,
    ShareAccessFact,
    ShareFact,
    VolumeFact,
    VolumeTypeFact,
)
from .reader import PlanReader


def volume(reader: PlanReader, item: Planned, spec: Volume) -> VolumeFact:
    """A volume."""
    return VolumeFact(item.name, reader.owner_of(spec.project), spec.volume_type, spec.encrypted)


def volume_type(_: PlanReader, item: Planned, spec: VolumeType) -> VolumeTypeFact:
    """How its volumes are encrypted."""
    return VolumeTypeFact(item.name, spec.encryption)


def attachment(_: PlanReader, item: Planned, spec: VolumeAttachment) -> AttachmentFact:
    """A volume on a server."""
    return AttachmentFact(item.name, spec.server, spec.volume)


def share(reader: PlanReader, item: Planned, spec: Share) -> ShareFact:
    """A share."""
    return ShareFact(item.name, reader.owner_of(spec.project))


def share_access(reader: PlanReader, item: Planned, spec: ShareAccess) -> ShareAccessFact:
    """Who mounts a share, and where."""
    return ShareAccessFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        share=spec.share,
        network=spec.network,
        prefix=spec.prefix,
        vip=spec.vip,
        root_squash=spec.root_squash,
    )


def bucket(reader: PlanReader, item: Planned, spec: Bucket) -> BucketFact:
    """A bucket."""
    return BucketFact(item.name, reader.owner_of(spec.project), spec.credential)


def bucket_policy(_: PlanReader, item: Planned, spec: BucketPolicy) -> BucketPolicyFact:
    """Grants on a bucket."""
    grants = tuple((statement.principals, statement.actions) for statement in spec.statements)
    return BucketPolicyFact(item.name, spec.bucket, spec.credential, grants)


def service_user(reader: PlanReader, item: Planned, spec: ServiceUser) -> ServiceUserFact:
    """A user that carries keys."""
    return ServiceUserFact(item.name, reader.owner_of(spec.project))


def credential(reader: PlanReader, item: Planned, spec: S3Credential) -> CredentialFact:
    """A key."""
    return CredentialFact(item.name, reader.owner_of(spec.project), spec.user)
