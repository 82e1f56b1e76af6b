"""Pulumi's mocks are made in the event loop of the thread; a test elsewhere may have closed it and left none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_event_loop() -> Iterator[None]:
    """A loop of these tests' own."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.close()
        asyncio.set_event_loop(None)
