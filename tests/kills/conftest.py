"""One ground for all points, and the report that they write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Sandbox
from tests.kills.ground import ground
from tests.kills.points import Points
from tests.kills.report import Point, write
from tests.kills.rounds import Rounds
from tests.kills.tenancy import Tenancy


@pytest.fixture(scope="package")
def points() -> Iterator[list[Point]]:
    """What was taken down of each point, by all tests here."""
    found: list[Point] = []
    yield found
    write(found)


@pytest.fixture(scope="package")
def tenancy(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory, points: list[Point], long: bool
) -> Iterator[Tenancy]:
    """The reference stacks; in the end nothing is left of them."""
    with ground(sandbox, tmp_path_factory.mktemp("kills")) as found:
        stacks = Tenancy.of(Rounds(Points(found, points), every=long))
        yield stacks
        stacks.leave()
