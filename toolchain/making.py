"""How things are made: one maker at a time, under a temporary name, with a stamp that says from what."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from toolchain.progress import say

STAMP = "made-from"
"""Name of the file, inside each thing made, that holds the digest of what it was made from."""


def digest(*parts: bytes | str) -> str:
    """SHA-256 over the parts, each with its length, so that different lists never look alike."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


def is_made(folder: Path, source: str) -> bool:
    """Whether `folder` was made, to its end, from what has the digest `source`."""
    try:
        return (folder / STAMP).read_text() == source
    except OSError:
        return False


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold the file lock; waits, and says so, while somebody else does. The kernel frees it if we die."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  another ./run is preparing this checkout; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def replacing(target: Path, source: str) -> Iterator[Path]:
    """Yield an empty folder; it takes the place of `target`, with its stamp, only if the body succeeds."""
    fresh = target.with_name(target.name + ".new")
    stale = target.with_name(target.name + ".old")
    for leftover in (fresh, stale):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        yield fresh
        (fresh / STAMP).write_text(source)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if target.exists():
        target.rename(stale)
    fresh.rename(target)
    shutil.rmtree(stale, ignore_errors=True)


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Put a file in place in one move: nobody ever sees half of it, and no lock is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        fresh.write_text(text)
        fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_executable(path: Path, text: str) -> bool:
    """Put a script in place; False, and nothing touched, if it stands there already."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return False
    write_whole(path, text, 0o755)
    return True


def stop_on_sigterm() -> None:
    """Let SIGTERM unwind the stack as Ctrl-C does, so that `replacing` cleans up."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
