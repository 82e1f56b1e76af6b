"""The real CLI against the real services: one site and two tenants, applied once for all tests that look at them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openstack
import pytest
from openstack.connection import Connection

from tests.conftest import Sandbox
from tests.e2e.project import Project
from tests.e2e.requests import Journal, Trap
from tests.e2e.victim import move_in

STACKS = ("lyon-site", "lyon-acme", "lyon-globex")


@pytest.fixture(scope="session")
def cloud(sandbox: Sandbox) -> Iterator[Connection]:
    """The operator's connection."""
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


@pytest.fixture(scope="session")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with the operator's stack applied."""
    project = Project.make(tmp_path_factory.mktemp("world"), sandbox.clouds_yaml)
    project.init(*STACKS)
    project.must(project.up("lyon-site"))
    return project


@pytest.fixture(scope="session")
def applied(world: Project) -> Project:
    """The same project with both tenants applied."""
    for tenant in ("acme", "globex"):
        world.must(world.up(f"lyon-{tenant}"))
    return world


@pytest.fixture
def scratch(sandbox: Sandbox, tmp_path: Path) -> Project:
    """A project of a test's own, with nothing applied."""
    return Project.make(tmp_path / "project", sandbox.clouds_yaml)


@pytest.fixture(scope="session")
def victim(world: Project) -> Project:
    """The world with a third, small tenant, locked and not applied."""
    return move_in(world)
