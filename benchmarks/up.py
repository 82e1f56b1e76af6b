"""`pulumi up` of a tenant against a bare openstacksdk script that makes the same objects.

Both on one fresh sandbox with the site applied, in turn, everything deleted in between. `pulumi up` is the one of
the demo: `--yes --policy-pack policies/pack`, with its preview, its proof, its read-only preflight and its state.
The script (`benchmarks/bare.py`) gets the values from the plan, the provider's number of threads per service,
and has no checks at all. After each both must have left the same objects.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inventory import inventory, require_same
from benchmarks.machine import Machine
from benchmarks.measure import Measured, measure
from benchmarks.report import Report, median, options, run, runs_of, table_of
from benchmarks.values import values_of
from benchmarks.world import SITE, TENANT, TENANT_STACK, beside_services, say, world
from infra.program.gate import Gate
from interlock.model.load import load_workspace
from tests.e2e.project import PACK, ROOT, Project

PAIRS = 2
GOAL = 1.5


@dataclass(frozen=True)
class Pair:
    """The script and `pulumi up`, one after the other."""

    bare: Measured
    pulumi: Measured

    @property
    def ratio(self) -> float:
        """Of their wall times."""
        return self.pulumi.seconds / self.bare.seconds


def apply(project: Project, *more: str) -> Measured:
    """`pulumi up` of the tenant, measured."""
    command = ["pulumi", "up", "--yes", "--stack", TENANT_STACK, "--non-interactive", "--color", "never"]
    return measure([*command, "--policy-pack", str(PACK), *more], project.folder, project.environment)


def destroy(project: Project) -> None:
    """Take the tenant away, not measured."""
    project.must(project.pulumi("destroy", TENANT_STACK, "--yes"))


class Bare:
    """The script, run as a process of its own like `pulumi`."""

    def __init__(self, project: Project) -> None:
        self._environment = project.environment | {"OS_CLOUD": "sandbox"}
        self._values = project.folder / "values.json"
        self._made = project.folder / "made.json"
        self._values.write_text(json.dumps(values_of(Gate(load_workspace(project.folder / "stacks", SITE)), TENANT)))

    def make(self) -> Measured:
        """Make the objects, measured."""
        done = self._run("benchmarks.bare", self._values)
        self._made.write_text(done.out)
        return done

    def remove(self) -> None:
        """Delete them again."""
        self._run("benchmarks.removal", self._made)

    def _run(self, module: str, file: Path) -> Measured:
        return measure([sys.executable, "-m", module, file], ROOT, self._environment)


def pairs(project: Project, count: int) -> Iterator[Pair]:
    """Script, `pulumi up`, script, `pulumi up` …, each alone on the cloud."""
    bare = Bare(project)
    for number in range(1, count + 1):
        script = beside_services(bare.make)
        made = inventory(project, TENANT)
        bare.remove()
        ours = beside_services(lambda: apply(project))
        require_same(made, inventory(project, TENANT))
        destroy(project)
        pair = Pair(script, ours)
        say(f"pair {number}: script {script.seconds:.1f} s, pulumi up {ours.seconds:.1f} s, ratio {pair.ratio:.2f}")
        yield pair


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    with world() as project:
        done = list(pairs(project, chosen.pairs))
    rows = {"openstacksdk script": [pair.bare for pair in done], "pulumi up": [pair.pulumi for pair in done]}
    bare, ours = rows.values()
    ratio = median([one.seconds for one in ours]) / median([one.seconds for one in bare])
    return Report(
        name="up",
        ratios={"pulumi up / script, medians (goal: at most 1.5)": ratio}
        | {f"pulumi up / script, pair {number}": pair.ratio for number, pair in enumerate(done, start=1)}
        | {"processor time with that of the services, medians": _all_processors(ours) / _all_processors(bare)},
        table=table_of(rows),
        machine=machine,
        runs=runs_of(rows),
        remarks=(_verdict(ratio),),
    )


def _all_processors(runs: list[Measured]) -> float:
    return median([one.cpu_seconds + (one.service_seconds or 0.0) for one in runs])


def _verdict(ratio: float) -> str:
    return "The goal is reached." if ratio <= GOAL else f"The goal is missed by {ratio / GOAL - 1:.0%}."


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"how often each is run (default {PAIRS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
