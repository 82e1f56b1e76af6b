"""Ids of objects that the cloud knows by several ids together, and by none of their own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoleAssignmentId:
    """A role of a user on a project."""

    project: str
    user: str
    role: str

    @classmethod
    def parse(cls, text: str) -> RoleAssignmentId:
        """From `project/user/role`. Raises ValueError for anything else."""
        project, user, role = text.split("/")
        return cls(project, user, role)

    def __str__(self) -> str:
        return f"{self.project}/{self.user}/{self.role}"


@dataclass(frozen=True, slots=True)
class FlavorAccessId:
    """A project on the access list of a flavour."""

    flavor: str
    project: str

    @classmethod
    def parse(cls, text: str) -> FlavorAccessId:
        """From `flavor/project`. Raises ValueError for anything else."""
        flavor, project = text.split("/")
        return cls(flavor, project)

    def __str__(self) -> str:
        return f"{self.flavor}/{self.project}"


@dataclass(frozen=True, slots=True)
class CredentialId:
    """An S3 key: a user of Keystone and the access half of the key."""

    user: str
    access: str

    @classmethod
    def parse(cls, text: str) -> CredentialId:
        """From `user/access`. Raises ValueError for anything else."""
        user, access = text.split("/")
        return cls(user, access)

    def __str__(self) -> str:
        return f"{self.user}/{self.access}"


@dataclass(frozen=True, slots=True)
class BucketId:
    """A bucket in the account of a project."""

    project: str
    name: str

    @classmethod
    def parse(cls, text: str) -> BucketId:
        """From `project/name`. Raises ValueError for anything else."""
        project, name = text.split("/")
        return cls(project, name)

    def __str__(self) -> str:
        return f"{self.project}/{self.name}"


@dataclass(frozen=True, slots=True)
class AttachmentId:
    """A volume at a server."""

    server: str
    volume: str

    @classmethod
    def parse(cls, text: str) -> AttachmentId:
        """From `server/volume`. Raises ValueError for anything else."""
        server, volume = text.split("/")
        return cls(server, volume)

    def __str__(self) -> str:
        return f"{self.server}/{self.volume}"
