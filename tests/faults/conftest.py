"""One world for all tests of faults, and the report that they write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Sandbox
from tests.faults.report import Matrix
from tests.faults.world import World
from tests.faults.world import world as made
from tests.support.cloud.stage import Stage, only_whole_worlds, stage

__all__ = ["only_whole_worlds", "stage"]


@pytest.fixture(scope="module")
def world(stage: Stage, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Everything made; it stands until tests of another folder need the cloud."""
    return stage.world("faults", lambda: made(sandbox, tmp_path_factory.mktemp("faults")))


@pytest.fixture(scope="session")
def matrix() -> Iterator[Matrix]:
    """What came of each fault."""
    found = Matrix()
    yield found
    found.write()
