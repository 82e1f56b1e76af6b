"""`fabrics.yaml` -> how each UFM is asked, in frozen types. Secrets stay where they are until they are used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.named_files import named_file
from interlock.store.beside_clouds import FileBesideClouds

from .errors import UfmError, UfmTrouble
from .file import FabricAccessFile, FabricsFile

NAME = "fabrics.yaml"
_PLACE = FileBesideClouds(NAME, variable="INTERLOCK_FABRICS", page="docs/reference/fabrics-file.md")

#: Keys that name a file -> whether it is a secret.
_FILES = {"password_file": True, "token_file": True, "ca_file": False}

#: Keys that say where the secret is; one of them is there.
_PASSWORDS = ("password_file", "password_variable")
_TOKENS = ("token_file", "token_variable")


@dataclass(frozen=True)
class FabricAccess:
    """How one UFM is asked. With a `username` the secret is a password, else a token."""

    infiniband: str
    url: str
    username: str | None
    secret_file: Path | None
    secret_variable: str | None
    ca_file: Path | None
    #: `file:line:column` of the entry.
    position: str

    def secret(self) -> str:
        """The password or the token, read now. Raises `UfmError` if there is none."""
        if self.secret_variable is not None:
            found, where = os.environ.get(self.secret_variable, ""), f"the variable {self.secret_variable} is not set"
        else:
            assert self.secret_file is not None  # the loader saw to one of both
            where = f"{self.secret_file} is empty, or cannot be read"
            try:
                found = self.secret_file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                found = ""
        found = found.strip("\r\n")
        if not found or not found.isprintable():
            what = f"UFM of {self.infiniband} was not asked: {where}"
            hint = f"put the secret there, alone on one line; it is named at {self.position}"
            raise UfmError(UfmTrouble.UNAUTHORIZED, self.infiniband, what, hint)
        if self.username is None and not found.isascii():
            # A token is sent as it is, and HTTP has no header with such characters.
            what = f"UFM of {self.infiniband} was not asked: its token has characters that no token of UFM has"
            hint = f"copy the token anew, letters and digits alone; it is named at {self.position}"
            raise UfmError(UfmTrouble.UNAUTHORIZED, self.infiniband, what, hint)
        return found


@dataclass(frozen=True)
class FabricsRead:
    """The file, read."""

    file: Path
    fabrics: dict[str, FabricAccess]


def fabrics_file() -> Path:
    """The file in use: INTERLOCK_FABRICS, else `fabrics.yaml` beside the clouds.yaml in use."""
    return _PLACE.in_use()


def load_fabrics(file: Path | None = None) -> FabricsRead:
    """The file in use, or this one. Raises InputErrors with every fault."""
    file = file or fabrics_file()
    stated, faults = _PLACE.read(FabricsFile, file)
    found = {name: _access(name, entry, file.parent, faults) for name, entry in stated.fabrics.items()}
    faults.raise_if_any()
    return FabricsRead(file, found)


def _access(name: str, entry: FabricAccessFile, folder: Path, faults: Faults) -> FabricAccess:
    at = ("fabrics", name)
    stated = [key for key in (*_PASSWORDS, *_TOKENS) if getattr(entry, key) is not None]
    if not stated:
        hint = f"name one of `{'`, `'.join((*_PASSWORDS, *_TOKENS))}`; a secret itself does not stand in this file"
        faults.add(Code.MISSING_KEY, at, "nothing says where the password or token is", hint)
    elif len(stated) > 1:
        faults.add(Code.CONTRADICTION, at, f"`{'` and `'.join(stated)}` are there", "take all but one of them out")
    with_password = any(key in _PASSWORDS for key in stated)
    if with_password and entry.username is None:
        faults.add(Code.MISSING_KEY, at, "`username` is missing", "a password is somebody's: add `username:` here")
    if stated and not with_password and entry.username is not None:
        hint = "take it out: UFM knows from the token whose it is"
        faults.add(Code.CONTRADICTION, at, "`username` is there beside a token", hint)
    files = {
        key: named_file(getattr(entry, key), (*at, key), folder, faults, secret=secret)
        for key, secret in _FILES.items()
    }
    return FabricAccess(
        infiniband=name,
        url=entry.url,
        username=entry.username,
        secret_file=files["password_file"] or files["token_file"],
        secret_variable=entry.password_variable or entry.token_variable,
        ca_file=files["ca_file"],
        position=faults.source.position(at),
    )
