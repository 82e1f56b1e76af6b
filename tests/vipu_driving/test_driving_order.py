"""The order in which a controller lists a cluster's agents: one rule for refresh and adoption (an audit's is tested
beside its other findings).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest

from interlock.provider.agent_order import other_order
from interlock.provider.errors import Failure
from interlock.resources import Resource
from interlock.vipu.transport import Ran, Runner

from .stand import Stand
from .vpod import Vpod, planned


@dataclass
class Listing:
    """A controller whose clusters list their agents in an order of their own."""

    inner: Runner
    order: Callable[[list[str]], list[str]]

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it."""
        ran = self.inner.run(words)
        if tuple(words)[-3:-1] != ("list", "cluster"):
            return ran
        listed = json.loads(ran.out)
        for item in listed:
            item["spec"]["agents"] = self.order(item["spec"]["agents"])
        return Ran(ran.code, json.dumps(listed), ran.err)


def _turned() -> dict[str, Resource]:
    """Two machines whose cables lead from `ag2` to `ag1`, as their names do not tell."""
    plan = planned()
    for one, other in (("ag1", "10.2.1.2"), ("ag2", "10.2.1.1")):
        plan[one] = plan[one].model_copy(update={"host": other})
    plan["cluster"] = plan["cluster"].model_copy(update={"agents": ("ag2", "ag1")})
    return plan | {"allocation": plan["allocation"].model_copy(update={"machines": ("ipum-02", "ipum-01")})}


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    return Vpod(stand)


def _lists(vpod: Vpod, order: Callable[[list[str]], list[str]]) -> None:
    whole = vpod.stand.controller()
    vpod.controller = replace(whole, runner=Listing(whole.runner, order))


def test_a_release_that_sorts_is_adopted_and_refreshed_alike(vpod: Vpod) -> None:
    plan = _turned()
    vpod.up(plan, "ag1", "ag2")
    vpod.stand.desk.do("create cluster train --agents ag2,ag1")
    _lists(vpod, sorted)
    vpod.up(plan, "cluster")
    assert vpod.state["cluster"][1]["agents"] == ["ag2", "ag1"]
    vpod.refresh("cluster")
    assert vpod.state["cluster"][1]["broken"] == ""


def test_one_that_tells_another_order_is_refused_and_found_broken(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan, "ag1", "ag2")
    vpod.stand.desk.do("create cluster train --agents ag1,ag2")
    _lists(vpod, lambda agents: agents[::-1])
    with pytest.raises(Failure, match="agents ag2,ag1, planned ag1,ag2"):
        vpod.up(plan, "cluster")
    vpod.controller = None
    vpod.up(plan, "cluster")
    _lists(vpod, lambda agents: agents[::-1])
    vpod.refresh("cluster")
    assert "in the order ag2, ag1" in vpod.state["cluster"][1]["broken"]


@pytest.mark.parametrize(
    ("there", "wanted", "is_other"),
    [
        (("ag1", "ag2", "ag10"), ("ag10", "ag1", "ag2"), False),  # by their numbers
        (("ag1", "ag10", "ag2"), ("ag10", "ag1", "ag2"), False),  # as texts
        (("ag10", "ag1", "ag2"), ("ag10", "ag1", "ag2"), False),
        (("ag2", "ag10", "ag1"), ("ag10", "ag1", "ag2"), True),
        (("ag2", "ag1"), ("ag1", "ag2", "ag3"), False),  # other agents: told as such
        (("ag1", "1ag"), ("1ag", "ag1"), True),
    ],
)
def test_an_order_says_something_or_not(there: tuple[str, ...], wanted: tuple[str, ...], *, is_other: bool) -> None:
    assert other_order(there, wanted) is is_other
