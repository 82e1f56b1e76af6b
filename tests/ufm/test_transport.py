"""One request: TLS that is always verified, time, answers of every kind, and no secret in any text."""

from __future__ import annotations

import logging
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.ufm import transport as module
from interlock.ufm.client import UfmClient
from interlock.ufm.errors import UfmError, UfmTrouble
from interlock.ufm.loading import FabricAccess
from interlock.ufm.transport import UfmTransport
from tests.ufm.certificates import issue
from tests.ufm.conftest import AT_ONCE, GUIDS
from tests.ufm.double import PASSWORD, TOKEN, Double, access, listening


def asked(way: FabricAccess) -> UfmError:
    with pytest.raises(UfmError) as caught:
        UfmClient(UfmTransport(way, AT_ONCE)).version()
    return caught.value


@pytest.mark.parametrize("token", [False, True])
def test_the_secret_is_in_no_error_and_no_log(
    double: Double, tmp_path: Path, caplog: pytest.LogCaptureFixture, token: bool
) -> None:
    """The double answers a wrong login with what it was sent."""
    caplog.set_level(logging.DEBUG)
    way = access(double, tmp_path, token=token)
    wrong = "canary-of-what-is-wrong"
    assert way.secret_file is not None
    way.secret_file.write_text(wrong)
    told: list[str] = []
    with pytest.raises(UfmError) as caught:
        UfmClient(UfmTransport(way, AT_ONCE, told.append)).version()
    found = caught.value
    assert found.trouble is UfmTrouble.UNAUTHORIZED
    assert "status 401: not authorized: Basic [secret]" in found.what
    assert "fabrics.yaml:2:9" in found.hint
    for text in (str(found), repr(found), caplog.text):
        assert all(secret not in text for secret in told)
    assert told[0] == wrong
    way.secret_file.write_text(TOKEN if token else PASSWORD)
    UfmClient(UfmTransport(way, AT_ONCE)).version()
    assert PASSWORD not in caplog.text
    assert TOKEN not in caplog.text


def test_a_certificate_that_nobody_knows_is_refused(double: Double, tmp_path: Path) -> None:
    found = asked(replace(access(double, tmp_path), ca_file=None))
    assert found.trouble is UfmTrouble.UNREACHABLE
    assert "its certificate was not accepted" in found.what
    assert "it is never skipped" in found.hint
    assert double.asked == []


@pytest.mark.parametrize(("host", "days"), [("elsewhere.example", 1), ("localhost", -1)])
def test_a_certificate_of_another_host_or_time_is_refused(tmp_path: Path, host: str, days: int) -> None:
    ca, file = issue(tmp_path, host, days=days)
    with listening(Double(frozenset(), ca=ca), file) as double:
        assert "its certificate was not accepted" in asked(access(double, tmp_path)).what
        assert double.asked == []


def test_a_redirect_is_not_followed(double: Double, tmp_path: Path) -> None:
    double.instead["GET", "/app"] = (302, {"Location": "https://elsewhere.example/"}, "")
    found = asked(access(double, tmp_path))
    assert "redirects to https://elsewhere.example/" in found.what
    assert len(double.asked) == 1


@pytest.mark.parametrize(
    ("status", "text", "said", "trouble"),
    [
        (400, '{"error": "pkey is not valid"}', "status 400: pkey is not valid", UfmTrouble.INVALID),
        (403, "no\n  rights", "status 403: no rights", UfmTrouble.FORBIDDEN),
        (409, "", "status 409: no text", UfmTrouble.CONFLICT),
        (500, "<html><head><title>Internal\nError</title>", "a page of HTML, 'Internal Error'", UfmTrouble.SERVICE),
        (503, "<!DOCTYPE html><p>starting", "status 503: a page of HTML", UfmTrouble.UNREACHABLE),
        (200, "<html>login</html>", "its answer is no JSON: a page of HTML", UfmTrouble.SERVICE),
        (200, '["6.23"]', "GET /app/ufm_version: it lacks", UfmTrouble.SERVICE),
        (200, "{}", "it lacks 'ufm_release_version'", UfmTrouble.SERVICE),
        (418, "x" * 9999, "x" * 200, UfmTrouble.INVALID),
    ],
)
def test_what_ufm_says_is_told_in_one_short_line(
    double: Double, tmp_path: Path, status: int, text: str, said: str, trouble: UfmTrouble
) -> None:
    double.instead["GET", "/app"] = (status, {}, text)
    found = asked(access(double, tmp_path))
    assert found.trouble is trouble
    assert said in found.what
    assert f"UFM of ib-1 ({double.url})" in found.what
    assert len(found.what) < 500
    assert "\n" not in found.what
    assert found.hint


def test_a_read_is_tried_again_and_a_put_is_not(double: Double, client: UfmClient) -> None:
    for method, tries in (("GET", 6), ("DELETE", 6), ("POST", 6), ("PUT", 1)):
        double.instead = {(method, "/resources"): (503, {}, "starting")}
        double.asked.clear()
        with pytest.raises(UfmError) as caught:
            change(client, method)
        assert len(double.asked) == tries, method
        lost = caught.value.trouble is UfmTrouble.LOST_ANSWER
        assert lost is (method == "PUT")


def change(client: UfmClient, method: str) -> None:
    if method == "GET":
        client.partition(5)
    elif method == "DELETE":
        client.delete(5)
    elif method == "POST":
        client.add(5, GUIDS[:1], "full", index0=True, ip_over_ib=True)
    else:
        client.replace(5, [(GUIDS[0], "full")], index0=True, ip_over_ib=True)


def test_nobody_there_and_no_such_name(double: Double, tmp_path: Path) -> None:
    way = access(double, tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"https://127.0.0.1:{free.getsockname()[1]}"
    assert "nobody takes the connection" in asked(replace(way, url=nowhere)).what
    assert "its name is not known" in asked(replace(way, url="https://ufm.invalid")).what


def test_an_answer_that_never_comes_or_never_ends(
    tmp_path: Path, double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT", 0.2)
    monkeypatch.setattr(module, "READ", 0.2)
    monkeypatch.setattr(module, "LARGEST", 1000)
    way = access(double, tmp_path)
    double.instead["GET", "/app"] = (200, {}, " " * 5000)
    assert "its answer is larger than" in asked(way).what
    with socket.create_server(("127.0.0.1", 0)) as silent:
        taken: list[socket.socket] = []
        thread = threading.Thread(target=lambda: taken.extend(silent.accept()[0] for _ in range(6)), daemon=True)
        thread.start()
        found = asked(replace(way, url=f"https://127.0.0.1:{silent.getsockname()[1]}"))
        thread.join()
    assert found.trouble is UfmTrouble.UNREACHABLE
    for one in taken:
        one.close()


def test_a_secret_that_is_not_there(double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = access(double, tmp_path)
    assert way.secret_file is not None
    way.secret_file.write_text("\n")
    assert "is empty, or cannot be read" in asked(way).what
    way.secret_file.write_text("two\nlines")
    assert "two" not in str(asked(way))
    variable = replace(way, secret_file=None, secret_variable="UFM_PASSWORD")
    monkeypatch.delenv("UFM_PASSWORD", raising=False)
    assert "the variable UFM_PASSWORD is not set" in asked(variable).what
    monkeypatch.setenv("UFM_PASSWORD", PASSWORD)
    assert UfmClient(UfmTransport(variable, AT_ONCE)).version() == "6.23.1-6"
