"""Seconds that pass: of the machine, of a file that a test writes, or of a test in the same process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .forms import write_whole


class VipuClock(Protocol):
    """Something that says how late it is."""

    def now(self) -> float:
        """Seconds since any fixed moment, which is the same after a restart."""


class SystemClock:
    """The machine's."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()


@dataclass
class ManualClock:
    """Stands still until somebody lets time pass."""

    seconds: float = 0.0

    def now(self) -> float:
        """What it was set to."""
        return self.seconds

    def passes(self, seconds: float) -> None:
        """So much later."""
        self.seconds += seconds


@dataclass(frozen=True)
class FileClock:
    """Reads a file that holds a number: time of a process of its own, set from outside."""

    file: Path

    def now(self) -> float:
        """The file's number. Raises OSError or ValueError if there is none."""
        return float(self.file.read_text(encoding="ascii"))

    def becomes(self, seconds: float) -> None:
        """Set it, for every process that reads the file."""
        write_whole(self.file, str(seconds))


@dataclass(frozen=True)
class Durations:
    """How long things take, in seconds. Assumed: real partitions take seconds to minutes."""

    #: Until the controller knows of a new agent whether it answers; also after a restart.
    contact: float = 0.0
    cluster: float = 0.0
    #: Of a partition, whatever its size, and for each of its IPU-Machines.
    partition: float = 2.0
    partition_machine: float = 0.5
    removal: float = 0.5
    #: After so much a partition whose agents do not answer is in ERROR.
    deadline: float = 60.0
