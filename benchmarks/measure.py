"""Runs a command and measures all of it: wall time, processor time, and the peak memory of its process tree.

Memory is sampled: every 100 ms, or as often as asked, the resident sets of the command and all its descendants are
added up. Pages that several of them share count once for each, so the figure is an upper bound.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class BenchmarkFailed(Exception):
    """A measured command failed, so there is no figure. The text holds its own last words."""


@dataclass(frozen=True)
class Measured:
    """One run of one command."""

    seconds: float
    #: Processor time of the command and of all descendants that were waited for.
    cpu_seconds: float
    peak_mib: float
    #: Processor time that the cloud's own services took meanwhile; None where it was not looked at.
    service_seconds: float | None = None
    out: str = ""
    err: str = ""

    def figures(self) -> dict[str, float]:
        """The numbers, rounded to what they are worth."""
        numbers = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds, "peak_mib": self.peak_mib}
        if self.service_seconds is not None:
            numbers["service_seconds"] = self.service_seconds
        return {name: round(value, 2) for name, value in numbers.items()}


def measure(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str], every: float = SAMPLE_SECONDS
) -> Measured:
    """Run a command to its end; its memory is looked at `every` so many seconds.

    Raises `BenchmarkFailed` unless it exits with 0.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        sampler = Sampler(process.pid, every)
        sampler.start()
        # wait4 and not wait(): it also tells the processor time of this child with its own children.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        sampler.stop()
        out.seek(0)
        err.seek(0)
        said, complained = out.read(), err.read()
    if process.returncode:
        words = " ".join(str(word) for word in command)
        tail = (said + complained)[-3000:]
        raise BenchmarkFailed(f"`{words}` ended with {process.returncode}:\n{tail}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, sampler.peak / 2**20, out=said, err=complained)


def processor_seconds(pid: int) -> float:
    """Processor time of one running process since its birth."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICK


class Sampler:
    """Follows the memory of a process tree in a thread of its own; `peak` is in bytes."""

    def __init__(self, root: int, every: float = SAMPLE_SECONDS) -> None:
        self.peak = 0
        self._root = root
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; `peak` is final then."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            self.peak = max(self.peak, sum(_resident(pid) for pid in _tree(self._root)))
            self._over.wait(self._every)


def _tree(root: int) -> Iterator[int]:
    """A process and its descendants, as far as they still live."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        for thread in _entries(Path(f"/proc/{pid}/task")):
            waiting += _numbers(thread / "children")


def _resident(pid: int) -> int:
    fields = _numbers(Path(f"/proc/{pid}/statm"))
    return fields[1] * _PAGE if len(fields) > 1 else 0


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []


def _numbers(file: Path) -> list[int]:
    try:
        return [int(word) for word in file.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []  # it ended a moment ago
