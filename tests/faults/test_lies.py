"""Faults that are no broken answer: lists that lag, objects that come and go, clocks that jump, logins that fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from interlock.provider.actuators.server import ServerActuator
from interlock.provider.markers import marker
from interlock.provider.retry import RetryBudget
from interlock.resources import SecurityGroup
from interlock.vocabulary.owners import OwnerId
from tests.faults.attempts import AFTER, BEFORE, MOST, STILL, act_of, attempt, settle, within_budget, words
from tests.faults.proxy import Act, Injection, Request, Response
from tests.faults.report import Matrix, Outcome
from tests.faults.table import changed, status, text
from tests.faults.world import SUBJECTS, Subject, World, met
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world import declared

#: Kinds of which a cloud takes two with one marker: nothing but our own care keeps them single.
DOUBLED = ("Network", "Volume", "Share", "SecurityGroup")


@pytest.fixture(autouse=True)
def _strangers(world: World, request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    kind = request.node.callspec.params.get("kind", "Network") if hasattr(request.node, "callspec") else "Network"
    world.unharmed(kind)


def note(matrix: Matrix, kind: str, fault: str, where: str, refused: Any) -> None:
    matrix.outcomes.append(Outcome("create", kind, fault, where, words(refused), 0))


def listing(subject: Subject) -> tuple[str, str, str]:
    """The requests with which the subject is looked for."""
    return subject.makes[0], "GET", rf"{subject.listed[0]}\?"


def without(world: World, subject: Subject) -> Act:
    """A list from before the subject was made."""
    mark = f'"{world.marker(subject)}"'

    def change(answer: Any) -> None:
        key = subject.listed[1]
        answer[key] = [item for item in answer[key] if mark not in json.dumps(item)]

    return changed(change)


def following(subject: Subject, item: dict[str, Any]) -> Act:
    """A list that also shows this."""
    return changed(lambda answer: answer[subject.listed[1]].append(item))


@contextmanager
def process(world: World, program: Stack, budget: RetryBudget | None = None) -> Iterator[Stack]:
    """The same stack and state in a provider process that has asked nothing yet."""
    found = replace(program, process=Process(retry_policy=world.clock.retry_policy(budget)))
    yield found
    found.process.close()


# --- lists that lag ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stale", [1, 2, 3])
@pytest.mark.parametrize("kind", DOUBLED)
def test_fault_a_stale_list_after_a_lost_answer_makes_nothing_twice(
    world: World, matrix: Matrix, kind: str, stale: int
) -> None:
    subject = SUBJECTS[kind]
    # The first list is the one before the creation, and true.
    lag = Injection(without(world, subject), *listing(subject), first=2, last=1 + stale)
    lost = met(subject, act_of("reset", AFTER), last=1)
    try:
        with world.proxy.injected(lost, lag):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, kind, "stale list", f"{stale} after a lost answer", refused)
        assert refused is None
        assert len(lag.hits) == stale
        assert len(world.ours(subject)) == 1
    finally:
        world.remove(subject)


def test_fault_of_two_made_behind_a_list_that_lags_long_the_later_one_goes(world: World, matrix: Matrix) -> None:
    subject = SUBJECTS["SecurityGroup"]
    # Four looks after the lost answer, then a second one is made, and the list is right again.
    lag = Injection(without(world, subject), *listing(subject), first=2, last=5)
    lost = met(subject, act_of("503", AFTER), last=1)
    start = len(world.proxy.seen)
    try:
        with world.proxy.injected(lost, lag):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, "SecurityGroup", "stale list", "for long after a lost answer", refused)
        assert refused is None
        sent = [one for one in world.proxy.seen[start:] if one.target.endswith("/security-groups")]
        assert [one.method for one in sent] == ["POST", "POST"]
        assert world.ours(subject) == [world.tenant.state[subject.name].id]
    finally:
        world.remove(subject)


@pytest.mark.parametrize("last", [1, None])
def test_fault_a_list_that_shows_what_is_gone_is_not_believed(world: World, matrix: Matrix, last: int | None) -> None:
    subject = SUBJECTS["Network"]
    gone = {"id": "00000000-0000-4000-8000-000000000000", "description": world.marker(subject)}
    lag = Injection(following(subject, gone), *listing(subject), last=last)
    try:
        with world.proxy.injected(lag):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(
            matrix, "Network", "stale list", "shows what is gone" + ("" if last else ", until further notice"), refused
        )
        assert (refused is None) == (last == 1)
        if refused is not None:
            assert "is in a list with its marker" in str(refused)
            assert world.ours(subject) == []
        world.tenant.create(subject.name)
        assert world.ours(subject) == [world.tenant.state[subject.name].id]
    finally:
        world.remove(subject)


@pytest.mark.parametrize("last", [1, None])
@pytest.mark.parametrize("kind", DOUBLED)
def test_fault_a_list_that_shows_anothers_object_as_ours_is_no_adoption(
    world: World, matrix: Matrix, kind: str, last: int | None
) -> None:
    subject, theirs = SUBJECTS[kind], world.twins[kind]
    whole = world.direct.api(subject.api).get(f"{subject.listed[0].removesuffix('/detail')}/{theirs}")
    item = json.loads(json.dumps(whole[subject.listed[1].removesuffix("s")]))
    stranger, ours = marker(OwnerId("5742a6"), subject.name), world.marker(subject)
    item = json.loads(json.dumps(item).replace(stranger, ours))
    lag = Injection(following(subject, item), *listing(subject), last=last)
    try:
        with world.proxy.injected(lag):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, kind, "stale list", "shows a stranger's" + ("" if last else ", until further notice"), refused)
        assert (refused is None) == (last == 1)
        assert theirs not in world.ours(subject)
        assert len(world.ours(subject)) == (1 if last else 0)
    finally:
        world.remove(subject)


@pytest.mark.parametrize("last", [1, None])
def test_fault_what_is_listed_and_not_there_is_not_made_twice(world: World, matrix: Matrix, last: int | None) -> None:
    subject = SUBJECTS["Network"]
    name = subject.name
    made = world.tenant.create(name)
    try:
        race = Injection(status(404), "neutron", "GET", rf"/networks/{made.id}$", last=last)
        with world.proxy.injected(race):
            refused = attempt(lambda: world.tenant.create(name))
        note(matrix, "Network", "404 race", "on adoption" + ("" if last else ", until further notice"), refused)
        assert (refused is None) == (last == 1)
        assert world.ours(subject) == [made.id]
    finally:
        world.remove(subject)


@pytest.mark.parametrize("operation", ["read", "delete"])
def test_fault_one_404_is_no_proof_that_an_object_is_gone(world: World, matrix: Matrix, operation: str) -> None:
    subject = SUBJECTS["Network"]
    made = world.tenant.create(subject.name)
    race = Injection(status(404), "neutron", "GET", rf"/networks/{made.id}$", last=None)
    try:
        with world.proxy.injected(race):
            refused = attempt(lambda: getattr(world.tenant, operation)(subject.name))
        matrix.outcomes.append(Outcome(operation, "Network", "404 race", STILL, words(refused), len(race.hits)))
        assert refused is not None
        assert world.ours(subject) == [made.id]
    finally:
        world.remove(subject)


def test_fault_an_object_that_is_not_yet_there_to_be_read_is_waited_for(world: World, matrix: Matrix) -> None:
    subject = SUBJECTS["Network"]
    race = Injection(status(404), "neutron", "GET", r"/networks/[0-9a-f-]{36}$", last=3)
    try:
        with world.proxy.injected(race):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, "Network", "404 race", "right after its creation", refused)
        assert refused is None
        assert len(race.hits) == 3
    finally:
        world.remove(subject)


def test_fault_pages_that_lead_back_to_each_other_end(world: World, matrix: Matrix) -> None:
    subject = SUBJECTS["Network"]

    def loop(answer: Any) -> None:
        answer["networks_links"] = [{"rel": "next", "href": "http://127.0.0.1/v2.0/networks?marker=7"}]

    endless = Injection(changed(loop), "neutron", "GET", r"/networks\?", last=None)
    with world.proxy.injected(endless):
        refused = attempt(lambda: world.tenant.create(subject.name))
    note(matrix, "Network", "endless list", STILL, refused)
    assert refused is not None
    assert len(endless.hits) <= MOST
    assert world.ours(subject) == []


# --- objects on their way ---------------------------------------------------------------------------------


def _state(**values: Any) -> Act:
    def change(answer: Any) -> None:
        answer.get("server", {}).update(values)

    return changed(change)


@pytest.mark.parametrize("ends", ["ERROR", "BUILD"])
def test_fault_a_server_that_does_not_come_up_is_kept_in_state_and_mended(
    world: World, matrix: Matrix, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(ServerActuator, "PATIENCE", 6.0)
    subject = SUBJECTS["Server"]
    fault = {"fault": {"message": "No valid host was found", "code": 500}} if ends == "ERROR" else {}
    lie = _state(**{"status": ends, "OS-EXT-STS:task_state": None if ends == "ERROR" else "spawning"}, **fault)
    stuck = Injection(lie, "nova", "GET", r"/servers/[0-9a-f-]{36}$", last=None)
    try:
        with world.proxy.injected(stuck):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, "Server", f"stays in {ends}" if ends == "BUILD" else "ends in ERROR", STILL, refused)
        assert refused is not None
        assert refused.partial is not None
        assert [refused.partial.id] == world.ours(subject)
        monkeypatch.undo()
        settle(world.tenant, subject.name, refused)
        assert world.ours(subject) == [world.tenant.state[subject.name].id]
    finally:
        monkeypatch.undo()
        world.remove(subject)


def test_fault_a_volume_in_the_clear_is_kept_in_state_and_not_handed_on(world: World, matrix: Matrix) -> None:
    subject = SUBJECTS["Volume"]
    lie = changed(lambda answer: answer["volume"].update(encrypted=False))
    clear = Injection(lie, "cinder", "GET", r"/volumes/[0-9a-f-]{36}$", last=None)
    try:
        with world.proxy.injected(clear):
            refused = attempt(lambda: world.tenant.create(subject.name))
            note(matrix, "Volume", "not encrypted", STILL, refused)
            assert refused is not None
            assert "encrypted" in words(refused)
            assert refused.partial is not None
            world.tenant.state[subject.name] = refused.partial
            again = attempt(lambda: world.tenant.update(subject.name))
            assert again is not None
        assert [refused.partial.id] == world.ours(subject)
        settle(world.tenant, subject.name, refused)
        assert [refused.partial.id] == world.ours(subject)
    finally:
        world.remove(subject)


def test_fault_a_server_that_is_called_deleted_is_waited_for(world: World, matrix: Matrix) -> None:
    """Nova says so before it gives back what the server has taken, and lists it until then."""
    subject = SUBJECTS["Server"]
    early = _state(**{"status": "DELETED", "OS-EXT-STS:task_state": None})
    going = Injection(early, "nova", "GET", r"/servers/[0-9a-f-]{36}$", last=None)
    world.tenant.create(subject.name)
    try:
        with world.proxy.injected(going):
            refused = attempt(lambda: world.tenant.delete(subject.name))
        note(matrix, "Server", "called DELETED", "while it is still there", refused)
        assert refused is None
        assert world.ours(subject) == []
    finally:
        world.remove(subject)


@pytest.mark.parametrize(("fault", "where"), [("reset", AFTER), ("503", BEFORE), ("no JSON", AFTER), ("403", STILL)])
def test_fault_between_the_id_and_the_rest_keeps_the_id(world: World, matrix: Matrix, fault: str, where: str) -> None:
    subject = SUBJECTS["SecurityGroup"]
    rules = Injection(
        act_of(fault, where), "neutron", "POST", "/security-group-rules$", last=None if where == STILL else 1
    )
    try:
        with world.proxy.injected(rules):
            refused = attempt(lambda: world.tenant.create(subject.name))
        note(matrix, "SecurityGroup", f"{fault} on its rules", where, refused)
        assert refused is not None
        assert refused.partial is not None
        assert [refused.partial.id] == world.ours(subject)
        settle(world.tenant, subject.name, refused)
        assert world.tenant.state[subject.name].id == refused.partial.id
        assert world.tenant.read(subject.name, record=False) is not None
        assert world.tenant.diff(subject.name) == {}
        assert isinstance(subject.resource, SecurityGroup)
    finally:
        world.remove(subject)


# --- logins and addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [BEFORE, STILL])
@pytest.mark.parametrize("fault", ["401", "403", "404", "429", "500", "502", "503", "reset", "no JSON", "other JSON"])
def test_fault_of_the_login(world: World, matrix: Matrix, fault: str, where: str) -> None:
    login = Injection(act_of(fault, where), "keystone", "POST", "/auth/tokens$", last=None if where == STILL else 1)
    name, found = "fay-control", list[Any]()
    with process(world, world.tenant) as program, world.proxy.injected(login):
        refused = attempt(lambda: found.append(program.read(name, record=False)))
    matrix.outcomes.append(Outcome("login", "any", fault, where, words(refused), len(login.hits)))
    within_budget(login, fault)
    assert refused is not None or found == [world.tenant.state[name]]
    if where == STILL:
        assert refused is not None


@pytest.mark.parametrize("last", [1, None])
@pytest.mark.parametrize("fault", ["404", "503", "reset", "no JSON"])
def test_fault_of_the_list_of_versions_makes_nothing_gone(
    world: World, matrix: Matrix, fault: str, last: int | None
) -> None:
    name, found = "fay-control", list[Any]()
    versions = Injection(act_of(fault, BEFORE), "neutron", "GET", "^/$", last=last)
    with process(world, world.tenant) as program, world.proxy.injected(versions):
        refused = attempt(lambda: found.append(program.read(name, record=False)))
    where = BEFORE if last else STILL
    matrix.outcomes.append(Outcome("versions", "Network", fault, where, words(refused), len(versions.hits)))
    assert versions.hits
    if refused is None:
        assert found == [world.tenant.state[name]]
    assert (refused is None) == (last == 1)


def test_fault_401_in_the_middle_asks_for_one_token_and_sends_the_whole_image_again(
    world: World, matrix: Matrix
) -> None:
    subject = SUBJECTS["Image"]
    ended = Injection(status(401), "glance", "PUT", "/file$")
    try:
        start = len(world.proxy.seen)
        with world.proxy.injected(ended):
            refused = attempt(lambda: world.site.create(subject.name))
        note(matrix, "Image", "401 on its data", BEFORE, refused)
        assert refused is None
        sent = world.proxy.seen[start:]
        assert sum(1 for one in sent if one.target.endswith("/auth/tokens")) == 1
        (_, image) = [one for one in sent if one.target.endswith("/file")]
        assert image.body == declared.DATA
        assert world.site.read(subject.name, record=False) is not None
        assert world.site.diff(subject.name) == {}
    finally:
        world.remove(subject)


# --- clocks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [-400, 400])
def test_fault_a_jump_of_the_clock_changes_nothing(
    world: World, matrix: Matrix, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """Our clock goes wrong by a year in mid-run: tokens seem expired, or good long after they are."""
    subject, real = SUBJECTS["Server"], time.time
    ends = {-400: "2099-01-01T00:00:00.000000Z", 400: "2001-01-01T00:00:00.000000Z"}[days]

    def change(answer: Any) -> None:
        answer["token"]["expires_at"] = ends

    tokens = Injection(changed(change), "keystone", "POST", "/auth/tokens$", last=None)
    # A token that seems good and is not.
    ended = Injection(status(401), "neutron", "GET", "/ports", last=1)
    try:
        with process(world, world.tenant) as program, world.proxy.injected(tokens, ended):
            # Between the first login, which a preview makes, and what follows with the same connections.
            assert program.admit() == []
            monkeypatch.setattr(time, "time", lambda: real() + days * 86400)
            refused = attempt(lambda: program.create(subject.name))
            monkeypatch.undo()
        note(matrix, "Server", "clock jump", f"{days} days", refused)
        assert refused is None
        assert world.ours(subject) == [world.tenant.state[subject.name].id]
    finally:
        monkeypatch.undo()
        world.remove(subject)


@pytest.mark.parametrize(("fault", "seconds"), [("429", 2.0), ("429 date", 3.0)])
def test_fault_a_wish_to_wait_is_obeyed(world: World, matrix: Matrix, fault: str, seconds: float) -> None:
    subject = SUBJECTS["Network"]
    world.clock.waits.clear()
    try:
        with world.proxy.injected(met(subject, act_of(fault, BEFORE), last=1)):
            world.tenant.create(subject.name)
        # Piece by piece, since a run that is cancelled in between is heard.
        assert sum(world.clock.waits) == seconds
    finally:
        world.remove(subject)


def test_fault_a_wait_longer_than_the_budget_stops_at_once(world: World, matrix: Matrix) -> None:
    subject = SUBJECTS["Network"]
    hour = met(subject, status(429, Retry_After="3600"), last=None)
    with world.proxy.injected(hour):
        refused = attempt(lambda: world.tenant.create(subject.name))
    note(matrix, "Network", "429", "for an hour", refused)
    assert refused is not None
    assert len(hour.hits) == 1


# --- what is asked otherwise ------------------------------------------------------------------------------


def test_fault_a_service_that_answers_nothing_but_404_makes_nothing_gone(world: World, matrix: Matrix) -> None:
    found: list[Any] = []
    wrong = Injection(text_404, "neutron", "*", "", last=None)
    with world.proxy.injected(wrong):
        refused = attempt(lambda: found.append(world.tenant.read("fay-control", record=False)))
    matrix.outcomes.append(Outcome("read", "Network", "404", "of the whole service", words(refused), len(wrong.hits)))
    assert refused is not None
    assert found == []


def text_404(request: Request, ask: Callable[[], Response]) -> Response:
    return replace(text("text/html", "<h1>Not Found</h1>")(request, ask), status=404)
