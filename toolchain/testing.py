"""`./run test`: two runs of pytest side by side, since tests on an embedded cloud mostly wait for its services."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from toolchain.progress import say

FIRST = ("docs", "e2e", "provider", "sandbox")
"""Folders of tests of the first run, in this order; so both runs take about as long. The first two drive Pulumi's
engine; they leave an empty cloud to the others."""

ON_THE_CLOUD = ("faults", "kills", "machine", "together")
"""Folders of tests of the second run that use an embedded cloud, which is that run's own. They come last in it."""

ALONE = ("--pdb", "-s", "--capture", "--junit", "--co", "--lf", "--last-failed", "--ff", "--sw")
"""Options, by how they begin, that two runs cannot share: a terminal, a file, or what the last run remembers."""

NOTHING_COLLECTED = 5
"""Exit code of pytest where no test was chosen."""


def runs(arguments: Sequence[str], root: Path) -> list[list[str]]:
    """The arguments of each run of pytest: two, or the caller's own where files are named or two cannot be."""
    named = any((root / word.partition("::")[0]).exists() for word in arguments if not word.startswith("-"))
    if named or any(word.startswith(ALONE) for word in arguments):
        return [list(arguments)]
    apart = ["-o", "cache_dir=.pytest_cache/apart"]
    return [[*arguments, *_paths(FIRST)], [*arguments, *apart, *_paths(second(root))]]


def second(root: Path) -> list[str]:
    """The folders of the second run: all that hold tests and are not in the first, those on a cloud last."""
    held = {file.parent.name for file in (root / "tests").glob("*/test_*.py")} - set(FIRST)
    return [*sorted(held - set(ON_THE_CLOUD)), *(name for name in ON_THE_CLOUD if name in held)]


def _paths(folders: Iterable[str]) -> list[str]:
    return [f"tests/{name}" for name in folders]


def side_by_side(first: Sequence[str], beside: Sequence[str], values: Mapping[str, str], report: Path) -> int:
    """Run both; what the second says is shown when the first has ended. The exit code is the worse of the two."""
    report.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **values}
    # Each has an embedded cloud of its own: what one leaves behind is not in the other's way.
    own = environment | {"INTERLOCK_TEST_SANDBOX": str(report.parents[1] / "test-sandbox-beside")}
    with report.open("w+") as said:
        running = [
            subprocess.Popen(beside, env=own, stdout=said, stderr=subprocess.STDOUT),
            subprocess.Popen(first, env=environment),
        ]
        try:
            codes = [process.wait() for process in reversed(running)]
        except BaseException:
            for process in running:
                process.terminate()
            for process in running:
                process.wait()
            raise
        said.seek(0)
        sys.stdout.write(f"\n{said.read()}")
    return worse(codes)


def worse(codes: Sequence[int]) -> int:
    """The exit code of both runs. A run in which nothing was chosen counts only if neither chose anything."""
    chosen = [code for code in codes if code != NOTHING_COLLECTED]
    return next((code for code in chosen if code), 0) if chosen else NOTHING_COLLECTED


def announce(report: Path, root: Path) -> None:
    """Say where the output of the second run is meanwhile."""
    say(f"two runs side by side: tests with Pulumi's engine here, all others in {report.relative_to(root)}, shown last")
