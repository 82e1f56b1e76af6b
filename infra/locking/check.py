"""`interlock lock --check`: computes every lock again, compares it with its file, and finds claims held twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from infra.cli.exits import Exit
from infra.locking.conflicts import Conflict, conflicts
from infra.locking.making import Made, Making
from infra.locking.places import Places
from infra.program.gate import Gate, NotPlanned
from interlock.model.lock.record import Lock, SiteLock
from interlock.model.text.source import Step
from interlock.planning.devices import without_serials

Path = tuple[Step, ...]

#: What a lock records besides; a difference in these follows from others, or says nothing.
LEFT_OUT = {"format", "hash", "serial"}
#: What the field of a hash covers.
COVERS = {"request": "the request", "site": "the site"}
ABSENT = "nothing"


@dataclass(frozen=True)
class LockDifference:
    """A field of a lock that is not what it should be. `position` is `file:line:column`."""

    lock: str
    field: str
    says: str
    should: str
    position: str

    def __str__(self) -> str:
        if self.field in COVERS:
            return f"{self.position}: `{self.field}` is the hash of {COVERS[self.field]} as it was, not as it is"
        if not self.field:
            return f"{self.position}: `{self.lock}` has no lock"
        return f"{self.position}: `{self.field}` says {self.says} and should say {self.should}"


@dataclass
class Report:
    """What checking the locks of one site found."""

    site: str
    #: Number of locks looked at.
    looked_at: int = 0
    differences: list[LockDifference] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    #: Requests that cannot be fulfilled, so that no lock can be derived.
    not_planned: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> Exit:
        """2 if a lock could not be derived, else 1 if anything differs or is held twice."""
        if self.not_planned:
            return Exit.INPUT
        return Exit.VIOLATED if self.differences or self.conflicts else Exit.PROVED

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "site": self.site,
            "exit_code": int(self.exit_code),
            "locks": self.looked_at,
            "differences": [vars(item) for item in self.differences],
            "conflicts": [
                {"what": item.what, "holders": [vars(holder) for holder in item.holders], "hint": item.hint}
                for item in self.conflicts
            ],
            "not_planned": self.not_planned,
        }


def check_locks(gate: Gate, tick: Callable[[str], None] = lambda _: None) -> Report:
    """Derive every lock of a site again; nothing is written. `tick` hears the name of each tenant."""
    workspace, places = gate.workspace, Places(gate.workspace)
    report = Report(workspace.site.name, looked_at=len(workspace.locks) + (workspace.site_lock is not None))
    making = Making(gate, workspace.locks.values())
    all_made: list[Made] = []
    for name in sorted(workspace.tenants):
        tick(name)
        try:
            made = making.make(name)
        except NotPlanned as error:
            report.not_planned.append(str(error))
            continue
        all_made.append(made)
        found = differences(made.old, made.new, places)
        report.differences += [item for item in found if item.field != "site" or not _is_of_this_site(gate, made)]
    report.differences[:0] = differences(workspace.site_lock, making.site_lock_after(all_made), places)
    report.conflicts = conflicts(workspace.site, workspace.locks.values(), places)
    return report


def _is_of_this_site(gate: Gate, made: Made) -> bool:
    """True if the site is as it was for the claims that the lock holds: only the new claims use another slice."""
    return made.old is not None and made.old.site == gate.hashes.slice_hash(made.old.allocation)


def differences(old: Lock | SiteLock | None, new: Lock | SiteLock, places: Places) -> list[LockDifference]:
    """Every field in which a lock is not what request and site call for."""
    if old is None:
        return [LockDifference(new.id, "", ABSENT, "a lock", places.position(new.id))]
    if isinstance(old, SiteLock) and isinstance(new, SiteLock) and not old.serials and not new.untested:
        # An earlier version wrote it, and recorded no devices.
        new = new.model_copy(update={"serials": {}, "left": ()})
    if isinstance(old, Lock) and isinstance(new, Lock) and not old.serials:
        # An earlier version wrote it, and recorded no serials.
        old, new = without_serials(old), without_serials(new)
    says, should = (_comparable(item).model_dump(mode="json", exclude=LEFT_OUT) for item in (old, new))
    return [
        LockDifference(new.id, ".".join(map(str, path)), left, right, places.position(new.id, path))
        for path, left, right in _differing(says, should, ())
    ]


def _comparable(lock: Lock | SiteLock) -> Lock | SiteLock:
    """Without the times at which something was given up or replaced: only the run that writes a lock notes them."""
    if isinstance(lock, SiteLock):
        untested = tuple(entry.model_copy(update={"since": ""}) for entry in lock.untested)
        noted = {
            name: tuple(one.model_copy(update={"since": ""}) for one in keys) for name, keys in lock.former_keys.items()
        }
        return lock.model_copy(update={"untested": untested, "former_keys": noted})
    released = tuple(entry.model_copy(update={"since": ""}) for entry in lock.released)
    replaced = tuple(entry.model_copy(update={"since": ""}) for entry in lock.replaced)
    former = tuple(entry.model_copy(update={"since": ""}) for entry in lock.former_keys)
    return lock.model_copy(update={"released": released, "replaced": replaced, "former_keys": former})


def _differing(says: Any, should: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    """(path, what stands there, what should) of the smallest parts that differ."""
    if says == should:
        return
    if isinstance(says, dict) and isinstance(should, dict):
        for key in sorted({*says, *should}):
            yield from _differing(says.get(key), should.get(key), (*path, key))
    elif isinstance(says, list) and isinstance(should, list) and path[0] != "allocation":
        yield from _members(says, should, path)
    else:
        yield path, _shown(says), _shown(should)


def _members(says: list[Any], should: list[Any], path: Path) -> Iterator[tuple[Path, str, str]]:
    """Lists outside the allocation are sets, sorted: what is in one of them only."""
    left, right = ({_shown(item): index for index, item in enumerate(items)} for items in (says, should))
    yield from (((*path, index), text, ABSENT) for text, index in left.items() if text not in right)
    yield from ((path, ABSENT, text) for text in right if text not in left)


def _shown(value: Any) -> str:
    return ABSENT if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


#: Differences of one lock that are told one by one; a change of the site file may bring hundreds.
TOLD = 16


def text(reports: Iterable[Report]) -> str:
    """What was found, for people; one summary line for each site at its end."""
    return "\n".join(line for report in reports for line in _lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    by_lock: dict[str, list[LockDifference]] = {}
    for item in report.differences:
        by_lock.setdefault(item.lock, []).append(item)
    for name, items in by_lock.items():
        yield from map(str, items[:TOLD])
        if len(items) > TOLD:
            yield f"  … and {len(items) - TOLD} more in the lock of `{name}`"
        yield f"  hint: run `interlock lock{'' if name == 'site' else f' {name}'}`"
    for conflict in report.conflicts:
        yield f"{conflict.what} is claimed {len(conflict.holders)} times:"
        yield from (f"  {holder}" for holder in conflict.holders)
        yield f"  hint: {conflict.hint}"
    yield from report.not_planned
    yield f"{report.site}: {report.looked_at} lock(s): {_summary(report)}"


def _summary(report: Report) -> str:
    counts = {
        "difference(s)": len(report.differences),
        "claim(s) held twice": len(report.conflicts),
        "request(s) that cannot be fulfilled": len(report.not_planned),
    }
    found = [f"{count} {word}" for word, count in counts.items() if count]
    return ", ".join(found) or "as they should be, and no claim is held twice"
