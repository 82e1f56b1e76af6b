"""`pulumi up` with nothing to change, and `interlock check`, against the full `up` before them."""

from __future__ import annotations

import argparse
import sys

from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.report import Report, median, options, run, runs_of, table_of
from benchmarks.up import apply, destroy
from benchmarks.world import TENANT, say, world
from tests.e2e.project import Project

ROUNDS = 3


def check(project: Project) -> Measured:
    """`interlock check` of the tenant, measured."""
    command = [sys.executable, "-P", "-m", "infra.cli", "check", TENANT]
    return measure(command, project.folder, project.environment)


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    again: list[Measured] = []
    checks: list[Measured] = []
    with world() as project:
        full = apply(project)
        say(f"full up: {full.seconds:.1f} s")
        for _ in range(chosen.rounds):
            again.append(apply(project, "--expect-no-changes"))
            checks.append(check(project))
            say(f"unchanged: {again[-1].seconds:.1f} s, check: {checks[-1].seconds:.1f} s")
        destroy(project)
    rows = {"pulumi up of the tenant": [full], "pulumi up, no change": again, "interlock check": checks}
    return Report(
        name="unchanged",
        ratios={
            f"{name} / full up": median([one.seconds for one in runs]) / full.seconds
            for name, runs in rows.items()
            if runs[0] is not full
        },
        table=table_of(rows),
        machine=machine,
        runs=runs_of(rows),
    )


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often (default {ROUNDS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
