"""`interlock --help` against a Python that does nothing, in turn."""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.report import Report, Table, median, options, run, runs_of
from tests.e2e.project import ROOT

ROUNDS = 20

HELP, NOTHING = "interlock --help", "python -c pass"

#: What is measured -> the words after `python`.
COMMANDS = {HELP: ("-P", "-m", "infra.cli", "--help"), NOTHING: ("-P", "-c", "pass")}


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    rows: dict[str, list[Measured]] = {name: [] for name in COMMANDS}
    for _ in range(chosen.rounds):
        for name, words in COMMANDS.items():
            rows[name].append(measure([sys.executable, *words], ROOT, os.environ | {"NO_COLOR": "1"}))
    seconds = {name: [one.seconds for one in runs] for name, runs in rows.items()}
    processor = {name: [one.cpu_seconds for one in runs] for name, runs in rows.items()}
    return Report(
        name="startup",
        ratios={
            f"{HELP} / {NOTHING}, medians of processor time": median(processor[HELP]) / median(processor[NOTHING]),
            f"{HELP} / {NOTHING}, medians of wall time": median(seconds[HELP]) / median(seconds[NOTHING]),
            f"{HELP} / {NOTHING}, quickest of each by wall time": min(seconds[HELP]) / min(seconds[NOTHING]),
        },
        # No memory: these end before it can be sampled.
        table=Table(
            ("", "seconds", "quickest, seconds", "processor seconds"),
            tuple((name, median(seconds[name]), min(seconds[name]), median(processor[name])) for name in COMMANDS),
        ),
        machine=machine,
        runs=runs_of(rows),
    )


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run (default {ROUNDS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
