"""`./run demo` in a fresh copy of the working tree, twice: cold, and again with everything there.

Cold means an empty `.interlock`. What the machine itself keeps stays warm: the caches of uv and pip and of Go (modules
and builds), and files in memory; so nothing or little is downloaded. The steps and their times are those that
`./run demo` prints. The copy and its sandbox are removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured, measure
from benchmarks.report import Cell, Report, Table, options, run, runs_of
from benchmarks.world import say
from tests.e2e.project import ROOT

#: Variables that would lead a copy to the environment, state or cloud of this checkout.
OURS = ("PULUMI_", "OS_", "INTERLOCK_", "VIRTUAL_ENV")

#: How a step tells its end: `./run` itself, the sandbox within the demo's first step, and the demo.
DONE = re.compile(r"^  (?P<name>\S.*) done in (?P<seconds>[\d.]+) s$")
SANDBOX = re.compile(r"^sandbox: (?P<name>.*): done in (?P<seconds>[\d.]+) s$")
BEGUN = re.compile(r"^==> (?P<name>.*)$")
ENDED = re.compile(r"^    done after (?P<seconds>[\d.]+) s$")

Steps = dict[str, float]


def steps_of(lines: list[str]) -> Steps:
    """Step -> seconds, as `./run demo` told them; steps within the one before are indented by an arrow."""
    found: Steps = {}
    current = ""
    for line in lines:
        if match := DONE.match(line):
            found[match["name"]] = float(match["seconds"])
        elif match := BEGUN.match(line):
            current = match["name"]
            # In the order of their beginning: what is within a step is told before its end.
            found[current] = 0.0
        elif match := SANDBOX.match(line):
            found[f"→ {match['name']}"] = float(match["seconds"])
        elif match := ENDED.match(line):
            found[current] = float(match["seconds"])
    return found


def demo(_chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder, _copy(Path(folder)) as clone:
        cold, warm = (_run(clone, word) for word in ("cold", "warm"))
    return Report(
        name="demo",
        ratios={"warm / cold": warm.seconds / cold.seconds},
        table=Table(("step", "cold, seconds", "warm, seconds", "warm / cold"), tuple(_rows(cold, warm))),
        machine=machine,
        runs=runs_of({"cold": [cold], "warm": [warm]}),
        remarks=("Cold: `.interlock` was empty; the caches of uv, pip and Go on this machine were as they were.",),
    )


def _rows(cold: Measured, warm: Measured) -> Iterator[tuple[Cell, ...]]:
    first, second = steps_of(cold.err.splitlines()), steps_of(warm.err.splitlines())
    first["all of ./run demo"], second["all of ./run demo"] = cold.seconds, warm.seconds
    for name, seconds in first.items():
        again = second.get(name)
        # A step that has nothing to do is not told at all.
        ratio = "–" if again is None or not seconds else again / seconds
        yield name, seconds, "not needed" if again is None else again, ratio


def _run(clone: Path, word: str) -> Measured:
    say(f"{word}: ./run demo, which takes minutes" if word == "cold" else f"{word}: ./run demo once more")
    done = measure([clone / "run", "demo"], clone, _environment())
    say(f"{word}: {done.seconds:.1f} s")
    return done


@contextmanager
def _copy(folder: Path) -> Iterator[Path]:
    """The files that git has or would take, without anything that was made; its sandbox is stopped after."""
    clone = folder / "interlock"
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if listed.returncode:
        raise BenchmarkFailed(f"this is no git checkout: {listed.stderr}")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():  # deleted, and not yet committed
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    try:
        yield clone
    finally:
        subprocess.run(
            [clone / "run", "interlock", "sandbox", "down"], env=_environment(), check=False, capture_output=True
        )


def _environment() -> dict[str, str]:
    """That of a shell which has not been prepared."""
    made = str(ROOT / ".interlock")
    path = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if not entry.startswith(made)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {"PATH": os.pathsep.join(path), "NO_COLOR": "1"}


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    return run(parser, demo)


if __name__ == "__main__":
    sys.exit(main())
