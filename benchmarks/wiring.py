"""`pulumi up` of a vPOD of 16 machines, with its 32 switch ports, against a bare openstacksdk script.

Both bind the same ports through the same driver of switches on the same embedded cloud, in turn, and make the few
other objects of the request too: a project, networks, a controller, one Poplar server. `pulumi up` proves, looks at
the switches beforehand and reads each port back from its switch; the script believes what Neutron answers.

After each of the two, the objects must be the same and the switches themselves must say that every port is up, in
access mode and in its VLAN, or there is no figure. Between the two everything is deleted, and the ports rest again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.inventory import inventory, require_same
from benchmarks.machine import Machine
from benchmarks.measure import Measured
from benchmarks.report import Cell, Report, Table, median, options, run
from benchmarks.up import Bare, apply, destroy
from benchmarks.wired_ports import WiredPorts
from benchmarks.world import TENANT, beside_services, say, world
from tests.builders.pod64 import ssh_key
from tests.e2e.project import Project

PAIRS = 5
MACHINES = 16

REQUEST = """\
name: All machines
on_delete: erase
access: {{ssh_public_key: {key}}}
vpods:
  train: {{machines: {machines}, poplar: {{servers: 1, flavor: poplar.quarter, image: poplar}}}}
"""


@dataclass(frozen=True)
class Wired:
    """One side of a pair."""

    all: Measured
    #: Seconds from the start of the command to the last thing that the driver told a switch.
    last_port: float


@dataclass(frozen=True)
class Pair:
    """The script and `pulumi up`, one after the other."""

    bare: Wired
    ours: Wired

    @property
    def ratio(self) -> float:
        """Of their wall times."""
        return self.ours.all.seconds / self.bare.all.seconds


def request(machines: int) -> Callable[[Project], None]:
    """Leaves one tenant in the project's site, with a vPOD of so many machines, and locks it."""

    def change(project: Project) -> None:
        tenants = project.folder / "stacks" / "lyon" / "tenants"
        for file in tenants.iterdir():
            file.unlink()
        text = REQUEST.format(key=ssh_key("benchmark"), machines=machines)
        (tenants / f"{TENANT}.yaml").write_text(text)
        project.must(project.interlock("lock"))

    return change


def pairs(project: Project, count: int) -> Iterator[Pair]:
    """Script, `pulumi up`, script, `pulumi up` …, each alone on the cloud."""
    bare, ports = Bare(project), WiredPorts.of(project)
    say(f"{len(ports.wanted)} switch ports")
    for number in range(1, count + 1):
        script = _wired(ports, bare.make)
        made = inventory(project, TENANT)
        bare.remove()
        ports.require_rest()
        ours = _wired(ports, lambda: apply(project))
        require_same(made, inventory(project, TENANT))
        destroy(project)
        ports.require_rest()
        pair = Pair(script, ours)
        told = f"script {script.all.seconds:.1f} s, pulumi up {ours.all.seconds:.1f} s, ratio {pair.ratio:.2f}"
        say(f"pair {number}: {told}; last port after {script.last_port:.1f} and {ours.last_port:.1f} s")
        yield pair


def _wired(ports: WiredPorts, command: Callable[[], Measured]) -> Wired:
    begun = time.time()
    done = beside_services(command)
    last = ports.last_set() - begun
    ports.require_set()
    return Wired(done, last)


#: Heading -> the figure of several runs. Of times: median, and from the least to the most.
FIGURES: Mapping[str, Callable[[Sequence[Wired]], Cell]] = {
    "seconds": lambda runs: median([one.all.seconds for one in runs]),
    "least to most": lambda runs: _spread([one.all.seconds for one in runs]),
    "last port set, s": lambda runs: median([one.last_port for one in runs]),
    "least to most, s": lambda runs: _spread([one.last_port for one in runs]),
    "processor seconds": lambda runs: median([one.all.cpu_seconds for one in runs]),
    "of the services": lambda runs: median([one.all.service_seconds or 0.0 for one in runs]),
    "peak MiB": lambda runs: round(max(one.all.peak_mib for one in runs)),
}


def _spread(values: Sequence[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}"


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    with world(request(chosen.machines)) as project:
        done = list(pairs(project, chosen.pairs))
    rows = {"openstacksdk script": [pair.bare for pair in done], "pulumi up": [pair.ours for pair in done]}
    table = Table(("", *FIGURES), tuple((name, *(of(runs) for of in FIGURES.values())) for name, runs in rows.items()))
    return Report(
        name="wiring",
        ratios=ratios(done),
        table=table,
        machine=machine,
        runs=[
            {"what": name, **one.all.figures(), "last_port": round(one.last_port, 2)}
            for name, runs in rows.items()
            for one in runs
        ],
        remarks=(f"{chosen.machines} machines, {len(done)} pairs; a ratio below 1 would be a gain.",),
    )


def ratios(done: Sequence[Pair]) -> dict[str, float]:
    """Ours by the script's."""
    each = [pair.ratio for pair in done]
    last = [pair.ours.last_port / pair.bare.last_port for pair in done]
    memory = max(pair.ours.all.peak_mib for pair in done) / max(pair.bare.all.peak_mib for pair in done)
    return {
        "pulumi up / script, median of the pairs": median(each),
        "pulumi up / script, least of the pairs": min(each),
        "pulumi up / script, most of the pairs": max(each),
        "until the last port is set, median of the pairs": median(last),
        "peak memory": memory,
    }


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"how often each is run (default {PAIRS})")
    parser.add_argument(
        "--machines", type=int, default=MACHINES, help=f"machines of the vPOD, 1 to 16 (default {MACHINES})"
    )
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
