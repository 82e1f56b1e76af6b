"""Time and memory of `interlock lock` and `interlock check` as tenants become more, on one site of four racks.

`check` loads all files, then plans and proves the operator's stack and every tenant's, each beside the locks of all
others. `check --tenant` proves one of them: this is what each `pulumi up` waits for.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.racks import MOST, write_stacks
from benchmarks.report import Report, Table, median, options, run, runs_of
from benchmarks.world import say
from tests.e2e.project import ROOT

SIZES, ROUNDS = (1, 10, 50), 3

#: What is measured -> the words after `interlock`, in an order in which they work.
COMMANDS: dict[str, tuple[str, ...]] = {
    "lock": ("lock",),
    "check": ("check",),
    "check one tenant": ("check", "t01"),
}


def grow(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    rows = {size: _measured(size, chosen.rounds) for size in chosen.sizes}
    smallest = chosen.sizes[0]
    return Report(
        name="growth",
        ratios={
            f"{command}, {what}, {size} tenants / {smallest}": figure(runs) / figure(rows[smallest][command])
            for command in COMMANDS
            for what, figure in FIGURES.items()
            for size, runs in ((size, row[command]) for size, row in rows.items() if size != smallest)
        },
        table=Table(
            ("tenants", *(f"{command}, {unit}" for command in COMMANDS for unit in ("s", "MiB"))),
            tuple(
                (size, *(cell for runs in row.values() for cell in (_seconds(runs), round(_memory(runs)))))
                for size, row in rows.items()
            ),
        ),
        machine=machine,
        runs=runs_of({f"{name}, {size} tenants": runs for size, row in rows.items() for name, runs in row.items()}),
    )


def _measured(size: int, rounds: int) -> dict[str, list[Measured]]:
    """Every command, a few times, on a site of its own with so many tenants."""
    found: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        stacks = Path(folder) / "stacks"
        write_stacks(stacks, size)
        for name, words in COMMANDS.items():
            found[name] = [_once(stacks, words) for _ in range(rounds)]
            say(f"{size} tenants: {name} {_seconds(found[name]):.2f} s, {_memory(found[name]):.0f} MiB")
    return found


def _once(stacks: Path, words: tuple[str, ...]) -> Measured:
    if words == COMMANDS["lock"]:
        for lock in stacks.rglob("*.lock.json"):  # as if for the first time
            lock.unlink()
    environment = os.environ | {"INTERLOCK_STACKS": str(stacks), "NO_COLOR": "1"}
    return measure([sys.executable, "-P", "-m", "infra.cli", *words], ROOT, environment)


def _seconds(runs: list[Measured]) -> float:
    return median([one.seconds for one in runs])


def _memory(runs: list[Measured]) -> float:
    return max(one.peak_mib for one in runs)


#: What is compared between sizes.
FIGURES = {"time": _seconds, "peak memory": _memory}


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="TENANTS", help=f"how many tenants, at most {MOST}"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run (default {ROUNDS})")
    return run(parser, grow)


if __name__ == "__main__":
    sys.exit(main())
