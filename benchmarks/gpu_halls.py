"""A SuperPOD of 31 to 1 023 nodes with 1 to 64 tenants: loading, full form, placing, locking and proving all of it.

The peer, measured in the same run, is the floor of reading and joining (`benchmarks/superpod_work.py`): PyYAML's C
loader on the full form, and networkx's components of its cables and partitions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.halls import measured
from benchmarks.machine import Machine
from benchmarks.measure import Measured
from benchmarks.report import Report, options, run, runs_of, slope, spans, table_of
from benchmarks.superpod_work import FULL
from benchmarks.superpods import nodes_of, write_superpod
from benchmarks.world import say
from tests.builders.superpod import SITE

UNITS, TENANTS = (1, 2, 4, 8, 16, 32), (1, 16, 64)
PEER = "plain reading and components"

#: What is measured -> module and words, in an order in which they work.
COMMANDS: dict[str, tuple[str, ...]] = {
    "load": ("benchmarks.superpod_work", "load"),
    "full form": ("infra.cli", "site", "--full", "--site", SITE),
    "place all": ("benchmarks.superpod_work", "place"),
    "lock all": ("infra.cli", "lock", "--site", SITE),
    "prove one tenant": ("infra.cli", "check", "t01", "--site", SITE),
    "prove all": ("infra.cli", "check", "--site", SITE),
    PEER: ("benchmarks.superpod_work", "peer"),
}

Size = tuple[int, int]
Rows = dict[tuple[str, Size], Measured]

#: Processor time and not wall time: each of the processes is one thread that waits for nobody.
FIGURES: dict[str, Callable[[Measured], float]] = {
    "processor time": lambda one: one.cpu_seconds,
    "peak memory": lambda one: one.peak_mib,
}


def grow(chosen: argparse.Namespace) -> Report:
    """The benchmark. A pair of more tenants than nodes is left out."""
    machine = Machine.here()
    sizes = [(units, number) for units in chosen.units for number in chosen.tenants if number <= nodes_of(units)]
    rows: Rows = {}
    for size in sizes:
        rows |= _of_size(size, chosen.commands)
    return report_of(rows, machine)


def report_of(rows: Rows, machine: Machine) -> Report:
    """What was measured: against the peer, and how it grows."""
    named = {f"{what}, {_said(size)}": [one] for (what, size), one in rows.items()}
    return Report(
        name="gpu_halls",
        ratios=_against_peer(rows) | _slopes(rows),
        table=table_of(named),
        machine=machine,
        runs=runs_of(named),
    )


def _said(size: Size) -> str:
    units, tenants = size
    return f"{nodes_of(units)} nodes, {tenants} tenant{'s' if tenants > 1 else ''}"


def _of_size(size: Size, commands: list[str]) -> Rows:
    """Every command, on a site of its own."""
    found: Rows = {}
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        stacks = Path(folder) / "stacks"
        write_superpod(stacks, *size)
        for what in (name for name in COMMANDS if name in commands):
            module, *words = COMMANDS[what]
            found[what, size] = one = measured(stacks, module, *words)
            say(f"{_said(size)}, {what}: {one.cpu_seconds:.1f} s of processor time, {one.peak_mib:.0f} MiB")
            if what == "full form":
                (stacks / FULL).write_text(one.out, encoding="utf-8")
    return found


def _against_peer(rows: Rows) -> dict[str, float]:
    return {
        f"{what} / {PEER}, {name}, {_said(size)}": figure(one) / figure(rows[PEER, size])
        for (what, size), one in rows.items()
        for name, figure in FIGURES.items()
        if what != PEER and (PEER, size) in rows
    }


def _slopes(rows: Rows) -> dict[str, float]:
    """Growth with the nodes, for each number of tenants."""
    found: dict[str, float] = {}
    for what, tenants in dict.fromkeys((what, tenants) for what, (_, tenants) in rows):
        units = [size[0] for name, size in rows if name == what and size[1] == tenants]
        for name, figure in FIGURES.items():
            for least, most in spans(units):
                low, high = (rows[what, (number, tenants)] for number in (least, most))
                words = f"{what}, {name}, slope from {nodes_of(least)} to {nodes_of(most)} nodes, {tenants} tenants"
                found[words] = slope((nodes_of(least), figure(low)), (nodes_of(most), figure(high)))
    return found


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--units", type=int, nargs="+", default=UNITS, help="scalable units of 32 places each")
    parser.add_argument("--tenants", type=int, nargs="+", default=TENANTS, help="tenants with a cluster each")
    parser.add_argument(
        "--commands", nargs="+", default=[*COMMANDS], choices=COMMANDS, metavar="COMMAND", help="what is measured"
    )
    return run(parser, grow)


if __name__ == "__main__":
    sys.exit(main())
