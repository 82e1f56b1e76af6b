"""What stands on a worker's cloud: one world at a time, taken down before the next, and never handed on broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.support.cloud.stage import Stage

#: Name of a world -> how it is made.
Worlds = Callable[[str], Callable[[], AbstractContextManager[str]]]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def world(told: list[str]) -> Worlds:
    """How a world is made and taken down, which is told."""

    def of(name: str) -> Callable[[], AbstractContextManager[str]]:
        @contextmanager
        def make() -> Iterator[str]:
            told.append(f"{name} up")
            yield name
            told.append(f"{name} down")
            assert name != "broken"

        return make

    return of


def test_a_world_stands_until_another_is_asked_for(told: list[str], world: Worlds) -> None:
    stage = Stage()
    assert [stage.world(name, world(name)) for name in ("a", "a", "b", "a")] == ["a", "a", "b", "a"]
    assert told == ["a up", "a down", "b up", "b down", "a up"]
    stage.clear(unless="a")
    assert told[-1] == "a up"
    stage.clear(unless="b")
    stage.clear()
    assert told[-1:] == ["a down"]
    assert told.count("a down") == 2


def test_after_a_failure_the_cloud_is_fresh_however_the_world_goes(told: list[str], world: Worlds) -> None:
    stage = Stage()
    stage.reset = lambda: told.append("reset")
    stage.world("broken", world("broken"))
    stage.discard()
    assert told == ["broken up", "broken down", "reset"]
    assert stage.world("broken", world("broken")) == "broken"
