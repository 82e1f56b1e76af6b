"""Identities of principals and objects: what grants lead from and to (docs/design/semantics.md §6, Auth).

=============================  ===================================================================
identity                       what
=============================  ===================================================================
`prin:<owner>`                 an owner: all who act in its project; `prin:*` is everybody
`user:<owner>/<name>`          a user of a plan; `user:cloud/<name>` a person whom the cloud knows
`key:<owner>/<name>`           an S3 key of a plan
`login:<owner>/<name>`         a key pair: whoever has it enters the servers that carry it
`obj:<kind>/<owner>/<name>`    a bucket, share, volume, image, server, controller or allocation
=============================  ===================================================================

The owner part says in whose plan the name stands; who owns the thing is a label, put by a premise. An owner part
`?` is a reference that the plan cannot resolve. None of these is a node of the graphs of packets.
"""

from __future__ import annotations

from functools import lru_cache

from interlock.vocabulary import principals
from interlock.vocabulary.principals import CLOUD as CLOUD
from interlock.vocabulary.principals import UNRESOLVED as UNRESOLVED
from interlock.vocabulary.principals import is_principal_or_object as is_principal_or_object
from interlock.vocabulary.principals import is_unresolved as is_unresolved

#: Everybody, and so strangers too.
EVERYBODY = str(principals.Everybody())


@lru_cache(maxsize=1 << 16)
def principal(owner: str) -> str:
    """All who act for an owner. Asked of every label of every lock."""
    return str(principals.Principal(owner))


def user(owner: str, name: str) -> str:
    """A user."""
    return str(principals.User(owner, name))


def key(owner: str, name: str) -> str:
    """An S3 key."""
    return str(principals.S3Key(owner, name))


def login(owner: str, name: str) -> str:
    """A key pair."""
    return str(principals.KeypairLogin(owner, name))


def thing(kind: str, owner: str, name: str) -> str:
    """An object of some kind."""
    return str(principals.Thing(kind, owner, name))


def acting(node: str) -> str | None:
    """The owner that a principal is; None for everybody, and for users, keys and objects."""
    found = principals.parse(node)
    return found.owner if isinstance(found, principals.Principal) else None


def kind_and_name(node: str) -> tuple[str, str]:
    """`user`, `key`, `login` or the kind of an object, and the name: what a reference of another plan goes by."""
    found = principals.parse(node)
    return ("", node) if found is None else (found.kind, found.name)


def words(node: str) -> str:
    """A principal or object as people call it."""
    if node == EVERYBODY:
        return "everybody"
    kind, name = kind_and_name(node)
    return name if kind == "prin" else f"{_KINDS.get(kind, kind)} {name}"


_KINDS = {"key": "S3 key", "login": "key pair", "allocation": "V-IPU allocation", "controller": "V-IPU controller"}
