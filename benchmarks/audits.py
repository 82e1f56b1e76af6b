"""`interlock audit` of sites of so many tenants, on a cloud on paper: how its cost grows.

The site is that of `benchmarks.halls`, freshly locked. The cloud is a simulator (tests/builders/paper_cloud.py) that
lists what the plans hold, so no time of any service is in the figures; `benchmarks.reading` has that of a real one.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.halls import halls_of, measured
from benchmarks.machine import Machine
from benchmarks.measure import Measured
from benchmarks.report import Report, Table, options, run, slope, spans
from benchmarks.world import say

TENANTS = [20, 200]


def audited(tenants: int, keep: Path | None) -> tuple[dict[str, float], Measured]:
    """What the audit says of itself, and the whole process."""
    with halls_of(tenants, keep) as stacks:
        locked = measured(stacks, "infra.cli", "lock", "--site", "halls")
        say(f"{tenants} tenants: locked in {locked.seconds:.0f} s")
        whole = measured(stacks, "benchmarks.auditing", "audit")
    found: dict[str, float] = json.loads(whole.out)
    say(f"{tenants} tenants: {found}")
    return found, whole


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    found = {tenants: audited(tenants, chosen.keep) for tenants in sorted(set(chosen.tenants))}
    rows = tuple(
        (tenants, int(said["objects"]), int(said["requests"]), said["lists"], said["audit"], round(whole.peak_mib))
        for tenants, (said, whole) in found.items()
    )
    growth = {
        f"audit, slope from {few} to {many} tenants": slope(
            (few, found[few][0]["audit"]), (many, found[many][0]["audit"])
        )
        for few, many in spans(list(found))
    }
    headings = ("tenants", "objects", "requests", "reading the lists, s", "the whole audit, s", "peak MiB")
    return Report(
        name="audits",
        ratios=growth,
        table=Table(headings, rows),
        machine=machine,
        runs=[{"tenants": tenants, **said} for tenants, (said, _) in found.items()],
        remarks=("Processor seconds of the one process, without loading and planning before it.",),
    )


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--tenants", type=int, nargs="+", default=TENANTS, help="sizes of the sites")
    parser.add_argument("--keep", type=Path, help="folder in which the sites are kept for the next run")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
