"""One connection to the embedded cloud for all of its tests, and one tenant."""

from __future__ import annotations

import pytest

from tests.sandbox.cloud import Cloud, Running, Tenant
from tests.support.cloud.stage import empty_cloud, stage

__all__ = ["empty_cloud", "stage"]


@pytest.fixture(scope="module")
def cloud(empty_cloud: None, sandbox: Running) -> Cloud:
    """The running cloud, as its administrator."""
    return Cloud(sandbox)


@pytest.fixture(scope="module")
def tenant(cloud: Cloud, request: pytest.FixtureRequest) -> Tenant:
    """A project of the test module's own."""
    return cloud.tenant(request.module.__name__.rsplit(".", 1)[-1])
