"""Locking, loading and planning as tenants become ten thousand and racks 700, against a plain reader of the files.

The peer is `benchmarks/plain.py`: PyYAML's C loader and pydantic models without a single check of meaning.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.halls import SITE, halls_of, measured, racks_for
from benchmarks.machine import Machine
from benchmarks.measure import Measured
from benchmarks.report import Report, median, options, run, runs_of, slope, spans, table_of
from benchmarks.world import say

SIZES, ROUNDS = (100, 1000, 10000), 1

PEER = "plain pydantic"

#: What is measured -> module and words, in an order in which they work. `{folder}` is the site's.
COMMANDS: dict[str, tuple[str, ...]] = {
    "lock": ("infra.cli", "lock", "--site", SITE),
    "load": ("benchmarks.loading", "load"),
    "load and plan": ("benchmarks.loading", "plan"),
    PEER: ("benchmarks.plain", "{folder}"),
}

Rows = dict[tuple[str, int], list[Measured]]


def _processor(runs: list[Measured]) -> float:
    return median([one.cpu_seconds for one in runs])


def _memory(runs: list[Measured]) -> float:
    return max(one.peak_mib for one in runs)


#: What is compared. Processor time and not wall time: each of the processes is one thread that waits for nobody.
FIGURES: dict[str, Callable[[list[Measured]], float]] = {"processor time": _processor, "peak memory": _memory}


def grow(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    rows: Rows = {}
    for size in sorted(chosen.sizes):
        with halls_of(size, chosen.keep) as stacks:
            for what in COMMANDS:
                rows[what, size] = [_once(stacks, what) for _ in range(chosen.rounds)]
                say(f"{size} tenants, {what}: {_processor(rows[what, size]):.1f} s of processor time")
    named = {f"{what}, {size} tenants, {racks_for(size)} racks": runs for (what, size), runs in rows.items()}
    return Report(
        name="fleet",
        ratios=_against_peer(rows) | _slopes(rows, chosen.sizes),
        table=table_of(named),
        machine=machine,
        runs=runs_of(named),
    )


def _once(stacks: Path, what: str) -> Measured:
    if what == "lock":  # as if for the first time
        for lock in stacks.rglob("*.lock.json"):
            lock.unlink()
        shutil.rmtree(stacks.parent / ".interlock", ignore_errors=True)
    module, *words = (word.format(folder=stacks / SITE) for word in COMMANDS[what])
    return measured(stacks, module, *words)


def _against_peer(rows: Rows) -> dict[str, float]:
    return {
        f"{what} / {PEER}, {name}, {size} tenants": figure(runs) / figure(rows[PEER, size])
        for (what, size), runs in rows.items()
        if what != PEER
        for name, figure in FIGURES.items()
    }


def _slopes(rows: Rows, sizes: list[int]) -> dict[str, float]:
    return {
        f"{what}, {name}, slope from {least} to {most} tenants": slope(
            (least, figure(rows[what, least])), (most, figure(rows[what, most]))
        )
        for what in COMMANDS
        for name, figure in FIGURES.items()
        for least, most in spans(sizes)
    }


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    add_sizes(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run (default {ROUNDS})")
    return run(parser, grow)


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """The options of every benchmark on generated halls."""
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="TENANTS", help="how many tenants")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="folder where generated sites stay, locked, for the next run"
    )


if __name__ == "__main__":
    sys.exit(main())
