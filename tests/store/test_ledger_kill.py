"""Every call of the ledger to its store is the last one: killed before it, after it, or its answer lost.

Afterwards whatever is left is in the stack's record, and the same run again ends where an uninterrupted one does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.store.folder import FolderStore
from interlock.store.ledger import Ledger, Refused
from interlock.store.objects import ObjectStore, StoreFailed
from interlock.store.records import FootprintRecord
from tests.store.memory import AFTER, BEFORE, MemoryStore, WatchedStore
from tests.store.world import content, entry, require_listed, require_marked, taking

OLD = entry(["machine:1", "segment:1"], ["L:1", "dev:1"])
NEW = entry(["machine:1", "machine:2"], ["L:1", "dev:2"])
NEAR = entry(["machine:9"], ["L:1"])
Action = Callable[[ObjectStore], object]


def neighbour(store: ObjectStore) -> None:
    Ledger(store).take(taking("beta", NEAR, Ledger(store)), None)


def old_applied(store: ObjectStore) -> None:
    neighbour(store)
    take_old(store)
    ledger = Ledger(store)
    ledger.confirm("acme", lineage(store) or "")


def both_applied(store: ObjectStore) -> None:
    old_applied(store)
    take_new(store)


def lineage(store: ObjectStore) -> str | None:
    record = Ledger(store).stack("acme")
    return record.lineage if record else None


def take_old(store: ObjectStore) -> None:
    Ledger(store).take(taking("acme", OLD, Ledger(store), met=("L:1", "dev:1", "far:1")), None)


def take_new(store: ObjectStore) -> None:
    Ledger(store).take(taking("acme", NEW, Ledger(store), serial=2), lineage(store))


def confirm(store: ObjectStore) -> None:
    Ledger(store).confirm("acme", lineage(store) or "")


def drop_old(store: ObjectStore) -> None:
    Ledger(store).drop("acme", lineage(store) or "", OLD.digest)


def settle(store: ObjectStore) -> None:
    Ledger(store).release("acme", ["segment:1"])


#: What is there, what is done, and the entries that may be applied all the while: they are never without marks.
CASES: dict[str, tuple[Action, Action, tuple[FootprintRecord, ...]]] = {
    "the first take": (neighbour, take_old, ()),
    "a take over another entry": (old_applied, take_new, (OLD,)),
    "the same take again": (both_applied, take_new, (OLD, NEW)),
    "a confirmation": (both_applied, confirm, (OLD, NEW)),
    "a drop beside a remaining entry": (both_applied, drop_old, (NEW,)),
    "the last drop": (old_applied, drop_old, ()),
    "a release": (old_applied, settle, ()),
}


def points(before: Action, action: Action) -> Iterator[tuple[int, str]]:
    """Number of the call and moment, for every call that the action makes."""
    store = MemoryStore()
    before(store)
    watched = WatchedStore(store, lambda *_: None)
    action(watched)
    for number in range(watched.calls):
        yield number, BEFORE
        yield number, AFTER


def outcome(before: Action, action: Action) -> dict[str, object]:
    """What an uninterrupted run leaves."""
    store = MemoryStore()
    before(store)
    action(store)
    return content(store)


@pytest.mark.parametrize("case", CASES)
def test_killed_at_every_call(case: str, tmp_path: Path) -> None:
    """By SIGKILL, on a folder."""
    before, action, standing = CASES[case]
    expected = outcome(before, action)
    for number, moment in points(before, action):
        store = FolderStore(tmp_path / f"{number}-{moment}")
        before(store)
        killed(store, action, number, moment)
        require_listed_of(store, case)
        for item in standing:
            require_marked(store, "acme", item)
        action(store)
        assert content(store) == expected, f"{case}, killed {moment} call {number}"


@pytest.mark.parametrize("case", CASES)
def test_fault_at_every_call(case: str) -> None:
    """The store fails, or answers no more: what was written is taken back, or is there and listed."""
    before, action, standing = CASES[case]
    expected = outcome(before, action)
    for number, moment in points(before, action):
        store = MemoryStore()
        before(store)
        present = content(store)
        with pytest.raises(StoreFailed):
            action(WatchedStore(store, failing(number, moment)))
        require_listed_of(store, case)
        for item in standing:
            require_marked(store, "acme", item)
        if "take" in case:
            assert content(store) == present, f"{case}, failed {moment} call {number}"
        action(store)
        assert content(store) == expected, f"{case}, failed {moment} call {number}"


@pytest.mark.parametrize("case", ["the first take", "a take over another entry"])
def test_killed_while_taking_back(case: str, tmp_path: Path) -> None:
    """A take is refused at its very end, and killed at every call that takes back what it wrote."""
    before, action, standing = CASES[case]
    expected = outcome(before, action)
    calls = max(number for number, _ in points(before, action))
    # The calls of the way back are fewer than twice those of the way there.
    for number in range(calls, 3 * calls):
        store = FolderStore(tmp_path / str(number))
        before(store)
        killed(store, action, number, BEFORE, failing(calls, AFTER))
        require_listed_of(store, case)
        for item in standing:
            require_marked(store, "acme", item)
        action(store)
        assert content(store) == expected, f"{case}, killed before call {number}"


def require_listed_of(store: ObjectStore, case: str) -> None:
    """A release takes the identity out of the record first: until it is run again, its claim is too much."""
    if case != "a release":
        require_listed(store)


def failing(at: int, moment: str) -> Callable[[int, str, str, str], None]:
    def watch(number: int, name: str, key: str, when: str) -> None:
        if (number, when) == (at, moment):
            raise StoreFailed("no answer", "run again")

    return watch


def killed(
    store: ObjectStore,
    action: Action,
    at: int,
    moment: str,
    also: Callable[[int, str, str, str], None] = lambda *_: None,
) -> None:
    """Do this in a process of its own that is killed there."""

    def watch(number: int, name: str, key: str, when: str) -> None:
        if (number, when) == (at, moment):
            os.kill(os.getpid(), signal.SIGKILL)
        also(number, name, key, when)

    child = os.fork()
    if child == 0:
        try:
            action(WatchedStore(store, watch))
        except (StoreFailed, Refused):
            os._exit(1)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
