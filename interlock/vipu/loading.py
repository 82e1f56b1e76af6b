"""`vipu.yaml` -> how each controller is reached, in frozen types. Secrets stay in their files until they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import normpath

from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.named_files import named_file
from interlock.model.text.source import Step
from interlock.store.beside_clouds import FileBesideClouds

from .errors import VipuError, VipuTrouble
from .file import VipuAccessFile, VipuFile, VipuMachineFile, VipuSshFile
from .flags import NEEDED

NAME = "vipu.yaml"
#: The entry for controllers that have none of their own.
DEFAULT = "default"
COMMAND, USER_COMMAND = ("vipu-admin",), ("vipu",)
_PLACE = FileBesideClouds(NAME, variable="INTERLOCK_VIPU", page="docs/reference/vipu-file.md")


@dataclass(frozen=True)
class SshHop:
    """One host that is logged in to."""

    host: str
    port: int
    username: str
    key_file: Path
    known_hosts: Path

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class ControllerMachine:
    """The machine on which commands run, if it is the controller's own: words before each, and folders to look into."""

    command: tuple[str, ...]
    storage: str | None
    backup: str | None
    #: Port of the admin API; None: nobody says it.
    admin_port: int | None = None


@dataclass(frozen=True)
class ControllerAccess:
    """How commands for one controller are run; `hops` are logged in to one after the other, and none means here."""

    command: tuple[str, ...]
    user_command: tuple[str, ...]
    config: str | None
    user_port: int
    hops: tuple[SshHop, ...]
    flags: Mapping[str, str]
    #: `file:line:column` of the entry.
    position: str
    #: None: nothing but V-IPU is asked.
    machine: ControllerMachine | None = None
    #: Administrators of the operator's own; None: nobody says who they are.
    admins: tuple[str, ...] | None = None

    def of(self, server: str, name: str, address: str) -> ControllerAccess:
        """The same with a controller's own values in place of placeholders. Raises `VipuError` if one is not known."""
        values = {"{server}": server, "{name}": name, "{address}": address}

        def filled(text: str) -> str:
            for holder, value in values.items():
                if holder in text and not value:
                    what = f"{holder} stands at {self.position}, and is not known of this controller"
                    hint = "apply the stack, which knows it; or write another entry for this controller"
                    raise VipuError(VipuTrouble.REFUSED, name or server, what, hint)
                text = text.replace(holder, value)
            return text

        return replace(
            self,
            command=tuple(map(filled, self.command)),
            user_command=tuple(map(filled, self.user_command)),
            config=None if self.config is None else filled(self.config),
            hops=tuple(replace(hop, host=filled(hop.host)) for hop in self.hops),
            machine=None if self.machine is None else _filled(self.machine, filled),
        )


def _filled(machine: ControllerMachine, filled: Callable[[str], str]) -> ControllerMachine:
    storage, backup = (None if path is None else filled(path) for path in (machine.storage, machine.backup))
    return ControllerMachine(tuple(map(filled, machine.command)), storage, backup, machine.admin_port)


@dataclass(frozen=True)
class VipuRead:
    """The file, read."""

    file: Path
    controllers: dict[str, ControllerAccess]

    def of(self, name: str) -> ControllerAccess | None:
        """How a controller is reached: by its own entry, else as all others; None if neither is there."""
        return self.controllers.get(name) or self.controllers.get(DEFAULT)


def vipu_file() -> Path:
    """The file in use: INTERLOCK_VIPU, else `vipu.yaml` beside the clouds.yaml in use."""
    return _PLACE.in_use()


def load_vipu(file: Path | None = None) -> VipuRead:
    """The file in use, or this one. Raises InputErrors with every fault."""
    file = file or vipu_file()
    stated, faults = _PLACE.read(VipuFile, file)
    found = {name: _access(name, entry, file.parent, faults) for name, entry in stated.controllers.items()}
    faults.raise_if_any()
    return VipuRead(file, found)


def _access(name: str, entry: VipuAccessFile, folder: Path, faults: Faults) -> ControllerAccess:
    at = ("controllers", name)
    if entry.run == "ssh" and entry.ssh is None:
        hint = "say how to get there: `username`, `key_file` and `known_hosts` at least"
        faults.add(Code.MISSING_KEY, at, "`run: ssh` is there without `ssh`", hint)
    if entry.run == "local" and entry.ssh is not None:
        hint = "take `ssh` out, or write `run: ssh`"
        faults.add(Code.CONTRADICTION, (*at, "ssh"), "`ssh` is there beside `run: local`", hint)
    for key in ("command", "user_command"):
        if getattr(entry, key) == []:
            faults.add(Code.VALUE, (*at, key), f"`{key}` has no words", "name the program at least, or leave it out")
    machine = entry.machine
    if machine is not None and machine.storage and machine.backup and _is_one_folder(machine.storage, machine.backup):
        hint = "name the folder into which copies are made, on another disk if there is one"
        # What lies there would be its own copy, and as young as can be.
        faults.add(Code.CONTRADICTION, (*at, "machine", "backup"), "`backup` is the folder of `storage`", hint)
    for flag, spelt in entry.flags.items():
        if flag in NEEDED and not spelt:
            what = f"`{flag}` is left out, and without it a command says something else"
            faults.add(Code.VALUE, (*at, "flags", flag), what, "write how this release spells it")
    return ControllerAccess(
        command=tuple(entry.command or COMMAND),
        user_command=tuple(entry.user_command or USER_COMMAND),
        config=entry.config,
        user_port=entry.user_port,
        hops=() if entry.ssh is None else _hops(entry.ssh, (*at, "ssh"), folder, faults),
        flags=dict(entry.flags),
        position=faults.source.position(at),
        machine=None if entry.machine is None else _machine(entry.machine),
        admins=None if entry.admins is None else tuple(entry.admins),
    )


def _machine(entry: VipuMachineFile) -> ControllerMachine:
    return ControllerMachine(tuple(entry.command), entry.storage, entry.backup, entry.admin_port)


def _is_one_folder(one: str, other: str) -> bool:
    return normpath(one) == normpath(other)


def _hops(ssh: VipuSshFile, at: tuple[Step, ...], folder: Path, faults: Faults) -> tuple[SshHop, ...]:
    own = _hop(ssh.host, ssh.port, ssh.username, _files(ssh.key_file, ssh.known_hosts, at, folder, faults))
    if ssh.jump is None:
        return (own,)
    jump, there = ssh.jump, (*at, "jump")
    key = own.key_file if jump.key_file is None else _files(jump.key_file, None, there, folder, faults)[0]
    known = own.known_hosts if jump.known_hosts is None else _files(None, jump.known_hosts, there, folder, faults)[1]
    return (_hop(jump.host, jump.port, jump.username or ssh.username, (key, known)), own)


def _files(key: str | None, known: str | None, at: tuple[Step, ...], folder: Path, faults: Faults) -> tuple[Path, Path]:
    """Key and known hosts. Where one is not named, or is faulty, the folder stands for it: nobody uses it then."""
    return (
        named_file(key, (*at, "key_file"), folder, faults, secret=True) or folder,
        named_file(known, (*at, "known_hosts"), folder, faults, secret=False) or folder,
    )


def _hop(host: str, port: int, username: str, files: tuple[Path, Path]) -> SshHop:
    return SshHop(host, port, username, *files)
