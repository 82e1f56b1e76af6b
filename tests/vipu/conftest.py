"""Controllers of one whole logical rack."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.racks import rack_of

from .desk import SLOW, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Everything is done at once."""
    return Desk(tmp_path, rack_of())


@pytest.fixture
def slow(tmp_path: Path) -> Desk:
    """Things take time, which the test lets pass."""
    return Desk(tmp_path, rack_of(), ControllerSettings(durations=SLOW))
