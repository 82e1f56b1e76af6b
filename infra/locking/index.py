"""The claims of all locks of a site, kept beside them, so that one tenant's run checks one lock.

A cache and nothing else: git-ignored, safe to delete at any time. An entry counts only if it was made from the very
bytes of the lock file (by their hash, never by file times) and carries its own seal; everything else is read
from the files, which stay the truth. Footprints are always read from there: an entry only says that a file of
these bytes was checked before. A damaged index is recreated, with one line on stderr; one that cannot be written
is done without, since commands that only read work from a folder that nobody may write to.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from interlock.model.lock.files import SITE, Gathered, LockFiles, holds_claims, load_lock, lock_file, lock_files
from interlock.model.lock.record import Footprint, Lock, SiteLock
from interlock.model.site.inventory import Site
from interlock.resources import digest_of

_TABLE = "CREATE TABLE IF NOT EXISTS locks (id TEXT PRIMARY KEY, digest TEXT, claims TEXT, seal TEXT)"
_NO_FOOTPRINT = Footprint(classes=(), labels={}, exclusive=())
#: Seconds that a run waits for another one that is writing the index.
_PATIENCE = 5.0
#: Another run holds it, or we may not read it: no damage.
_OUT_OF_REACH = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


@dataclass(frozen=True)
class IndexedLock:
    """What the index holds of one lock: the hash of the file's bytes, and the lock without its footprint."""

    id: str
    digest: str
    claims: str

    @property
    def seal(self) -> str:
        """Hash over the entry, under the form of locks that it was made for."""
        return _sha256(f"{_form()}\n{self.id}\n{self.digest}\n{self.claims}".encode())

    def lock(self) -> Lock:
        """The lock as far as others are concerned who look for room: its footprint is empty."""
        return Lock.model_validate_json(self.claims)


class Index:
    """The file of the index. Whatever goes wrong with it, it answers as if it were empty."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def entries(self) -> dict[str, IndexedLock]:
        """Every entry whose seal is whole, by tenant."""
        try:
            if not self.file.is_file():
                return {}
            with closing(sqlite3.connect(self.file, timeout=_PATIENCE)) as connection:
                rows = connection.execute("SELECT id, digest, claims, seal FROM locks").fetchall()
        except sqlite3.DatabaseError as error:
            self._leave(error)
            return {}
        except OSError:  # the folder is closed to us
            return {}
        whole = {row[0]: IndexedLock(*row[:3]) for row in rows if _is_whole(*row)}
        if len(whole) < len(rows):
            self._say(f"has {len(rows) - len(whole)} damaged or outdated entries: recreated from the lock files")
        return whole

    def replace(self, changed: Iterable[IndexedLock], gone: Iterable[str]) -> None:
        """Put these entries in and take those out; another run sees all of it or nothing.

        Where nothing can be written nothing is said: the result is the same without it.
        """
        try:
            self._make_folder()
            with closing(sqlite3.connect(self.file, timeout=_PATIENCE)) as connection, connection:
                connection.execute(_TABLE)
                connection.executemany("DELETE FROM locks WHERE id = ?", [(name,) for name in gone])
                rows = [(item.id, item.digest, item.claims, item.seal) for item in changed]
                connection.executemany("INSERT OR REPLACE INTO locks VALUES (?, ?, ?, ?)", rows)
        except (sqlite3.Error, OSError):
            return

    def _make_folder(self) -> None:
        folder = self.file.parent
        folder.mkdir(parents=True, exist_ok=True)
        ignored = folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")

    def _leave(self, error: sqlite3.DatabaseError) -> None:
        """One that cannot be had now stays for the next run; one that is damaged goes."""
        if error.sqlite_errorcode & 0xFF in _OUT_OF_REACH:
            self._say(f"is ignored ({error})")
        else:
            self._say(f"is damaged ({error}): recreated from the lock files")
            with suppress(OSError):  # a folder that cannot be written keeps it
                self.file.unlink(missing_ok=True)

    def _say(self, what: str) -> None:
        print(f"the index {self.file} {what}", file=sys.stderr)


class LazyLocks(Mapping[str, Lock]):
    """Locks by tenant; a file is parsed when its lock is first asked for as a whole."""

    def __init__(self, gathered: Gathered, entries: Mapping[str, IndexedLock]) -> None:
        self.gathered = gathered
        self.entries = entries
        self._whole: dict[str, Lock] = dict(gathered.tenants)
        self._bare: dict[str, Lock] = {}

    def __getitem__(self, name: str) -> Lock:
        if name not in self._whole:
            if name not in self.entries:
                raise KeyError(name)
            file = lock_file(self.gathered.folder, name)
            known = _checked_before(file, self.entries[name])
            self._whole[name] = known or load_lock(file, self.gathered.shown(file), Lock)
        return self._whole[name]

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def held(self) -> Iterator[Lock]:
        """All locks with their claims; footprints only of those that were asked for before."""
        return (self._whole.get(name) or self._without_footprint(name) for name in self.entries)

    def _without_footprint(self, name: str) -> Lock:
        if name not in self._bare:
            self._bare[name] = self.entries[name].lock()
        return self._bare[name]


def held(locks: Mapping[str, Lock]) -> Iterable[Lock]:
    """All locks as far as their claims go; whole ones where no index stands behind them."""
    return locks.held() if isinstance(locks, LazyLocks) else locks.values()


class IndexedReader:
    """Reads the locks of a site through an index: whole only those that it does not know."""

    def __init__(self, file: Path) -> None:
        self.index = Index(file)

    def __call__(self, folder: Path, base: Path, site: Site) -> LockFiles:
        """The locks as `read_locks` gives them, with the same faults."""
        del site
        gathered, known = Gathered(folder, base), self.index.entries()
        current: dict[str, IndexedLock] = {}
        for file in lock_files(folder):
            if file == lock_file(folder, SITE):
                gathered.site = gathered.read(file, SiteLock)
            elif (entry := _entry(gathered, file, known)) is not None:
                current[entry.id] = entry
        self._update(known, current)
        locks = LazyLocks(gathered, current)
        held = {lock.id: lock for lock in locks.held()}
        gathered.check_owners({name: lock.owner for name, lock in held.items()})
        gathered.check_requests(name for name, lock in held.items() if holds_claims(lock))
        return LockFiles(gathered.site, locks, tuple(gathered.faults))

    def _update(self, known: Mapping[str, IndexedLock], current: Mapping[str, IndexedLock]) -> None:
        changed = [entry for name, entry in current.items() if known.get(name) != entry]
        gone = known.keys() - current.keys()
        if changed or gone:
            self.index.replace(changed, gone)


def _entry(gathered: Gathered, file: Path, known: Mapping[str, IndexedLock]) -> IndexedLock | None:
    """The entry of a lock file: a known one if it is of these bytes, else one of the lock read whole."""
    digest = _digest(file)
    entry = known.get(file.name.removesuffix(".lock.json"))
    if entry is not None and digest and entry.digest == digest:
        return entry
    lock = gathered.read(file, Lock)
    if lock is None:
        return None
    gathered.tenants[lock.id] = lock
    if _digest(file) != digest:
        digest = ""  # written meanwhile: nobody knows which of the two was checked
    bare = lock.model_copy(update={"footprint": _NO_FOOTPRINT})
    return IndexedLock(lock.id, digest, bare.model_dump_json())


def _digest(file: Path) -> str:
    """The hash of a file's bytes; empty if it cannot be read, which reading it whole tells."""
    try:
        return _sha256(file.read_bytes())
    except OSError:
        return ""


def _checked_before(file: Path, entry: IndexedLock) -> Lock | None:
    """The lock of a file whose bytes were checked when its entry was made; None if they are others by now."""
    try:
        data = file.read_bytes()
        return Lock.model_validate_json(data) if _sha256(data) == entry.digest else None
    except (OSError, ValidationError):
        return None  # reading it with every check says what is wrong


def _is_whole(id_: object, digest: object, claims: object, seal: object) -> bool:
    texts = (id_, digest, claims)
    return all(isinstance(text, str) for text in texts) and IndexedLock(*map(str, texts)).seal == seal


@cache
def _form() -> str:
    """The form of locks: entries made under another one do not count."""
    return digest_of(Lock.model_json_schema())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
