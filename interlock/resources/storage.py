"""Data: Cinder volume types, volumes and attachments; Manila shares; S3 buckets."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Change, Frozen, Refers, Resource, forbidden

#: What happens to data when its object goes. `snapshot`: a copy is made first that outlives it. Of buckets and shares
#: nothing can make one; the apply refuses the word for them beforehand.
OnDelete = Literal["keep", "snapshot", "erase"]


class VolumeType(Resource):
    """A Cinder volume type."""

    KIND: ClassVar[str] = "VolumeType"

    name: Annotated[str, IN_PLACE]
    extra_specs: Annotated[dict[str, str], IN_PLACE] = {}
    description: Annotated[str, IN_PLACE] = ""


class Volume(Resource):
    """A Cinder volume, size in GiB. It can grow in place and never shrink."""

    KIND: ClassVar[str] = "Volume"
    HOLDS_DATA: ClassVar[bool] = True

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), forbidden("the data would have to be transferred")]
    size_gib: Annotated[int, IN_PLACE]
    volume_type: Annotated[str, Refers(("VolumeType",)), forbidden("a retype moves the data")]
    on_delete: Annotated[OnDelete, IN_PLACE] = "keep"

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:
        """Growing is in place, shrinking is forbidden."""
        if field == "size_gib" and after < before:
            return forbidden("a volume can grow, not shrink")
        return super().change_of(field, before, after)


class VolumeAttachment(Resource):
    """One volume attached to one server."""

    KIND: ClassVar[str] = "VolumeAttachment"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    server: Annotated[str, Refers(("Server",)), REPLACE]
    volume: Annotated[str, Refers(("Volume",)), REPLACE]


class Bucket(Resource):
    """An S3 bucket in a project's account, made with the key of the vPOD's or tenant's service user."""

    KIND: ClassVar[str] = "Bucket"
    HOLDS_DATA: ClassVar[bool] = True

    name: Annotated[str, forbidden("buckets cannot be renamed; the objects would have to be copied")]
    project: Annotated[str, Refers(("Project",)), forbidden("the objects would have to be copied")]
    credential: Annotated[str, Refers(("S3Credential",)), IN_PLACE]
    versioning: Annotated[bool, IN_PLACE] = True
    on_delete: Annotated[OnDelete, IN_PLACE] = "keep"


class BucketStatement(Frozen):
    """One allow statement of a bucket policy. Principals are references to service users, or `*`: everybody."""

    principals: tuple[str, ...]
    actions: tuple[Literal["read", "write"], ...]


class BucketPolicy(Resource):
    """Who else may use a bucket. Without one only the key that made it can."""

    KIND: ClassVar[str] = "BucketPolicy"
    HAS_ACTUATOR: ClassVar[bool] = False

    project: Annotated[str, Refers(("Project",)), REPLACE]
    bucket: Annotated[str, Refers(("Bucket",)), REPLACE]
    credential: Annotated[str, Refers(("S3Credential",)), IN_PLACE]
    statements: Annotated[tuple[BucketStatement, ...], IN_PLACE]


class ShareType(Resource):
    """A Manila share type, which the site offers. Nobody has to ask for it, so a site that has one can be applied."""

    KIND: ClassVar[str] = "ShareType"
    HAS_ACTUATOR: ClassVar[bool] = False
    RESERVED: ClassVar[bool] = True

    name: Annotated[str, IN_PLACE]
    extra_specs: Annotated[dict[str, str], IN_PLACE] = {}


class Share(Resource):
    """A file share, size in GiB, exported at one address of the appliance per storage network."""

    KIND: ClassVar[str] = "Share"
    HAS_ACTUATOR: ClassVar[bool] = False
    HOLDS_DATA: ClassVar[bool] = True

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), forbidden("the data would have to be copied")]
    size_gib: Annotated[int, IN_PLACE]
    share_type: Annotated[str, Refers(("ShareType",)), forbidden("the data would have to be migrated")]
    protocol: Annotated[Literal["NFS"], forbidden("clients mount it by this protocol")] = "NFS"
    on_delete: Annotated[OnDelete, IN_PLACE] = "keep"

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:
        """Growing is in place, shrinking is forbidden."""
        if field == "size_gib" and after < before:
            return forbidden("a share may be fuller than the new size")
        return super().change_of(field, before, after)


class ShareAccess(Resource):
    """One network that may mount a share, at the appliance's own address there (its VIP)."""

    KIND: ClassVar[str] = "ShareAccess"
    HAS_ACTUATOR: ClassVar[bool] = False

    project: Annotated[str, Refers(("Project",)), REPLACE]
    share: Annotated[str, Refers(("Share",)), REPLACE]
    network: Annotated[str, Refers(("Network",)), REPLACE]
    #: Prefix of the clients: the storage subnet of one vPOD, never more.
    prefix: Annotated[str, REPLACE]
    vip: Annotated[str, REPLACE]
    level: Annotated[Literal["rw", "ro"], REPLACE] = "rw"
    root_squash: Annotated[bool, IN_PLACE] = True
