"""Real S3 servers, and two tenants' keys at each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Sandbox
from tests.sandbox.cloud import Cloud
from tests.support.cloud.stage import empty_cloud, stage
from tests.support.versity import Versity

from .probe import Server
from .servers import swift_of, versity_in

__all__ = ["empty_cloud", "stage"]


@pytest.fixture(scope="module")
def cloud(empty_cloud: None, sandbox: Sandbox) -> Cloud:
    """The embedded cloud."""
    return Cloud(sandbox)


@pytest.fixture(scope="module")
def swift(cloud: Cloud) -> Server:
    """Swift of the embedded cloud."""
    return swift_of(cloud)


@pytest.fixture(scope="session")
def both_of_versity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Versity, Server]]:
    """A Versity gateway, and how it is asked."""
    with versity_in(tmp_path_factory.mktemp("versity")) as found:
        yield found


@pytest.fixture(scope="session")
def gateway(both_of_versity: tuple[Versity, Server]) -> Versity:
    """A Versity gateway."""
    return both_of_versity[0]


@pytest.fixture(scope="session")
def versity(both_of_versity: tuple[Versity, Server]) -> Server:
    """The same one, as it is asked."""
    return both_of_versity[1]
