"""A double of UFM for each test, and a client of it that does not wait between attempts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.retry import RetryBudget, RetryPolicy
from interlock.ufm.client import UfmClient
from interlock.ufm.transport import UfmTransport
from tests.ufm.certificates import issue
from tests.ufm.double import Double, access, listening

#: Ports that the subnet manager of the double has discovered.
GUIDS = tuple(f"0002c903000e0b{number:02x}" for number in range(1, 9))


async def _rest(_: float) -> None:
    """No time passes."""


#: As in production, and nobody waits.
AT_ONCE = RetryPolicy(RetryBudget(), sleep=lambda _: None, rest=_rest)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(of the authority, of the host)."""
    return issue(tmp_path_factory.mktemp("ufm"))


@pytest.fixture
def double(certificate: tuple[Path, Path]) -> Iterator[Double]:
    """A UFM with nothing in it."""
    with listening(Double(frozenset(GUIDS), ca=certificate[0]), certificate[1]) as found:
        yield found


@pytest.fixture
def client(double: Double, tmp_path: Path) -> UfmClient:
    """A client of it, with user and password."""
    return UfmClient(UfmTransport(access(double, tmp_path), AT_ONCE))
