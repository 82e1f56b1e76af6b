"""Every fault on every kind: the operation is done, or stops cleanly; the next one makes it right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.provider.actuators import ACTUATORS
from interlock.provider.removing import LETTING_GO
from interlock.provider.retry import RetryBudget
from tests.faults.attempts import AFTER, BEFORE, IN_USE, MOST, STILL, act_of, attempt, settle, within_budget, words
from tests.faults.proxy import Injection
from tests.faults.report import Matrix, Outcome
from tests.faults.table import FAULTS, SILENCE
from tests.faults.world import SUBJECTS, Subject, World, fresh, met
from tests.support.sampling import sampling_of

#: The kind whose creation meets most faults in a usual run; each other one meets one of `SOME`, and one of all.
MOST_OFTEN, OFTEN = "Network", 8
SOME = (("401", BEFORE), ("over quota", STILL), ("503", AFTER), ("other JSON", BEFORE))

#: Kind -> plan name of one that is there, and (listener, method, path) of the request that changes its name.
CHANGED: dict[str, tuple[str, str, str, str, str]] = {
    "Project": ("fay-project", "keystone", "PATCH", "/projects/{id}", "project"),
    "Network": ("fay-control", "neutron", "PUT", "/networks/{id}", "network"),
    "Server": ("fay-server", "nova", "PUT", "/servers/{id}", "server"),
    "Volume": ("fay-second-volume", "cinder", "PUT", "/volumes/{id}", "volume"),
    "Share": ("fay-second-share", "manila", "PUT", "/shares/{id}", "share"),
}

#: Kind -> what its service calls the name in that request, where it is not `name`.
NAMED_BY = {"Share": "display_name"}

#: Kind -> (listener, method, path) of the request that deletes the subject.
DELETED: dict[str, tuple[str, str, str]] = {
    "Project": ("keystone", "DELETE", "/projects/"),
    "Network": ("neutron", "DELETE", "/networks/"),
    "RouterInterface": ("neutron", "PUT", "/remove_router_interface"),
    "FloatingIp": ("neutron", "DELETE", "/floatingips/"),
    "Keypair": ("nova", "DELETE", "/os-keypairs/"),
    "FlavorAccess": ("nova", "POST", "/flavors/[^/]+/action$"),
    "BareMetalServer": ("ironic", "PUT", "/states/provision$"),
    "PartitionKey": ("ufm", "DELETE", "/resources/pkeys/"),
    "Volume": ("cinder", "DELETE", "/volumes/"),
    "Share": ("manila", "DELETE", "/shares/"),
    "ShareAccess": ("manila", "POST", "/shares/[^/]+/action$"),
    "S3Credential": ("keystone", "DELETE", "/credentials/OS-EC2/"),
    "Bucket": ("swift", "DELETE", "/fay-spare$"),
    "StoredCredential": ("barbican", "DELETE", "/secrets/"),
}

#: Test -> kinds that it goes through.
KINDS = {
    "test_fault_on_create": tuple(SUBJECTS),
    "test_fault_on_read": tuple(CHANGED),
    "test_fault_on_update": tuple(CHANGED),
    "test_fault_on_delete": tuple(DELETED),
}


def possible() -> Iterator[tuple[str, str]]:
    """(fault, where) for all that has a meaning."""
    for name, fault in FAULTS.items():
        for where in (BEFORE, STILL, AFTER):
            act = fault.after if where == AFTER else fault.before
            # A silence until further notice is as many pauses as there are attempts, and nothing else.
            if act is not None and not (name == "silence" and where == STILL):
                yield name, where


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" not in metafunc.fixturenames:
        return
    sampling = sampling_of(metafunc.config)
    test, found = metafunc.function.__name__, []
    for kind in KINDS[test]:
        often = kind == MOST_OFTEN and metafunc.function is test_fault_on_create
        drawn = sampling.some(f"{test} {kind}", possible(), OFTEN if often else 1)
        for fault, where in dict.fromkeys((*sampling.some(f"{test} {kind}, some", SOME, 1), *drawn)):
            name = f"{kind}-{fault}-{where}".replace(", ", "-").replace(" ", "_")
            found.append(pytest.param(kind, fault, where, id=name))
    metafunc.parametrize(("kind", "fault", "where"), found)


@pytest.fixture(autouse=True)
def _strangers(world: World, kind: str) -> Iterator[None]:
    """Whatever happened, nothing of anybody else was taken or deleted."""
    yield
    world.unharmed(kind)


def prepare(world: World, subject: Subject) -> None:
    """A quota is always there: what is to be made is the limit."""
    if subject.resource.KIND == "Quota":
        project = world.tenant.state["fay-project"].id
        world.direct.api("network").put(f"/quotas/{project}", {"quota": {"network": 11}})
    if subject.resource.KIND == "ShareQuota":
        project = world.tenant.state["fay-project"].id
        world.direct.api("shared-file-system").put(f"/quota-sets/{project}", {"quota_set": {"shares": 11}})


def budget(fault: str) -> RetryBudget:
    """Nobody waits two minutes for a silence here."""
    return RetryBudget(answer=SILENCE) if fault == "silence" else RetryBudget()


def last(where: str) -> int | None:
    return None if where == STILL else 1


def test_fault_on_create(world: World, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    subject = SUBJECTS[kind]
    name = subject.name
    prepare(world, subject)
    injection = met(subject, act_of(fault, where), last=last(where))
    with fresh(world, world.program(subject), budget(fault)) as program:
        try:
            with matrix.watching(world.proxy) as seen, world.proxy.injected(injection):
                refused = attempt(lambda: program.create(name))
            matrix.outcomes.append(Outcome("create", kind, fault, where, words(refused), seen()))
            within_budget(injection, fault)
            found = world.ours(subject)
            assert len(found) == 1 if refused is None else len(found) <= 1
            settle(program, name, refused)
            assert len(world.ours(subject)) == 1
            assert program.read(name, record=False) is not None
            assert program.diff(name) == {}
        finally:
            world.remove(subject)


def test_fault_on_read(world: World, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    name, service, _, path, _ = CHANGED[kind]
    before, found = world.tenant.state[name], list[Any]()
    injection = Injection(act_of(fault, where), service, "GET", path.format(id=before.id) + "$", last=last(where))
    with fresh(world, world.tenant, budget(fault)) as program:
        with matrix.watching(world.proxy) as seen, world.proxy.injected(injection):
            refused = attempt(lambda: found.append(program.read(name, record=False)))
        matrix.outcomes.append(Outcome("read", kind, fault, where, words(refused), seen()))
        # A look that finds nothing is followed by others, until a list agrees.
        within_budget(injection, "any" if fault == "404" else fault)
        if refused is None:
            assert found == [before]


def test_fault_on_update(world: World, matrix: Matrix, kind: str, fault: str, where: str) -> None:
    name, service, method, path, key = CHANGED[kind]
    ident = world.tenant.state[name].id
    drifted, wanted = path.format(id=ident), world.tenant.resources[name].canonical()["name"]
    api = world.direct.api(world.service(service))
    api.request(method, drifted, json={key: {NAMED_BY.get(kind, "name"): "drifted"}})
    injection = Injection(act_of(fault, where), service, method, drifted, last=last(where))
    with fresh(world, world.tenant, budget(fault)) as program:
        with matrix.watching(world.proxy) as seen, world.proxy.injected(injection):
            refused = attempt(lambda: program.update(name))
        matrix.outcomes.append(Outcome("update", kind, fault, where, words(refused), seen()))
        within_budget(injection, fault)
        if refused is None:
            assert api.get(drifted)[key]["name"] == wanted
        program.update(name)
    assert api.get(drifted)[key]["name"] == wanted


def test_fault_on_delete(
    world: World, matrix: Matrix, monkeypatch: pytest.MonkeyPatch, kind: str, fault: str, where: str
) -> None:
    subject = SUBJECTS[kind]
    # Some kinds take ten minutes at times; a deletion that never happens is not waited for that long here.
    patience = 400.0 if kind == "BareMetalServer" else 40.0
    monkeypatch.setattr(type(ACTUATORS[kind]), "PATIENCE", patience)
    # What was promised and not done is asked for again while there is patience.
    most = max(MOST, int(patience / LETTING_GO) + 2)
    injection = Injection(act_of(fault, where), *DELETED[kind], last=last(where))
    with fresh(world, world.program(subject), budget(fault)) as program:
        program.create(subject.name)
        assert len(world.ours(subject)) == 1
        try:
            with matrix.watching(world.proxy) as seen, world.proxy.injected(injection):
                refused = attempt(lambda: program.delete(subject.name))
            matrix.outcomes.append(Outcome("delete", kind, fault, where, words(refused), seen()))
            # What is still there after it was "not found" is asked for again.
            within_budget(injection, "any" if fault == "404" else fault, most=IN_USE if "in use" in fault else most)
            if refused is None:
                assert world.ours(subject) == []
        finally:
            world.remove(subject)
        assert world.ours(subject) == []
