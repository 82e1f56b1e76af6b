"""Principals and objects: what grants lead from and to (docs/design/semantics.md §6, Auth). None is a node of a graph.

`parse` reads the text of a premise or a certificate, `str` writes it. The owner part says in whose plan the name
stands; whose the thing is, a premise says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias
from urllib.parse import quote, unquote

from .owners import CLOUD as CLOUD

#: Owner part of a reference that names nothing in its own plan.
UNRESOLVED = "?"

#: Different texts that are kept parsed.
_KEPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Everybody:
    """Everybody, and so strangers too."""

    kind: ClassVar[str] = "prin"
    name: ClassVar[str] = "*"

    def __str__(self) -> str:
        return "prin:*"


@dataclass(frozen=True, slots=True)
class Principal:
    """An owner: all who act in its project."""

    kind: ClassVar[str] = "prin"

    owner: str

    @property
    def name(self) -> str:
        """The owner."""
        return self.owner

    def __str__(self) -> str:
        return f"prin:{quote(self.owner, safe='')}"


@dataclass(frozen=True, slots=True)
class User:
    """A user of a plan; of the owner `cloud`, a person whom the cloud knows."""

    kind: ClassVar[str] = "user"

    owner: str
    name: str

    def __str__(self) -> str:
        return f"user:{_part(self.owner)}/{_part(self.name)}"


@dataclass(frozen=True, slots=True)
class S3Key:
    """An S3 key of a plan."""

    kind: ClassVar[str] = "key"

    owner: str
    name: str

    def __str__(self) -> str:
        return f"key:{_part(self.owner)}/{_part(self.name)}"


@dataclass(frozen=True, slots=True)
class KeypairLogin:
    """A key pair: whoever has it enters the servers that carry it."""

    kind: ClassVar[str] = "login"

    owner: str
    name: str

    def __str__(self) -> str:
        return f"login:{_part(self.owner)}/{_part(self.name)}"


@dataclass(frozen=True, slots=True)
class Thing:
    """A bucket, share, volume, image, server, controller or allocation."""

    kind: str
    owner: str
    name: str

    def __str__(self) -> str:
        return f"obj:{self.kind}/{_part(self.owner)}/{_part(self.name)}"


PrincipalOrObject: TypeAlias = Everybody | Principal | User | S3Key | KeypairLogin | Thing

#: What their texts begin with, one of these.
_BEGINNINGS = ("prin:", "user:", "key:", "login:", "obj:")
_OF_OWNER_AND_NAME: dict[str, type[User] | type[S3Key] | type[KeypairLogin]] = {
    "user": User,
    "key": S3Key,
    "login": KeypairLogin,
}


def is_principal_or_object(text: str) -> bool:
    """True if a column of a premise is one. Asked of every column of every lock, so by its beginning alone."""
    return text.startswith(_BEGINNINGS)


def is_unresolved(text: str) -> bool:
    """True for a reference that names nothing in its own plan. Asked of every owned thing of every lock."""
    return f"{UNRESOLVED}/" in text


@lru_cache(maxsize=_KEPT)
def parse(text: str) -> PrincipalOrObject | None:
    """The value of a text; `str` of it is the text again. None for what no `str` wrote."""
    head, _, rest = text.partition(":")
    found = _parsed(head, [unquote(part) for part in rest.split("/")], text)
    return found if found is not None and str(found) == text else None


def _parsed(head: str, parts: list[str], text: str) -> PrincipalOrObject | None:
    if text == str(Everybody()):
        return Everybody()
    match head, parts:
        case "prin", [owner]:
            return Principal(owner)
        case (("user" | "key" | "login"), [owner, name]):
            return _OF_OWNER_AND_NAME[head](owner, name)
        case "obj", [kind, owner, name]:
            return Thing(kind, owner, name)
        case _:
            return None


def _part(text: str) -> str:
    return text if text == UNRESOLVED else quote(text, safe="")
