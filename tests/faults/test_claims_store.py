"""Faults of the store of claims, as an apply meets them: done, or a clean stop with nothing wrongly taken."""

from __future__ import annotations

import asyncio
import errno
import functools
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.errors import Failure
from interlock.retry import RetryBudget, RetryPolicy
from interlock.store.folder import FolderStore
from interlock.store.ledger import Ledger
from interlock.store.objects import ObjectStore
from interlock.store.s3 import S3Store
from tests.faults.attempts import AFTER, BEFORE, STILL, act_of
from tests.faults.proxy import Act, Injection, Proxy, Request, Response
from tests.faults.table import lost
from tests.store import servers
from tests.store.conftest import bucket_at
from tests.store.world import claims, require_listed
from tests.support import versity as gateway
from tests.support.sampling import sampling_of
from tests.together.applying import Apply, wanted

#: What the tenant takes: two identities and a node, so that a fault can fall between them.
OURS, OTHERS = ("machine:1", "machine:2"), ("machine:9",)


def taking(tenant: str, identities: tuple[str, ...]) -> Any:
    return wanted(tenant, identities, [f"dev:{tenant}"])


def words(failure: Failure) -> str:
    """A clean stop."""
    told = str(failure)
    assert "next: " in told, told
    assert "Traceback" not in told
    return told


def applied(url: str, of: Callable[[str, str], Ledger] | None, tenant: str, identities: tuple[str, ...]) -> None:
    """An apply as far as the first other object. Raises `Failure`."""
    apply = Apply(url, taking(tenant, identities), of)
    asyncio.run(apply.claim())
    asyncio.run(apply.go_on())


def whole(store: ObjectStore, tenant: str) -> None:
    """Asserts that this tenant holds what it wants, and the other what it had."""
    require_listed(store)
    assert set(claims(store)) == {*OURS, *OTHERS}
    assert {claim.stack for identity, claim in claims(store).items() if identity in OURS} == {f"lyon-{tenant}"}


# --- S3 ---------------------------------------------------------------------------------------------------


def slow_down(request: Request, ask: Callable[[], Response]) -> Response:
    body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
    return Response(503, (("Content-Type", "application/xml"),), body)


ACTS: dict[str, Callable[[str], Act]] = {
    "500": lambda where: act_of("500", where),
    "503": lambda where: act_of("503", where),
    "SlowDown": lambda where: lost(slow_down) if where == AFTER else slow_down,
    "reset": lambda where: act_of("reset", where),
    "half a body": lambda where: act_of("half a body", AFTER),
}

#: Requests of an apply: its record is written, a claim is written, something is read.
ASKED = {"record": ("PUT", "/stacks/"), "claim": ("PUT", "/claims/machine"), "reading": ("GET", "/claims/machine")}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Proxy, str]]:
    """An S3 server behind a proxy that can be made to lie, and the address of that proxy."""
    with servers.serving(servers.in_turn(servers.moto)) as endpoint:
        proxy = Proxy({"s3": int(endpoint.rpartition(":")[2])})
        yield proxy, proxy.own(endpoint)
        proxy.close()


@pytest.fixture
def _credential(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", gateway.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", gateway.SECRET)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The usual ones in each run, and some of all; with --long all."""
    if "where" in metafunc.fixturenames:
        everything = list(itertools.product(ACTS, ASKED, (BEFORE, AFTER, STILL)))
        drawn = sampling_of(metafunc.config).some("claims store", everything, 3)
        found = [case for case in everything if case in drawn or _usual(*case)]
        metafunc.parametrize(("fault", "asked", "where"), found, ids=["-".join(case) for case in found])


def _usual(fault: str, asked: str, where: str) -> bool:
    return where != BEFORE if asked == "claim" else (fault, where) == ("SlowDown", STILL)


@pytest.mark.usefixtures("_credential")
def test_fault_of_an_s3_store(server: tuple[Proxy, str], fault: str, asked: str, where: str) -> None:
    proxy, endpoint = server
    url, (method, path) = bucket_at(endpoint), ASKED[asked]

    @functools.cache
    def of(url: str, site: str) -> Ledger:
        return Ledger(S3Store(url, site, RetryPolicy(RetryBudget(attempts=4, first=0.001))))

    store = of(url, "lyon").store
    applied(url, of, "other", OTHERS)
    injection = Injection(ACTS[fault](where), "s3", method, path, last=None if where == STILL else 1)
    failure = None
    with proxy.injected(injection):
        try:
            applied(url, of, "acme", OURS)
        except Failure as stopped:
            failure = stopped
    assert injection.hits
    require_listed(store)
    if failure is not None:
        assert "claims store s3://" in words(failure)
        held = {identity: claim.stack for identity, claim in claims(store).items()}
        assert held.pop(OTHERS[0]) == "lyon-other"
        assert set(held.values()) <= {"lyon-acme"}
        applied(url, of, "acme", OURS)
    # One that passes is got over; one that lasts is not, but where the writing was done and only its answer was lost.
    done = fault == "half a body" and method == "PUT"
    assert (failure is not None) == (where == STILL and not done)
    whole(store, "acme")


# --- a folder ---------------------------------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, number: int, *, of: int) -> None:
    """Every file from the `of`-th on that is opened for writing ends so. An administrator may write anywhere, so that
    the modes of files stop nobody in a test."""
    real, seen = os.fsync, 0

    def fsync(handle: int) -> None:
        nonlocal seen
        seen += 1
        if seen >= of:
            raise OSError(number, os.strerror(number))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = (tmp_path / "claims").as_uri()
    applied(found, None, "other", OTHERS)
    return found


@pytest.mark.parametrize("of", [1, 3, 5])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES], ids=errno.errorcode.get)
def test_fault_of_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, number: int, of: int) -> None:
    """A full disk, one that is read-only or broken, a folder of somebody else's, at once or in the middle."""
    store = FolderStore(tmp_path / "claims" / "lyon")
    failing(monkeypatch, number, of=of)
    with pytest.raises(Failure) as stopped:
        applied(url, None, "acme", OURS)
    monkeypatch.undo()
    assert os.strerror(number) in words(stopped.value)
    require_listed(store)
    assert claims(store)[OTHERS[0]].stack == "lyon-other"
    # What could not be taken back is this tenant's own, so its next run goes on; and it is said.
    left = set(claims(store)) - set(OTHERS)
    assert not left or "stays so until the next run of lyon-acme" in str(stopped.value)
    applied(url, None, "acme", OURS)
    whole(store, "acme")


def test_fault_a_draft_that_a_writer_left_half_written(tmp_path: Path, url: str) -> None:
    store = FolderStore(tmp_path / "claims" / "lyon")
    (store.path / ".draft").write_bytes(b'{"identity": "machine:1", "sta')
    applied(url, None, "acme", OURS)
    whole(store, "acme")


@pytest.mark.parametrize("body", [b"", b'{"identity": "machine:1", "sta', b"null", b"[]", b"\xff\xfe"], ids=repr)
@pytest.mark.parametrize("key", ["claims/machine%3A1", "stacks/lyon-acme", "nodes/dev%3Aacme"])
def test_fault_a_record_that_is_half_there_is_not_taken_for_absent(
    tmp_path: Path, url: str, key: str, body: bytes
) -> None:
    """As a broken disk or a copy that was cut off leaves it."""
    store = FolderStore(tmp_path / "claims" / "lyon")
    file = store.path / key
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(body)
    with pytest.raises(Failure) as stopped:
        applied(url, None, "acme", OURS)
    assert "not a record that this interlock reads" in words(stopped.value)
    assert file.read_bytes() == body
    file.unlink()
    applied(url, None, "acme", OURS)
    whole(store, "acme")
