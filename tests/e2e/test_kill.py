"""SIGKILL of engine and provider in the middle of a request: the next `up` ends where an uninterrupted one does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openstack.connection import Connection

from tests.e2e.killing import up_and_kill
from tests.e2e.listing import Listing, listing
from tests.e2e.project import Project
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Journal, Trap

#: With the real engine; `tests/kills` takes every request of every kind.
POINTS, LONG_POINTS = 2, 25


def _destroy(project: Project, cloud: Connection) -> None:
    project.destroy(STACK)
    left = {what: names for what, names in listing(cloud, "initech").items() if names}
    assert not left, left


@pytest.fixture(scope="module")
def uninterrupted(victim: Project, cloud: Connection, journal: Journal) -> tuple[int, Listing]:
    """How many requests a whole `up` makes, and what stands afterwards."""
    since = journal.now()
    victim.must(victim.plain_up(STACK))
    outcome = len(since.ours()), listing(cloud, "initech")
    _destroy(victim, cloud)
    return outcome


@pytest.fixture(autouse=True)
def _gone(victim: Project, trap: Trap) -> Iterator[None]:
    """Whatever happened, the tests after this find no tenant that nobody expects."""
    yield
    trap.release()
    if victim.objects(STACK):
        victim.interlock("unlock", STACK)
        victim.destroy(STACK)


def _points(total: int, count: int) -> list[tuple[int, str]]:
    """`count` requests, each in the middle of its part of all, held before and after they are carried out in turn."""
    numbers = [1 + round((index + 0.5) * (total - 1) / count) for index in range(count)]
    return [(number, ("before", "after")[index % 2]) for index, number in enumerate(numbers)]


@pytest.mark.timeout(3600)
def test_killed_at_any_request_the_next_up_converges(
    victim: Project, cloud: Connection, trap: Trap, uninterrupted: tuple[int, Listing], long: bool
) -> None:
    total, whole = uninterrupted
    for number, when in _points(total, LONG_POINTS if long else POINTS):
        where = f"killed {when} request {number} of {total}"
        up_and_kill(victim, trap, STACK, number, when)
        unlocked = victim.must(victim.interlock("unlock", STACK))
        assert "removed the lock" in unlocked.err, where
        again = victim.must(victim.up(STACK))
        assert "warning" not in again.text.lower(), f"{where}:\n{again.text}"
        assert listing(cloud, "initech") == whole, where
        victim.unchanged(STACK, "--refresh")
        _destroy(victim, cloud)
