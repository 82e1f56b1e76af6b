"""`access.people` of a request as a tenant writes it: who gets certificates, for which keys, accounts and servers."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.names import AccountName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import CertifiedKey, shown

from .values import Day

#: The account that images of Ubuntu come with, on which Poplar's are built.
ACCOUNTS = ("ubuntu",)

#: Part of the name of a certificate, of files and of what sshd logs.
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
_MOST_NAME = 40


def holder_name(value: Any) -> str:
    """The name of somebody, inside the tenant."""
    if not isinstance(value, str) or len(value) > _MOST_NAME or not _NAME.fullmatch(value):
        hint = f"use lower-case letters, digits, single dots, dashes and underscores, at most {_MOST_NAME}"
        raise fault(Code.NAME, f"{shown(value)} is no name here", hint)
    return value


HolderName = Annotated[
    str,
    BeforeValidator(holder_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$", "maxLength": _MOST_NAME}),
]


class KeyHolderFile(FileModel):
    """Somebody who gets certificates."""

    name: HolderName = Field(description="Stands in certificates, and in what sshd logs of a login.")
    keys: list[CertifiedKey] = Field(
        min_length=1,
        description="Lines of files like id_ed25519.pub: Ed25519, ECDSA, RSA from 3072 bits on, or a key in hardware.",
    )
    since: Day | None = Field(default=None, description="First day in UTC, as in 2027-01-31; by default no bound.")
    until: Day | None = Field(default=None, description="Last day in UTC, included; by default no bound.")
    accounts: list[AccountName] | None = Field(
        default=None, min_length=1, description="Which of the tenant's accounts; by default all."
    )
    vpods: list[str] | None = Field(
        default=None,
        min_length=1,
        description="On the servers of which vPODs; by default of all, or of none where `clusters` are named.",
    )
    clusters: list[str] | None = Field(
        default=None,
        min_length=1,
        description="On heads and nodes of which GPU clusters; by default of all, or of none where `vpods` are named.",
    )
