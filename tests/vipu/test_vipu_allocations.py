"""Allocations, users, and what each user is shown."""

from __future__ import annotations

import re

import pytest

from sandbox.vipu.access import VipuAccess
from sandbox.vipu.allocation_calls import new_user
from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.refusals import VipuRefused
from sandbox.vipu.storage import STORAGE

from .desk import AT_ONCE, Desk


@pytest.fixture
def secure(desk: Desk) -> Desk:
    """In secure mode, asked by its admin: two allocations, of machines 1 and 2 and of machines 3 and 4."""
    desk.cluster(4)
    desk.do("remove allocation al")
    desk.do("create allocation al1 --agents ag.01.01,ag.01.02")
    desk.do("create allocation al2 --agents ag.01.03,ag.01.04")
    admin = new_user("root", "root_key_abc", admin=True, allocations=None)
    state = desk.controller.state
    desk.controller.state = type(state)(state.agents, state.clusters, state.allocations, {"root": admin}, {})
    desk.controller.settings = ControllerSettings(secure=True, durations=AT_ONCE)
    desk.access = VipuAccess("admin", "root", "root_key_abc")
    return desk


def test_allocations_are_agents_of_one_cluster(desk: Desk) -> None:
    desk.cluster(2)
    desk.agents(range(5, 7))
    desk.do("create cluster d --agents ag.01.05")
    assert desk.do("get allocation al")["spec"] == {"agents": ["ag.01.01", "ag.01.02"], "cluster": "c"}
    assert desk.refused("create allocation other --agents ag.01.02,ag.01.05") == "two-clusters"
    assert desk.refused("create allocation other --agents ag.01.06") == "agent-free"
    assert desk.refused("create allocation other --agents ag.01.01,ag.01.01") == "listed-twice"
    assert desk.refused("create allocation other") == "no-agents"
    assert desk.refused("create allocation other --agents ag.01.01 --cluster c") == "no-agents"


def test_of_two_admins_the_last_one_has_the_list(desk: Desk) -> None:
    """No version and no lock: each sends the whole list, and the first one's change is lost."""
    desk.cluster(4)
    read_by_both = desk.do("get allocation al")["spec"]["agents"]
    desk.do(f"update allocation al --agents {','.join(read_by_both[:-1])}")
    desk.do(f"update allocation al --agents {','.join(read_by_both[1:])}")
    assert desk.do("get allocation al")["spec"]["agents"] == read_by_both[1:]


def test_an_allocation_in_use_stays(desk: Desk) -> None:
    desk.cluster(2)
    desk.do("create partition p --size 8")
    assert desk.refused("update allocation al --agents ag.01.01") == "allocation-in-use"
    assert desk.refused("remove allocation al") == "allocation-in-use"
    desk.do("remove partition p")
    desk.do("create user u --allocations al")
    assert desk.refused("remove allocation al") == "allocation-in-use"
    desk.do("remove user u")
    desk.do("remove allocation al")
    assert desk.do("list allocations") == []


def test_no_source_says_that_allocations_are_apart(desk: Desk) -> None:
    """Two of the same agents are taken; an IPU is in one partition even so."""
    desk.cluster(1)
    desk.do("create allocation same --cluster c")
    desk.do("create partition p --size 4 --allocation same")
    assert desk.refused("create partition q --size 1 --allocation al") == "no-free-ipus"


def test_a_key_has_the_shape_of_the_guides_and_is_told_once(desk: Desk) -> None:
    made = desk.do("create user alice")
    assert re.fullmatch(r"[A-Za-z0-9]{4}_[A-Za-z0-9]{6}", made["access_key"])
    assert made["access_key"] not in str(desk.do("list users")) + str(desk.do("get user alice"))
    assert made["access_key"] not in (desk.folder / "state" / STORAGE).read_text()
    assert len({desk.do(f"create user u{number}")["access_key"] for number in range(20)}) == 20


def test_without_secure_mode_nobody_is_asked(desk: Desk) -> None:
    """The hazard that the guide warns of: everybody sees and does everything, with any key and with none."""
    desk.cluster(2)
    desk.do("create user alice --allocations al")
    stranger = desk.user("nobody", "wrong", "admin")
    stranger.do("create partition p --size 8")
    stranger.do("remove partition p")
    assert stranger.do("list allocations")
    assert stranger.do("list users")


def test_in_secure_mode_everybody_is_asked(secure: Desk) -> None:
    key = secure.do("create user alice --allocations al1")["access_key"]
    for who in (secure.user("", ""), secure.user("alice", "wrong"), secure.user("alice", ""), secure.user("bob", key)):
        assert who.refused("list partitions") == "nobody"
    assert secure.user("alice", key).do("list partitions") == []


def test_users_see_their_allocations_alone(secure: Desk) -> None:
    alice = secure.user("alice", secure.do("create user alice --allocations al1")["access_key"])
    bob = secure.user("bob", secure.do("create user bob --allocations al2")["access_key"])
    alice.do("create partition a --size 8")
    bob.do("create partition b --size 8")
    assert [item["partition"]["id"] for item in alice.do("list partitions")] == ["a"]
    assert [item["id"] for item in bob.do("list allocations")] == ["al2"]
    assert {item["agent"] for item in alice.do("list ipu-attrs")} == {"ag.01.01", "ag.01.02"}
    for line in ("get partition a", "remove partition a", "reset partition a", "occupy partition a"):
        assert bob.refused(line) == "not-yours"
    assert bob.refused("create partition c --size 1 --allocation al1") == "not-yours"
    assert bob.refused("create partition c --size 1 --cluster c") == "not-yours"
    assert len(secure.do("list partitions")) == 2


def test_users_of_one_allocation_have_all_its_partitions(secure: Desk) -> None:
    alice = secure.user("alice", secure.do("create user alice --allocations al1")["access_key"])
    colleague = secure.user("eve", secure.do("create user eve --allocations al1")["access_key"])
    alice.do("create partition a --size 8")
    assert colleague.do("get partition a")["partition"]["status"]["owner"] == "alice"
    colleague.do("remove partition a")
    assert alice.do("list partitions") == []


def test_a_user_who_is_not_restricted_has_all(secure: Desk) -> None:
    """`--allocations` restricts; without it a user is no outsider."""
    free = secure.user("free", secure.do("create user free")["access_key"])
    assert [item["id"] for item in free.do("list allocations")] == ["al1", "al2"]
    none = secure.user("none", secure.do("create user none --allocations ''")["access_key"])
    assert none.do("list allocations") == []
    assert none.refused("create partition p --size 1") == "where"


def test_admins_are_asked_who_they_are_too(secure: Desk) -> None:
    key = secure.do("create user alice")["access_key"]
    assert secure.user("alice", key, "admin").refused("list users") == "not-admin"
    assert secure.user("alice", key, "admin").refused("create user eve --admin") == "not-admin"
    second = secure.do("create user second --admin")["access_key"]
    assert secure.user("second", second, "admin").do("list users")
    secure.do("remove user second")
    assert secure.refused("remove user root") == "last-admin"


def test_the_user_api_serves_no_admin(secure: Desk) -> None:
    """Also an admin's key opens nothing there."""
    for line in ("create user eve", "list agents", "discover agent", "remove cluster c", "get allocation al1"):
        assert secure.user("root", "root_key_abc", "user").refused(line) == "not-here"
    assert secure.user("root", "root_key_abc", "user").do("list allocations")


def test_another_key_ends_the_old_one(secure: Desk) -> None:
    old = secure.do("create user alice --allocations al1")["access_key"]
    new = secure.do("update user alice --new-access-key")["access_key"]
    assert secure.user("alice", old).refused("list partitions") == "nobody"
    assert secure.user("alice", new).do("list allocations")
    assert "access_key" not in secure.do("update user alice --allocations al2")
    assert [item["id"] for item in secure.user("alice", new).do("list allocations")] == ["al2"]


def test_a_user_who_goes_leaves_its_partitions(secure: Desk) -> None:
    alice = secure.user("alice", secure.do("create user alice --allocations al1")["access_key"])
    alice.do("create partition a --size 8")
    secure.do("remove user alice")
    assert alice.refused("list partitions") == "nobody"
    assert secure.do("get partition a")["partition"]["status"]["owner"] == "alice"


def test_unknown_allocations_of_a_user_are_told(secure: Desk) -> None:
    with pytest.raises(VipuRefused, match="NOT_FOUND: there is no allocation 'al9'"):
        secure.do("create user alice --allocations al1,al9")
