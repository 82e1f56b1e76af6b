"""Named steps with their time, on stderr; stdout is kept for data."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SIGN_OF_LIFE_SECONDS = 10.0


def say(text: str) -> None:
    """One line to the person who waits."""
    print(f"sandbox: {text}", file=sys.stderr, flush=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Announce a step, show life now and then, tell its time. When a step fails, its error says why."""
    say(f"{name} ...")
    began = time.monotonic()
    over = threading.Event()
    watcher = threading.Thread(target=show_life, args=(name, began, over), daemon=True)
    watcher.start()
    try:
        yield
    except BaseException:
        say(f"{name}: not finished after {time.monotonic() - began:.1f} s")
        raise
    finally:
        over.set()
        watcher.join()
    say(f"{name}: done in {time.monotonic() - began:.1f} s")


def show_life(name: str, began: float, over: threading.Event) -> None:
    """Say that a step goes on, until it is over."""
    while not over.wait(SIGN_OF_LIFE_SECONDS):
        say(f"{name}: {time.monotonic() - began:.0f} s so far")
