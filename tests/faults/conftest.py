"""One world for all tests of faults, and the report that they write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Sandbox
from tests.faults.report import Matrix
from tests.faults.world import World
from tests.faults.world import world as made


@pytest.fixture(scope="package")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Everything made; taken down with the sandbox."""
    with made(sandbox, tmp_path_factory.mktemp("faults")) as found:
        yield found


@pytest.fixture(scope="package")
def matrix() -> Iterator[Matrix]:
    """What came of each fault."""
    found = Matrix()
    yield found
    found.write()
