"""Checking certificates, against judging: alone with `infra/checker`, and beside the site with `verify --site`.

Alone: the certificate of the operator's stack, which is about all tenants, on the sites of
`benchmarks.isolation_reproof`. Checking is a process of its own, `python -m infra.checker FILE`, start-up included. The
goals: at most a third of the processor time of judging, and growth in proportion to the tenants.

Beside the site: `interlock verify '{stack}.json' --site` of all stacks against `interlock check` of all, on the sites
of `benchmarks.halls`, in turn. The goal: at most as much processor time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.halls import SITE, halls_of, measured
from benchmarks.isolation_reproof import IN_A_RACK, enlarged, everyone, first_rack
from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.report import Report, Table, median, options, run, slope, spans
from benchmarks.world import say
from interlock.garbage import collect_seldom
from interlock.planning import plan_site
from policies.certificate import certificate
from policies.footprints.neighbours import Neighbours
from policies.judging import judged, seen_by
from tests.builders.pod64 import site_locked
from tests.policies.workspace import full_site

TENANTS, HALLS, ROUNDS = (250, 1000, 4000), (40, 160, 640), 3
ROOT = Path(__file__).resolve().parents[1]
HEADINGS = (
    "tenants", "certificates, MB", "judging, processor s", "checking, processor s", "judging, MiB", "checking, MiB"
)  # fmt: skip
#: Name of a size in the table, its certificates in MB, the runs of judging and of checking.
Row = tuple[str, float, list[Measured], list[Measured]]


def write(tenants: int, file: Path) -> float:
    """Write the certificate of the operator's stack; the processor seconds of judging it, as a command would."""
    small = full_site()
    locks = list(everyone(first_rack(small), tenants))
    site = enlarged(small, -(-tenants // IN_A_RACK))
    plan = plan_site(site, site_locked(site))
    collect_seldom()
    gc.collect()
    begun = time.process_time()
    seen = seen_by(site, plan, Neighbours.of(site, locks))
    judgement = judged(seen, plan)
    judging = time.process_time() - begun
    file.write_text(certificate(seen, judgement).model_dump_json())
    return judging


def alone(tenants: int, rounds: int) -> Row:
    """One size: judged once, checked `rounds` times. Memory of judging is with all that the site is made of."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        file = Path(folder) / "site.json"
        writing = [sys.executable, "-m", "benchmarks.certificates", "--once", str(tenants), str(file)]
        made = measure(writing, ROOT, environment)
        judging = Measured(made.seconds, float(json.loads(made.out)), made.peak_mib)
        checker: list[str | Path] = [sys.executable, "-m", "infra.checker", file]
        checking = [measure(checker, ROOT, environment, every=0.02) for _ in range(rounds)]
        return _told((f"{tenants}, alone", file.stat().st_size / 1e6, [judging], checking))


def beside(tenants: int, rounds: int, keep: Path | None) -> Row:
    """One size of halls: all stacks, `check` and `verify --site` in turn."""
    with halls_of(tenants, keep) as stacks:
        files = stacks.parent / "{stack}.json"
        if not any(stacks.rglob("*.lock.json")):
            measured(stacks, "infra.cli", "lock", "--site", SITE)
        measured(stacks, "infra.cli", "check", "--site", SITE, "--certificate", str(files))
        judging, checking = list[Measured](), list[Measured]()
        for _ in range(rounds):
            judging.append(measured(stacks, "infra.cli", "check", "--site", SITE))
            checking.append(measured(stacks, "infra.cli", "verify", str(files), "--site", SITE))
        size = sum(file.stat().st_size for file in stacks.parent.glob("*.json")) / 1e6
        return _told((f"{tenants}, beside the site", size, judging, checking))


def _told(row: Row) -> Row:
    name, _, judging, checking = row
    say(f"{name} tenants: judging {_seconds(judging):.2f} s, checking {_seconds(checking):.2f} s of processor time")
    return row


def _seconds(runs: list[Measured]) -> float:
    return median([one.cpu_seconds for one in runs])


def _mib(runs: list[Measured]) -> int:
    return round(max(one.peak_mib for one in runs))


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    one = {size: alone(size, chosen.rounds) for size in sorted({*chosen.tenants})}
    every = {size: beside(size, chosen.rounds, chosen.keep) for size in sorted({*chosen.halls})}
    ratios = _ratios("checking / judging", one, "at most 0.33") | _slopes("checking", one, " (goal: at most 1.1)")
    ratios |= _ratios("verify --site / check of all", every, "at most 1") | _slopes("verify --site", every)
    rows = [*one.values(), *every.values()]
    return Report(
        name="certificates",
        ratios=ratios,
        table=Table(HEADINGS, tuple((*row[:2], *map(_seconds, row[2:]), *map(_mib, row[2:])) for row in rows)),
        machine=machine,
        runs=[run for row in rows for run in _runs(row)],
    )


def _ratios(what: str, rows: dict[int, Row], goal: str) -> dict[str, float]:
    return {f"{what}, {size} tenants (goal: {goal})": _seconds(row[3]) / _seconds(row[2]) for size, row in rows.items()}


def _slopes(what: str, rows: dict[int, Row], goal: str = "") -> dict[str, float]:
    return {
        f"{what}, {unit}, slope from {few} to {many} tenants{goal if unit == 'processor time' else ''}": slope(
            (few, figure(rows[few][3])), (many, figure(rows[many][3]))
        )
        for unit, figure in (("processor time", _seconds), ("memory", _mib))
        for few, many in spans(list(rows))
    }


def _runs(row: Row) -> list[dict[str, Any]]:
    return [
        {"what": f"{row[0]}: {what}", **one.figures()}
        for what, runs in zip(("judging", "checking"), row[2:], strict=True)
        for one in runs
    ]


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--tenants", type=int, nargs="*", default=TENANTS, help="sizes of sites, checked alone")
    parser.add_argument("--halls", type=int, nargs="*", default=HALLS, help="sizes of sites, checked beside the site")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is checked (default {ROUNDS})")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="folder where generated sites stay, locked")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    if once := parser.parse_known_args()[0].once:
        print(json.dumps(write(int(once[0]), Path(once[1]))))
        return 0
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
