"""Runs tests against mutants: `python -m tests.mutation.running QUESTIONS ANSWERS`, both JSON files.

One process collects the tests once, and forks for each mutant; a child changes the function and runs what reaches it,
the cheapest first, until a test fails. Before that one child runs everything, to see which test reaches which function.
Mutants of what is computed at import take a process of their own.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.changes import ROOT, Mutant
from tests.mutation.grafting import Holders, graft, holders, installed, is_graftable
from tests.mutation.ordering import dealt

Function = str
"""`policies/rules/racks.py:_answer`"""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant. `by`: the first test that failed; empty if it survived."""

    mutant: Mutant
    by: str
    tried: int
    seconds: float

    @property
    def is_killed(self) -> bool:
        """True if a test failed, or did not end."""
        return bool(self.by)


@dataclass(frozen=True)
class Limits:
    """How long a run may look: processor seconds for one mutant, tests for one mutant, and how many at once."""

    seconds: float = 60
    tests: int = 10_000
    processes: int = 1
    #: Whether survivors are tried again where no test has run before.
    again: bool = True


def outcomes(
    mutants: Sequence[Mutant], paths: Sequence[str], limits: Limits, known: dict[Function, list[str]] | None = None
) -> list[Outcome]:
    """Run the tests of these paths against mutants, in processes of their own.

    `known`: the tests that reach each function, the first to be tried first; without it a run of all finds out.
    """
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.json")
        question = {"mutants": [asdict(item) for item in mutants], "limits": asdict(limits), "known": known}
        asked.write_text(json.dumps(question | {"paths": list(paths)}))
        done = subprocess.run(
            [sys.executable, "-m", "tests.mutation.running", str(asked), str(answered)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert answered.exists(), f"no mutant was tried:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return [Outcome(Mutant(**item.pop("mutant")), **item) for item in json.loads(answered.read_text())["outcomes"]]


def measured(
    mutants: Sequence[Mutant], paths: Sequence[str], limits: Limits, known: dict[Function, list[str]]
) -> tuple[list[Outcome], dict[Function, list[str]]]:
    """What becomes of mutants, here, and the tests of each function, those first that killed most."""
    inside = [item for item in mutants if is_graftable(item)]
    runner = Runner(inside, limits, known)
    assert pytest.main([*ARGUMENTS, *paths], plugins=[runner]) in (0, 5)
    question = {"known": known, "paths": list(paths), "limits": asdict(limits)}
    return runner.found + [_alone(item, question, limits) for item in mutants if item not in inside], runner.reached


def looked_for(paths: Sequence[str]) -> dict[Function, list[str]]:
    """Which tests of these paths reach each function, the first to be tried first. Runs all of them, here."""
    runner = Runner([], Limits(), None)
    assert pytest.main([*ARGUMENTS, *paths], plugins=[runner]) in (0, 5)
    return runner.reached


# In the process that collects the tests.

#: What a child says whose mutant is nowhere: no test could notice it, which is neither killed nor survived.
_NOT_GRAFTED = "not grafted"


class Runner:
    """A pytest plugin: instead of running the tests once, it runs them for each mutant."""

    def __init__(
        self, mutants: Sequence[Mutant], limits: Limits, known: dict[Function, list[str]] | None, *, whole: bool = False
    ) -> None:
        self.mutants, self.limits, self.known, self.whole = mutants, limits, known, whole
        self.found: list[Outcome] = []
        self.reached: dict[Function, list[str]] = {}
        #: Function -> how many of its mutants each test killed.
        self.kills: defaultdict[Function, Counter[str]] = defaultdict(Counter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Takes the place of pytest's own loop."""
        items = {item.nodeid: item for item in session.items}
        if self.whole:
            # A process of its own has the mutant in it already.
            tried = _tried(self.mutants[0], [*items.values()], self.limits)
            # What cannot be imported any more has no tests, and that is noticed by everything.
            self.found.append(replace(tried, by="the tests are not collected") if session.testsfailed else tried)
        else:
            # First where all tests have run, so that what they keep need not be made for each mutant; what survives
            # there is tried again where none has, since the locks of others were written by the code as it is.
            rows = _in_child(lambda: self._warm(items))
            known = rows.pop()
            first = [Outcome(Mutant(**row.pop("mutant")), **row) for row in rows]
            left = [outcome.mutant for outcome in first if not outcome.is_killed]
            self.reached = known
            self.found = first
            if left and self.limits.again:
                killed = [outcome for outcome in first if outcome.is_killed]
                self.found = killed + self.all_of(left, items, known)
        return True

    def _warm(self, items: dict[str, pytest.Item]) -> list[Any]:
        if self.known is None:
            known = _reached(items.values())
        else:
            # A test that was renamed since is not there; the next that reaches the function is.
            known = {place: [name for name in names if name in items] for place, names in self.known.items()}
            for name in dict.fromkeys(name for mutant in self.mutants for name in known.get(mutant.place, ())[:1]):
                _passes(items[name])
        return [*map(asdict, self.all_of(self.mutants, items, known)), known]

    def all_of(
        self, mutants: Sequence[Mutant], items: dict[str, pytest.Item], known: dict[Function, list[str]]
    ) -> list[Outcome]:
        """What becomes of these mutants. Raises RuntimeError if a function to be changed is held by nobody."""
        waiting, running, found = list(mutants), dict[int, tuple[Mutant, int, float]](), list[Outcome]()
        held = holders({item.module for item in mutants})
        with _shared_memory():
            while waiting or running:
                while waiting and len(running) < self.limits.processes:
                    mutant = waiting.pop(0)
                    chosen = [items[name] for name in known.get(mutant.place, ())]
                    pid, end = _forked(partial(self._child, mutant, held, chosen[: self.limits.tests]))
                    running[pid] = (mutant, end, time.monotonic())
                pid, _ = os.wait()
                mutant, end, began = running.pop(pid)
                said = os.read(end, 65_536).decode()
                os.close(end)
                by, _, tried = (said or "the process ended\t0").partition("\t")
                if by == _NOT_GRAFTED:
                    raise RuntimeError(f"{mutant}: nobody holds that function, so no test was tried")
                found.append(Outcome(mutant, by, int(tried or 0), round(time.monotonic() - began, 2)))
                # What notices one change of a function mostly notices others.
                self.kills[mutant.place][by] += 1
                known[mutant.place] = sorted(
                    known.get(mutant.place, ()), key=lambda name: -self.kills[mutant.place][name]
                )
                print("killed  " if by else "SURVIVED", mutant, by, tried, file=sys.stderr, flush=True)
        _require_passing([items[name] for name in sorted({outcome.by for outcome in found} & items.keys())])
        return found

    def _child(self, mutant: Mutant, held: Holders, chosen: list[pytest.Item]) -> str:
        if not graft(mutant, held):
            return f"{_NOT_GRAFTED}\t0"
        outcome = _tried(mutant, chosen, self.limits)
        return f"{outcome.by}\t{outcome.tried}"


@contextmanager
def _shared_memory() -> Iterator[None]:
    """What is here by now stays: a child that never looks through it shares the memory, and begins at once.

    What is frozen is seen by no later look for who holds a function, so it is only for as long as children are made.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _tried(mutant: Mutant, items: list[pytest.Item], limits: Limits) -> Outcome:
    """Run these tests until one fails."""
    began = time.process_time()
    for number, item in enumerate(items, start=1):
        if time.process_time() - began > limits.seconds:
            return Outcome(mutant, "", number - 1, round(time.process_time() - began, 2))
        # A mutant that never ends is killed by the test that waits for it.
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(120)
        failed = _failed(item)
        signal.alarm(0)
        if failed:
            return Outcome(mutant, item.nodeid, number, round(time.process_time() - began, 2))
    return Outcome(mutant, "", len(items), round(time.process_time() - began, 2))


def _require_passing(killers: Sequence[pytest.Item]) -> None:
    """Raises RuntimeError if one of these tests fails here without any mutant: what it killed was killed by nothing."""
    failing = _in_child(lambda: [item.nodeid for item in killers if _failed(item)])
    if failing:
        raise RuntimeError(f"these tests fail without any mutant: {', '.join(failing)}")


def _failed(item: pytest.Item) -> list[pytest.TestReport]:
    return [report for report in runtestprotocol(item, nextitem=None, log=False) if report.failed]


def _passes(item: pytest.Item) -> None:
    failed = _failed(item)
    assert not failed, f"{item.nodeid} fails without any mutant: {failed[0].longreprtext}"


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("the mutant never ends")


def _reached(items: Iterable[pytest.Item]) -> dict[Function, list[str]]:
    """Function -> the tests that call it, the fastest first. Runs all tests."""
    seconds: dict[str, float] = {}
    found: defaultdict[Function, set[str]] = defaultdict(set)
    heads, now = (f"{ROOT}/policies/", f"{ROOT}/infra/checker/"), set[Function]()
    names: dict[Any, Function] = {}

    def called(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if code not in names:
            here = code.co_filename.startswith(heads)
            # `f.<locals>.<listcomp>` is a part of f.
            function = code.co_qualname.partition(".<locals>")[0]
            names[code] = f"{Path(code.co_filename).relative_to(ROOT)}:{function}" if here else ""
        if names[code]:
            now.add(names[code])

    for item in items:
        now.clear()
        began = time.monotonic()
        sys.settrace(called)
        _passes(item)
        sys.settrace(None)
        seconds[item.nodeid] = time.monotonic() - began
        for function in now:
            found[function].add(item.nodeid)
    return {function: dealt(function, tests, seconds) for function, tests in found.items()}


def _forked(work: Callable[[], str]) -> tuple[int, int]:
    """(process, where its answer is read) of a child that does this."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    code = 1
    try:
        os.write(write, work().encode())
        code = 0
    except BaseException:  # noqa: BLE001  # nobody above a child could tell it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _in_child(work: Callable[[], Any]) -> Any:
    """What a child finds: whatever it filled caches with is gone with it."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "found.json")
        pid, end = _forked(lambda: str(place.write_text(json.dumps(work()))))
        _, status = os.waitpid(pid, 0)
        os.close(end)
        if not place.exists():
            message = f"the child that runs tests without a mutant ended with {status}; its traceback is above"
            raise RuntimeError(message)
        return json.loads(place.read_text())


ARGUMENTS = ("-q", "-n0", "-p", "no:cacheprovider", "--timeout=0", "--fast", "--seed", "1", "-s")
"""Of pytest: small samples, always the same, so that what is reached is what was reached."""


def main(asked: Path, answered: Path) -> int:
    """Try the mutants of one file, and write what became of them into another."""
    question = json.loads(asked.read_text())
    mutants = [Mutant(**item) for item in question["mutants"]]
    limits, known = Limits(**question["limits"]), question["known"]
    if question.get("whole"):
        installed(mutants[0])
        runner = Runner(mutants, limits, None, whole=True)
        code = pytest.main([*ARGUMENTS, *question["paths"]], plugins=[runner])
        found = runner.found or [Outcome(mutants[0], f"pytest ends with {code}", 0, 0)]
    else:
        inside = [item for item in mutants if is_graftable(item)]
        runner = Runner(inside, limits, known)
        if inside:
            assert pytest.main([*ARGUMENTS, *question["paths"]], plugins=[runner]) in (0, 5)
        found = runner.found + [_alone(item, question, limits) for item in mutants if item not in inside]
    answered.write_text(json.dumps({"outcomes": [asdict(item) for item in found], "reached": runner.reached}))
    return 0


def _alone(mutant: Mutant, question: dict[str, Any], limits: Limits) -> Outcome:
    """A mutant of what is computed at import, in a process of its own."""
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.json")
        # What reaches the functions of the module reaches its tables; without a list of these tests all files are read.
        near = {name.partition("::")[0] for place, names in (question["known"] or {}).items()
                for name in names if place.startswith(f"{mutant.module}:")} & set(question["paths"])  # fmt: skip
        few = {"paths": sorted(near or question["paths"]), "known": None}
        asked.write_text(json.dumps(question | few | {"mutants": [asdict(mutant)], "whole": True}))
        command = [sys.executable, "-m", "tests.mutation.running", str(asked), str(answered)]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=limits.seconds + 120)
        if not answered.exists():
            return Outcome(mutant, "the module is not imported", 0, 0)
        (item,) = json.loads(answered.read_text())["outcomes"]
        return Outcome(Mutant(**item.pop("mutant")), **item)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
