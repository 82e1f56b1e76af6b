"""One ground for all points, and the report that they write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Sandbox
from tests.kills.ground import ground
from tests.kills.points import Points
from tests.kills.report import Point, write
from tests.kills.rounds import Rounds
from tests.kills.tenancy import Tenancy
from tests.kills.variants import sampled
from tests.support.cloud.stage import Stage, only_whole_worlds, stage
from tests.support.sampling import Sampling

__all__ = ["only_whole_worlds", "stage"]


@pytest.fixture(scope="session")
def points(sampling: Sampling) -> Iterator[list[Point]]:
    """What was taken down of each point, by all tests here."""
    found: list[Point] = []
    yield found
    write(found, sampling.part)


@pytest.fixture(scope="module")
def tenancy(
    stage: Stage, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory, points: list[Point], sampling: Sampling
) -> Tenancy:
    """The reference stacks; in the end nothing is left of them."""
    return stage.world("kills", lambda: _stacks(sandbox, tmp_path_factory.mktemp("kills"), points, sampling))


@contextmanager
def _stacks(sandbox: Sandbox, folder: Path, points: list[Point], sampling: Sampling) -> Iterator[Tenancy]:
    with ground(sandbox, folder) as found:
        stacks = Tenancy.of(Rounds(Points(found, points), sampling, sampled(sampling)))
        yield stacks
        stacks.leave()
