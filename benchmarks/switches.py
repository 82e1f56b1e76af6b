"""Reading a switch of 64 ports and one of 512, against scripts that send it the same commands.

The switch is the simulator of the embedded cloud with more ports; its own time is in all figures alike, and stands
beside them. Ours is what `interlock switches` does up to what is compared: strict host key, serial, every answer
checked and turned into frozen types. The scripts log in as strictly, send the same commands, parse the JSON and
check nothing: one by netmiko, at a prompt, as Neutron's driver does, and one by asyncssh, the library of ours.

Whole processes, in turn. Each must find each port in its VLAN, or there is no figure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured, measure, processor_seconds
from benchmarks.report import Cell, Report, Table, median, options, run
from benchmarks.switch_of_ports import NAME, SERIAL, port_name, vlan_of
from benchmarks.world import say
from interlock.switches.commands import COMMANDS, EOS_SWITCHPORTS
from sandbox.launcher.install import python as python_of_sandbox
from tests.e2e.project import ROOT

SIZES = (64, 512)
ROUNDS = 5
OURS, NETMIKO, ASYNCSSH = "interlock", "netmiko script", "asyncssh script"

#: Seconds until a switch listens, and until it ends.
PATIENCE = 60

#: Seconds between two looks at memory: the shortest of these processes ends within half a second.
LOOK = 0.02


@dataclass(frozen=True)
class Served:
    """A switch that runs."""

    folder: Path
    pid: int
    ports: int

    def commands(self) -> dict[str, list[str | Path]]:
        """Who reads -> the command."""
        script = [python_of_sandbox(), ROOT / "benchmarks" / "switch_script.py"]
        asked = self.folder / "asked.json"
        return {
            OURS: [sys.executable, "-m", "benchmarks.switch_reader", self.folder / "switches.yaml", SERIAL],
            NETMIKO: [*script, "netmiko", asked],
            ASYNCSSH: [*script, "asyncssh", asked],
        }

    def read(self, command: Sequence[str | Path]) -> Measured:
        """One process that reads it. Raises `BenchmarkFailed` unless it finds what the switch has."""
        before = processor_seconds(self.pid)
        done = measure(command, ROOT, os.environ, every=LOOK)
        wanted = {port_name(number): vlan_of(number) for number in range(1, self.ports + 1)}
        if json.loads(done.out) != wanted:
            raise BenchmarkFailed(f"`{command[1]} {command[2]}` did not find {self.ports} ports in their VLANs")
        return replace(done, service_seconds=processor_seconds(self.pid) - before)


@contextmanager
def served(ports: int) -> Iterator[Served]:
    """A switch with so many ports, and the question of the scripts."""
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as name:
        folder = Path(name)
        command: list[str | Path] = [sys.executable, "-m", "benchmarks.switch_of_ports", folder, str(ports)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL)
        try:
            _wait(process, folder / "known_hosts")
            (folder / "asked.json").write_text(json.dumps(_question(folder)))
            yield Served(folder, process.pid, ports)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise BenchmarkFailed(f"the switch does not end {PATIENCE} s after SIGTERM") from None


def _wait(process: subprocess.Popen[bytes], sign: Path) -> None:
    for _ in range(PATIENCE * 10):
        if sign.exists():
            return
        if process.poll() is not None:
            raise BenchmarkFailed(f"the switch ended with {process.returncode}")
        time.sleep(0.1)
    raise BenchmarkFailed(f"the switch does not listen after {PATIENCE} s")


def _question(folder: Path) -> dict[str, object]:
    entry = yaml.safe_load((folder / "switches.yaml").read_text())["switches"][NAME]
    login = {key: entry[key] for key in ("host", "port", "username", "key_file")}
    texts = [command.text for command in COMMANDS["eos"]]
    known = str(folder / "known_hosts")
    return login | {"known_hosts": known, "commands": texts, "switchports": EOS_SWITCHPORTS.text}


#: Of one size: who read it -> the runs.
Runs = dict[str, list[Measured]]


def measured(ports: int, rounds: int) -> Runs:
    """Everybody reads a switch in turn, so many times; once before, not counted, so that files are in memory."""
    with served(ports) as switch:
        commands = switch.commands()
        for command in commands.values():
            switch.read(command)
        found: Runs = {who: [] for who in commands}
        for _ in range(rounds):
            for who, command in commands.items():
                found[who].append(switch.read(command))
            say(f"{ports} ports: " + ", ".join(f"{who} {runs[-1].seconds:.2f} s" for who, runs in found.items()))
    return found


#: Heading -> the figure of several runs.
FIGURES: Mapping[str, Callable[[Sequence[Measured]], Cell]] = {
    "seconds": lambda runs: median([one.seconds for one in runs]),
    "least to most": lambda runs: f"{min(one.seconds for one in runs):.2f}–{max(one.seconds for one in runs):.2f}",
    "processor seconds": lambda runs: median([one.cpu_seconds for one in runs]),
    "of the switch": lambda runs: median([one.service_seconds or 0.0 for one in runs]),
    "peak MiB": lambda runs: round(max(one.peak_mib for one in runs)),
}


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    if not python_of_sandbox().exists():
        raise BenchmarkFailed("the embedded cloud's environment is missing: run `./run interlock sandbox install`")
    sizes = sorted(set(chosen.ports))
    found = {ports: measured(ports, chosen.rounds) for ports in sizes}
    rows = {f"{who}, {ports} ports": runs for ports, by in found.items() for who, runs in by.items()}
    return Report(
        name="switches",
        ratios={**_ratios(found), **_growth(found, sizes)},
        table=Table(
            ("", *FIGURES), tuple((name, *(of(runs) for of in FIGURES.values())) for name, runs in rows.items())
        ),
        machine=machine,
        runs=[{"what": name, **one.figures()} for name, runs in rows.items() for one in runs],
        remarks=(f"{chosen.rounds} rounds; a ratio below 1 is a gain.",),
    )


#: What a ratio is of -> the figure.
_RATIOS: Mapping[str, Callable[[Sequence[Measured]], float]] = {
    "seconds": lambda runs: median([one.seconds for one in runs]),
    "peak memory": lambda runs: max(one.peak_mib for one in runs),
}


def _ratios(found: Mapping[int, Runs]) -> dict[str, float]:
    """Ours by each script's."""
    return {
        f"interlock / {script}, {ports} ports, {name}": of(by[OURS]) / of(by[script])
        for ports, by in found.items()
        for script in (NETMIKO, ASYNCSSH)
        for name, of in _RATIOS.items()
    }


def _growth(found: Mapping[int, Runs], sizes: Sequence[int]) -> dict[str, float]:
    """The largest switch by the smallest; where the start-up of Python is most of it, near 1."""
    least, most = sizes[0], sizes[-1]
    return {
        f"{who}, {most} ports / {least}, {name}": of(found[most][who]) / of(found[least][who])
        for who in (OURS, NETMIKO, ASYNCSSH)
        for name, of in _RATIOS.items()
        if most > least
    }


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--ports", type=int, nargs="+", default=SIZES, help="sizes of switches (default 64 512)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each reads (default {ROUNDS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
