"""One tenant of many changes and is locked again: with the index of locks, and without it; opening and the rest apart.

Without the index, the run recreates it: that is the first run in a fresh clone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet import add_sizes
from benchmarks.halls import SITE, halls_of, measured, tenant_name
from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured
from benchmarks.report import Report, Table, median, options, run, runs_of, slope, spans
from benchmarks.world import say

ROUNDS = 3

#: A volume grows and shrinks again: the request changes, and so does the plan, but no claim.
EDITS = ("volume: 10GiB", "volume: 20GiB")

WARM, NONE = "index warm", "no index"


@dataclass(frozen=True)
class Edited:
    """`interlock lock TENANT` after an edit, and two processes that do a part of it. Seconds of processor time."""

    lock: list[Measured]
    #: Starts and opens the same files in the same way.
    opening: list[Measured]
    #: Starts.
    start: list[Measured]

    @property
    def all(self) -> float:
        """The whole command."""
        return _processor(self.lock)

    @property
    def starting(self) -> float:
        """Python and its imports."""
        return _processor(self.start)

    @property
    def loading(self) -> float:
        """Reading and checking the files."""
        return _processor(self.opening) - self.starting

    @property
    def computing(self) -> float:
        """The rest: claims, plan, footprint, writing."""
        return self.all - _processor(self.opening)


def _processor(runs: list[Measured]) -> float:
    return median([one.cpu_seconds for one in runs])


Rows = dict[tuple[int, str], Edited]


def edit(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    rows: Rows = {}
    for size in sorted(chosen.sizes):
        with halls_of(size, chosen.keep) as stacks:
            rows |= {(size, state): runs for state, runs in _measured(stacks, size, chosen.rounds).items()}
    return Report(
        name="editing",
        ratios=_ratios(rows, chosen.sizes),
        table=_table(rows),
        machine=machine,
        runs=runs_of(
            {
                f"{what}, {size} tenants, {state}": part
                for (size, state), runs in rows.items()
                for what, part in (("lock", runs.lock), ("opening", runs.opening), ("start-up", runs.start))
            }
        ),
    )


def _measured(stacks: Path, size: int, rounds: int) -> dict[str, Edited]:
    if not (stacks / SITE / "site.lock.json").exists():
        say(f"{size} tenants: locking all")
        measured(stacks, "infra.cli", "lock", "--site", SITE)
    tenant = tenant_name(size // 2 | 1)  # an odd one: it has one machine
    _lock(stacks, tenant)
    found = {state: Edited([], [], []) for state in (WARM, NONE)}
    for _ in range(rounds):
        for state, runs in found.items():
            _prepare(stacks, state)
            runs.lock.append(_lock(stacks, tenant))
            _prepare(stacks, state)
            runs.opening.append(measured(stacks, "benchmarks.opening"))
            runs.start.append(measured(stacks, "infra.cli", "--version"))
            say(f"{size} tenants, {state}: {runs.all:.2f} s, of which loading {runs.loading:.2f} s")
    return found


def _prepare(stacks: Path, state: str) -> None:
    if state == NONE:
        shutil.rmtree(stacks.parent / ".interlock")


def _lock(stacks: Path, tenant: str) -> Measured:
    """Edit a tenant's file and lock it again. Raises `BenchmarkFailed` if its lock did not change."""
    file = stacks / SITE / "tenants" / f"{tenant}.yaml"
    text = file.read_text()
    before, after = EDITS if EDITS[0] in text else reversed(EDITS)
    file.write_text(text.replace(before, after))
    done = measured(stacks, "infra.cli", "lock", "--site", SITE, tenant)
    if f"{tenant}: written" not in done.err:
        raise BenchmarkFailed(f"the edit of {tenant} did not reach its lock:\n{done.err}")
    return done


def _table(rows: Rows) -> Table:
    return Table(
        ("tenants", "index", "seconds", "processor seconds", "start-up", "loading", "computing", "peak MiB"),
        tuple(
            (
                size,
                state.removeprefix("index ").removesuffix(" index"),
                median([one.seconds for one in runs.lock]),
                runs.all,
                runs.starting,
                runs.loading,
                runs.computing,
                round(max(one.peak_mib for one in runs.lock)),
            )
            for (size, state), runs in rows.items()
        ),
    )


def _ratios(rows: Rows, sizes: list[int]) -> dict[str, float]:
    """All of processor time."""
    warm = {f"{WARM} / {NONE}, {size} tenants": rows[size, WARM].all / rows[size, NONE].all for size in sorted(sizes)}
    loading = {
        f"loading / all of it, {state}, {size} tenants": runs.loading / runs.all for (size, state), runs in rows.items()
    }
    growth = {
        f"{state}, slope from {least} to {most} tenants": slope(
            (least, rows[least, state].all), (most, rows[most, state].all)
        )
        for state in (WARM, NONE)
        for least, most in spans(sizes)
    }
    return warm | loading | growth


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    add_sizes(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how many edits of each kind (default {ROUNDS})")
    return run(parser, edit)


if __name__ == "__main__":
    sys.exit(main())
