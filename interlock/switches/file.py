"""`switches.yaml` as people write it: how each switch is reached, who asks it, and by which host key it is known."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.schema import schema_of
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName, user_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import QUOTE_IT, PublicKey, shown
from interlock.model.text.yaml_reading import REQUEST, FileLimits

#: Operating systems of switches that there is a reader for.
Platform = Literal["eos", "cumulus"]

SSH_PORT = 22
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_MOST_HOST = 253


def host_name(value: Any) -> str:
    """The name or address of a host."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if len(value) > _MOST_HOST or not (_HOST.fullmatch(value) or _is_ipv6(value)):
        raise fault(Code.VALUE, f"{shown(value)} is no host", "write its name or address; the port is a key of its own")
    return value


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False


Host = Annotated[str, BeforeValidator(host_name), WithJsonSchema({"type": "string", "examples": ["192.0.2.11"]})]
User = Annotated[str, BeforeValidator(user_name), WithJsonSchema({"type": "string", "examples": ["interlock"]})]


class SwitchAccessFile(FileModel):
    """How one switch is asked."""

    platform: Platform = Field(
        description="operating system, which decides what is asked: `eos` (Arista), `cumulus` (Cumulus Linux with NVUE)"
    )
    host: Host = Field(description="name or address of its management interface")
    port: int = Field(default=SSH_PORT, ge=1, le=65535, description="port of its ssh server")
    username: User = Field(description="user to log in as; one that may only read is enough")
    key_file: str | None = Field(
        default=None, description="file with the private key, without passphrase; relative to this file, or with `~`"
    )
    password_file: str | None = Field(
        default=None, description="file with nothing but the password, readable by its owner alone"
    )
    host_key: PublicKey | None = Field(
        default=None, description="public key of the switch, as a line of `ssh-keyscan` after the name"
    )
    known_hosts: str | None = Field(
        default=None, description="file in the form of OpenSSH that has the key of this switch, instead of `host_key`"
    )


class SwitchesFile(FileModel):
    """`switches.yaml`."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    switches: dict[DeviceName, SwitchAccessFile] = Field(
        description="how each switch is asked, by its name in the site file; switches of several sites may stand here"
    )


def switches_schema() -> dict[str, Any]:
    """Schema of `switches.yaml`."""
    return schema_of(SwitchesFile, "switches", "How interlock asks switches")
