"""One subnet of eight nodes with two rails for each process that runs these tests, and its partitions anew for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import rails

from .calling import Caller

ROOT = Path(__file__).resolve().parents[2]


def folder(name: str) -> Path:
    """A folder of this process's own: what a killed run left in it goes with the next one."""
    return ROOT / ".interlock" / f"test-subnet-{name}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


@pytest.fixture(scope="session")
def _subnet() -> Iterator[LiveSubnet]:
    """Without its programs an error names the line that gets them."""
    with LiveSubnet(rails(8, 2), folder("shared")).running() as subnet:
        yield subnet


@pytest.fixture
def subnet(_subnet: LiveSubnet) -> LiveSubnet:
    """The shared subnet, with the default partition alone."""
    _subnet.apply([])
    return _subnet


@pytest.fixture
def small() -> Iterator[LiveSubnet]:
    """Four nodes with two rails, for a test that moves cables or ends the subnet manager."""
    with LiveSubnet(rails(4, 2), folder("small")).running() as subnet:
        yield subnet


@pytest.fixture
def standin(subnet: LiveSubnet) -> Iterator[StandIn]:
    """The stand-in as the guide documents UFM."""
    with StandIn(subnet).serving() as standin:
        yield standin


@pytest.fixture
def ufm(standin: StandIn) -> Caller:
    """Calls of a client that logs in by password."""
    return Caller(standin)
