"""Waits until the process is told to end, by SIGTERM or SIGINT, and leaves its signals as they were.

What is blocked stays so in all that a process starts from then on: a test that serves in its own process, and fails
before it waits, must not leave children behind that hear no SIGTERM.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDS = frozenset({signal.SIGTERM, signal.SIGINT})


@contextmanager
def told_to_end() -> Iterator[Callable[[], object]]:
    """Yields the call that waits for a signal. Threads that are started inside leave it to the waiting one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield lambda: signal.sigwait(ENDS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
