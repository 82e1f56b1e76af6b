"""Faults of an S3 server, and servers that do not do what conditions ask."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import BytesIO
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from werkzeug.wrappers import Request, Response

from interlock.retry import RetryBudget, RetryPolicy, pause
from interlock.store.objects import Changed, Exists, StoreFailed
from interlock.store.s3 import S3Store
from interlock.store.s3_calls import PATIENCE
from tests.store import servers
from tests.store.conftest import bucket_at
from tests.store.world import there

pytestmark = pytest.mark.usefixtures("credential")


@pytest.mark.parametrize("header", ["If-None-Match", "If-Match"])
def test_fault_a_server_that_ignores_conditions(header: str) -> None:
    with servers.serving(servers.in_turn(servers.deaf(servers.moto, header))) as endpoint:
        store = S3Store(bucket_at(endpoint))
        for _ in range(2):
            with pytest.raises(StoreFailed, match="does not honour conditional writes"):
                store.put_new("claims/machine:1", b"1")
        assert store.get("claims/machine:1") is None


def test_fault_a_server_that_looks_and_then_writes() -> None:
    """Every request alone is answered well; of several at once, more than one succeeds."""
    # Nobody writes before another one has looked too.
    meeting = Barrier(2)

    def late(request: Request, headers: dict[str, str]) -> Response:
        request.get_data()
        if request.method != "PUT" or "If-None-Match" not in headers:
            return servers.moto(request, headers)
        looked = Request({**request.environ, "REQUEST_METHOD": "GET", "wsgi.input": BytesIO(), "CONTENT_LENGTH": "0"})
        absent = servers.moto(looked, {}).status_code == 404
        meeting.wait(30)
        kept = {name: value for name, value in headers.items() if name != "If-None-Match"}
        return servers.moto(request, kept if absent else headers)

    with servers.serving(late) as endpoint:
        store = S3Store(bucket_at(endpoint))
        with pytest.raises(StoreFailed, match=r"of 16 writers at once, [0-9]+ succeeded"):
            store.put_new("claims/machine:1", b"1")


def test_fault_an_old_body_with_a_new_version(monkeypatch: pytest.MonkeyPatch, store: S3Store) -> None:
    """As a server gives it that keeps bodies and their attributes in different places."""
    version = store.put_new("claims/a", b"old")

    def torn(call: Callable[[], Any]) -> Any:
        return {**call(), "ETag": '"' + hashlib.md5(b"new").hexdigest() + '"'}

    faulty(monkeypatch, store, "get_object", torn, torn)
    assert store.get("claims/a") == (b"old", version)


@pytest.fixture
def url(moto: str) -> str:
    return bucket_at(moto)


@pytest.fixture
def store(url: str) -> S3Store:
    opened = S3Store(url, retry_policy=RetryPolicy(RetryBudget(attempts=3, first=0.001)))
    opened.remove("probe/none", '"0"')
    return opened


def faulty(
    monkeypatch: pytest.MonkeyPatch, store: S3Store, method: str, *faults: Callable[[Callable[[], Any]], Any]
) -> None:
    """The next calls of this method end so; the ones after them as they do."""
    client, left = store._calls.client, list(faults)
    real = getattr(client, method)

    def call(**arguments: Any) -> Any:
        return left.pop(0)(lambda: real(**arguments)) if left else real(**arguments)

    monkeypatch.setattr(client, method, call)


def lost(call: Callable[[], Any]) -> Any:
    """Carried out, and the answer never came."""
    call()
    raise ReadTimeoutError(endpoint_url="http://store")


def refused(call: Callable[[], Any]) -> Any:
    raise EndpointConnectionError(endpoint_url="http://store")


def test_fault_an_answer_that_was_lost_is_no_conflict(monkeypatch: pytest.MonkeyPatch, store: S3Store) -> None:
    faulty(monkeypatch, store, "put_object", lost)
    version = store.put_new("claims/a", b"1")
    faulty(monkeypatch, store, "put_object", lost)
    version = store.put_over("claims/a", b"2", version)
    assert store.get("claims/a") == (b"2", version)
    faulty(monkeypatch, store, "put_object", lost)
    store.remove("claims/a", version)
    assert store.get("claims/a") is None


def test_fault_every_answer_lost_but_the_write_was_done(monkeypatch: pytest.MonkeyPatch, store: S3Store) -> None:
    faulty(monkeypatch, store, "put_object", lost, refused, refused)
    version = store.put_new("claims/a", b"1")
    assert store.get("claims/a") == (b"1", version)


def test_fault_an_answer_was_lost_and_another_was_first(
    monkeypatch: pytest.MonkeyPatch, url: str, store: S3Store
) -> None:
    def overtaken(call: Callable[[], Any]) -> Any:
        S3Store(url).put_new("claims/a", b"other")
        return refused(call)

    faulty(monkeypatch, store, "put_object", overtaken)
    with pytest.raises(Exists):
        store.put_new("claims/a", b"1")
    version = there(store, "claims/a").version
    S3Store(url).put_over("claims/a", b"third", version)
    faulty(monkeypatch, store, "put_object", refused)
    with pytest.raises(Changed):
        store.put_over("claims/a", b"2", version)
    assert there(store, "claims/a").body == b"third"


def test_fault_a_server_that_is_gone(monkeypatch: pytest.MonkeyPatch, store: S3Store) -> None:
    faulty(monkeypatch, store, "put_object", refused, refused, refused)
    with pytest.raises(StoreFailed, match="3 attempts failed"):
        store.put_new("claims/a", b"1")
    faulty(monkeypatch, store, "get_object", refused, refused)
    assert store.get("claims/a") is None


def test_fault_no_such_bucket(url: str) -> None:
    absent = S3Store(url.replace("s3://claims-", "s3://nowhere-"))
    with pytest.raises(StoreFailed, match=r"(?s)NoSuchBucket.*make the bucket"):
        absent.get("claims/a")
    with pytest.raises(StoreFailed, match="NoSuchBucket"):
        list(absent.items("claims/"))


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(StoreFailed, match="unknown parameter 'endpiont'"):
        S3Store("s3://bucket/prefix?endpiont=http://x")


def test_names() -> None:
    assert S3Store("s3://bucket/a//b/?region=x", "lyon").name == "s3://bucket/a/b/lyon"
    assert S3Store("s3://bucket?endpoint=host:1&disableSSL=true").name == "s3://bucket/?endpoint=http://host:1"
    assert S3Store("s3://bucket?endpoint=host:1").name == "s3://bucket/?endpoint=https://host:1"


def written(call: Callable[[], Any]) -> Any:
    pytest.fail("a reader wrote")


def test_reading_asks_nothing_of_the_server(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """A credential that may only read is enough to prove."""
    reader = S3Store(url)
    faulty(monkeypatch, reader, "put_object", written, written, written)
    assert reader.get("claims/a") is None
    assert list(reader.items("stacks/")) == []


def test_pauses_of_the_store_are_those_that_were_measured_out() -> None:
    """Up to 6.3 seconds in seven attempts; half of each pause is left to chance."""
    budget = PATIENCE.budget
    found = [pause(budget, attempt, elapsed=100.0) for attempt in range(1, 8)]
    assert found == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, None]
    assert budget.jitter == 0.5
