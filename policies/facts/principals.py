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

from urllib.parse import quote, unquote

#: Everybody, and so strangers too.
EVERYBODY = "prin:*"
#: Owner part of a reference that names nothing in its own plan.
UNRESOLVED = "?"
#: Owner part of what the cloud itself knows.
CLOUD = "cloud"


#: What every identity here begins with, one of these.
PREFIXES = ("prin:", "user:", "key:", "login:", "obj:")


def principal(owner: str) -> str:
    """All who act for an owner."""
    return f"prin:{quote(owner, safe='')}"


def user(owner: str, name: str) -> str:
    """A user."""
    return f"user:{_part(owner)}/{_part(name)}"


def key(owner: str, name: str) -> str:
    """An S3 key."""
    return f"key:{_part(owner)}/{_part(name)}"


def login(owner: str, name: str) -> str:
    """A key pair."""
    return f"login:{_part(owner)}/{_part(name)}"


def thing(kind: str, owner: str, name: str) -> str:
    """An object of some kind."""
    return f"obj:{kind}/{_part(owner)}/{_part(name)}"


def is_unresolved(node: str) -> bool:
    """True for a reference that names nothing in its own plan."""
    return f"{UNRESOLVED}/" in node


def kind_and_name(node: str) -> tuple[str, str]:
    """`user`, `key`, `login` or the kind of an object, and the name: what a reference of another plan goes by."""
    head, _, rest = node.partition(":")
    parts = rest.split("/")
    return (parts[0] if head == "obj" else head), unquote(parts[-1])


def words(node: str) -> str:
    """A principal or object as people call it."""
    if node == EVERYBODY:
        return "everybody"
    kind, name = kind_and_name(node)
    return name if kind == "prin" else f"{_KINDS.get(kind, kind)} {name}"


_KINDS = {"key": "S3 key", "login": "key pair", "allocation": "V-IPU allocation", "controller": "V-IPU controller"}


def _part(text: str) -> str:
    return text if text == UNRESOLVED else quote(text, safe="")
