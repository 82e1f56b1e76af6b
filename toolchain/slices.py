"""`./run test --long`: a long run in slices of at most 150 minutes, each of which may run on another day.

The state lies in `.interlock/long/<git describe>/`: one file for each slice that has run, and the seed of all of them.
A change of the sources is another long run; a checkout with changes that are not committed is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolchain.making import write_whole
from toolchain.missing import MachineLacks

MOST_MINUTES = 150
"""No slice may take longer than this on two quiet cores."""


@dataclass(frozen=True)
class Tests:
    """Tests of a long run: arguments of pytest, and into how many slices they are divided.

    `minutes`: how long a slice may take; pytest is ended after it, and the slice counts as failed.
    """

    name: str
    arguments: tuple[str, ...]
    parts: int = 1
    minutes: int = MOST_MINUTES


@dataclass(frozen=True)
class Slice:
    """What is run at once, under a name that a person types: `worlds-3`."""

    name: str
    tests: Tests
    part: int

    @property
    def arguments(self) -> list[str]:
        """Of pytest, besides the seed."""
        return ["--long", "--part", f"{self.part}/{self.tests.parts}", *self.tests.arguments]


TABLE: tuple[Tests, ...] = (
    Tests("worlds", ("tests/oracle/test_oracle.py",), parts=4),
    Tests("clean-sites", ("tests/mutants/test_no_false_alarm.py",)),
    Tests("mutants", ("tests/mutants/test_mutants.py", "tests/mutants/test_metamorphic.py")),
    Tests("code-mutants", ("tests/mutation",), parts=4),
    Tests("certificates", ("tests/certificate",)),
    Tests("fuzz", ("tests/fuzz",), parts=2),
    Tests("properties", ("tests/model", "tests/planning", "tests/policies", "tests/infra/test_lock_index.py"), parts=2),
    Tests("store", ("tests/store",)),
    Tests("packets", ("tests/packets",)),
    Tests("scenario", ("tests/e2e/test_scenario.py",)),
    Tests("gpu-demo", ("tests/e2e/test_demo_gpu.py",)),
    Tests("faults", ("tests/faults",), parts=4),
    Tests("kill-points", ("tests/kills",), parts=6),
    Tests("state-machine", ("tests/machine",), parts=8),
)
"""What a long run consists of, the cheap first."""


def slices() -> list[Slice]:
    """All slices, in the order in which they run."""
    return [
        Slice(f"{tests.name}-{part}" if tests.parts > 1 else tests.name, tests, part)
        for tests in TABLE
        for part in range(1, tests.parts + 1)
    ]


@dataclass(frozen=True)
class Result:
    """How a slice ended. `code`: pytest's exit code; `summary`: its closing line."""

    slice: str
    commit: str
    seed: int
    code: int
    seconds: int
    summary: str


@dataclass(frozen=True)
class LongRun:
    """The state of a long run of one commit, in `folder`."""

    folder: Path
    commit: str
    seed: int

    @classmethod
    def of(cls, made: Path, described: str) -> LongRun:
        """The one of this commit: begun now, with this moment as its seed, or gone on with.

        Raises `MachineLacks` if sources are changed and not committed.
        """
        if described.endswith("-dirty"):
            raise MachineLacks(
                f"{described}: a long run is about one commit, and files were changed since.\n"
                "Commit or stash them, or run a slice's tests by hand: ./run test PATH --long --part 1/8"
            )
        folder = made / "long" / described
        begun = folder / "run.json"
        if not begun.exists():
            write_whole(begun, json.dumps({"commit": described, "seed": time.time_ns() % 10**9}))
        found = json.loads(begun.read_text())
        if found["commit"] != described:
            raise MachineLacks(f"{begun} is about {found['commit']}, and this is {described}: remove that folder")
        return cls(folder, described, found["seed"])

    def results(self) -> dict[str, Result]:
        """Slice -> how it ended, for those that have run. Raises `MachineLacks` if one is about another commit."""
        found = {}
        for part in slices():
            path = self.folder / f"{part.name}.json"
            if path.exists():
                found[part.name] = Result(**json.loads(path.read_text()))
                if found[part.name].commit != self.commit:
                    raise MachineLacks(f"{path} is about {found[part.name].commit}, not {self.commit}: remove it")
        return found

    def run(self, part: Slice, command: Sequence[str], root: Path, values: Mapping[str, str]) -> Result:
        """Run a slice's tests and keep how they ended; an interrupted one leaves nothing, and runs again."""
        environment = {**os.environ, **values, "INTERLOCK_REPORTS": str(self.folder)}
        began, log = time.monotonic(), self.folder / f"{part.name}.txt"
        with log.open("w") as output:
            child = subprocess.Popen(
                [*command, "--seed", str(self.seed), *part.arguments],
                cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            code = _code(child, part.tests.minutes * 60)
        lines = [line for line in log.read_text().splitlines() if line.strip()]
        seconds = round(time.monotonic() - began)
        found = Result(part.name, self.commit, self.seed, code, seconds, (lines or [""])[-1].strip("= "))
        write_whole(self.folder / f"{part.name}.json", json.dumps(asdict(found), indent=1))
        return found


def _code(child: subprocess.Popen[bytes], most: float) -> int:
    """The exit code; -9 after so many seconds."""
    try:
        return child.wait(most)
    except BaseException as stopped:
        child.terminate()
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if isinstance(stopped, subprocess.TimeoutExpired):
            return -9
        raise


def report(run: LongRun) -> dict[str, object]:
    """What has run and what has not, as data."""
    results = run.results()
    rows = [asdict(results[part.name]) if part.name in results else {"slice": part.name} for part in slices()]
    failed = [name for name, result in results.items() if result.code]
    left = [part.name for part in slices() if part.name not in results]
    return {"version": 1, "commit": run.commit, "seed": run.seed, "slices": rows, "failed": failed, "left": left}


def report_text(run: LongRun) -> str:
    """The same, as people read it."""
    results = run.results()
    wide = max(len(part.name) for part in slices())
    lines = [f"long run of {run.commit}, seed {run.seed}"]
    for part in slices():
        result = results.get(part.name)
        if result is None:
            lines.append(f"  {part.name:{wide}}  not yet")
        else:
            how = "passed" if result.code == 0 else f"FAILED ({result.code})"
            lines.append(f"  {part.name:{wide}}  {how}  {result.seconds} s  {result.summary}")
    failed = sum(result.code != 0 for result in results.values())
    lines.append(f"{len(results)} of {len(slices())} slices have run, {failed} failed")
    return "\n".join(lines)
