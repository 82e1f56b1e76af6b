"""A vPOD with everything: `up` against a bare script, `audit`, and the phases of its life.

The request has machines, a Poplar server with its volume, one volume more, a share, a bucket, a floating IP, and a
partition of all IPUs; `interlock` tells the V-IPU controller, which the embedded cloud simulates. For each size, on one
fresh cloud: the bare script (openstacksdk, and V-IPU's commands), `pulumi up`, `interlock audit`, everything deleted.
After script and `up` the cloud and the controller must have the same, or there is no figure.

Then one vPOD from its arrival to its end: nothing to change, another partition, twice as many machines, all deleted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inventory import inventory, require_same
from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured, measure
from benchmarks.report import Report, options, run, runs_of, slope, spans, table_of
from benchmarks.up import Bare, apply, destroy
from benchmarks.world import SITE, TENANT, TENANT_STACK, beside_services, say, world
from tests.builders.pod64 import ssh_key
from tests.e2e.project import Project

SIZES = [1, 2, 4, 8, 16]
#: Machines of the vPOD whose phases are measured; it grows to twice as many.
FIRST = 2
IPUS_OF_A_MACHINE = 4

REQUEST = """\
name: A whole vPOD
on_delete: erase
access: {{ssh_public_key: {key}, public: {{train: {{ssh_from: [198.51.100.0/24]}}}}}}
vpods:
  train:
    machines: {machines}
    poplar: {{servers: 1, flavor: poplar.quarter, image: poplar, volume: 10GiB}}
    partitions: {{all: {{ipus: {ipus}, replaceable: true}}}}
volumes: {{scratch: {{size: 10GiB, vpod: train}}}}
shares: {{datasets: 10GiB}}
buckets: {{results: {{}}}}
"""
BY_HAND = "user_api_port: 8090}"
BY_INTERLOCK = "user_api_port: 8090, managed_by: interlock}"


def ask(project: Project, machines: int, ipus: int | None = None) -> None:
    """Write the request for so many machines, with a partition of all IPUs or so many, and lock it."""
    wanted = ipus or machines * IPUS_OF_A_MACHINE
    text = REQUEST.format(key=ssh_key("benchmark"), machines=machines, ipus=wanted)
    (_tenants(project) / f"{TENANT}.yaml").write_text(text)
    project.must(project.interlock("lock"))


def prepared(machines: int) -> Callable[[Project], None]:
    """A site that tells V-IPU controllers, with one tenant."""

    def change(project: Project) -> None:
        site = project.folder / "stacks" / SITE / "site.yaml"
        text = site.read_text()
        if BY_HAND not in text:
            raise BenchmarkFailed(f"{site} does not say who tells V-IPU controllers as it did")
        site.write_text(text.replace(BY_HAND, BY_INTERLOCK))
        for file in _tenants(project).iterdir():
            file.unlink()
        ask(project, machines)

    return change


def _tenants(project: Project) -> Path:
    return project.folder / "stacks" / SITE / "tenants"


@dataclass(frozen=True)
class Whole:
    """One size."""

    machines: int
    script: Measured
    ours: Measured
    audit: Measured


def whole(project: Project, machines: int) -> Whole:
    """Script, `up` and audit of a vPOD of this size."""
    ask(project, machines)
    bare = Bare(project)
    script = beside_services(bare.make)
    made = inventory(project, TENANT)
    bare.remove()
    ours = beside_services(lambda: apply(project))
    require_same(made, inventory(project, TENANT))
    audit = beside_services(lambda: _audit(project))
    destroy(project)
    say(
        f"{machines} machines: script {script.seconds:.1f} s, pulumi up {ours.seconds:.1f} s, "
        f"ratio {ours.seconds / script.seconds:.2f}; audit {audit.seconds:.1f} s"
    )
    return Whole(machines, script, ours, audit)


def _audit(project: Project) -> Measured:
    command = [sys.executable, "-P", "-m", "infra.cli", "audit", "--site", SITE]
    return measure(command, project.folder, project.environment)


def life(project: Project, machines: int) -> Iterator[tuple[str, Measured]]:
    """Phase -> what it took. The lock before is thrown away: nothing of it is applied."""
    (_tenants(project) / f"{TENANT}.lock.json").unlink()
    ask(project, machines)
    yield f"arrival, {machines} machines", beside_services(lambda: apply(project))
    yield "nothing to change", beside_services(lambda: apply(project, "--expect-no-changes"))
    ask(project, machines, machines * IPUS_OF_A_MACHINE // 2)
    yield "another partition", beside_services(lambda: apply(project))
    ask(project, 2 * machines)
    yield f"growth to {2 * machines} machines", beside_services(lambda: apply(project))
    command = ["pulumi", "destroy", "--yes", "--stack", TENANT_STACK, "--non-interactive", "--color", "never"]
    yield "the end", beside_services(lambda: measure(command, project.folder, project.environment))


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    sizes = sorted(set(chosen.sizes))
    phases: dict[str, Measured] = {}
    with world(prepared(sizes[0])) as project:
        found = [whole(project, machines) for machines in sizes]
        for phase, done in life(project, chosen.first):
            phases[phase] = done
            say(f"{phase}: {done.seconds:.1f} s")
    rows: dict[str, list[Measured]] = {}
    for one in found:
        rows |= {
            f"{one.machines} machines: script": [one.script],
            f"{one.machines} machines: pulumi up": [one.ours],
            f"{one.machines} machines: audit": [one.audit],
        }
    rows |= {f"life: {phase}": [done] for phase, done in phases.items()}
    return Report(
        name="vpod_life",
        ratios=ratios(found) | {"life, all phases, s": sum(one.seconds for one in phases.values())},
        table=table_of(rows),
        machine=machine,
        runs=runs_of(rows),
        remarks=("One run of each.",),
    )


def ratios(found: Sequence[Whole]) -> dict[str, float]:
    """Ours by the script's, and how times and memory grow."""
    each = {f"pulumi up / script, {one.machines} machines": one.ours.seconds / one.script.seconds for one in found}
    by_size = {one.machines: one for one in found}
    for few, many in spans(list(by_size)):
        first, last = by_size[few], by_size[many]
        where = f"slope from {few} to {many} machines"
        each[f"script, {where}"] = slope((few, first.script.seconds), (many, last.script.seconds))
        each[f"pulumi up, {where}"] = slope((few, first.ours.seconds), (many, last.ours.seconds))
        each[f"audit, {where}"] = slope((few, first.audit.seconds), (many, last.audit.seconds))
    smallest, largest = found[0], found[-1]
    each[f"audit / pulumi up, {largest.machines} machines"] = largest.audit.seconds / largest.ours.seconds
    if smallest is not largest:
        name = f"peak memory of pulumi up, {largest.machines} machines / {smallest.machines}"
        each[name] = largest.ours.peak_mib / smallest.ours.peak_mib
    return each


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="IPU-Machines of the vPOD: 1, 2, 4, 8, 16")
    parser.add_argument("--first", type=int, default=FIRST, help=f"machines at the arrival (default {FIRST})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
