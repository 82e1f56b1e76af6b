"""Names of files that cannot be looked at, JSON that no reader can hold, and secrets that come back spelt otherwise."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.model.text.errors import InputErrors
from interlock.ufm.client import UfmClient
from interlock.ufm.errors import UfmError, UfmTrouble
from interlock.ufm.loading import load_fabrics
from interlock.ufm.transport import UfmTransport
from tests.ufm.conftest import AT_ONCE
from tests.ufm.double import Double, access


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("token_file: ~nobody-has-this-name/key", "Could not determine home directory"),
        ("token_file: " + "k" * 300, "File name too long"),
        ("token_variable: T, ca_file: " + "c" * 300, "File name too long"),
    ],
)
def test_a_file_that_cannot_be_looked_at_is_told_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "fabrics.yaml"
    file.write_text("fabrics:\n  ib-1: {url: 'https://ufm-1.example.org', " + line + "}\n")
    with pytest.raises(InputErrors) as caught:
        load_fabrics(file)
    (found,) = caught.value.errors
    assert found.position.startswith(f"{file}:2:")
    assert why in found.message
    assert found.hint


@pytest.mark.parametrize("status", [200, 500])
def test_json_that_is_too_deep_is_told_as_no_json(double: Double, tmp_path: Path, status: int) -> None:
    double.instead["GET", "/app"] = (status, {}, "[" * 200_000)
    with pytest.raises(UfmError) as caught:
        UfmClient(UfmTransport(access(double, tmp_path), AT_ONCE)).version()
    assert caught.value.trouble is UfmTrouble.SERVICE
    assert len(caught.value.what) < 500
    assert caught.value.hint


def test_a_secret_with_spaces_is_hidden_although_spaces_are_joined(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "UFM_TOKEN", "two  parts")
    way = replace(access(double, tmp_path, token=True), secret_file=None, secret_variable="UFM_TOKEN")
    double.instead["GET", "/app"] = (403, {}, "user of 'two  parts' may not")
    with pytest.raises(UfmError) as caught:
        UfmClient(UfmTransport(way, AT_ONCE)).version()
    assert "parts" not in str(caught.value)
    assert "[secret]" in str(caught.value)


@pytest.mark.parametrize("token", ["\u2603canary", "canary\u00e9"])
def test_a_token_that_no_header_can_hold_is_told_and_not_shown(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setitem(os.environ, "UFM_TOKEN", token)
    way = replace(access(double, tmp_path, token=True), secret_file=None, secret_variable="UFM_TOKEN")
    with pytest.raises(UfmError) as caught:
        UfmClient(UfmTransport(way, AT_ONCE)).version()
    assert caught.value.trouble is UfmTrouble.UNAUTHORIZED
    assert "characters that no token of UFM has" in caught.value.what
    assert "fabrics.yaml:2:9" in caught.value.hint
    assert "canary" not in str(caught.value)
    assert double.asked == []
