"""What claims, proof and `Check` add to `pulumi up` of the tenant.

The whole `up` is measured on a fresh sandbox; then the parts by themselves, in a process of their own with the same
files (benchmarks/fence_parts.py), so that nothing that runs beside them hides them. An `up` proves and checks twice,
in its preview and in the update, and claims once.
"""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.report import Report, Table, median, options, run
from benchmarks.up import apply, destroy
from benchmarks.world import TENANT, say, world
from tests.e2e.project import ROOT, Project

ROUNDS = 3
GOAL = 0.10

#: Part -> how often an `up` does it.
TIMES = {"prove": 2, "check": 2, "claims": 1}


def parts(project: Project) -> dict[str, float]:
    """Seconds of each part, once."""
    command = [sys.executable, "-P", "-m", "benchmarks.fence_parts", TENANT]
    done = measure(command, ROOT, project.environment | {"PYTHONPATH": str(ROOT)})
    found: dict[str, float] = json.loads(done.out)
    return found


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    ups: list[Measured] = []
    taken: list[dict[str, float]] = []
    with world() as project:
        for _ in range(chosen.rounds):
            taken.append(parts(project))
            ups.append(apply(project))
            say(f"pulumi up: {ups[-1].seconds:.1f} s; {taken[-1]}")
            destroy(project)
    whole = median([one.seconds for one in ups])
    once = {part: median([one[part] for one in taken]) for part in taken[0]}
    added = sum(once[part] * times for part, times in TIMES.items())
    rows = [("pulumi up of the tenant", 1, whole, 1.0)]
    rows += [(part, times, once[part], once[part] * times / whole) for part, times in TIMES.items()]
    rows.append(("load and plan, for comparison", 2, once["load and plan"], 2 * once["load and plan"] / whole))
    return Report(
        name="fences",
        ratios={"claims, proof and Check / pulumi up (goal: at most 0.10)": added / whole},
        table=Table(("", "times in an up", "seconds, once", "share of the up"), tuple(rows)),
        machine=machine,
        runs=[{"what": "pulumi up", **one.figures()} for one in ups] + [{"what": "parts", **one} for one in taken],
        remarks=("The goal is reached." if added <= GOAL * whole else "The goal is missed.",),
    )


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often (default {ROUNDS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
