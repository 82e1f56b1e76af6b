"""What somebody changed by hand at a controller: a refresh sees it, and nothing of it passes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from interlock.provider.diffing import compare
from interlock.provider.errors import Failure, Trouble
from interlock.resources import Resource
from interlock.vipu.transport import Ran, Runner

from .stand import Stand
from .test_driving_objects import everything
from .vpod import Vpod, planned


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    return Vpod(stand)


def _replaced(vpod: Vpod, plan: dict[str, Resource], name: str) -> list[str]:
    """The properties for which the next `up` recreates an object, after a refresh."""
    seen = vpod.refresh(name)
    assert seen is not None
    item = vpod.declared(plan, name)
    news: dict[str, Any] = item.inputs()
    return compare(item.kind, name, vpod.state[name][1], news).replaces


def _rebuilt(vpod: Vpod, *lines: str) -> None:
    """Somebody takes away all that stands on the agents, and tells the controller something else."""
    for line in ("remove partition p", "remove user poplar-0", "remove allocation train", "remove cluster train"):
        vpod.stand.desk.do(line)
    for line in lines:
        vpod.stand.desk.do(line)


def test_an_allocation_that_was_narrowed_is_recreated(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    assert _replaced(vpod, plan, "allocation") == []
    vpod.stand.desk.do("remove partition p")
    vpod.stand.desk.do("update allocation train --agents ag1")
    assert _replaced(vpod, plan, "allocation") == ["machines"]
    assert vpod.state["allocation"][1]["machines"] == ["ipum-01"]


def test_a_cluster_with_more_agents_is_recreated_and_so_is_its_allocation(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    agents = ["create agent ag3 --host 10.2.1.3", "create agent ag4 --host 10.2.1.4"]
    cluster = "create cluster train --agents ag1,ag2,ag3,ag4"
    _rebuilt(vpod, *agents, cluster, "create allocation train --cluster train")
    assert _replaced(vpod, plan, "cluster") == ["agents"]
    assert _replaced(vpod, plan, "allocation") == ["machines"]
    assert vpod.state["allocation"][1]["machines"] == ["ipum-01", "ipum-02", "ag3", "ag4"]


class Turned:
    """A controller whose clusters have their agents in the opposite order. The simulator knows of cables as well, and
    makes none such.
    """

    def __init__(self, inner: Runner) -> None:
        self.inner = inner

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it."""
        ran = self.inner.run(words)
        if tuple(words)[-3:-1] != ("list", "cluster"):
            return ran
        listed = json.loads(ran.out)
        for item in listed:
            item["spec"]["agents"].reverse()
        return Ran(ran.code, json.dumps(listed), ran.err)


def test_a_cluster_in_another_order_is_broken(vpod: Vpod) -> None:
    """Its agents are those that are planned, and the cables do not lead from each to the next."""
    plan = planned()
    vpod.up(plan)
    whole = vpod.stand.controller()
    vpod.controller = replace(whole, runner=Turned(whole.runner))
    assert _replaced(vpod, plan, "cluster") == ["broken"]
    assert "in the order ag2, ag1, and their cables in that of ag1, ag2" in vpod.state["cluster"][1]["broken"]
    vpod.controller = None
    assert _replaced(vpod, plan, "cluster") == []


@pytest.mark.parametrize("others", ["train,other", "other"])
def test_a_user_with_other_allocations_is_recreated_with_another_key(vpod: Vpod, others: str) -> None:
    plan = planned()
    vpod.up(plan)
    vpod.stand.desk.do("create allocation other --agents ag1")
    vpod.stand.desk.do(f"update user poplar-0 --allocations {others}")
    assert _replaced(vpod, plan, "user") == ["allocations"]


def test_a_user_who_was_made_an_administrator_stops_a_refresh(vpod: Vpod) -> None:
    vpod.up(planned())
    vpod.stand.desk.do("remove partition p")
    vpod.stand.desk.do("remove user poplar-0")
    vpod.stand.desk.do("create user poplar-0 --allocations train --admin")
    with pytest.raises(Failure, match="is an administrator of the controller"):
        vpod.refresh("user")


def test_an_agent_of_another_name_at_the_same_address_is_refused(vpod: Vpod) -> None:
    """On any port: the address is the machine's."""
    desk = vpod.stand.desk
    desk.do("create agent mine --host 10.2.1.1 --port 8081")
    with pytest.raises(Failure, match=r"10\.2\.1\.1, the address of ipum-01, is that of agent mine") as caught:
        vpod.up(planned(), "ag1")
    assert caught.value.trouble is Trouble.REFUSED
    assert "remove it at the controller" in caught.value.hint
    assert everything(vpod)["agents"] == ["mine"]
    desk.do("remove agent mine")
    vpod.up(planned(), "ag1", "ag2")


def test_an_agent_of_the_same_vpod_may_still_have_the_address(vpod: Vpod) -> None:
    """Machines of another rack come: the address of one is another's from now on, and that one's agent goes first."""
    vpod.stand.desk.do("create agent acme-train-agent-ipum-09 --host 10.2.1.1 --port 8081")
    plan = planned()
    plan["ag1"] = plan["ag1"].model_copy(update={"name": "acme-train-agent-ipum-01"})
    vpod.up(plan, "ag1")
    assert vpod.state["ag1"][1]["host"] == "10.2.1.1"
    assert everything(vpod)["agents"] == ["acme-train-agent-ipum-01"]
