"""What a person sees while something is made: named steps with times, on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

HEARTBEAT_SECONDS = 10.0
"""The longest silence during a step."""


def say(text: str) -> None:
    """One line for people; stdout is kept for data."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(name: str, heartbeat: float = HEARTBEAT_SECONDS) -> Iterator[None]:
    """Announce `name`, give a sign of life every `heartbeat` seconds, and say how long it took."""
    begun = time.monotonic()
    over = threading.Event()
    say(f"  {name} …")
    pulse = threading.Thread(target=_pulse, args=(name, begun, over, heartbeat), daemon=True)
    pulse.start()
    outcome = "stopped after"
    try:
        yield
        outcome = "done in"
    finally:
        over.set()
        pulse.join()
        say(f"  {name} {outcome} {time.monotonic() - begun:.1f} s")


def _pulse(name: str, begun: float, over: threading.Event, heartbeat: float) -> None:
    while not over.wait(heartbeat):
        say(f"  {name} … {time.monotonic() - begun:.0f} s")
