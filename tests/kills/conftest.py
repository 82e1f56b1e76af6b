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
from tests.kills.variants import sampled
from tests.support.sampling import Sampling


@pytest.fixture(scope="package")
def points(sampling: Sampling) -> Iterator[list[Point]]:
    """What was taken down of each point, by all tests here."""
    found: list[Point] = []
    yield found
    write(found, sampling.part)


@pytest.fixture(scope="package")
def tenancy(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory, points: list[Point], sampling: Sampling
) -> Iterator[Tenancy]:
    """The reference stacks; in the end nothing is left of them."""
    with ground(sandbox, tmp_path_factory.mktemp("kills")) as found:
        stacks = Tenancy.of(Rounds(Points(found, points), sampling, sampled(sampling)))
        yield stacks
        stacks.leave()
