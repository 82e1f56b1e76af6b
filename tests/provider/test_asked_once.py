"""What several looks of one preflight ask in the same words is asked once; what failed is asked again by each."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interlock.provider.asked_once import SharedAnswers, sharing
from interlock.provider.calls import Api
from interlock.provider.errors import Failure
from interlock.provider.retry import RetryPolicy

#: How many look at once.
LOOKS = 8


@dataclass
class SlowService:
    """A service that answers with each of `bodies` in turn, and with the last for good."""

    bodies: list[tuple[int, bytes]]
    asked: list[str] = field(default_factory=list)
    wait: float = 0.05

    def get_token(self) -> str:
        return "token"

    def get_endpoint_data(self) -> Any:
        return SimpleNamespace(api_version=(2, 0), url="http://service")

    def request(self, path: str, method: str, **options: Any) -> Any:
        """The next answer, after a moment in which others come."""
        self.asked.append(f"{method} {path}")
        status, body = self.bodies.pop(0) if len(self.bodies) > 1 else self.bodies[0]
        threading.Event().wait(self.wait)
        return SimpleNamespace(status_code=status, content=body, text=body.decode(), headers={})


def asking(*bodies: tuple[int, bytes]) -> tuple[Api, SlowService]:
    """A service of these answers."""
    adapter = SlowService([*bodies])
    return Api(cast(Any, adapter), "compute", RetryPolicy(sleep=lambda _: None)), adapter


def looked(api: Api, answers: SharedAnswers | None, path: str = "/flavors", **query: Any) -> Any:
    """What one look of many gets."""
    if answers is None:
        return api.get(path, **query)
    with sharing(answers):
        return api.get(path, **query)


def test_looks_that_ask_the_same_share_an_answer_and_none_of_them_its_object() -> None:
    api, adapter = asking((200, b'{"flavors": []}'))
    answers = SharedAnswers()
    with ThreadPoolExecutor(LOOKS) as pool:
        found = list(pool.map(lambda _: looked(api, answers), range(LOOKS)))
    assert adapter.asked == ["GET /flavors"]
    assert all(each == {"flavors": []} for each in found)
    # What one of them does with its answer the others do not see.
    found[0]["flavors"].append("mine")
    assert found[1] == {"flavors": []}


def test_other_words_other_moments_and_whoever_shares_nothing_ask_for_themselves() -> None:
    api, adapter = asking((200, b"{}"))
    other, beside = asking((200, b"{}"))
    answers = SharedAnswers()
    for query in ({}, {"is_public": "None"}, {}):
        looked(api, answers, **query)
    looked(other, answers)
    assert (len(adapter.asked), len(beside.asked)) == (2, 1)
    looked(api, SharedAnswers())
    looked(api, None)
    looked(api, None)
    assert len(adapter.asked) == 5


def test_a_change_is_never_shared() -> None:
    api, adapter = asking((200, b"{}"))
    with sharing(SharedAnswers()):
        api.put("/flavors", {})
        api.put("/flavors", {})
    assert adapter.asked == ["PUT /flavors"] * 2


@pytest.mark.parametrize("bad", [(404, b"{}"), (500, b"{}")])
def test_a_failure_is_not_kept(bad: tuple[int, bytes]) -> None:
    api, adapter = asking(bad, (200, b"{}"))
    answers = SharedAnswers()
    with pytest.raises(Failure):
        looked(api, answers)
    assert looked(api, answers) == {}
    assert looked(api, answers) == {}
    assert len(adapter.asked) == 2


def test_who_waits_for_one_that_fails_asks_for_itself() -> None:
    api, adapter = asking((404, b"{}"), (200, b"{}"))
    answers = SharedAnswers()

    def look(_: int) -> str:
        try:
            return str(looked(api, answers))
        except Failure:
            return "failed"

    with ThreadPoolExecutor(LOOKS) as pool:
        found = list(pool.map(look, range(LOOKS)))
    assert sorted(found) == sorted(["failed", *["{}"] * (LOOKS - 1)])
    assert len(adapter.asked) == 2


def test_an_answer_that_nobody_can_read_is_asked_for_again_and_not_kept() -> None:
    api, adapter = asking((200, b"<html>"), (200, b"{}"))
    answers = SharedAnswers()
    assert looked(api, answers) == {}
    assert looked(api, answers) == {}
    assert len(adapter.asked) == 2


def test_what_breaks_on_the_way_to_the_service_holds_nobody_up() -> None:
    api, adapter = asking((200, b"{}"))
    answers, broken = SharedAnswers(), adapter.get_token

    def breaks() -> str:
        raise MemoryError

    adapter.get_token = breaks  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        looked(api, answers)
    adapter.get_token = broken  # type: ignore[method-assign]
    assert looked(api, answers) == {}
