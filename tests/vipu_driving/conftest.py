"""A controller of one logical rack, and how it is driven."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.racks import rack_of
from sandbox.vipu.serving import Serving
from tests.vipu.desk import AT_ONCE, SLOW, Desk

from .stand import Stand


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    """Everything is done at once."""
    desk = Desk(tmp_path / "controller", rack_of(), ControllerSettings(durations=AT_ONCE))
    with Serving(desk.controller).running() as serving:
        yield Stand(desk, serving, tmp_path)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Stand]:
    """Things take time, which the test lets pass."""
    desk = Desk(tmp_path / "controller", rack_of(), ControllerSettings(durations=SLOW))
    with Serving(desk.controller).running() as serving:
        yield Stand(desk, serving, tmp_path)
