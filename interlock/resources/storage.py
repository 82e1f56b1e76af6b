"""Data: Cinder volume types, volumes and attachments; Manila shares; S3 buckets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Change, Frozen, Refers, Resource, forbidden
from .bucket_settings import BucketLifecycle, CorsRule, ObjectLock

#: What happens to data when its object goes. `snapshot`: a copy is made first that outlives it. Of buckets and shares
#: nothing can make one; the apply refuses the word for them beforehand.
OnDelete = Literal["keep", "snapshot", "erase"]


class VolumeEncryption(Frozen):
    """How volumes of a type are encrypted. Each has a key of its own, which the key manager makes and keeps."""

    provider: str
    cipher: str
    #: Of the key, in bits.
    key_size: int
    #: `front-end`: the hypervisor encrypts; `back-end`: the storage does.
    control_location: str


#: Manila's word for a back end that makes a server for each tenant's shares; every share type has to say whether.
DRIVER_HANDLES_SHARE_SERVERS = "driver_handles_share_servers"


class VolumeType(Resource):
    """A Cinder volume type. One with encryption is private until it has it: nobody's volume may come before."""

    KIND: ClassVar[str] = "VolumeType"

    name: Annotated[str, IN_PLACE]
    extra_specs: Annotated[dict[str, str], IN_PLACE] = {}
    description: Annotated[str, IN_PLACE] = ""
    #: None: its volumes are not encrypted. Cinder changes it only while there are no volumes of the type.
    encryption: Annotated[VolumeEncryption | None, IN_PLACE] = None
    public: Annotated[bool, IN_PLACE] = True

    YOUNGER: ClassVar[Mapping[str, Any]] = {"encryption": None, "public": True}


class Volume(Resource):
    """A Cinder volume, size in GiB. It can grow in place and never shrink."""

    KIND: ClassVar[str] = "Volume"
    HOLDS_DATA: ClassVar[bool] = True

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), forbidden("the data would have to be transferred")]
    size_gib: Annotated[int, IN_PLACE]
    volume_type: Annotated[str, Refers(("VolumeType",)), forbidden("a retype moves the data")]
    on_delete: Annotated[OnDelete, IN_PLACE] = "keep"
    #: Whether Cinder has to say that it is encrypted: it was asked for, or its type is.
    encrypted: Annotated[bool, forbidden("a volume stays as it was made; the data would have to be copied")] = False

    YOUNGER: ClassVar[Mapping[str, Any]] = {"encrypted": False}

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

    @property
    def device_tag(self) -> str:
        """What Nova calls the disk in the server's metadata: the plan knows it before there is a volume."""
        return device_tag(self.volume)


def device_tag(volume: str) -> str:
    """The tag of a volume's disk, from its plan name: sixteen characters, for it is the file system's label too."""
    return f"il-{hashlib.sha256(volume.encode()).hexdigest()[:13]}"


_ELSEWHERE = "a bucket elsewhere is another one; the objects would have to be copied"


class Bucket(Resource):
    """An S3 bucket in a project's account, made with the key of the vPOD's or tenant's service user."""

    KIND: ClassVar[str] = "Bucket"
    HOLDS_DATA: ClassVar[bool] = True

    name: Annotated[str, forbidden("buckets cannot be renamed; the objects would have to be copied")]
    project: Annotated[str, Refers(("Project",)), forbidden("the objects would have to be copied")]
    credential: Annotated[str, Refers(("S3Credential",)), IN_PLACE]
    versioning: Annotated[bool, IN_PLACE] = True
    on_delete: Annotated[OnDelete, IN_PLACE] = "keep"
    #: Kind of the object storage, which says what may be asked of it; empty: the site does not state it.
    storage: Annotated[str, forbidden(_ELSEWHERE)] = ""
    #: Address of its S3 interface; empty: that of the cloud's catalogue.
    address: Annotated[str, forbidden(_ELSEWHERE)] = ""
    lifecycle: Annotated[BucketLifecycle | None, IN_PLACE] = None
    cors: Annotated[tuple[CorsRule, ...], IN_PLACE] = ()
    #: None: none, and none can come later.
    object_lock: Annotated[ObjectLock | None, IN_PLACE] = None
    #: Whether what is written is encrypted by the storage, with keys of its own (SSE-S3).
    encryption: Annotated[bool, IN_PLACE] = False
    #: Whether the storage refuses to open it to everybody, whoever asks.
    public_access_block: Annotated[bool, IN_PLACE] = False

    YOUNGER: ClassVar[Mapping[str, Any]] = {
        "storage": "", "address": "", "lifecycle": None, "cors": [], "object_lock": None, "encryption": False,
        "public_access_block": False,
    }  # fmt: skip

    #: The fields that ask the storage for something, by the name of what they ask for; `tagging` and policies are none.
    SETTINGS: ClassVar[tuple[str, ...]] = (
        "versioning", "lifecycle", "cors", "object_lock", "encryption", "public_access_block",
    )  # fmt: skip

    def wishes(self) -> tuple[str, ...]:
        """Those of `SETTINGS` that ask for something."""
        return tuple(name for name in self.SETTINGS if getattr(self, name))

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:
        """A site that comes to state its storage moves no bucket. A lock of objects comes with a bucket, and stays."""
        if field == "storage" and not before:
            return IN_PLACE
        if field == "object_lock" and before is None:
            return forbidden("objects are locked from a bucket's beginning or never")
        if field == "object_lock" and after is None:
            return forbidden("a bucket whose objects are locked stays one")
        return super().change_of(field, before, after)


#: Kinds of object storage whose policies are known here; empty: none.
Enforcing = Literal["", "versity"]


class BucketStatement(Frozen):
    """One allow statement of a bucket policy. Principals are references to service users, or `*`: everybody."""

    principals: tuple[str, ...]
    actions: tuple[Literal["read", "write"], ...]


class BucketPolicy(Resource):
    """Who else may use a bucket. Without one only the key that made it can, or all keys of its project.

    Object storage that names access keys in policies is told every key of each user, so a new key changes the policy.
    """

    KIND: ClassVar[str] = "BucketPolicy"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    bucket: Annotated[str, Refers(("Bucket",)), REPLACE]
    credential: Annotated[str, Refers(("S3Credential",)), IN_PLACE]
    statements: Annotated[tuple[BucketStatement, ...], IN_PLACE]
    #: The kind of object storage that was seen to enforce policies; empty: the site's does not, and nothing makes it.
    enforced_by: Annotated[Enforcing, REPLACE] = ""
    #: Address of its S3 interface; empty: that of the cloud's catalogue.
    address: Annotated[str, REPLACE] = ""
    #: The users whom statements name, and that of `credential`.
    users: Annotated[tuple[str, ...], Refers(("ServiceUser",)), IN_PLACE] = ()
    #: Every key of these users.
    keys: Annotated[tuple[str, ...], Refers(("S3Credential",)), IN_PLACE] = ()

    @property
    def is_declared(self) -> bool:
        """Whether it can be made is for the site's object storage to say."""
        return self.HAS_ACTUATOR and bool(self.enforced_by)


class ShareType(Resource):
    """A Manila share type, which the site offers; its shares are exported by the appliance itself, not by servers."""

    KIND: ClassVar[str] = "ShareType"

    name: Annotated[str, IN_PLACE]
    extra_specs: Annotated[dict[str, str], IN_PLACE] = {}


class Share(Resource):
    """A file share, size in GiB, exported at one address of the appliance per storage network."""

    KIND: ClassVar[str] = "Share"
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

    project: Annotated[str, Refers(("Project",)), REPLACE]
    share: Annotated[str, Refers(("Share",)), REPLACE]
    network: Annotated[str, Refers(("Network",)), REPLACE]
    #: Prefix of the clients: the storage subnet of one vPOD, never more.
    prefix: Annotated[str, REPLACE]
    vip: Annotated[str, REPLACE]
    level: Annotated[Literal["rw", "ro"], REPLACE] = "rw"
    #: Manila has no word for it: the appliance squashes root of clients by its own configuration (A11).
    root_squash: Annotated[bool, IN_PLACE] = True
