"""`switches.yaml` -> how each switch is asked, in frozen types. Secrets stay in their files until they are used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.named_files import named_file
from interlock.store.beside_clouds import FileBesideClouds

from .file import Platform, SwitchAccessFile, SwitchesFile

NAME = "switches.yaml"
_PLACE = FileBesideClouds(NAME, variable="INTERLOCK_SWITCHES", page="docs/reference/switches-file.md")

#: Keys that name a file -> whether it is a secret.
_FILES = {"key_file": True, "password_file": True, "known_hosts": False}


@dataclass(frozen=True)
class SwitchAccess:
    """How one switch is asked. Exactly one of `host_key` and `known_hosts` is there, and a key or a password file."""

    name: str
    platform: Platform
    host: str
    port: int
    username: str
    key_file: Path | None
    password_file: Path | None
    host_key: str | None
    known_hosts: Path | None
    #: `file:line:column` of the entry.
    position: str

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class SwitchesRead:
    """The file, read."""

    file: Path
    switches: dict[str, SwitchAccess]


def switches_file() -> Path:
    """The file in use: INTERLOCK_SWITCHES, else `switches.yaml` beside the clouds.yaml in use."""
    return _PLACE.in_use()


def load_switches(file: Path | None = None) -> SwitchesRead:
    """The file in use, or this one. Raises InputErrors with every fault."""
    file = file or switches_file()
    stated, faults = _PLACE.read(SwitchesFile, file)
    found = {name: _access(name, entry, file.parent, faults) for name, entry in stated.switches.items()}
    faults.raise_if_any()
    return SwitchesRead(file, found)


def _access(name: str, entry: SwitchAccessFile, folder: Path, faults: Faults) -> SwitchAccess:
    at = ("switches", name)
    if (entry.host_key is None) == (entry.known_hosts is None):
        faults.add(*_host_keys(entry, at))
    if entry.key_file is None and entry.password_file is None:
        hint = "name one of them; a password itself does not stand in this file"
        faults.add(Code.MISSING_KEY, at, "neither `key_file` nor `password_file` is there", hint)
    files = {
        key: named_file(getattr(entry, key), (*at, key), folder, faults, secret=secret)
        for key, secret in _FILES.items()
    }
    return SwitchAccess(
        name=name,
        platform=entry.platform,
        host=entry.host,
        port=entry.port,
        username=entry.username,
        host_key=entry.host_key,
        position=faults.source.position(at),
        **files,
    )


def _host_keys(entry: SwitchAccessFile, at: tuple[str, str]) -> tuple[Code, tuple[str, str], str, str]:
    if entry.host_key is not None:
        return Code.CONTRADICTION, at, "both `host_key` and `known_hosts` are there", "take one of them out"
    hint = "give one of them: without its key, whoever answers at the address would be taken for the switch"
    return Code.MISSING_KEY, at, "neither `host_key` nor `known_hosts` is there", hint
