"""One site and one tenant, made through the servicer for all tests that look at them, in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox
from tests.provider.channel import Channel, left_anew
from tests.support.cloud.journal import Journal
from tests.support.cloud.stage import Stage, only_whole_worlds, stage
from tests.support.engine.process import Process
from tests.support.world.declared import site_folder
from tests.support.world.small import World, small_world

__all__ = ["only_whole_worlds", "stage"]

#: The world of these tests. Those that do not look at it do not mind it.
WORLD = "provider"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site's folder with an image file."""
    return site_folder(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def operator(stage: Stage, sandbox: Sandbox) -> Cloud:
    """The operator's hands: what a person does beside us."""
    stage.clear(unless=WORLD)
    return Cloud(sandbox.cloud)


@pytest.fixture(scope="session")
def journal(sandbox: Sandbox) -> Journal:
    """What the services were asked to change."""
    return Journal(sandbox.dir)


@pytest.fixture
def process(operator: Cloud) -> Iterator[Process]:
    """A provider process of the test's own."""
    found = Process()
    yield found
    found.close()


@pytest.fixture(scope="module")
def world(stage: Stage, operator: Cloud, folder: Path) -> World:
    """A site and a tenant, as an `up` of each makes them. What a test alters in it, it puts back."""
    return stage.world(WORLD, lambda: small_world(operator, folder))


@pytest.fixture
def channel(world: World, operator: Cloud) -> Iterator[Channel]:
    """The tenant's key, left anew for its server."""
    with left_anew(world, operator) as found:
        yield found
