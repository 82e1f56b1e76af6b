"""Time and memory of `interlock lock` and `interlock check` as tenants become more, on one site of four racks.

`check` loads all files, then plans and proves the operator's stack and every tenant's, each beside the locks of all
others. `check --tenant` proves one of them: this is what each `pulumi up` waits for.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Measured, measure
from benchmarks.racks import MOST, write_stacks
from benchmarks.report import Report, Table, options, run, runs_of
from benchmarks.world import say
from tests.e2e.project import ROOT

SIZES = (1, 10, 50)

#: What is measured -> the words after `interlock`, in an order in which they work.
COMMANDS: dict[str, tuple[str, ...]] = {
    "lock all": ("lock",),
    "check": ("check",),
    "check one tenant": ("check", "--tenant", "t01"),
}


def grow(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    rows = {size: dict(_measured(size)) for size in chosen.sizes}
    first = rows[chosen.sizes[0]]
    return Report(
        name="growth",
        ratios={
            f"{command}, {kind}, {size} tenants / {chosen.sizes[0]}": _figure(one, kind) / _figure(first[command], kind)
            for size, row in rows.items()
            if row is not first
            for command, one in row.items()
            for kind in ("seconds", "peak memory")
        },
        table=Table(
            ("tenants", *(f"{name}, {unit}" for name in COMMANDS for unit in ("seconds", "peak MiB"))),
            tuple((size, *_cells(row)) for size, row in rows.items()),
        ),
        runs=runs_of({f"{name}, {size} tenants": [one] for size, row in rows.items() for name, one in row.items()}),
    )


def _measured(size: int) -> Iterator[tuple[str, Measured]]:
    """Each command once, on a site of its own with so many tenants."""
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        stacks = Path(folder) / "stacks"
        write_stacks(stacks, size)
        environment = os.environ | {"INTERLOCK_STACKS": str(stacks), "NO_COLOR": "1"}
        for name, words in COMMANDS.items():
            one = measure([sys.executable, "-P", "-m", "infra.cli", *words], ROOT, environment)
            say(f"{size} tenants: {name} {one.seconds:.2f} s, {one.peak_mib:.0f} MiB")
            yield name, one


def _figure(one: Measured, kind: str) -> float:
    return one.seconds if kind == "seconds" else one.peak_mib


def _cells(row: dict[str, Measured]) -> Iterator[float | int]:
    for one in row.values():
        yield one.seconds
        yield round(one.peak_mib)


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="TENANTS", help=f"how many tenants, at most {MOST}"
    )
    return run(parser, grow)


if __name__ == "__main__":
    sys.exit(main())
