"""What a server is given and told, by the service over an imitation of Barbican; `tests/sandbox` has the real one."""

from __future__ import annotations

import io
import json
import ssl
import subprocess
import threading
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import exceptions

from interlock.channel import KeyManagerFailed, Reply
from interlock.channel.desk import GAP
from interlock.channel.service import MOST_BYTES, Callers, Service
from interlock.channel.serving import listening
from tests.channel.barbican import Answer, Keystone
from tests.channel.world import HOUR, OTHER, SECRET, SERVER, World


def test_the_first_question_is_told_to_ask_again(world: World) -> None:
    # cloud-init asks first, and would keep the answer on the disk.
    world.put()
    first = world.desk.ask(SERVER)
    assert (first.items, first.again) == ({}, 75)
    assert world.desk.ask(SERVER) == first
    assert world.state() == "waits"


def test_it_is_given_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.put()
    given = world.twice()
    assert given.items == {"s3": SECRET}
    assert world.state() == "taken"
    again = world.desk.ask(SERVER)
    assert (again.items, again.again) == ({}, None)
    assert again.said == ("s3 was already handed over at 2026-11-25 12:01:15 UTC",)
    assert f"server {SERVER}: refused: s3 was already handed over" in caplog.text
    assert all(secret.payload is None for secret in world.barbican.secrets.values())


def test_another_server_gets_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.put()
    assert world.twice(OTHER).said == ("nothing is there for this server",)
    assert f"server {OTHER}: nothing is there for it" in caplog.text
    assert world.twice().items == {"s3": SECRET}


def test_expired_gives_nothing_and_is_told_from_taken(world: World) -> None:
    world.put()
    world.now += HOUR
    said = world.twice()
    assert (said.items, said.again) == ({}, None)
    assert said.said == ("s3 expired at 2026-11-25 13:00:00 UTC, and nobody fetched it",)
    assert world.state() == "expired"


def test_things_are_handed_over_each_by_itself(world: World) -> None:
    world.put(item="s3")
    world.twice()
    world.put(item="vipu")
    answer = world.twice()
    assert answer.items == {"vipu": SECRET}
    assert [line.split(" ")[0] for line in answer.said] == ["s3"]


def test_of_eight_questions_at_once_one_is_given_it(world: World) -> None:
    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    # All have read it before the first one deletes it.
    barrier, original = threading.Barrier(8), world.shelf.payload
    world.shelf.payload = lambda ticket: (original(ticket), barrier.wait(10))[0]  # type: ignore[method-assign]
    found: list[Reply] = []
    threads = [threading.Thread(target=lambda: found.append(world.desk.ask(SERVER))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(reply.items) for reply in found) == [0] * 7 + [1]


@pytest.mark.parametrize("ending", ["/payload", "s1"])
def test_a_service_killed_on_the_way_never_gives_it_twice(world: World, ending: str) -> None:
    """Killed after reading: it still waits. Killed after deleting: it is lost, and that is told."""

    class Killed(BaseException):
        pass

    def kill() -> Answer:
        if ending == "s1":
            del world.barbican.secrets["s1"]
        raise Killed

    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    method = "GET" if ending == "/payload" else "DELETE"
    world.barbican.instead = {(method, ending): kill}
    with pytest.raises(Killed):
        world.desk.ask(SERVER)
    world.barbican.instead = {}
    lost = ending == "s1"
    assert world.state() == ("lost" if lost else "waits")
    assert world.desk.ask(SERVER).items == ({} if lost else {"s3": SECRET})


@pytest.mark.parametrize("fault", [Answer(500), Answer(403), exceptions.ConnectFailure(SECRET), OSError(SECRET)])
@pytest.mark.parametrize("call", [("GET", "/secrets"), ("GET", "/metadata"), ("GET", "/payload"), ("DELETE", "s1")])
def test_a_key_manager_that_fails_is_asked_again_later(world: World, call: tuple[str, str], fault: Any) -> None:
    def fail() -> Answer:
        if isinstance(fault, Exception):
            raise fault
        return Answer(fault.status_code)

    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    world.barbican.instead = {call: fail}
    answer = world.desk.ask(SERVER)
    assert (answer.items, answer.again) == ({}, 75)
    world.barbican.instead = {}
    assert world.desk.ask(SERVER).items == {"s3": SECRET}


def test_what_was_taken_is_given_even_if_that_is_not_noted(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    world.barbican.instead = {("POST", "/metadata"): lambda: Answer(500)}
    assert world.desk.ask(SERVER).items == {"s3": SECRET}
    assert "is not noted" in caplog.text
    world.barbican.instead = {}
    assert world.desk.ask(SERVER).items == {}


def test_what_is_left_half_is_handed_to_nobody_and_expires(world: World) -> None:
    world.barbican.instead = {("PUT", "/metadata"): lambda: Answer(500)}
    with pytest.raises(KeyManagerFailed):
        world.put()
    world.barbican.instead = {}
    assert world.twice().items == {}
    assert all(secret.expiration for secret in world.barbican.secrets.values() if secret.payload)


def test_what_is_left_again_takes_the_place_of_what_was_there(world: World) -> None:
    world.put()
    world.shelf.put(SERVER, "s3", "newer", world.now + HOUR)
    assert world.twice().items == {"s3": "newer"}
    world.put()
    assert world.state() == "waits"
    assert len(world.barbican.secrets) == 2
    assert world.twice().items == {"s3": SECRET}


def test_what_nova_may_not_wait_for_is_left(world: World) -> None:
    def slow() -> Answer:
        world.now += timedelta(seconds=11)
        return Answer(200, content=SECRET.encode())

    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    world.barbican.instead = {("GET", "/payload"): slow}
    assert world.desk.ask(SERVER).said == ("s3: the key manager is slow",)
    world.barbican.instead = {}
    assert world.desk.ask(SERVER).items == {"s3": SECRET}


def test_removal_leaves_nothing_of_a_server_and_all_of_others(world: World) -> None:
    for server in (SERVER, OTHER):
        world.put(server)
    world.shelf.remove(SERVER)
    assert {secret.name[-36:] for secret in world.barbican.secrets.values()} == {OTHER}
    world.shelf.remove(SERVER)


def test_more_than_a_page_is_read(world: World) -> None:
    for number in range(103):
        world.put(item=f"item-{number}")
    assert len(world.shelf.tickets(SERVER)) == 103


def asked(
    world: World, body: bytes, token: str = "good", method: str = "POST", keystone: Keystone | None = None
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """One request to the application: status, headers, body."""
    service = Service(world.desk, Callers(keystone or Keystone({"good": "nova-id", "else": "other-id"}), ["nova-id"]))
    begun: list[tuple[str, dict[str, str]]] = []
    environ = {
        "REQUEST_METHOD": method, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body),
        "HTTP_X_AUTH_TOKEN": token, "REMOTE_ADDR": "192.0.2.1",
    }  # fmt: skip
    written = b"".join(service(environ, lambda status, headers: begun.append((status, dict(headers)))))
    return *begun[0], json.loads(written)


def named(server: str) -> bytes:
    return json.dumps({"instance-id": server, "project-id": "p", "user-data": None}).encode()


def test_novas_question_is_answered(world: World) -> None:
    world.put()
    asked(world, named(SERVER))
    world.now += GAP
    status, headers, said = asked(world, named(SERVER.upper()))
    assert (status, said["items"]) == ("200 OK", {"s3": SECRET})
    # keystoneauth logs bodies of application/json and text/plain.
    assert not headers["Content-Type"].startswith(("application/json", "text/plain"))
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("token", "status"), [("", 401), ("unknown", 401), ("else", 403)], ids=["none", "unknown", "of another user"]
)
def test_nobody_but_nova_is_answered(world: World, token: str, status: int) -> None:
    world.put()
    before = len(world.barbican.asked)
    for _ in range(2):
        assert int(asked(world, named(SERVER), token)[0].split()[0]) == status
        world.now += GAP
    assert not any(method in {"DELETE", "POST"} for method, _ in world.barbican.asked[before:])


@pytest.mark.parametrize("answer", [Answer(503), Answer(200), Answer(200, {"token": {}})])
def test_a_keystone_that_fails_lets_nobody_in(world: World, answer: Answer) -> None:
    keystone = Keystone({"good": "nova-id"})
    keystone.broken = answer
    assert asked(world, named(SERVER), keystone=keystone)[0].startswith("503")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 413),
        (b"x" * (MOST_BYTES + 1), 413),
        (b"{", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"instance-id": "%"}', 400),
        (b'{"instance-id": null}', 400),
    ],
)
def test_what_is_no_question_is_refused(world: World, body: bytes, status: int) -> None:
    assert int(asked(world, body)[0].split()[0]) == status


def test_only_post_is_answered(world: World) -> None:
    assert asked(world, named(SERVER), method="GET")[0].startswith("405")


def test_it_is_served_over_tls(world: World, tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    service = Service(world.desk, Callers(Keystone({"good": "nova-id"}), ["nova-id"]))
    server = listening(service, "127.0.0.1", 0, certificate, key)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        request = urllib.request.Request(
            f"https://localhost:{server.server_port}/", named(SERVER), {"X-Auth-Token": "good"}, method="POST"
        )
        trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificate))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trust)
        assert json.load(opener.open(request, timeout=10))["said"] == ["nothing is there for this server"]
    finally:
        server.shutdown()
        server.server_close()
