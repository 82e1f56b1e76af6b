"""How long an object is waited for: as a whole, and in states that may last less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.provider.actuators import Observed, Phase
from interlock.provider.removing import Waiting

LONG = Observed("id", "mark", phase=Phase.PENDING)
SHORT = Observed("id", "mark", phase=Phase.PENDING, patience=90.0)


@dataclass
class Clock:
    """A clock that a test sets, in seconds."""

    now: float = 0.0

    def at(self, now: float) -> None:
        """Sets it."""
        self.now = now

    @property
    def read(self) -> Callable[[], float]:
        """What is asked for the time."""
        return lambda: self.now


def test_a_state_without_a_limit_may_last_as_long_as_its_kind() -> None:
    clock = Clock(5.0)
    waiting = Waiting(clock.read, 7200.0)
    clock.at(7205.0)
    assert waiting.too_long(LONG) is None
    clock.at(7206.0)
    assert waiting.too_long(LONG) == 7200.0
    assert waiting.elapsed == 7201.0


def test_a_state_with_a_limit_counts_from_when_it_is_first_seen() -> None:
    """A host that took an hour to boot does not use up what its switches have to answer in."""
    clock = Clock()
    waiting = Waiting(clock.read, 7200.0)
    clock.at(3600.0)
    assert waiting.too_long(SHORT) is None
    clock.at(3690.0)
    assert waiting.too_long(SHORT) is None
    clock.at(3691.0)
    assert waiting.too_long(SHORT) == 90.0


def test_a_state_with_a_limit_that_was_left_begins_anew() -> None:
    clock = Clock()
    waiting = Waiting(clock.read, 7200.0)
    assert waiting.too_long(SHORT) is None
    clock.at(80.0)
    assert waiting.too_long(LONG) is None
    clock.at(100.0)
    assert waiting.too_long(SHORT) is None
    clock.at(190.0)
    assert waiting.too_long(SHORT) is None
    clock.at(191.0)
    assert waiting.too_long(SHORT) == 90.0
