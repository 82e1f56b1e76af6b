"""What stands on a worker's embedded cloud: the world of one folder of tests at a time.

Tests of one folder share a world, because to make it takes longer than to look at it. Tests of another folder count
objects and take the same ids, so the world goes before theirs is made. Files may thus run in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, TypeVar

import pytest

from tests.conftest import Sandbox

T = TypeVar("T")


class Stage:
    """One world, or none."""

    def __init__(self) -> None:
        #: Gives this worker a fresh cloud.
        self.reset: Callable[[], None] = lambda: None
        #: True once no file comes any more: what stands may go with its cloud.
        self.ending = False
        self._name = ""
        self._world: Any = None
        self._stack = ExitStack()

    def world(self, name: str, make: Callable[[], AbstractContextManager[T]]) -> T:
        """The world of this name: the one that stands, or one that is made after the other was taken down."""
        if name != self._name:
            self.clear()
            self._world = self._stack.enter_context(make())
            self._name = name
        found: T = self._world
        return found

    def clear(self, *, unless: str = "") -> None:
        """Take down what stands, but for the world of one name."""
        if self._name == unless:
            return
        self._name, self._world, stack = "", None, self._stack
        self._stack = ExitStack()
        stack.close()

    def discard(self) -> None:
        """Whatever is wrong with what stands, the next file finds an empty cloud."""
        with suppress(Exception):
            self.clear()
        self.reset()


#: A worker is one process with one cloud; every folder's `stage` is this one.
STAGE = Stage()


@pytest.fixture(scope="session")
def stage(sandbox: Sandbox) -> Iterator[Stage]:
    """What stands on this worker's cloud; taken down while the cloud is still up."""
    STAGE.reset = lambda: sandbox.supervise("reset")
    yield STAGE
    STAGE.ending = True
    STAGE.clear()


@pytest.fixture(scope="module")
def empty_cloud(stage: Stage) -> None:
    """No other folder's world is on the cloud while this file's tests run."""
    stage.clear()


@pytest.fixture(autouse=True)
def alone(request: pytest.FixtureRequest) -> None:
    """As `empty_cloud`, for each test that uses the cloud at all."""
    if "sandbox" in request.fixturenames:
        request.getfixturevalue("empty_cloud")


@pytest.fixture(scope="module", autouse=True)
def only_whole_worlds(request: pytest.FixtureRequest) -> Iterator[None]:
    """A world in which a test failed is handed to no other file."""
    before = request.session.testsfailed
    yield
    if request.session.testsfailed > before:
        STAGE.discard()
