"""What all tests of components need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.event_loop import own_event_loop


@pytest.fixture(scope="package", autouse=True)
def event_loop_of_the_thread() -> Iterator[None]:
    """A loop of these tests' own."""
    with own_event_loop():
        yield
