"""One fabric for each process that runs these tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.prober import Prober

from .plant import Stage, plant

ROOT = Path(__file__).resolve().parents[2]


def folder(name: str) -> Path:
    """A folder of this process's own: what a killed run left in it goes with the next one."""
    return ROOT / ".interlock" / f"test-fabric-{name}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Four switches with four hosts each. Without root or Open vSwitch an error names the line to run."""
    with Fabric(plant(), folder("plant")).running() as fabric, Prober(fabric) as prober:
        yield Stage(fabric, prober)
