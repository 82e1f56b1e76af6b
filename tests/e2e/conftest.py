"""The real CLI against the real services: one site and two tenants, applied once for all tests that look at them.

A file finds them as its fixture says, whichever file ran before, and leaves them so. Names decide what that costs:
files run in their order, so those of one world are beside each other, and what needs an empty cloud comes after them.
"""

from __future__ import annotations

from collections.abc import Iterator

import openstack
import pytest
from openstack.connection import Connection

from tests.conftest import Sandbox
from tests.e2e.listing import listing
from tests.e2e.project import Project
from tests.e2e.standing import SITE, TENANTS, Standing, standing
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Journal, Trap
from tests.support.cloud.stage import Stage, empty_cloud, only_whole_worlds, stage

__all__ = ["empty_cloud", "only_whole_worlds", "stage"]

WORLD = "e2e"


@pytest.fixture(scope="module")
def cloud(stage: Stage, sandbox: Sandbox) -> Iterator[Connection]:
    """The operator's connection."""
    stage.clear(unless=WORLD)
    connection = openstack.connect(cloud=sandbox.cloud, app_name="test-operator")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def journal(sandbox: Sandbox) -> Journal:
    """What the services were asked to change."""
    return Journal(sandbox.dir)


@pytest.fixture(scope="session")
def trap(sandbox: Sandbox) -> Trap:
    """The sandbox's means to stop a client in the middle of a request."""
    return Trap(sandbox.dir)


@pytest.fixture(scope="module")
def stands(
    stage: Stage, sandbox: Sandbox, cloud: Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standing]:
    """What stands; a file leaves the requests as they were, and of the small tenant what it says: all or nothing."""
    found = stage.world(WORLD, lambda: standing(stage, sandbox, tmp_path_factory.mktemp("world") / "project"))
    before = found.requests()
    yield found
    assert found.requests() == before, "a request was not put back"
    left = {what: names for what, names in listing(cloud, "initech").items() if names}
    assert bool(left) is (STACK in found.applied), f"what is left of the small tenant: {left}"


@pytest.fixture(scope="module")
def world(stands: Standing) -> Project:
    """A project with the operator's stack applied."""
    return stands.apply(SITE)


@pytest.fixture(scope="module")
def applied(stands: Standing) -> Project:
    """The same project with both tenants applied."""
    return stands.apply(SITE, *TENANTS)


@pytest.fixture(scope="module")
def victim(stands: Standing, world: Project) -> Project:
    """The world's third, small tenant, locked and not applied."""
    if STACK in stands.applied:
        world.destroy(STACK)
        stands.applied.discard(STACK)
    return world
