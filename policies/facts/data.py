"""Facts about data: who may read and write it, and by which way. Owners are labels, from projects."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.resources import VolumeEncryption

#: The principal of a bucket policy that is everybody.
EVERYBODY = "*"


@dataclass(frozen=True)
class VolumeFact:
    """A volume. `encrypted`: it was asked to be, or its type is said to be."""

    name: str
    owner: str
    volume_type: str
    encrypted: bool


@dataclass(frozen=True)
class VolumeTypeFact:
    """A volume type of the operator's, and how volumes of it are encrypted; None: they are not."""

    name: str
    encryption: VolumeEncryption | None


@dataclass(frozen=True)
class AttachmentFact:
    """A volume on a server, both as the plan refers to them."""

    name: str
    server: str
    volume: str


@dataclass(frozen=True)
class ShareFact:
    """A file share."""

    name: str
    owner: str


@dataclass(frozen=True)
class ShareAccessFact:
    """A grant by address: whoever has an address of `prefix` on `network` mounts the share at `vip`."""

    name: str
    owner: str
    share: str
    network: str
    prefix: str
    vip: str
    root_squash: bool


@dataclass(frozen=True)
class BucketFact:
    """A bucket, and the key that it is made with."""

    name: str
    owner: str
    credential: str


@dataclass(frozen=True)
class BucketPolicyFact:
    """Grants on a bucket: each is the principals and what they may do."""

    name: str
    bucket: str
    credential: str
    grants: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True)
class ServiceUserFact:
    """A user that carries S3 keys."""

    name: str
    owner: str


@dataclass(frozen=True)
class CredentialFact:
    """An S3 key: of which user, in whose project."""

    name: str
    owner: str
    user: str
