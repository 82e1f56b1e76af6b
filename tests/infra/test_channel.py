"""`interlock channel` over an imitation of Barbican; `tests/sandbox` runs it with the real one."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.commands import channel
from tests.channel.barbican import Answer, Barbican
from tests.infra.conftest import Interlock

SERVER = "0c2f9a7e-1111-4000-8000-000000000000"
SECRET = "aws_secret_access_key = never-printed\n"
CLOUD = ("--cloud", "operator")


@pytest.fixture
def barbican(monkeypatch: pytest.MonkeyPatch) -> Barbican:
    """What every login of the commands finds."""
    made = Barbican(lambda: datetime.now(UTC))
    monkeypatch.setattr(channel, "_session", lambda cloud: lambda service, version: made)
    return made


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_secret_is_left_shown_and_removed(
    interlock: Interlock, barbican: Barbican, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(monkeypatch, SECRET)
    done = interlock("channel", "put", SERVER.upper(), "s3", *CLOUD)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"s3 waits for {SERVER} until ")
    assert interlock("channel", "look", SERVER, *CLOUD).out.startswith("s3: waits until ")
    shown = interlock("channel", "look", SERVER, *CLOUD, "--json")
    (item,) = json.loads(shown.out)["items"]
    assert (item["name"], item["announced"], item["taken"]) == ("s3", None, None)
    assert "never-printed" not in done.out + shown.out
    assert interlock("channel", "remove", SERVER, *CLOUD).code == 0
    assert barbican.secrets == {}
    assert interlock("channel", "look", SERVER, *CLOUD).out == f"nothing is there for {SERVER}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("put", "train-poplar-0", "s3", *CLOUD), "is no id of a server"),
        (("put", SERVER, "../s3", *CLOUD), "has lower-case letters, digits and hyphens"),
        (("put", SERVER, "", *CLOUD), "has lower-case letters, digits and hyphens"),
        (("put", SERVER, "s3", *CLOUD, "--minutes", "0"), "--minutes"),
        (("put", SERVER, "s3", *CLOUD), "stdin is empty"),
        (("serve", *CLOUD, "--caller", "u", "--certificate", "c"), "go together"),
        (("serve", *CLOUD), "--caller"),
        (("look", SERVER), "--cloud"),
    ],
)
def test_wrong_words_are_2(
    interlock: Interlock, barbican: Barbican, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    given(monkeypatch, "")
    done = interlock("channel", *words)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert barbican.secrets == {}


@pytest.mark.parametrize("words", [("put", SERVER, "s3"), ("look", SERVER), ("remove", SERVER)])
def test_a_key_manager_that_fails_is_4_and_quotes_nothing(
    interlock: Interlock, barbican: Barbican, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    given(monkeypatch, SECRET)
    barbican.instead = {("GET", "/secrets"): lambda: Answer(503)}
    done = interlock("channel", *words, *CLOUD)
    assert done.code == 4
    assert done.err.startswith("Barbican: GET of a secret: HTTP 503\n  next: ")


def test_serve_tells_before_it_listens_that_it_may_not_read(
    interlock: Interlock, barbican: Barbican, monkeypatch: pytest.MonkeyPatch
) -> None:
    barbican.instead = {("GET", "/secrets"): lambda: Answer(403)}
    done = interlock("channel", "serve", *CLOUD, "--caller", "u")
    assert done.code == 4
    assert "HTTP 403" in done.err


def test_a_cloud_that_is_not_there_is_4(interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "clouds.yaml"
    file.write_text("clouds: {}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    done = interlock("channel", "look", SERVER, "--cloud", "nowhere")
    assert done.code == 4
    assert "nowhere" in done.err
