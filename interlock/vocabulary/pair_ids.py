"""Ids of objects that the cloud knows by several ids together, and by none of their own."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class JoinedId:
    """Several ids, written with a slash between them."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """From the ids in the order of the fields, such as `project/user/role`. Raises ValueError for anything else."""
        parts, wanted = text.split("/"), [field.name for field in fields(cls)]
        if len(parts) != len(wanted):
            raise ValueError(f"{text!r} is not {'/'.join(wanted)}")
        return cls(*parts)

    def __str__(self) -> str:
        return "/".join(astuple(self))


@dataclass(frozen=True, slots=True)
class RoleAssignmentId(JoinedId):
    """A role of a user on a project."""

    project: str
    user: str
    role: str


@dataclass(frozen=True, slots=True)
class FlavorAccessId(JoinedId):
    """A project on the access list of a flavour."""

    flavor: str
    project: str


@dataclass(frozen=True, slots=True)
class CredentialId(JoinedId):
    """An S3 key: a user of Keystone and the access half of the key."""

    user: str
    access: str


@dataclass(frozen=True, slots=True)
class BucketId(JoinedId):
    """A bucket in the account of a project."""

    project: str
    name: str


@dataclass(frozen=True, slots=True)
class AttachmentId(JoinedId):
    """A volume at a server."""

    server: str
    volume: str


@dataclass(frozen=True, slots=True)
class PartitionId(JoinedId):
    """A P_Key, as four hex digits after `0x`, on an InfiniBand subnet of the site."""

    infiniband: str
    key: str

    @classmethod
    def of(cls, infiniband: str, key: int) -> Self:
        """The id of a P_Key; its sixteenth bit, which says what a member is, is left out."""
        return cls(infiniband, f"{key & 0x7FFF:#06x}")

    @property
    def number(self) -> int:
        """The 15 bits of the key."""
        return int(self.key, 16)


@dataclass(frozen=True, slots=True)
class VipuId(JoinedId):
    """An object of a V-IPU controller: uuid of the server in which that runs, noun of V-IPU, id of the object."""

    server: str
    noun: str
    name: str
