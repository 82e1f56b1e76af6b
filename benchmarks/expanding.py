"""GPU halls of the catalogue, expanded to their cables: seconds and memory as they grow. Printed, not written down."""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable

from benchmarks.report import Table
from interlock.hardware.gpu import HALL_DESIGNS, GpuHall, PortRole, expand, oversubscribed

#: Units of 32 nodes: 31, 127, 255, 511, 1 023 nodes.
UNITS = (1, 4, 8, 16, 32)


def seconds_of(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(name: str, units: int) -> tuple[str | int | float, ...]:
    """One size: time without, then memory with the tracing of allocations, which slows it down."""
    design = HALL_DESIGNS[name]
    expanding = seconds_of(lambda: expand(design, units))
    tracemalloc.start()
    hall: GpuHall = expand(design, units)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    checking = seconds_of(lambda: oversubscribed(hall, PortRole.COMPUTE))
    return f"{name} {units}", len(hall.nodes), len(hall.cables), expanding, held / 2**20, checking


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hall", default="h100-superpod", choices=HALL_DESIGNS, help="which design")
    parser.add_argument("--units", type=int, nargs="*", default=UNITS, help="how many scalable units, one row each")
    chosen = parser.parse_args()
    headings = ("hall", "nodes", "cables", "expanded, seconds", "MiB held", "bisection checked, seconds")
    print(Table(headings, tuple(row(chosen.hall, units) for units in chosen.units)).markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
