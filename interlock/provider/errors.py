"""What can go wrong, classified once per service, with what to do next.

Services disagree about status codes: Neutron answers 409 for a quota and for a name, Nova 403 for a quota and
for a missing role, Cinder 413 for a quota. Everything above this module sees only `Trouble`.
"""

from __future__ import annotations

import contextlib
import json
import re
from enum import StrEnum
from typing import Any

from interlock.vocabulary import InterlockError

from .redaction import REDACTOR


class Trouble(StrEnum):
    """Classes of failure, by what one can do about them."""

    UNREACHABLE = "unreachable"
    #: The request may or may not have had its effect: the connection broke after it was sent.
    LOST_ANSWER = "lost answer"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    QUOTA = "quota"
    IN_USE = "in use"
    #: Not while it is in the state in which it is: a server that is suspended, shelved, or failed.
    STATE = "wrong state"
    CONFLICT = "conflict"
    INVALID = "invalid"
    THROTTLED = "throttled"
    SERVICE = "service failed"
    #: Refused by us, before anything was asked of the cloud.
    REFUSED = "refused"
    #: It exists, but did not become usable.
    NOT_READY = "not ready"


#: What to do next, per class; {service} is filled in.
HINTS: dict[Trouble, str] = {
    Trouble.UNREACHABLE: "check the network and `openstack catalog list`, then run `pulumi up` again",
    Trouble.LOST_ANSWER: "run `pulumi up` again: what was made is found by its marker and adopted",
    Trouble.UNAUTHORIZED: (
        "check this cloud's entry in clouds.yaml (user, password, project), and that the user has a role in the project"
    ),
    Trouble.FORBIDDEN: "the operator's user needs the role admin at {service} and in the project concerned",
    Trouble.NOT_FOUND: "run `pulumi refresh`, then `pulumi up`",
    Trouble.QUOTA: "raise the project's quota of {service} or free what uses it, then run `pulumi up` again",
    Trouble.IN_USE: "remove what uses it, then run the command again",
    Trouble.STATE: "bring it into a state in which {service} allows that (a server: active or stopped), then go on",
    Trouble.CONFLICT: "remove or rename the other object, or list it under `existing:` in the site file",
    Trouble.INVALID: "the values in the plan do not suit this cloud; correct the site or tenant file",
    Trouble.THROTTLED: "the cloud limits requests; run the command again later",
    Trouble.SERVICE: "look into the log of {service}, then run the command again",
    Trouble.REFUSED: "",
    Trouble.NOT_READY: "correct the cause, then run `pulumi up` again: it recreates the object",
}


#: What says nothing of the request itself: the service was not there, or had no answer.
UNANSWERED = (Trouble.UNREACHABLE, Trouble.LOST_ANSWER, Trouble.THROTTLED, Trouble.SERVICE)


class Failure(InterlockError):
    """An operation that did not succeed: what happened, and what to do next."""

    LEAD = "next"

    def __init__(self, trouble: Trouble, message: str, hint: str | None = None, service: str = "") -> None:
        usual = HINTS[trouble].format(service=service or "the cloud")
        super().__init__(_on_a_terminal(REDACTOR.redact(message)), usual if hint is None else hint)
        self.trouble = trouble

    @property
    def message(self) -> str:
        """What happened."""
        return self.what

    def within(self, where: str) -> Failure:
        """The same failure, saying where it happened."""
        return Failure(self.trouble, f"{where}: {self.message}", self.hint)


def _on_a_terminal(text: str) -> str:
    """The text with escapes for what would move a cursor: tenants name objects that are quoted to the operator."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


def refused(message: str, hint: str = "") -> Failure:
    """A refusal of ours; nothing was sent."""
    return Failure(Trouble.REFUSED, message, hint)


#: Service -> status that it gives to an exceeded quota; elsewhere that status means something else.
#: Manila says 403 where a share is to grow.
_QUOTA_STATUS: dict[str, tuple[int, ...]] = {
    "network": (409,), "compute": (403,), "block-storage": (413,), "image": (413,), "shared-file-system": (413, 403),
    "key-manager": (403,),
}  # fmt: skip


def classify(service: str, status: int, body: str) -> tuple[Trouble, str]:
    """Class and message of an HTTP answer >= 400. `service` is a type of the catalogue (`network`, …)."""
    kind, message = _said(body)
    quota = "quota" in (kind + message).lower() or service == "block-storage"
    if quota and status in _QUOTA_STATUS.get(service, ()):
        return Trouble.QUOTA, message
    if status in (400, 403, 409) and _in_use(service, kind, message):
        return Trouble.IN_USE, message
    if service == "shared-file-system" and status == 400 and _NO_SHARE.fullmatch(message):
        return Trouble.NOT_FOUND, message
    if service == "compute" and status == 409 and _NOT_WHILE in message:
        return Trouble.STATE, message
    return _BY_STATUS.get(status, Trouble.SERVICE if status >= 500 else Trouble.INVALID), message


def is_locked(service: str, status: int, body: str) -> bool:
    """True if Ironic refused a request only because it is at work on that node: the same may succeed in a moment."""
    return service == "baremetal" and status == 409 and "is locked by host" in body


def _in_use(service: str, kind: str, message: str) -> bool:
    """Neutron's types end in InUse, or go on to say by what; but a VLAN or an address in use is taken by someone else.

    Cinder says 400, and Manila in words.
    """
    if service == "shared-file-system":
        return any(said in message for said in _MANILA_IN_USE)
    if service == "network":
        return (kind.endswith("InUse") or "InUseBy" in kind) and kind not in (
            "VlanIdInUse",
            "TunnelIdInUse",
            "IpAddressInUse",
            "MacAddressInUse",
        )
    return service == "block-storage" and any(said in message for said in _CINDER_IN_USE)


#: What Manila says, with 400 or 403, of a share that is on its way or has copies, and of a type that has shares.
_MANILA_IN_USE = ("Share status must be", "active task", "dependent snapshots", "dependent backups", "still in use")

#: What Manila says, with 400, of a share whose access rules are asked for and that is gone.
_NO_SHARE = re.compile(r"Share \S+ not found\.")

#: Nova's InstanceInvalidState: "Cannot '…' instance … while it is in vm_state …".
_NOT_WHILE = "while it is in"

#: What Cinder says of a volume that is attached, or is on its way.
_CINDER_IN_USE = ("must be available or error", "must be available or in-use", "Backing up an in-use volume")


_BY_STATUS: dict[int, Trouble] = {
    401: Trouble.UNAUTHORIZED,
    403: Trouble.FORBIDDEN,
    404: Trouble.NOT_FOUND,
    409: Trouble.CONFLICT,
    410: Trouble.NOT_FOUND,
    413: Trouble.THROTTLED,
    429: Trouble.THROTTLED,
    502: Trouble.UNREACHABLE,
    503: Trouble.UNREACHABLE,
    504: Trouble.UNREACHABLE,
}


def _said(body: str) -> tuple[str, str]:
    """(type, message) out of the forms that services use; the first 300 characters if it is none of them."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return "", " ".join(body.split())[:300]
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, str) and value.startswith("{"):
        # Ironic's, in which the object is written as a text.
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict) and "faultstring" in value:
        return str(value.get("faultcode", "")), str(value["faultstring"])
    if isinstance(value, dict) and "message" in value:
        return str(value.get("type", "")), str(value["message"])
    if isinstance(value, dict) and {"title", "description"} <= value.keys():
        # Barbican's.
        return str(value["title"]), str(value["description"])[:300]
    return "", str(value)[:300]
