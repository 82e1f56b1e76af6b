"""Answers that are JSON and the service's, with something in them that has not the form it should have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from interlock.provider.calls import reading
from interlock.provider.pools import ThreadPools
from tests.faults.attempts import attempt, settle, words
from tests.faults.proxy import Injection
from tests.faults.report import Matrix, Outcome
from tests.faults.table import changed
from tests.faults.world import SUBJECTS, World, met

#: In place of an object or a list.
WRONG: tuple[Any, ...] = (None, [], "a text", 7)

#: Kind -> (plan name of one that is there, listener, path, key of the object in the answer).
READ = {
    "Project": ("fay-project", "keystone", "/projects/{id}$", "project"),
    "Network": ("fay-control", "neutron", "/networks/{id}$", "network"),
    "Server": ("fay-server", "nova", "/servers/{id}$", "server"),
    "Volume": ("fay-second-volume", "cinder", "/volumes/{id}$", "volume"),
    "Share": ("fay-second-share", "manila", "/shares/{id}$", "share"),
}

#: Kind -> a member of the object, read as something that null is not.
WITHIN = {"Subnet": ("subnet", "allocation_pools"), "Port": ("port", "fixed_ips"), "Router": ("router", "name")}


def holding(key: str, value: Any) -> Callable[[Any], None]:
    return lambda answer: answer.update({key: value})


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("kind", READ)
def test_fault_of_form_on_read_names_service_and_request(world: World, matrix: Matrix, kind: str, wrong: Any) -> None:
    name, service, path, key = READ[kind]
    before = world.tenant.state[name]
    act = changed(holding(key, wrong))
    lie = Injection(act, service, "GET", path.format(id=before.id), last=None)
    with world.proxy.injected(lie):
        refused = attempt(lambda: world.tenant.read(name, record=False))
    matrix.outcomes.append(Outcome("read", kind, f"{key} is {wrong!r}", "before, still", words(refused), 0))
    assert refused is not None
    told = words(refused)
    assert f"{world.service(service)} GET " in told, told
    assert before.id in told
    assert "not the form that is read" in told or "holds no" in told, told
    # It is there as it was: nothing was concluded from what could not be read.
    assert world.tenant.read(name, record=False) == before


@pytest.mark.parametrize("kind", ["Network", "Volume", "Share", "Keypair", "FlavorAccess"])
def test_fault_of_form_after_creation_makes_nothing_twice(world: World, matrix: Matrix, kind: str) -> None:
    """The object is made, and the answer says null: it is looked for, and adopted."""
    subject = SUBJECTS[kind]
    lie = met(subject, changed(lambda answer: answer.update(dict.fromkeys(answer))), last=1)
    try:
        with world.proxy.injected(lie):
            refused = attempt(lambda: world.tenant.create(subject.name))
        matrix.outcomes.append(Outcome("create", kind, "null inside", "after, once", words(refused), len(lie.hits)))
        assert len(world.ours(subject)) == 1
        settle(world.tenant, subject.name, refused)
        assert len(world.ours(subject)) == 1
        assert world.tenant.diff(subject.name) == {}
    finally:
        world.remove(subject)
    world.unharmed(kind)


@pytest.mark.parametrize("element", [None, 7, []], ids=repr)
def test_fault_of_form_in_a_list_adopts_and_makes_nothing(world: World, matrix: Matrix, element: Any) -> None:
    subject = SUBJECTS["Network"]
    lie = Injection(changed(holding("networks", [element])), "neutron", "GET", r"/networks\?", last=None)
    with world.proxy.injected(lie):
        refused = attempt(lambda: world.tenant.create(subject.name))
    matrix.outcomes.append(Outcome("create", "Network", f"a list of {element!r}", "before, still", words(refused), 0))
    assert refused is not None
    assert "network GET /networks" in words(refused)
    assert world.ours(subject) == []
    world.unharmed("Network")


@pytest.mark.parametrize("kind", WITHIN)
def test_fault_of_form_deep_inside_is_no_fault_of_ours(world: World, matrix: Matrix, kind: str) -> None:
    subject, (one, member) = SUBJECTS[kind], WITHIN[kind]
    try:
        made = world.tenant.create(subject.name)
        lie = Injection(changed(lambda answer: answer[one].pop(member)), "neutron", "GET", f"/{made.id}$", last=None)
        with world.proxy.injected(lie):
            refused = attempt(lambda: world.tenant.update(subject.name))
        matrix.outcomes.append(Outcome("update", kind, f"no {member}", "before, still", words(refused), 0))
        assert refused is not None
        assert f"the answer holds no {member!r}" in words(refused)
        world.tenant.update(subject.name)
        assert world.tenant.diff(subject.name) == {}
    finally:
        world.remove(subject)


def test_what_goes_wrong_before_any_answer_stays_a_fault_of_ours(world: World) -> None:
    """The general place hides nothing: no answer was read, so no service is to blame."""

    def wrong() -> None:
        raise TypeError("a fault of ours")

    with pytest.raises(TypeError, match="a fault of ours"):
        reading(wrong)
    # Nor is an answer that an earlier call in this thread has read.
    reading(lambda: world.direct.api("network").get("/networks"))
    with pytest.raises(TypeError, match="a fault of ours"):
        asyncio.run(ThreadPools().run("network", wrong))
