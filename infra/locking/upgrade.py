"""`interlock lock --upgrade`: locks of an earlier format written in the present one, without a change of a claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from infra.locking.making import Made, Making
from infra.program.gate import Gate, NotPlanned
from interlock.model.lock.files import SITE, Gathered, LockFiles, holds_claims, lock_file, lock_files
from interlock.model.lock.formats import load_any_lock
from interlock.model.lock.record import Lock, SiteLock
from interlock.model.site.inventory import Site
from interlock.model.text.errors import InputErrors


@dataclass
class UpgradingReader:
    """Reads locks of every known format; `upgraded` holds the names of those that were of an earlier one."""

    upgraded: set[str] = field(default_factory=set)

    def __call__(self, folder: Path, base: Path, site: Site) -> LockFiles:
        """The locks of a site as `read_locks` gives them."""
        gathered = Gathered(folder, base)
        for file in lock_files(folder):
            try:
                if file == lock_file(folder, SITE):
                    gathered.site, old = load_any_lock(file, gathered.shown(file), SiteLock, site)
                    name = SITE
                else:
                    lock, old = load_any_lock(file, gathered.shown(file), Lock, site)
                    name = lock.id
                    gathered.tenants[name] = lock
            except InputErrors as error:
                gathered.faults += error.errors
                continue
            self.upgraded |= {name} if old else set()
        gathered.check_owners({name: lock.owner for name, lock in gathered.tenants.items()})
        gathered.check_requests(name for name, lock in gathered.tenants.items() if holds_claims(lock))
        return gathered.finished()


@dataclass(frozen=True)
class Upgrade:
    """The locks to write. `stale`: their requests changed after them, so their hashes stay old."""

    site: SiteLock | None
    tenants: tuple[Lock, ...]
    stale: tuple[str, ...]


def upgraded(gate: Gate, names: set[str]) -> Upgrade:
    """The locks of these names with what the present format records besides: hashes and footprint recreated.

    `gate` was opened with an `UpgradingReader`. Where the request calls for other claims than the lock holds,
    the lock stays as converted: it says that it is older than its request, and `interlock lock` renews it.
    """
    making = Making(gate, gate.workspace.locks.values())
    locks: list[Lock] = []
    stale: list[str] = []
    for converted, made in _made(gate, making, sorted(names - {SITE})):
        if made is not None and _same_claims(converted, made.new):
            locks.append(made.new.model_copy(update={"serial": converted.serial}).sealed())
        else:
            locks.append(converted)
            stale.append(converted.id)
    return Upgrade(_site_lock(gate, making.site_lock) if SITE in names else None, tuple(locks), tuple(stale))


def _made(gate: Gate, making: Making, names: list[str]) -> Iterator[tuple[Lock, Made | None]]:
    for name in names:
        converted = gate.workspace.locks[name]
        try:
            yield converted, making.make(name) if name in gate.workspace.tenants else None
        except NotPlanned:
            yield converted, None


def _same_claims(one: Lock, other: Lock) -> bool:
    released = ([entry.key for entry in lock.released] for lock in (one, other))
    return one.allocation == other.allocation and len({tuple(keys) for keys in released}) == 1


def _site_lock(gate: Gate, wanted: SiteLock) -> SiteLock:
    converted = gate.workspace.site_lock
    serial = converted.serial if converted else 1
    return wanted.model_copy(update={"serial": serial}).sealed()
