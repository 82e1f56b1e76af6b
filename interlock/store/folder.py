"""A folder of one machine as a store of objects.

Writers take turns by `flock` on a file in the folder, which a killed process gives back by itself. What a writer
makes is complete and on the disk before it gets its name, so readers need no lock and never see half a body.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .objects import Changed, Exists, Stored, StoreFailed, address, key_at

#: Seconds that a writer waits for its turn: others hold the lock for milliseconds.
PATIENCE = 30.0
_LOCK, _DRAFT = ".lock", ".draft"


class FolderStore:
    """Objects as files below `path`: `path/<kind>/<quoted name>`. Made at the first write, for its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The folder as a URL."""
        return self.path.absolute().as_uri()

    def get(self, key: str) -> Stored | None:
        """The object, or None."""
        with self._explained("cannot be read"):
            return _read(self._file(key))

    def put_new(self, key: str, body: bytes) -> str:
        """Write a key that is not there and return its version. Raises `Exists`."""
        file = self._file(key)
        with self._writing(file) as draft:
            _write(draft, body)
            try:
                # A link, not a rename: it fails where the name is taken, whoever took it.
                file.hardlink_to(draft)
            except FileExistsError:
                raise Exists(key) from None
            _sync(file.parent)
        return _version(body)

    def put_over(self, key: str, body: bytes, version: str) -> str:
        """Write over this very version and return the new one. Raises `Changed`."""
        file = self._file(key)
        with self._writing(file) as draft:
            found = _read(file)
            if found is None or found.version != version:
                raise Changed(key)
            _write(draft, body)
            draft.replace(file)
            _sync(file.parent)
        return _version(body)

    def remove(self, key: str, version: str) -> None:
        """Remove this very version. Raises `Changed`; a key that is absent is fine."""
        file = self._file(key)
        with self._writing(file):
            found = _read(file)
            if found is None:
                return
            if found.version != version:
                raise Changed(key)
            file.unlink()
            _sync(file.parent)

    def items(self, prefix: str) -> Iterator[tuple[str, Stored]]:
        """Everything whose key begins so, sorted by key."""
        with self._explained("cannot be listed"):
            kind, slash, _ = prefix.partition("/")
            files = list(self.path.glob(f"{kind}/*" if slash else f"{kind}*/*"))
        keys = ((key_at(file.relative_to(self.path).as_posix()), file) for file in files)
        for key, file in sorted(item for item in keys if item[0].startswith(prefix)):
            with self._explained("cannot be read"):
                found = _read(file)
            # What went since the listing is no more there.
            if found is not None:
                yield key, found

    def _file(self, key: str) -> Path:
        return self.path / address(key)

    @contextmanager
    def _writing(self, file: Path) -> Iterator[Path]:
        """This writer's turn: gives the name of a draft, and takes the draft away afterwards."""
        with self._explained("cannot be written"):
            for folder in (self.path, file.parent):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self.path / _LOCK).open("w") as lock:
                self._wait(lock.fileno())
                draft = self.path / _DRAFT
                try:
                    yield draft
                finally:
                    draft.unlink(missing_ok=True)

    def _wait(self, lock: int) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise StoreFailed(
                        f"claims store {self.name}: another process has been writing for {PATIENCE:.0f} seconds",
                        f"see who it is with `fuser {self.path / _LOCK}`; once it has ended, run again",
                    ) from None
                time.sleep(0.002)
            else:
                return

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreFailed(
                f"claims store {self.name} {what}: {error.strerror or error}: {error.filename or self.path}",
                "it must be a folder of this user, on a local disk that has room; then run again",
            ) from error


def _read(file: Path) -> Stored | None:
    try:
        body = file.read_bytes()
    except FileNotFoundError:
        return None
    return Stored(body, _version(body))


def _version(body: bytes) -> str:
    """What is there, not when it was written: who saw this body has seen all there is to see."""
    return hashlib.sha256(body).hexdigest()


def _write(draft: Path, body: bytes) -> None:
    """A new file with this body, on the disk. A draft that a killed writer left may be a link to its object."""
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """A name is on the disk once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
