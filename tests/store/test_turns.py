"""Turns: one holder at a time, whoever was killed blocks nobody for ever, and whoever lost its turn is told."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from interlock.retry import RetryPolicy
from interlock.store.folder import FolderStore
from interlock.store.refusals import IdentityTaken
from interlock.store.turns import Turns
from tests.conftest import ROOT
from tests.store.memory import MemoryStore

SUBJECT = "the shared partitions of ib-1"


@dataclass
class Time:
    """Time that passes when somebody waits. `meanwhile` runs at every wait."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(clock=lambda: self.now, sleep=self.sleep)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def time() -> Time:
    return Time()


def of(store: MemoryStore, time: Time, process: str, **limits: float) -> Turns:
    return Turns(store, time.policy, process=process, **limits)


def test_whoever_has_it_gives_it_to_the_next(store: MemoryStore, time: Time) -> None:
    for stack in ("lyon-acme", "lyon-globex"):
        with of(store, time, stack).turn(SUBJECT, stack) as turn:
            turn.still()
            turn.still()
    assert time.waits == []
    assert list(store.items("turns/")) == []


def test_another_waits_and_says_for_whom(store: MemoryStore, time: Time) -> None:
    with of(store, time, "a").turn(SUBJECT, "lyon-acme"):
        told = pytest.raises(
            IdentityTaken, match=f"{SUBJECT} is being written by stack lyon-acme .*, and was so for 9 s"
        )
        with told, of(store, time, "b", patience=9.0).turn(SUBJECT, "lyon-globex"):
            raise AssertionError("two have the turn")
        with of(store, time, "b").turn("the shared partitions of ib-2", "lyon-globex") as elsewhere:
            elsewhere.still()
    assert sum(time.waits) == 9.0


def test_a_run_that_is_cancelled_waits_no_longer_and_leaves_nothing(store: MemoryStore, time: Time) -> None:
    cancelled_at = 3.2
    policy = replace(time.policy, cancelled=lambda: time.now >= cancelled_at)
    with of(store, time, "a").turn(SUBJECT, "lyon-acme"):
        before = dict(store.items("turns/"))
        told = pytest.raises(IdentityTaken, match=r"by stack lyon-acme .*, and the run was cancelled while it waited\n")
        with told, Turns(store, policy, process="b").turn(SUBJECT, "lyon-globex"):
            raise AssertionError("two have the turn")
        assert time.now - cancelled_at <= 1.0
        assert dict(store.items("turns/")) == before
    # Whoever has the turn is not disturbed: what it does it ends.
    with Turns(store, policy, process="b").turn(SUBJECT, "lyon-globex") as turn:
        turn.still()
    assert list(store.items("turns/")) == []


def test_a_holder_that_is_at_work_keeps_it(store: MemoryStore, time: Time) -> None:
    """Longer than the lease in all, and each step is within it."""
    policy = time.policy
    with of(store, time, "a").turn(SUBJECT, "lyon-acme") as turn:

        def sleep(seconds: float) -> None:
            turn.still()
            time.sleep(seconds)

        slow = Turns(store, RetryPolicy(clock=policy.clock, sleep=sleep), lease=2.0, patience=20.0, process="b")
        with pytest.raises(IdentityTaken), slow.turn(SUBJECT, "lyon-globex"):
            raise AssertionError("it was taken from one who is at work")


def test_one_that_was_killed_is_taken_over_and_finds_out_if_it_was_only_slow(store: MemoryStore, time: Time) -> None:
    with of(store, time, "a", lease=60.0).turn(SUBJECT, "lyon-acme") as slow:
        with of(store, time, "b", lease=60.0).turn(SUBJECT, "lyon-globex") as quick:
            assert 60.0 <= time.now < 62.0
            with pytest.raises(IdentityTaken, match=r"stack lyon-globex .* went on"):
                slow.still()
            quick.still()
        with pytest.raises(IdentityTaken, match="somebody, who is done, went on"):
            slow.still()


def test_the_end_of_one_that_lost_its_turn_takes_nothing_from_the_next(store: MemoryStore, time: Time) -> None:
    with of(store, time, "a", lease=1.0).turn(SUBJECT, "lyon-acme"):
        other = of(store, time, "b", lease=1.0).turn(SUBJECT, "lyon-globex")
        second = other.__enter__()
    second.still()
    other.__exit__(None, None, None)


def test_the_next_run_of_the_stack_does_not_wait_for_one_that_was_killed(store: MemoryStore, time: Time) -> None:
    with of(store, time, "a").turn(SUBJECT, "lyon-acme"):
        with of(store, time, "b").turn(SUBJECT, "lyon-acme") as again:
            again.still()
        assert time.waits == []
        # A second thread of the same process is no run that was killed.
        with of(store, time, "b").turn(SUBJECT, "lyon-acme"):
            second = of(store, time, "b", patience=3.0)
            with pytest.raises(IdentityTaken), second.turn(SUBJECT, "lyon-acme"):
                raise AssertionError("two threads have the turn")


@pytest.fixture
def folder(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "claims")


def test_of_many_at_once_each_has_it_alone(folder: FolderStore) -> None:
    """Real threads and a real folder: each reads, waits and writes a counter that loses steps if two are in."""
    file, inside = folder.path.parent / "counter", []
    file.write_text("0")

    def work(number: int) -> None:
        with Turns(folder, RetryPolicy(), process=str(number)).turn(SUBJECT, f"lyon-{number}") as turn:
            inside.append(number)
            assert len(inside) == 1
            before = int(file.read_text())
            turn.still()
            file.write_text(str(before + 1))
            inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_text() == "8"


_KILLED = """
import os, sys
from pathlib import Path
from interlock.retry import RetryPolicy
from interlock.store.folder import FolderStore
from interlock.store.turns import Turns
with Turns(FolderStore(Path(sys.argv[1])), RetryPolicy()).turn(sys.argv[2], "lyon-acme") as turn:
    turn.still()
    os.kill(os.getpid(), 9)
"""


def test_a_process_that_is_killed_with_it_lets_others_on_after_the_lease(folder: FolderStore) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(folder.path), SUBJECT], cwd=ROOT, env=dict(os.environ), check=False
    )
    assert ended.returncode == -9
    assert len(list(folder.items("turns/"))) == 1
    with Turns(folder, RetryPolicy(), lease=0.6).turn(SUBJECT, "lyon-globex") as turn:
        turn.still()
    assert list(folder.items("turns/")) == []
