"""The folder of a controller: `vipu-server.json`, certificates, the log; who has it open; backup and restore."""

from __future__ import annotations

import fcntl
import json
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from .forms import FormWrong, decoded, encoded, read_form, write_form, write_whole
from .objects import ControllerState
from .settling import VipuEvent

STORAGE = "vipu-server.json"
CERTIFICATES = "vipu-certs"
EVENTS = "events.jsonl"
_LOCK = ".lock"


class StorageBusy(Exception):
    """Another process has the folder open."""


class BackupWrong(Exception):
    """A file that is no backup of a controller."""


@dataclass(frozen=True)
class ControllerStorage:
    """Files of one controller. Whoever is killed at any time leaves a state that was there before or after a call."""

    folder: Path

    @property
    def file(self) -> Path:
        """All that a controller keeps."""
        return self.folder / STORAGE

    def exists(self) -> bool:
        """True once it was initialised."""
        return self.file.exists()

    def read(self) -> ControllerState:
        """The state. Raises FormWrong, also if an object belongs to one that is not there."""
        state = read_form(ControllerState, self.file)
        _check_whole(state, self.file)
        return state

    def write(self, state: ControllerState) -> None:
        """Whole in the file when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_form(self.file, state)

    def log(self, events: Iterable[VipuEvent]) -> None:
        """Appended to the log, which nothing is read from but by people."""
        lines = "".join(json.dumps(encoded(event)) + "\n" for event in events)
        if lines:
            with (self.folder / EVENTS).open("a", encoding="utf-8") as out:
                out.write(lines)

    def events(self) -> tuple[VipuEvent, ...]:
        """The log."""
        file = self.folder / EVENTS
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return tuple(decoded(VipuEvent, json.loads(line)) for line in lines)

    def locked(self) -> IO[str]:
        """The folder for one process alone, until the file is closed or the process ends. Raises StorageBusy."""
        self.folder.mkdir(parents=True, exist_ok=True)
        held = (self.folder / _LOCK).open("w", encoding="ascii")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            held.close()
            raise StorageBusy(f"{self.folder}: another controller has it open; one process for each folder") from None
        return held


def _check_whole(state: ControllerState, file: Path) -> None:
    needs = [(f"cluster {item.id}", "agent", item.agents) for item in state.clusters.values()]
    for allocation in state.allocations.values():
        needs.append((f"allocation {allocation.id}", "agent", allocation.agents))
        needs.append((f"allocation {allocation.id}", "cluster", (allocation.cluster,)))
    for partition in state.partitions.values():
        needs.append((f"partition {partition.id}", "agent", tuple(place.agent for place in partition.ipus)))
        needs.append((f"partition {partition.id}", "cluster", (partition.cluster,)))
    there = {"agent": state.agents.keys(), "cluster": state.clusters.keys()}
    for about, noun, names in needs:
        for name in names:
            if name not in there[noun]:
                raise FormWrong(f"{file}: {about}: there is no {noun} {name}")


def back_up(storage: ControllerStorage, to: Path) -> None:
    """State and certificates in one file, which holds keys: its owner alone reads it. Raises FormWrong."""
    storage.read()
    handle = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, 0o600)
    with os.fdopen(handle, "wb") as out, tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(storage.file, STORAGE)
        certificates = storage.folder / CERTIFICATES
        if certificates.exists():
            archive.add(certificates, CERTIFICATES)


def restore(storage: ControllerStorage, backup: Path) -> None:
    """State and certificates as a backup has them, instead of those that are there.

    Raises BackupWrong with nothing changed, and StorageBusy while a controller runs.
    """
    try:
        with tarfile.open(backup) as archive:
            files = {item.name: _content(archive, item).decode() for item in archive.getmembers() if item.isfile()}
        decoded(ControllerState, json.loads(files[STORAGE]))
    except (OSError, tarfile.TarError, KeyError, ValueError, FormWrong) as error:
        raise BackupWrong(f"{backup}: no backup of a controller: {error}") from None
    with storage.locked():
        for name, content in sorted(files.items(), key=lambda pair: pair[0] == STORAGE):
            file = storage.folder / _within(name, backup)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, content)


def _content(archive: tarfile.TarFile, item: tarfile.TarInfo) -> bytes:
    return (archive.extractfile(item) or BytesIO()).read()


def _within(name: str, backup: Path) -> str:
    if name != STORAGE and not name.startswith(f"{CERTIFICATES}/"):
        raise BackupWrong(f"{backup}: no backup of a controller: it has {name!r}")
    if ".." in Path(name).parts:
        raise BackupWrong(f"{backup}: no backup of a controller: it has {name!r}")
    return name
