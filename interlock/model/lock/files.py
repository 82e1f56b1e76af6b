"""Lock files: read with their hash checked, written so that equal locks are equal bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from interlock.model.site.inventory import Site
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.source import Source, Step
from interlock.vocabulary import Position
from interlock.vocabulary.owners import OwnerId
from interlock.whole_files import write_at_once

from .record import FORMAT, Lock, SiteLock

LOCK = ".lock.json"
#: What the operator's own stack is called where tenants stand.
SITE = "site"

L = TypeVar("L", Lock, SiteLock)


@dataclass(frozen=True)
class LockFiles:
    """The locks of one site, and everything that is wrong with their files."""

    site: SiteLock | None
    #: Locks of tenants, by id.
    tenants: Mapping[str, Lock]
    faults: tuple[InputError, ...] = ()


#: (folder of the site, folder that holds `stacks/`, the site) -> its locks. Never raises InputErrors.
LockReader = Callable[[Path, Path, Site], LockFiles]


def read_locks(folder: Path, base: Path, site: Site) -> LockFiles:
    """Every lock of a site, parsed, validated and with its hash checked."""
    del site  # only readers that convert older formats need it
    gathered = Gathered(folder, base)
    for file in lock_files(folder):
        if file.name == f"{SITE}{LOCK}":
            gathered.site = gathered.read(file, SiteLock)
        elif (lock := gathered.read(file, Lock)) is not None:
            gathered.tenants[lock.id] = lock
    gathered.check_owners({name: lock.owner for name, lock in gathered.tenants.items()})
    gathered.check_requests(name for name, lock in gathered.tenants.items() if holds_claims(lock))
    return gathered.finished()


class Gathered:
    """Locks of one site while they are read; goes on after a fault, so that all faults are told at once."""

    def __init__(self, folder: Path, base: Path) -> None:
        self.folder = folder
        self.base = base
        self.site: SiteLock | None = None
        self.tenants: dict[str, Lock] = {}
        self.faults: list[InputError] = []

    def shown(self, file: Path) -> str:
        """The name of a file in messages."""
        return file.relative_to(self.base).as_posix()

    def read(self, file: Path, kind: type[L]) -> L | None:
        """One lock, or None and its faults kept."""
        try:
            return load_lock(file, self.shown(file), kind)
        except InputErrors as error:
            self.faults += error.errors
            return None

    def check_owners(self, owners: Mapping[str, OwnerId]) -> None:
        """An owner id is minted once; two locks with one id come from a copied file."""
        seen = {self.site.owner: SITE} if self.site is not None else {}
        for name, owner in owners.items():
            first = seen.setdefault(owner, name)
            if first != name:
                message = f"the locks of `{first}` and `{name}` have one owner id: one is a copy of the other"
                hint = f"delete the lock that was copied and run `interlock lock {name}`"
                position = self.shown(lock_file(self.folder, name))
                self.faults.append(InputError(Code.LOCK_EDITED, position, message, hint))

    def check_requests(self, holding: Iterable[str]) -> None:
        """Claims without a request would count for ever: nothing says that their owner is to go."""
        told = set(holding)
        for name in sorted(told):
            request = self.folder / "tenants" / f"{name}.yaml"
            if not request.is_file():
                message = f"the lock of `{name}` holds claims, and `{self.shown(request)}` is not there"
                hint = (
                    f"restore the file with `state: gone`, run `interlock lock {name}` and apply it, and let "
                    "`interlock settle` see that everything has let go; then delete the request. Keep the lock for as "
                    "long as devices that it notes under `settled` are in use: nobody else knows what rests on A9"
                )
                position = self.shown(lock_file(self.folder, name))
                self.faults.append(InputError(Code.LOCK_WITHOUT_REQUEST, position, message, hint))
        self._check_noted_keys(told)

    def _check_noted_keys(self, told: set[str]) -> None:
        """Former login keys that the operator's lock notes of a tenant whose request is not there."""
        noted = self.site.former_keys.keys() if self.site is not None else set()
        for name in sorted(noted - told):
            request = self.folder / "tenants" / f"{name}.yaml"
            if not request.is_file():
                message = f"former ssh keys of `{name}` are noted, and `{self.shown(request)}` is not there"
                hint = (
                    f"restore the file with `state: gone`, and the lock of `{name}` beside it, or run `interlock lock "
                    f"{name}`; then let `interlock settle {name}` see that no server is left that has them"
                )
                position = self.shown(lock_file(self.folder, SITE))
                self.faults.append(InputError(Code.LOCK_WITHOUT_REQUEST, position, message, hint))

    def finished(self) -> LockFiles:
        """Everything that was read."""
        return LockFiles(self.site, MappingProxyType(self.tenants), tuple(self.faults))


def holds_claims(lock: Lock) -> bool:
    """True if anything is given to its tenant, or was and is not settled."""
    return bool(lock.allocation.parts or lock.released or lock.former_keys)


def lock_files(folder: Path) -> list[Path]:
    """The lock files of a site's folder: the operator's first, then those of the tenants by id."""
    site = [file for file in (lock_file(folder, SITE),) if file.is_file()]
    return site + sorted((folder / "tenants").glob(f"*{LOCK}"))


def lock_file(folder: Path, owner: str) -> Path:
    """The lock file of a tenant, or of the site (`site`)."""
    return folder / f"{SITE}{LOCK}" if owner == SITE else folder / "tenants" / f"{owner}{LOCK}"


def load_lock(file: Path, name: str, kind: type[L]) -> L:
    """The lock in `file`; messages call it `name`. Raises InputErrors if it is not what was written."""
    source = Source.read(file, name)
    value = lock_value(source)
    _require_format(source, value)
    lock = _validated(source, value, kind)
    if lock.hash != lock.expected_hash():
        raise InputErrors([edited(source, ("hash",), "edited by hand: its hash does not fit what it says")])
    require_name(source, lock.id)
    return lock


def require_name(source: Source, identity: str) -> None:
    """Raises InputErrors if the file is called after another tenant than the one it is the lock of."""
    if identity != _identity(source.file):
        message = f"a lock of `{identity}` under the name of `{_identity(source.file)}`"
        raise InputErrors([edited(source, ("id",), message)])


def dump_lock(lock: Lock | SiteLock, file: Path) -> None:
    """Writes the lock, sealed, at once or not at all: a crash leaves the old file."""
    write_at_once(file, lock_text(lock))


def lock_text(lock: Lock | SiteLock) -> str:
    """The text of a lock file: sealed, keys sorted."""
    return json.dumps(lock.sealed().model_dump(mode="json"), indent=2, sort_keys=True) + "\n"


def lock_value(source: Source) -> dict[str, Any]:
    """What the JSON of a lock file says. Raises InputErrors on an unresolved merge, or if it is no JSON."""
    if "\n<<<<<<< " in f"\n{source.text}":
        hint = "take either side whole, then run `interlock lock`; halves of two locks are no lock"
        raise InputErrors([InputError(Code.SYNTAX, str(Position(source.name)), "an unresolved merge", hint)])
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            # Readers see the last of them, and people the first.
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return found

    try:
        value = json.loads(source.text, object_pairs_hook=once)
    except (json.JSONDecodeError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        hint = f"restore it with `git checkout -- {source.name}`"
        position = str(Position(source.name, line, column))
        raise InputErrors([InputError(Code.SYNTAX, position, "not JSON", hint)]) from None
    if twice:
        raise InputErrors([edited(source, (), f"edited by hand: it says `{twice[0]}` twice")])
    return value if isinstance(value, dict) else {}


def edited(source: Source, path: tuple[Step, ...], message: str) -> InputError:
    """The fault of a lock that is not as `interlock lock` wrote it."""
    command = f"interlock lock {_identity(source.file)}"
    hint = f"restore it with `git checkout -- {source.name}`, or change the request and run `{command}`"
    return source.error(Code.LOCK_EDITED, path, message, hint)


def _require_format(source: Source, value: Mapping[str, Any]) -> None:
    found = value.get("format")
    if found == FORMAT:
        return
    message = f"a lock of {f'format {found}' if found else 'no format'}: this version reads format {FORMAT}"
    hint = f"restore it with `git checkout -- {source.name}`"
    if isinstance(found, int) and 0 < found < FORMAT:
        hint = "run `interlock lock --upgrade`, which changes no claim"
    elif isinstance(found, int) and found > FORMAT:
        message = f"a lock of format {found}: this version of interlock is too old and reads format {FORMAT}"
        hint = "use the version of interlock that wrote it, or a later one"
    raise InputErrors([source.error(Code.LOCK_FORMAT, ("format",), message, hint)])


def _identity(file: Path) -> str:
    return file.name.removesuffix(LOCK)


def _validated(source: Source, value: dict[str, Any], kind: type[L]) -> L:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        found = [edited(source, detail["loc"], _where(detail)) for detail in details]
        raise InputErrors(found) from None


def _where(detail: ErrorDetails) -> str:
    """The place, and of what can be read but is no lock's the reason."""
    reason = detail.get("ctx", {}).get("error")
    place = ".".join(str(step) for step in detail["loc"])
    return f"edited by hand: no lock says `{place}` so" + (f": {reason}" if reason is not None else "")
