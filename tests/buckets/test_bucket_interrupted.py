"""Settings of a bucket when a run is killed at a write, or when what is between the provider and the server fails.

Whatever happens at a write, the next run ends with a bucket that is as it was asked for, once. Moto is a fake that
takes every setting; Versity is real, and takes locks and CORS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from interlock.object_storage import object_storage
from interlock.provider.errors import Failure
from interlock.provider.retry import RetryPolicy
from interlock.store.s3_client import s3_client
from tests.buckets.ground import MOMENTS
from tests.buckets.hands import MOTO, Hands, KeyedCloud, hands
from tests.buckets.test_bucket_policy import FAULTS
from tests.buckets.test_bucket_settings import LOCK, WISHES, moto, versity_cloud

__all__ = ["moto", "versity_cloud"]

#: Server -> what a bucket on it is asked for, and what then: all that it takes.
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "moto": (
        {name: value for name, (value, _, _) in WISHES.items()},
        {name: nothing for name, (_, _, nothing) in WISHES.items() if name != "versioning"},
    ),
    "versity": ({"cors": WISHES["cors"][0], "object_lock": LOCK}, {"cors": ()}),
}


class Killed(BaseException):
    """The process ends here."""


class Interrupted:
    """The servers' side of every call: it counts writes, and does something at one of them."""

    def __init__(self) -> None:
        self.writes = 0
        self._writing = False
        self.at: tuple[str, int, Callable[[], Any]] = ("", 0, lambda: None)

    def client(self) -> Callable[..., Any]:
        """Makes one client for all calls: another one each time would take most of the time."""
        made: dict[str, Any] = {}

        def client(access: Any, **_: Any) -> Any:
            if access.endpoint not in made:
                made[access.endpoint] = s3_client(access, connect=30, read=30)
                for moment in MOMENTS:
                    made[access.endpoint].meta.events.register(f"{moment}.s3", self._met(moment))
            return made[access.endpoint]

        return client

    def _met(self, moment: str) -> Callable[..., Any]:
        def handler(**said: Any) -> Any:
            if moment == MOMENTS[0]:
                self._writing = said["request"].method in ("PUT", "DELETE")
                self.writes += self._writing
            wanted, number, act = self.at
            return act() if self._writing and (moment, self.writes) == (wanted, number) else None

        return handler

    @contextmanager
    def interrupted(self, moment: str, number: int, act: Callable[[], Any]) -> Iterator[None]:
        """Something is done at one moment of one of the writes that follow."""
        self.writes, self.at = 0, (moment, number, act)
        try:
            yield
        finally:
            self.at = ("", 0, lambda: None)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    """Stands between the provider and its servers."""
    found = Interrupted()
    monkeypatch.setattr("interlock.provider.actuators.s3.s3_client", found.client())
    return found


@pytest.fixture(params=ASKED)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(kind: str, request: pytest.FixtureRequest) -> Callable[[], tuple[Hands, Hands]]:
    """A new bucket as it is asked for first, and then."""
    given: KeyedCloud = request.getfixturevalue({"moto": "moto", "versity": "versity_cloud"}[kind])
    cloud = KeyedCloud(given.server, given.key["access"], given.key["secret"])
    cloud.retry_policy = RetryPolicy(sleep=lambda _: None)
    first, then = ASKED[kind]

    def asked() -> tuple[Hands, Hands]:
        bucket = hands(cloud, MOTO if kind == "moto" else object_storage(kind), storage=kind, **first)
        return bucket, bucket.asking(**then)

    return asked


def _die() -> None:
    raise Killed


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_a_bucket_that_the_next_run_finishes(
    moment: str, ask: Callable[[], tuple[Hands, Hands]], interrupted: Interrupted
) -> None:
    making, changing = _writes(ask, interrupted)
    for number in range(1, making + 1):
        bucket, _ = ask()
        with interrupted.interrupted(moment, number, _die), pytest.raises(Killed):
            bucket.up()
        bucket.up()
        assert bucket.up() == frozenset()
    bucket, then = ask()
    for number in range(1, changing + 1):
        bucket.up()
        with interrupted.interrupted(moment, number, _die), pytest.raises(Killed):
            then.up()
        then.up()
        assert then.up() == frozenset()


def _writes(ask: Callable[[], tuple[Hands, Hands]], interrupted: Interrupted) -> tuple[int, int]:
    """How many writes it takes to make a bucket, and how many to change it."""
    bucket, then = ask()
    with interrupted.interrupted("", 0, _die):
        bucket.up()
    making = interrupted.writes
    with interrupted.interrupted("", 0, _die):
        changed = then.up()
    assert interrupted.writes == len(changed) > 0
    assert making > len(changed)
    return making, interrupted.writes


#: One of each sort; the policy of a bucket meets them all.
SORTS = [f"{name}, once" for name in ("503", "403", "nonsense", "cut before", "cut after")]


@pytest.mark.parametrize("name", SORTS)
def test_a_fault_harms_no_setting_of_a_bucket(
    name: str, ask: Callable[[], tuple[Hands, Hands]], interrupted: Interrupted
) -> None:
    """Either it is done, or it is told; and the next run finishes it."""
    fault, (making, changing) = FAULTS[name], _writes(ask, interrupted)
    for number in range(1, making + 1):
        bucket, _ = ask()
        _done_or_told(bucket, interrupted, fault, number)
    bucket, then = ask()
    for number in range(1, changing + 1):
        bucket.up()
        _done_or_told(then, interrupted, fault, number)


def _done_or_told(bucket: Hands, interrupted: Interrupted, fault: Any, number: int) -> None:
    met: list[int] = []
    words = "S3 "

    def act() -> Any:
        met.append(number)
        return fault.act()

    with interrupted.interrupted(fault.moment, number, act):
        try:
            bucket.write()
        except Failure as failure:
            words = str(failure)
    assert met
    assert "S3 " in words
    bucket.up()
    assert bucket.up() == frozenset()
