"""Stores that sixteen processes use at once: a folder of one machine, and an S3 server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store import servers
from tests.store.conftest import bucket_at
from tests.support import versity as gateway
from tests.support.cloud.stage import alone, empty_cloud, only_whole_worlds, stage

__all__ = ["alone", "empty_cloud", "only_whole_worlds", "stage"]


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of an S3 server that takes requests in turn."""
    with servers.serving(servers.in_turn(servers.moto)) as endpoint:
        yield endpoint


@pytest.fixture
def credential(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The credential that boto3 finds, in this process and in those that it starts."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", gateway.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", gateway.SECRET)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of an empty store in a folder."""
    return (tmp_path / "claims").as_uri()


@pytest.fixture
def store(request: pytest.FixtureRequest, credential: None, url: str) -> str:
    """The URL of an empty store, of the kind that the test's parameter names."""
    return bucket_at(request.getfixturevalue("moto")) if request.param == "s3" else url
