"""What a measurement was made on: a figure without this says nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path


def machine() -> dict[str, str | float]:
    """Processor, memory, versions, date, and how busy the machine was at the beginning."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "processor": _processor(),
        "cores": float(len(os.sched_getaffinity(0))),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pulumi": _first_word("pulumi", "version"),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _first_word(*command: str) -> str:
    try:
        done = subprocess.run(command, check=False, text=True, capture_output=True)
    except FileNotFoundError:
        return "absent"
    return done.stdout.strip()
