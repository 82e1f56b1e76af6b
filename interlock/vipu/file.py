"""`vipu.yaml` as people write it: how the commands of V-IPU are run for each controller."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.schema import schema_of
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName, user_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import QUOTE_IT, shown
from interlock.model.text.yaml_reading import REQUEST, FileLimits

from .flags import NAMES

SSH_PORT, USER_PORT = 22, 8090
#: What stands for a controller's own values, in words and hosts.
PLACEHOLDERS = ("{server}", "{name}", "{address}")
_HOST = re.compile(r"(\{address\}|\{name\}|[A-Za-z0-9:][A-Za-z0-9.:-]{0,252})+")
_SPELLING = re.compile(r"-{0,2}[a-z][a-z-]{0,62}")
_KNOWN = f"known are {', '.join(PLACEHOLDERS)}"


def word(value: Any) -> str:
    """One word of a command line; in braces stand placeholders alone."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    left = value
    for name in PLACEHOLDERS:
        left = left.replace(name, "")
    if "{" in left or "}" in left:
        raise fault(Code.VALUE, f"{shown(value)} has a placeholder that there is not", _KNOWN)
    if not value or not value.isprintable():
        raise fault(Code.VALUE, f"{shown(value)} is no word of a command", "write each word as one element")
    return value


def host(value: Any) -> str:
    """Name or address of a host, or a placeholder for it."""
    if not _HOST.fullmatch(word(value)):
        raise fault(Code.VALUE, f"{shown(value)} is no host", "write its name or address, or `{address}`")
    return str(value)


def folder(value: Any) -> str:
    """A folder where commands run."""
    if not word(value).startswith("/"):
        raise fault(Code.VALUE, f"{shown(value)} is no folder", "write its whole path, as in `/var/lib/vipu`")
    return str(value)


def flag_name(value: Any) -> str:
    """A flag that is used, by its name in the table."""
    if value not in NAMES:
        raise fault(Code.VALUE, f"{shown(value)} is no flag that is used", f"known are {', '.join(sorted(NAMES))}")
    return str(value)


def spelling(value: Any) -> str:
    """How a release writes a flag; empty: it has none."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if value and not _SPELLING.fullmatch(value):
        raise fault(Code.VALUE, f"{shown(value)} is no flag", "write `--name`, or an empty text to leave it out")
    return value


Word = Annotated[str, BeforeValidator(word), WithJsonSchema({"type": "string", "examples": ["vipu-admin"]})]
SshHost = Annotated[str, BeforeValidator(host), WithJsonSchema({"type": "string", "examples": ["{address}"]})]
SshUser = Annotated[str, BeforeValidator(user_name), WithJsonSchema({"type": "string", "examples": ["operator"]})]
Folder = Annotated[str, BeforeValidator(folder), WithJsonSchema({"type": "string", "examples": ["/var/lib/vipu"]})]
FlagName = Annotated[str, BeforeValidator(flag_name), WithJsonSchema({"type": "string", "enum": sorted(NAMES)})]
Spelling = Annotated[str, BeforeValidator(spelling), WithJsonSchema({"type": "string", "examples": ["--cluster-id"]})]


class VipuJumpFile(FileModel):
    """A host on the way. What it does not say is as with the controller's host."""

    host: SshHost = Field(description="name or address of the host on the way")
    port: int = Field(default=SSH_PORT, ge=1, le=65535, description="port of its ssh server")
    username: SshUser | None = Field(default=None, description="user there; by default the same")
    key_file: str | None = Field(default=None, description="file with the private key for it; by default the same")
    known_hosts: str | None = Field(default=None, description="file that has its host key; by default the same")


class VipuSshFile(FileModel):
    """How commands get to the machine on which the controller runs. The host key is always verified."""

    host: SshHost = Field(default="{address}", description="name or address; `{address}` is the controller's own")
    port: int = Field(default=SSH_PORT, ge=1, le=65535, description="port of its ssh server")
    username: SshUser = Field(description="user to log in as")
    key_file: str = Field(description="file with the private key, without passphrase, readable by its owner alone")
    known_hosts: str = Field(description="file in the form of OpenSSH; it may have lines of `@cert-authority`")
    jump: VipuJumpFile | None = Field(default=None, description="a host on the way")


class VipuMachineFile(FileModel):
    """What `interlock controllers` reads besides V-IPU, on the machine on which commands run."""

    command: list[Word] = Field(default=[], description="words before each command, as in `[sudo, -n]`")
    storage: Folder | None = Field(
        default=None, description="folder with `vipu-server.json` and `vipu-certs` of the controller"
    )
    backup: Folder | None = Field(default=None, description="folder in which copies of these two lie")
    admin_port: int | None = Field(
        default=None, ge=1, le=65535, description="TCP port of the admin API; no public source says which it is"
    )


class VipuAccessFile(FileModel):
    """How the commands for one controller, or for all, are run."""

    run: Literal["local", "ssh"] = Field(description="where commands run: on this machine, or over ssh")
    command: list[Word] | None = Field(
        default=None,
        description="words before verb and noun of commands of administrators; `vipu-admin` unless said",
    )
    user_command: list[Word] | None = Field(
        default=None, description="the same of commands about partitions; `vipu` unless said"
    )
    config: str | None = Field(
        default=None, description="file of settings for `--config`, where the commands run; it holds the access key"
    )
    user_port: int = Field(
        default=USER_PORT, ge=1, le=65535, description="port of the controller that Poplar servers are told of"
    )
    ssh: VipuSshFile | None = Field(default=None, description="how to get there, with `run: ssh`")
    machine: VipuMachineFile | None = Field(
        default=None, description="what is read of the controller's own machine; without it, nothing there"
    )
    admins: list[Word] | None = Field(
        default=None,
        description="users who are the operator's administrators at the controller: `interlock audit` finds any other "
        "one; unless said, one alone is taken for the one who asks",
    )
    flags: dict[FlagName, Spelling] = Field(
        default={}, description="flag -> how this release spells it, where that is not as usual"
    )


class VipuFile(FileModel):
    """`vipu.yaml`."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    controllers: dict[DeviceName, VipuAccessFile] = Field(
        description="how each controller is reached, by its name in plans; `default` is for all others"
    )


def vipu_schema() -> dict[str, Any]:
    """Schema of `vipu.yaml`."""
    return schema_of(VipuFile, "vipu", "How interlock reaches V-IPU controllers")
