"""The bastion that tenants come in by: a jump host of the operator's in front of the external network."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.names import AccountName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Prefix, shown
from interlock.resources import Frozen

#: What ssh may be given as a host: no dash in front, which it would take for an option.
_PART = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_PART}(\.{_PART})*")
#: Longest name of a host (RFC 1035).
_LONGEST = 253


def host_name(value: Any) -> str:
    """A name or an IPv4 address that ssh connects to."""
    if not isinstance(value, str) or not _HOST.fullmatch(value) or len(value) > _LONGEST:
        raise fault(Code.VALUE, f"{shown(value)} is no host name", "write one as in bastion.example.net, or an address")
    return value


HostName = Annotated[
    str, BeforeValidator(host_name), WithJsonSchema({"type": "string", "pattern": f"^{_HOST.pattern}$"})
]


class BastionFile(FileModel):
    """The jump host that tenants' people come in by."""

    host: HostName = Field(description="its name or address, as people's ssh reaches it")
    user: AccountName | None = Field(default=None, description="account on it; without it the one of whoever calls")
    prefixes: list[Prefix] = Field(
        description="addresses that its connections come from; tenants' public servers let them in to ssh"
    )


class Bastion(Frozen):
    """The same in full form. `user` empty: the account of whoever calls."""

    host: str
    user: str = ""
    prefixes: tuple[str, ...]


def bastion_of(file: BastionFile | None) -> Bastion | None:
    """None if the site file states none."""
    if file is None:
        return None
    return Bastion(host=file.host, user=file.user or "", prefixes=tuple(file.prefixes))
