"""Checking the certificate of the operator's stack, which is about all tenants, against judging it.

The sites are those of `benchmarks.isolation_reproof`. The goals: checking takes at most a third of judging, and grows
in proportion to the tenants.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.isolation_reproof import IN_A_RACK, enlarged, everyone, first_rack
from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed
from benchmarks.report import Report, Table, options, run, slope, spans
from benchmarks.world import say
from infra.checker import complaints, read
from interlock.planning import plan_site
from policies.certificate import certificate
from policies.footprints.neighbours import Neighbours
from policies.judging import judged, seen_by
from tests.builders.pod64 import site_locked
from tests.policies.workspace import full_site

TENANTS = (250, 1000, 4000)
ROOT = Path(__file__).resolve().parents[1]


def once(tenants: int) -> dict[str, float]:
    """Processor seconds of judging and of checking in this process, and the size of the certificate in MB."""
    small = full_site()
    locks = list(everyone(first_rack(small), tenants))
    site = enlarged(small, -(-tenants // IN_A_RACK))
    plan = plan_site(site, site_locked(site))
    begun = time.process_time()
    seen = seen_by(site, plan, Neighbours.of(site, locks))
    judgement = judged(seen, plan)
    judging = time.process_time() - begun
    raw = certificate(seen, judgement).model_dump_json().encode()
    begun = time.process_time()
    said = list(complaints(read(raw)))
    if said:
        raise SystemExit(f"not sound: {said[0]}")
    return {"judging": judging, "checking": time.process_time() - begun, "megabytes": len(raw) / 1e6}


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark, each size in a process of its own."""
    machine = Machine.here()
    found = {tenants: _apart(tenants) for tenants in sorted(set(chosen.tenants))}
    rows = tuple((size, one["megabytes"], one["judging"], one["checking"]) for size, one in found.items())
    ratios = {
        f"checking / judging, {size} tenants (goal: at most 0.33)": one["checking"] / one["judging"]
        for size, one in found.items()
    } | {
        f"checking, slope from {few} to {many} tenants (goal: at most 1.1)": slope(
            (few, found[few]["checking"]), (many, found[many]["checking"])
        )
        for few, many in spans(list(found))
    }
    return Report(
        name="certificates",
        ratios=ratios,
        table=Table(("tenants", "certificate, MB", "judging, processor s", "checking, processor s"), rows),
        machine=machine,
        runs=[{"tenants": tenants, **one} for tenants, one in found.items()],
    )


def _apart(tenants: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.certificates", "--once", str(tenants)]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    if done.returncode:
        raise BenchmarkFailed(done.stderr[-2000:])
    answer: dict[str, Any] = json.loads(done.stdout)
    say(f"{tenants} tenants: {answer}")
    return answer


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--tenants", type=int, nargs="+", default=TENANTS, help="sizes of the sites")
    parser.add_argument("--once", type=int, help=argparse.SUPPRESS)
    if size := parser.parse_known_args()[0].once:
        print(json.dumps(once(size)))
        return 0
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
