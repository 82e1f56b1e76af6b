"""The client of S3: whose key it holds, how often it tries, and which addresses it asks."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.store.s3_client import S3Access, s3_client

HOST = "http://127.0.0.1:9"


def client(access: S3Access) -> Any:
    return s3_client(access, connect=1.0, read=2.0)


def key_of(made: Any) -> str:
    return str(made._request_signer._credentials.access_key)


def test_callers_with_keys_of_their_own_share_no_credential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-shell")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-shell")
    one = client(S3Access(HOST, "RegionOne", access_key="one", secret_key="secret-one"))
    two = client(S3Access(HOST, "RegionTwo", access_key="two", secret_key="secret-two"))
    assert [key_of(one), key_of(two), key_of(client(S3Access(HOST)))] == ["one", "two", "of-the-shell"]
    assert [one.meta.region_name, two.meta.region_name] == ["RegionOne", "RegionTwo"]


def test_a_credential_of_the_shell_is_looked_up_for_each_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("first", "second"):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        assert key_of(client(S3Access(HOST))) == key


def test_a_client_tries_once_and_waits_as_long_as_it_was_told() -> None:
    config = client(S3Access(HOST, access_key="one", secret_key="secret")).meta.config
    assert config.retries["total_max_attempts"] == 1
    assert (config.connect_timeout, config.read_timeout) == (1.0, 2.0)
    assert config.s3["addressing_style"] == "path"


def test_without_an_endpoint_it_is_s3_itself_and_the_usual_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    made = client(S3Access())
    assert made.meta.region_name == "us-east-1"
    assert "amazonaws.com" in made.meta.endpoint_url
