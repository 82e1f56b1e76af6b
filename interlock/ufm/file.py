"""`fabrics.yaml` as people write it: where the UFM of each InfiniBand subnet is, and who asks it."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.schema import schema_of
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import QUOTE_IT, shown
from interlock.model.text.yaml_reading import REQUEST, FileLimits

_HOST = re.compile(r"\[[0-9A-Fa-f:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_USER = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_WRITE_URL = "write `https://<host>` or `https://<host>:<port>`, and nothing behind it"


def ufm_url(value: Any) -> str:
    """`https://host[:port]`. A user, a path or plain http is refused: each of them would be a mistake."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if "@" in value:
        # Not shown: it may hold a password.
        raise fault(Code.VALUE, "the address holds a user or a password", "they are keys of their own here")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise fault(Code.VALUE, f"{shown(value)} is no address", _WRITE_URL) from None
    if parts.scheme == "http":
        hint = "write `https://…`; the password would cross the network in clear"
        raise fault(Code.VALUE, f"{shown(value)} is not encrypted", hint)
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    beside = parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme != "https" or beside or not _HOST.fullmatch(host) or port == 0:
        raise fault(Code.VALUE, f"{shown(value)} is no address of a UFM", _WRITE_URL)
    return f"https://{parts.netloc}"


def _plain(value: Any, form: re.Pattern[str], what: str, hint: str) -> str:
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if not form.fullmatch(value):
        raise fault(Code.VALUE, f"{shown(value)} is no {what}", hint)
    return value


def _user(value: Any) -> str:
    return _plain(value, _USER, "name of a user of UFM", "letters, digits and `._@-`")


def _variable(value: Any) -> str:
    return _plain(value, _VARIABLE, "name of an environment variable", "the name alone, without `$` and its value")


Url = Annotated[
    str, BeforeValidator(ufm_url), WithJsonSchema({"type": "string", "examples": ["https://ufm-1.example.org"]})
]
UfmUser = Annotated[str, BeforeValidator(_user), WithJsonSchema({"type": "string", "examples": ["interlock"]})]
Variable = Annotated[str, BeforeValidator(_variable), WithJsonSchema({"type": "string", "examples": ["UFM_PASSWORD"]})]


class FabricAccessFile(FileModel):
    """How the UFM of one InfiniBand subnet is asked."""

    url: Url = Field(description="address of UFM; its certificate is always verified")
    username: UfmUser | None = Field(default=None, description="user to log in as, with a password")
    password_file: str | None = Field(
        default=None, description="file with nothing but the password, readable by its owner alone"
    )
    password_variable: Variable | None = Field(
        default=None, description="environment variable with the password, for jobs that get secrets so"
    )
    token_file: str | None = Field(
        default=None, description="file with nothing but an access token of UFM, instead of user and password"
    )
    token_variable: Variable | None = Field(default=None, description="environment variable with such a token")
    ca_file: str | None = Field(
        default=None, description="file with the certificate of who issued UFM's own; by default the system's issuers"
    )


class FabricsFile(FileModel):
    """`fabrics.yaml`."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    fabrics: dict[DeviceName, FabricAccessFile] = Field(
        description="how each InfiniBand subnet is asked, by its name in the site file; subnets of several sites may "
        "stand here"
    )


def fabrics_schema() -> dict[str, Any]:
    """Schema of `fabrics.yaml`."""
    return schema_of(FabricsFile, "fabrics", "How interlock asks fabric managers")
