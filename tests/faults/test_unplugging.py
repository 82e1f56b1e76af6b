"""Faults while Nova is asked to take a port off its server: it is gone, or plugged in as it was, or on its way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.provider import removing
from tests.faults.attempts import AFTER, BEFORE, MOST, STILL, act_of, attempt, within_budget, words
from tests.faults.proxy import Injection
from tests.faults.report import Matrix, Outcome
from tests.faults.test_faults import budget, last, possible
from tests.faults.world import World, fresh
from tests.support.sampling import sampling_of

PORT, SERVER = "fay-port-data", "fay-server"
TAKES_OFF = ("nova", "DELETE", "/os-interface/")

#: A usual run takes three of these, and two of all that there are.
SOME = (("401", BEFORE), ("404", BEFORE), ("409 in use", STILL), ("429", BEFORE), ("503", AFTER), ("reset", BEFORE))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        sampling = sampling_of(metafunc.config)
        found = dict.fromkeys(
            (*sampling.some("unplugging, some", SOME, 3), *sampling.some("unplugging", possible(), 2))
        )
        metafunc.parametrize(("fault", "where"), list(found), ids=lambda one: one.replace(", ", "-").replace(" ", "_"))


@pytest.fixture(autouse=True)
def _plugged_again(world: World) -> Iterator[None]:
    yield
    program = world.tenant
    if PORT not in program.state:
        program.create(PORT)
    program.read(SERVER)
    if program.diff(SERVER):
        program.update(SERVER)


def has_it(world: World, ident: str) -> bool:
    ports = world.direct.api("network").items("/ports", "ports", device_id=world.tenant.state[SERVER].id)
    return ident in [port["id"] for port in ports]


def test_fault_while_a_port_is_taken_off(
    world: World, matrix: Matrix, monkeypatch: pytest.MonkeyPatch, fault: str, where: str
) -> None:
    # What never happens is not waited for as long here.
    monkeypatch.setattr(removing, "TAKING_OFF", 5.0)
    ident = world.tenant.state[PORT].id
    injection = Injection(act_of(fault, where), *TAKES_OFF, last=last(where))
    with fresh(world, world.tenant, budget(fault)) as program:
        with matrix.watching(world.proxy) as seen, world.proxy.injected(injection):
            refused = attempt(lambda: program.delete(PORT))
        matrix.outcomes.append(Outcome("take off", "Port", fault, where, words(refused), seen()))
        within_budget(injection, "any" if fault == "404" else fault, most=MOST)
        path = f"/ports/{ident}"
        if refused is not None:
            assert world.direct.api("network").find(path) is not None, "it stays until Nova has let go of it"
            assert where == AFTER or has_it(world, ident)
            program.delete(PORT)
        assert world.direct.api("network").find(path) is None
