"""Stores to test against: a folder, the Versity gateway, moto."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

from tests.store import servers
from tests.support import versity as gateway


@pytest.fixture(scope="session")
def versity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Versity gateway."""
    with gateway.running(tmp_path_factory.mktemp("versity")) as running:
        yield running.endpoint


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of a moto server that takes requests in turn."""
    with servers.serving(servers.in_turn(servers.moto)) as endpoint:
        yield endpoint


@pytest.fixture
def credential(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The credential that boto3 finds, and no other."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", gateway.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", gateway.SECRET)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


def bucket_at(endpoint: str) -> str:
    """The URL of a fresh bucket."""
    name = f"claims-{secrets.token_hex(6)}"
    config = Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required")
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config).create_bucket(Bucket=name)
    return f"s3://{name}/interlock?endpoint={endpoint}&region=us-east-1"


@pytest.fixture(params=["folder", "versity", "moto"])
def url(request: pytest.FixtureRequest, credential: None, tmp_path: Path) -> str:
    """The URL of an empty store, one of each kind."""
    if request.param == "folder":
        return (tmp_path / "claims").as_uri()
    return bucket_at(request.getfixturevalue(request.param))
