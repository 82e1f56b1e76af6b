"""What a V-IPU controller is told: killed before, while and after a command runs, or its answer is lost.

Provider processes are real and die; the controller is the sandbox's, with TLS, keys and time, asked by its commands
through `sandbox.vipu.station`. The cloud beside it is on paper (`tests/support/paper`): of that only markers are asked,
and what waits for a server.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interlock.resources import KINDS, StoredCredential, VipuObject, VipuPartition, VipuUser
from tests.kills.points import Command, Points
from tests.kills.report import Point
from tests.kills.rounds import Rounds, Way
from tests.kills.trap import AT_COMMANDS
from tests.kills.vipu_ground import VipuGround, vipu_ground
from tests.support.engine.stack import Stack
from tests.support.paper.vpod import THERE, stack_on
from tests.support.sampling import Sampling

#: All that is killed at here.
TOLD = (*(kind for kind, cls in KINDS.items() if issubclass(cls, VipuObject)), StoredCredential.KIND)
#: Points of a long run, counted 2026-11-26. With fewer, some command of some step was left out.
POINTS = 240

#: An hour on a busy machine, when every point is taken.
pytestmark = pytest.mark.timeout(4 * 3600)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[VipuGround]:
    with vipu_ground(tmp_path) as found:
        yield found


def test_kill_at_commands_of_vipu(ground: VipuGround, points: list[Point], sampling: Sampling) -> None:
    """In the end everything stands once, a next `up` has nothing to do, and all goes without a trace."""
    process: Any = None  # every command takes one of its own
    stack, taken, sample = stack_on(ground.vpod, process), list[Point](), frozenset(sampled(sampling))
    rounds = Rounds(Points(ground, taken), sampling, sample, AT_COMMANDS)
    names = tuple(name for name in stack.resources if name not in THERE)
    assert {stack.kinds[name] for name in names} == {*TOLD}
    for name in names:
        if rounds.wants(stack, name):
            _complete(rounds, stack, names[: names.index(name)])
            rounds.stand(stack, "vipu", name)
    _complete(rounds, stack, names)
    if VipuPartition.KIND in sample:
        rounds.become(stack, "vipu", "resize", "p", stack.resources["p"].model_copy(update={"ipus": 4}))
    if VipuUser.KIND in sample:
        rounds.drift(stack, "vipu", "user", partial(_widen, rounds, ground, stack), beside=("handed",))
    done = rounds.points.whole(Command(stack, names), preflight=True)
    assert (done.requests, done.said) == ((), "")
    if sampling.long:
        there, back = Command(stack, names, destroys=True), Command(stack, names)
        rounds.to_and_fro("vipu", Way("whole", "leave", there), Way("whole", "arrive", back))
    rounds.points.again(Command(stack, names, destroys=True))
    # With those of its other parts.
    assert not sampling.long or rounds.met >= POINTS
    _check(taken, sample, sampling)
    points += taken


def sampled(sampling: Sampling) -> list[str]:
    """The kinds that a run kills at."""
    return sampling.some("kinds of V-IPU killed", TOLD, sampling.count("kinds of V-IPU killed"))


def _complete(rounds: Rounds, stack: Stack, names: tuple[str, ...]) -> None:
    missing = tuple(name for name in names if name not in stack.state)
    if missing:
        rounds.points.again(Command(stack, missing))


def _widen(rounds: Rounds, ground: VipuGround, stack: Stack) -> None:
    """Somebody opens all allocations to the user, at the console, and a refresh sees it."""
    controllers, server = ground.vpod.controllers, ground.vpod.server
    controllers.told(server, "remove user poplar-0")
    controllers.told(server, "create user poplar-0")
    stack.process = victim = ground.victim()
    stack.read("user")
    victim.close()
    rounds.points.seen.clear()


def _check(taken: list[Point], sample: frozenset[str], sampling: Sampling) -> None:
    """Each kind of the sample was killed at in each step; of a long run that is not divided, with every fault."""
    if sampling.part.of > 1:
        return
    steps = {("create", kind) for kind in sample} | {("delete", kind) for kind in sample}
    steps |= {("replace", kind) for kind in sample}
    assert not steps - {(point.step, point.kind) for point in taken}
    if sampling.long:
        found = {(point.step, point.kind, point.fault) for point in taken}
        assert not {(*one, str(fault)) for one in steps for fault in AT_COMMANDS} - found
