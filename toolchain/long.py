"""The command line of `./run test --long`: all slices that are left, some by name, or the report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolchain.missing import MachineLacks
from toolchain.progress import say
from toolchain.slices import TABLE, LongRun, Slice, report, report_text, slices

REPORT, AS_JSON = "--report", "--json"


def is_sliced(words: Sequence[str]) -> bool:
    """True for `--long` with nothing else but names of slices and the report; anything else is pytest's."""
    rest = [word for word in words if word not in ("--long", REPORT, AS_JSON)]
    return "--long" in words and all(word in _names() for word in rest)


def long_run(words: Sequence[str], made: Path, root: Path, python: Path, values: Mapping[str, str]) -> int:
    """Run slices, or show the report. The exit code is 1 if a slice has failed."""
    run = LongRun.of(made, described(root))
    if REPORT in words:
        print(json.dumps(report(run), indent=1) if AS_JSON in words else report_text(run))
        return int(bool(report(run)["failed"]))
    for part in _chosen(words, run):
        say(f"{part.name}: its output is in {(run.folder / part.name).relative_to(root)}.txt")
        done = run.run(part, [str(python), "-m", "pytest"], root, values)
        say(f"{part.name}: {done.summary}")
    print(report_text(run))
    return int(bool(report(run)["failed"]))


def described(root: Path) -> str:
    """The commit as git describes it, with `-dirty` where a file was changed since."""
    command = ["git", "describe", "--always", "--tags", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineLacks(f"a long run is about a commit, and {root} has none: {done.stderr.strip()}")
    return done.stdout.strip()


def _names() -> dict[str, list[Slice]]:
    """Name -> slices: each by its own, and all parts by the name of their tests."""
    found = {part.name: [part] for part in slices()}
    return found | {tests.name: [part for part in slices() if part.tests is tests] for tests in TABLE}


def _chosen(words: Sequence[str], run: LongRun) -> list[Slice]:
    """Those that are named, again if they have run; else all that have not passed."""
    named = [part for word in words if word in _names() for part in _names()[word]]
    results = run.results()
    return named or [part for part in slices() if part.name not in results or results[part.name].code]
