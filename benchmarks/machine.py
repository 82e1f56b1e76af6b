"""What a measurement was made on: a figure without this says nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The machine at the beginning of a benchmark."""

    date: str
    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    #: "absent" where no `pulumi` is on PATH.
    pulumi: str
    #: Load average of the last minute before: how much else was running.
    load: float

    @classmethod
    def here(cls) -> Machine:
        """This one, now."""
        return cls(
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            processor=_processor(),
            cores=len(os.sched_getaffinity(0)),
            memory_gib=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
            system=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            pulumi=_pulumi(),
            load=round(os.getloadavg()[0], 2),
        )

    def __str__(self) -> str:
        return (
            f"Measured {self.date} on {self.cores} cores of {self.processor}, {self.memory_gib} GiB, {self.system}, "
            f"Python {self.python}, Pulumi {self.pulumi}; load average before: {self.load} "
            f"({'quiet' if self.load < self.cores / 2 else 'NOT quiet: other programs ran'})."
        )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _pulumi() -> str:
    try:
        done = subprocess.run(["pulumi", "version"], check=False, text=True, capture_output=True)
    except FileNotFoundError:
        return "absent"
    return done.stdout.strip()
