"""Why a connection fails, told from real sockets; and what `--debug` shows of requests."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
from keystoneauth1 import exceptions as trouble
from keystoneauth1.access.service_catalog import ServiceCatalogV3
from keystoneauth1.adapter import Adapter
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session

from infra.cli import debugging
from interlock.provider.calls import Api, no_login, unconnected
from interlock.provider.clouds import Cloud
from interlock.provider.connections import address, cause_of, missing_service
from interlock.provider.errors import Failure, Trouble
from interlock.provider.redaction import MASK, REDACTOR


def failure(url: str, seconds: float = 10) -> Failure:
    """How asking there fails, as a call of ours tells it."""
    with pytest.raises(trouble.ClientException) as failed:
        Session(verify=True, timeout=seconds).get(url, authenticated=False)
    tried = no_login("cloud 'lyon': service identity", failed.value)
    assert isinstance(tried.failure, Failure)
    return tried.failure


@contextmanager
def listening() -> Iterator[int]:
    """The port of somebody who takes connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


class Handler(BaseHTTPRequestHandler):
    """Answers everything with nothing."""

    def do_GET(self) -> None:
        """200, and a body."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"secret": "body-secret-1234"}')

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a plain HTTP server."""
    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield int(serving.server_address[1])
        serving.shutdown()
        thread.join()


def unused() -> int:
    """A port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_refused() -> None:
    port = unused()
    found = failure(f"http://127.0.0.1:{port}/v3")
    said = f"cloud 'lyon': service identity cannot be reached: the connection was refused at 127.0.0.1:{port}"
    assert (found.trouble, found.message) == (Trouble.UNREACHABLE, said)
    assert "auth_url" in found.hint


def test_a_name_that_nobody_knows() -> None:
    found = failure("https://keystone.invalid/v3")
    assert "its host name is not known (DNS) at keystone.invalid:443" in found.message
    assert "\n" not in found.message


def test_tls_with_somebody_who_speaks_none(server: int) -> None:
    found = failure(f"https://127.0.0.1:{server}/v3")
    assert "TLS" in found.message
    assert "cacert" in found.hint


def test_no_answer_in_time() -> None:
    with listening() as port:
        found = failure(f"http://127.0.0.1:{port}/v3", seconds=0.2)
    assert "did not answer in time" in found.message
    assert "firewall" in found.hint


def test_a_lost_answer_keeps_the_hint_that_it_is_found_again() -> None:
    with listening() as port, pytest.raises(trouble.ClientException) as failed:
        Session(timeout=0.2).get(f"http://127.0.0.1:{port}/", authenticated=False)
    found = unconnected(Trouble.LOST_ANSWER, "network", failed.value, "network")
    assert "found by its marker" in found.hint


def test_a_refused_credential_is_told_as_one() -> None:
    tried = no_login("cloud 'lyon': service compute with a token of project 17", trouble.Unauthorized("no"))
    assert isinstance(tried.failure, Failure)
    assert tried.failure.trouble is Trouble.UNAUTHORIZED
    assert "token of project 17: the cloud refused the credential" in tried.failure.message
    assert "role in the project" in tried.failure.hint


def test_what_is_no_connection_has_no_cause() -> None:
    assert cause_of(ValueError("x")) is None
    assert address(ValueError("x")) == ""


CATALOGUE = [
    {
        "type": "network",
        "id": "1",
        "name": "neutron",
        "endpoints": [
            {"id": str(number), "interface": "public", "region": region, "region_id": region, "url": "http://x"}
            for number, region in enumerate(("paris", "lyon"))
        ],
    }
]


@dataclass(frozen=True)
class Credential:
    """A credential whose token has a catalogue."""

    service_catalog: ServiceCatalogV3

    def get_access(self, session: Any) -> Credential:
        """As keystoneauth's plugins have it."""
        return self


@pytest.mark.parametrize(
    ("service", "region", "said", "hint"),
    [
        ("network", "lion", "not in the catalogue of region lion, only of lyon, paris", "region_name"),
        ("compute", "lyon", "it is not in the catalogue", "type"),
        ("network", "lyon", "does not say which versions", "endpoint"),
        ("network", None, "does not say which versions", "endpoint"),
    ],
)
def test_a_service_that_the_catalogue_lacks(service: str, region: str | None, said: str, hint: str) -> None:
    credential = cast(Any, Credential(ServiceCatalogV3(CATALOGUE)))
    found = missing_service(Adapter(Session(), auth=credential, region_name=region), service)
    assert said in found.what
    assert hint in found.hint


def test_debug_shows_requests_without_secrets(server: int, capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("urllib3.connectionpool")
    before = log.level, list(log.handlers), log.propagate
    REDACTOR.add("hunter2-hunter2")
    try:
        debugging.begin()
        debugging.begin()
        Session().get(
            f"http://127.0.0.1:{server}/v3/hunter2-hunter2/x?X-Amz-Signature=abcdef0123&token=t0ken-t0ken",
            headers={"X-Auth-Token": "header-secret-1234"},
            authenticated=False,
        )
    finally:
        log.setLevel(before[0])
        log.handlers, log.propagate = before[1], before[2]
    told = capsys.readouterr().err
    assert told.count('"GET /v3/') == 1
    assert f"/v3/{MASK}/x?…" in told
    assert " 200 " in told
    for secret in ("hunter2", "abcdef0123", "t0ken", "header-secret", "body-secret"):
        assert secret not in told


def test_a_query_goes_whole_whatever_is_in_it() -> None:
    record = logging.LogRecord("urllib3", logging.DEBUG, "", 0, "GET /b?prefix='a'&X-Amz-Signature=HUSH 200", (), None)
    said = debugging.Redacted().format(record)
    assert said.endswith("GET /b?… 200")


def test_an_answer_is_an_answer_whatever_came_before() -> None:
    def raised() -> Exception:
        try:
            try:
                raise trouble.ConnectFailure("broken")
            except trouble.ConnectFailure:
                raise trouble.Unauthorized("no")  # noqa: B904 - the chain is what this is about
        except trouble.Unauthorized as error:
            return error

    tried = no_login("cloud 'lyon'", raised())
    assert isinstance(tried.failure, Failure)
    assert tried.failure.trouble is Trouble.UNAUTHORIZED
    assert not tried.again


@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_that_is_set_back_holds_up_no_call(server: int, monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """keystoneauth remembers the time at which an adapter was made, and would wait until it comes again."""
    adapter = Adapter(Session(auth=NoAuth(endpoint=f"http://127.0.0.1:{server}")), service_type="network")
    api = Api(adapter, "network")
    monkeypatch.setattr(api, "_locate", lambda: None)
    slept: list[float] = []
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + days * 86400)
    monkeypatch.setattr(time, "sleep", slept.append)
    assert api.request("GET", "/ports").status_code == 200
    assert slept == []


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("x", "has no attribute"),
        ("", "has no attribute"),
        ("{auth: [x]}", "dictionary update sequence"),
        ("{auth: {auth_url: 'http://127.0.0.1:1/v3', username: admin}}", "its `auth` has no password"),
        ("{auth_type: none, auth: {endpoint: 'http://127.0.0.1:1/v3'}}", "its `auth_type` is none, which is no login"),
        ("{auth_type: admin_token, auth: {endpoint: 'http://127.0.0.1:1/v3', token: x}}", "is no login at Keystone"),
        (
            "{auth_type: token, auth: {auth_url: 'http://127.0.0.1:1/v3'}}",
            "positional argument: 'token'",
        ),
        ("{auth: {auth_url: 'http://127.0.0.1:1/v3', application_credential_id: x}}", "application_credential_id"),
        ("{auth: {auth_url: 'http://127.0.0.1:1/v3', password: x, passwd: y}}", "unexpected keyword argument 'passwd'"),
        ("{auth: {auth_url: 'http://127.0.0.1:1/v3', password: x}, api_timeout: soon}", "could not convert"),
    ],
)
def test_an_entry_that_nobody_understands_is_told(
    entry: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK raises whatever it stumbles over; each was a traceback."""
    file = tmp_path / "clouds.yaml"
    file.write_text(f"clouds: {{lyon: {entry}}}\n", encoding="utf-8")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    with pytest.raises(Failure, match=f"there is no usable cloud 'lyon': .*{why}"):
        Cloud("lyon").api("identity").get("/projects")
