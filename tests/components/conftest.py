"""Pulumi's mocks are made in the event loop of the thread; a test elsewhere may have closed it and left none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def event_loop_of_the_thread() -> Iterator[None]:
    """A loop of these tests' own."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
