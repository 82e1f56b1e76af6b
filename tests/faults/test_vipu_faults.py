"""Each fault of a command of V-IPU on each kind: the operation is done, or stops cleanly; the next makes it right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from interlock.provider.actuators import ACTUATORS
from interlock.resources import StoredCredential
from tests.faults.attempts import AFTER, BEFORE, STILL, attempt, settle, words
from tests.faults.clock import Clock
from tests.faults.proxy import Injection
from tests.faults.report import Matrix, Outcome
from tests.faults.vipu_table import vipu_faults
from tests.faults.vipu_world import MAKES, VipuWorld, spare
from tests.faults.vipu_world import vipu_world as made
from tests.support.paper.vpod import DOOR, THERE
from tests.support.sampling import sampling_of

#: Of a usual run: how many faults of each operation, of all kinds together.
USUAL = 3
#: Commands at most of one operation that meet a fault which stays: two for each try of the lifecycle.
MOST = 8
#: Seconds for which a deletion that never happens is waited for here; of the clock that only waiting advances.
PATIENCE = 40.0


def possible() -> Iterator[tuple[str, str, str]]:
    """(kind, fault, where) for all that has a meaning."""
    for kind in MAKES:
        for name, fault in vipu_faults(None).items():
            for where in (BEFORE, STILL, AFTER):
                act = fault.after if where == AFTER else fault.before
                if act is not None and not (name in ("hangs", "restarts") and where == STILL):
                    yield kind, name, where


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        cases = [case for case in possible() if metafunc.function is test_fault_on_create or case[0] != HANDED]
        found = sampling_of(metafunc.config).some(f"V-IPU, {metafunc.function.__name__}", cases, USUAL)
        names = ["-".join(case).replace(", ", "-").replace(" ", "_") for case in found]
        metafunc.parametrize(("kind", "fault", "where"), found, ids=names)


#: Takes no command to be read or deleted.
HANDED = StoredCredential.KIND


@pytest.fixture(scope="module")
def vipu_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VipuWorld]:
    with made(tmp_path_factory.mktemp("vipu"), Clock().retry_policy()) as found:
        yield found


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in MAKES:
        monkeypatch.setattr(type(ACTUATORS[kind]), "PATIENCE", PATIENCE)


def _injection(world: VipuWorld, fault: str, where: str, method: str, path: str) -> Injection:
    found = vipu_faults(world.vpod)[fault]
    act = found.after if where == AFTER else found.before
    assert act is not None
    return Injection(act, DOOR, method, path, last=None if where == STILL else 1)


def _of(world: VipuWorld, fault: str) -> Any:
    return world.impatient() if fault == "hangs" else nullcontext(world.stack)


def test_fault_on_create(vipu_world: VipuWorld, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    world, name = vipu_world, spare(kind)
    injection = _injection(world, fault, where, "POST", MAKES[kind])
    before = world.vpod.everything()
    with _of(world, fault) as program:
        with matrix.watching(world.vpod.proxy) as seen, world.vpod.proxy.injected(injection):
            refused = attempt(lambda: program.create(name))
        matrix.outcomes.append(Outcome("create", kind, fault, where, words(refused), seen()))
        assert 1 <= len(injection.hits) <= MOST
        assert refused is not None or world.ours(kind) == 1
        settle(program, name, refused)
        assert world.ours(kind) == 1
        assert program.read(name, record=False) is not None
        assert program.diff(name) == {}
        program.delete(name)
    assert world.vpod.everything() == before


def test_fault_on_read(vipu_world: VipuWorld, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    """A list that cannot be read is told. It is never taken for one in which the object is not."""
    world, name, found = vipu_world, spare(kind), list[Any]()
    noun = MAKES[kind].split("/")[2]
    world.stack.create(name)
    before = world.stack.state[name]
    injection = _injection(world, fault, where, "GET", f"/list/{noun}$")
    with _of(world, fault) as program:
        with matrix.watching(world.vpod.proxy) as seen, world.vpod.proxy.injected(injection):
            refused = attempt(lambda: found.append(program.read(name, record=False)))
        matrix.outcomes.append(Outcome("read", kind, fault, where, words(refused), seen()))
        assert injection.hits
        assert refused is not None or found == [before]
        program.delete(name)
    assert world.ours(kind) == 0


def test_fault_on_delete(vipu_world: VipuWorld, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    world, name = vipu_world, spare(kind)
    noun, before = MAKES[kind].split("/")[2], world.vpod.everything()
    world.stack.create(name)
    injection = _injection(world, fault, where, "POST", f"/remove/{noun}/spare$")
    with _of(world, fault) as program:
        with matrix.watching(world.vpod.proxy) as seen, world.vpod.proxy.injected(injection):
            refused = attempt(lambda: program.delete(name))
        matrix.outcomes.append(Outcome("delete", kind, fault, where, words(refused), seen()))
        assert injection.hits
        assert refused is not None or world.ours(kind) == 0
        if refused is not None:
            program.delete(name)
    assert world.vpod.everything() == before


def test_a_controller_that_forgets_is_told_again(vipu_world: VipuWorld) -> None:
    """Its storage is lost: what a refresh does not find, the next `up` makes once more, and nothing twice."""
    world = vipu_world
    before, names = world.vpod.everything(), [name for name in world.stack.state if name not in THERE]
    world.vpod.controllers.restart(world.vpod.server, forgetting=True)
    for name in reversed(names):
        if world.stack.read(name) is None:
            del world.stack.state[name]
    told = [name for name in names if name not in world.stack.state]
    assert told == names
    for name in told:
        world.stack.create(name)
    assert world.vpod.everything() == before
