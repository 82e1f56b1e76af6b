"""The five kinds through the provider's lifecycle, on a served controller of the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.vipu.client import ControllerClient
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vipu.transport import Ran
from sandbox.vipu.racks import changed

from .stand import SERVER, Stand
from .vpod import OWNER, Vpod, planned


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    return Vpod(stand)


def everything(vpod: Vpod) -> dict[str, list[str]]:
    """The ids of what is at the controller."""
    state = vpod.stand.desk.controller.state
    return {
        "agents": [*state.agents], "clusters": [*state.clusters], "allocations": [*state.allocations],
        "users": [*state.users], "partitions": [*state.partitions],
    }  # fmt: skip


_ALL = {"agents": ["ag1", "ag2"], "clusters": ["train"], "allocations": ["train"], "users": ["poplar-0"],
        "partitions": ["p"]}  # fmt: skip
_NONE = {key: list[str]() for key in _ALL}


def test_a_vpod_is_made_seen_as_planned_and_goes(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    assert everything(vpod) == _ALL
    vpod.up(plan)
    for name, item in plan.items():
        seen = vpod.refresh(name)
        assert seen is not None
        assert {key: seen[key] for key in item.canonical()} == item.canonical(), name
    assert vpod.state["p"][0] == f"{SERVER}/partition/p"
    assert "key" not in str(vpod.state).lower().replace("keystone", "")
    vpod.destroy()
    assert everything(vpod) == _NONE


def test_what_a_killed_run_left_is_adopted(vpod: Vpod) -> None:
    """Nothing of it got into the state, as if the process died after each command."""
    plan = planned()
    vpod.up(plan)
    vpod.state.clear()
    vpod.up(plan)
    assert everything(vpod) == _ALL
    vpod.destroy()
    assert everything(vpod) == _NONE


@pytest.mark.parametrize(
    ("line", "name", "told"),
    [
        ("create agent ag1 --host 10.2.1.7", "ag1", "address 10.2.1.7:8080, planned 10.2.1.1:8080"),
        ("create cluster train --agents ag1", "cluster", "agents ag1, planned ag1,ag2"),
        ("create user poplar-0", "user", "allocations not said, planned train"),
        ("create partition p --size 4 --allocation train", "p", "ipus 4, planned 8"),
        ("create partition p --size 8 --allocation train --num-gcds 2", "p", "gcds 2, planned 1"),
    ],
)
def test_the_planned_id_with_other_content_is_refused_and_stays(vpod: Vpod, line: str, name: str, told: str) -> None:
    plan = planned()
    for before_it in [*plan][: [*plan].index(name)]:
        vpod.up(plan, before_it)
    vpod.stand.desk.do(line)
    before = vpod.stand.desk.controller.state
    with pytest.raises(Failure, match=told) as caught:
        vpod.up(plan, name)
    assert caught.value.trouble is Trouble.REFUSED
    assert name not in vpod.state
    assert vpod.stand.desk.controller.state == before


def test_an_administrator_is_no_user_of_ours(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan, "ag1", "ag2", "cluster", "allocation")
    vpod.stand.desk.do("create user poplar-0 --allocations train --admin")
    with pytest.raises(Failure, match="is an administrator of the controller"):
        vpod.up(plan, "user")


def test_a_users_list_is_put_back_in_place(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    vpod.stand.desk.do("create allocation other --agents ag1")
    vpod.stand.desk.do("update user poplar-0 --allocations train,other")
    seen = vpod.refresh("user")
    assert seen is not None
    assert seen["allocations"] != ["allocation"]
    vpod.up(plan, "user")
    assert vpod.stand.desk.controller.state.users["poplar-0"].allocations == ("train",)


def test_an_allocation_goes_with_what_users_made_and_leaves_their_lists(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    vpod.destroy("p", "user")
    desk = vpod.stand.desk
    desk.do("create allocation other --agents ag1")
    desk.do("create user eve --allocations train,other")
    desk.do("create partition job-1 --size 4 --allocation train")
    vpod.destroy("allocation")
    assert desk.controller.state.users["eve"].allocations == ("other",)
    assert not desk.controller.state.partitions
    with pytest.raises(Failure, match="cluster train of acme-train-controller is in use by allocation other"):
        vpod.destroy("cluster")


def test_a_user_of_nothing_else_is_not_opened_toeverything(vpod: Vpod) -> None:
    vpod.up(planned())
    vpod.destroy("p", "user")
    vpod.stand.desk.do("create user eve --allocations train")
    with pytest.raises(Failure, match="is the only one of user eve"):
        vpod.destroy("allocation")
    assert vpod.stand.desk.controller.state.users["eve"].allocations == ("train",)


def test_another_partition_of_the_same_id_is_not_deleted(vpod: Vpod) -> None:
    vpod.up(planned())
    vpod.stand.desk.do("remove partition p")
    vpod.stand.desk.do("create partition p --size 4 --allocation train")
    with pytest.raises(Failure, match="is not the one that this stack made: ipus 4, planned 8"):
        vpod.destroy("p")
    assert len(vpod.stand.desk.controller.state.partitions["p"].ipus) == 4


def test_a_partition_in_error_is_broken_with_the_controllers_words(vpod: Vpod) -> None:
    plan = planned()
    vpod.up(plan)
    desk = vpod.stand.desk
    desk.becomes(changed(desk.hardware(), "10.2.1.1", answers=False))
    desk.controller.settle()
    vpod.refresh("p")
    assert vpod.state["p"][1]["broken"] == "it is ERROR: agent ag1 does not answer"


def test_an_agent_that_does_not_answer_names_machine_and_address(vpod: Vpod) -> None:
    """The state has it: the next `up` looks again."""
    desk, plan = vpod.stand.desk, planned()
    desk.becomes(changed(desk.hardware(), "10.2.1.1", answers=False))
    with pytest.raises(Failure) as caught:
        vpod.up(plan, "ag1")
    for word in ("machine ipum-01", "serial LYN-01", "10.2.1.1:8080 is OFFLINE", "VLAN"):
        assert word in caught.value.message
    assert "ag1" in vpod.state
    desk.becomes(changed(desk.hardware(), "10.2.1.1", answers=True))
    vpod.up(plan, "ag1")


def test_everything_is_gone_with_its_server(vpod: Vpod) -> None:
    """And not before: a controller that only does not answer has its objects still."""
    plan = planned()
    vpod.up(plan)
    vpod.controller = vpod.stand.controller()
    vpod.stand.serving.stop()
    with pytest.raises(Failure, match="ended with 1"):
        vpod.refresh("p")
    vpod.servers.clear()
    assert vpod.refresh("p") is None
    vpod.destroy()


@pytest.mark.parametrize("wrong", ["server", "name", "noun"])
def test_an_exchanged_id_is_refused(vpod: Vpod, wrong: str) -> None:
    """An id of another controller, of another object, or of another kind."""
    plan = planned()
    vpod.up(plan, "ag1", "ag2", "cluster")
    other = "77f0c9d4-2f9c-4d7e-8a55-93f5f8d8f0aa"
    vpod.servers[other] = "interlock:0beef0:globex-train-controller"
    exchanged = {"server": f"{other}/cluster/train", "name": f"{SERVER}/cluster/b", "noun": f"{SERVER}/agent/train"}
    item = vpod.declared(plan, "allocation")
    vpod.declared = lambda *_: type(item)(  # type: ignore[method-assign]
        item.kind, item.name, item.spec, OWNER, {**item.given, "id_of_cluster": exchanged[wrong]}
    )
    with pytest.raises(Failure, match="refers to cluster, but object"):
        vpod.up(plan, "allocation")
    assert not vpod.stand.desk.controller.state.allocations


class Death(Exception):
    """The process dies."""


class Dying:
    """Runs commands until the process dies: before a changing one, or after it."""

    def __init__(self, inner: Any, at: int, *, after: bool) -> None:
        self.inner, self.left, self.after = inner, at, after

    def run(self, words: Any) -> Ran:
        """What came of it."""
        changes = {"create", "remove", "update"} & {*words}
        self.left -= bool(changes)
        if changes and self.left == 0 and not self.after:
            raise Death
        ran: Ran = self.inner.run(words)
        if changes and self.left == 0:
            raise Death
        return ran


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_each_command_leaves_nothing_unknown(vpod: Vpod, after: bool) -> None:
    """Of an `up` and of a `destroy`: the next run completes it, with each object once."""
    plan, whole = planned(), vpod.stand.controller()
    for at in range(1, len(plan) + 1):
        vpod.controller = type(whole)(whole.name, whole.access, Dying(whole.runner, at, after=after))
        with pytest.raises(Death):
            vpod.up(plan)
        vpod.controller = None
        vpod.up(plan)
        assert everything(vpod) == _ALL
        vpod.controller = type(whole)(whole.name, whole.access, Dying(whole.runner, at, after=after))
        with pytest.raises(Death):
            vpod.destroy()
        vpod.controller = None
        vpod.destroy()
        assert everything(vpod) == _NONE, at


def test_a_partition_that_has_another_name_is_told_who_has_its_room(
    vpod: Vpod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An `up` makes first and deletes last. Nothing is undone, and the way out is named; where nobody can tell who has
    the room, what failed is told as it is.
    """
    vpod.up(planned())
    plan = planned() | {"q": planned()["p"].model_copy(update={"name": "q"})}
    with pytest.raises(Failure, match=r"of 8 IPUs of allocation train others have too many: p \(8 IPUs\)") as caught:
        vpod.up(plan, "q")
    assert "take that out, apply it, and ask for the new one then" in caught.value.hint
    assert everything(vpod)["partitions"] == ["p"]
    with monkeypatch.context() as patched:
        patched.setattr(ControllerClient, "partitions_in", _silent)
        with pytest.raises(Failure, match="RESOURCE_EXHAUSTED") as caught:
            vpod.up(plan, "q")
    assert (caught.value.trouble, "too many" in caught.value.message) == (Trouble.SERVICE, False)
    vpod.destroy("p")
    vpod.up(plan, "q")


def _silent(client: ControllerClient, allocation: str) -> Any:
    raise VipuError(VipuTrouble.UNREACHABLE, client.name, f"no way to {allocation}", "")
