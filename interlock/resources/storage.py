"""Data: Cinder volume types, volumes and attachments; S3 buckets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Refers, Resource, forbidden

OnDelete = Literal["keep", "erase"]


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
