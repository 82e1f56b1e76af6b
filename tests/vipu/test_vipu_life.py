"""Time, failures and restarts: states of agents, clusters and partitions as they change."""

from __future__ import annotations

from dataclasses import replace

from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.racks import board_replaced, changed, link_cut, link_mended

from .desk import SLOW, Desk


def _ready(slow: Desk, count: int = 2) -> None:
    agents = slow.agents(range(1, count + 1))
    slow.clock.passes(SLOW.contact)
    slow.do(f"create cluster c --agents {agents}")
    slow.clock.passes(SLOW.cluster)
    slow.do("create allocation al --cluster c")


def _active(slow: Desk, flags: str = "--size 8") -> None:
    _ready(slow)
    slow.do(f"create partition p {flags}")
    slow.clock.passes(12)
    assert slow.state("p") == "PS_ACTIVE"


def test_an_agent_is_known_after_a_while(slow: Desk) -> None:
    slow.do("create agent ag1 --host 10.2.1.1")
    slow.do("create agent nowhere --host 10.9.9.9")
    assert {item["status"]["state"] for item in slow.do("list agents")} == {"UNKNOWN"}
    assert slow.refused("create cluster c --agents ag1") == "agent-not-ready"
    slow.clock.passes(SLOW.contact)
    assert [item["status"]["state"] for item in slow.do("list agents")] == ["ONLINE", "OFFLINE"]
    assert slow.refused("create cluster c --agents nowhere") == "agent-not-ready"


def test_a_cluster_is_made_and_removed_slowly(slow: Desk) -> None:
    agents = slow.agents(range(1, 3))
    slow.clock.passes(SLOW.contact)
    slow.do(f"create cluster c --agents {agents}")
    slow.do("create allocation al --cluster c")
    assert slow.refused("create partition p --size 4") == "cluster-not-ready"
    slow.clock.passes(SLOW.cluster)
    assert slow.do("get cluster c")["status"]["state"] == "READY"
    slow.do("remove allocation al")
    slow.do("remove cluster c")
    assert slow.do("get cluster c")["status"]["state"] == "REMOVING"
    assert slow.refused("remove cluster c") == "cluster-not-ready"
    assert slow.refused("create allocation al --cluster c") == "cluster-not-ready"
    assert slow.refused("create cluster d --agents ag.01.01") == "agent-in-cluster"
    slow.clock.passes(SLOW.removal)
    assert slow.refused("get cluster c") == "absent"
    slow.do("create cluster d --agents ag.01.01")


def test_a_partition_takes_time_by_its_machines(slow: Desk) -> None:
    _ready(slow)
    slow.do("create partition p --size 8")
    assert slow.state("p") == "PS_PENDING"
    assert slow.refused("get partition p --ipuof-configs") == "partition-not-active"
    assert slow.refused("occupy partition p") == "partition-not-active"
    assert slow.refused("reset partition p") == "partition-not-active"
    slow.clock.passes(11.5)
    assert slow.state("p") == "PS_PENDING"
    slow.clock.passes(0.5)
    assert slow.state("p") == "PS_ACTIVE"


def test_a_partition_that_is_removed_keeps_its_ipus_until_it_is_gone(slow: Desk) -> None:
    _active(slow)
    slow.do("remove partition p")
    assert slow.state("p") == "PS_REMOVING"
    assert slow.refused("remove partition p") == "partition-not-active"
    assert slow.refused("create partition q --size 1") == "no-free-ipus"
    slow.clock.passes(SLOW.removal)
    assert slow.refused("get partition p") == "absent"
    slow.do("create partition q --size 8")


def test_an_agent_that_is_lost_takes_partitions_with_it(slow: Desk) -> None:
    """Its cluster is degraded as long as it is away; the partition stays in ERROR until it is reset."""
    _active(slow)
    slow.do("occupy partition p")
    slow.becomes(changed(slow.hardware(), "10.2.1.2", answers=False))
    assert slow.state("p") == "PS_ERROR"
    status = slow.do("get partition p")["partition"]["status"]
    assert status["reason"] == "agent ag.01.02 does not answer"
    assert status["occupied_gcds"] == []
    assert slow.do("get cluster c")["status"]["state"] == "DEGRADED"
    slow.becomes(changed(slow.hardware(), "10.2.1.2", answers=True))
    assert slow.do("get cluster c")["status"]["state"] == "READY"
    assert slow.state("p") == "PS_ERROR"
    slow.do("reset partition p")
    assert slow.state("p") == "PS_PENDING"
    slow.clock.passes(12)
    assert slow.state("p") == "PS_ACTIVE"


def test_an_agent_that_flaps_delays_a_partition(slow: Desk) -> None:
    _ready(slow)
    slow.do("create partition p --size 8")
    slow.becomes(changed(slow.hardware(), "10.2.1.1", answers=False))
    slow.clock.passes(30)
    assert slow.state("p") == "PS_PENDING"
    slow.becomes(changed(slow.hardware(), "10.2.1.1", answers=True))
    assert slow.state("p") == "PS_ACTIVE"


def test_an_agent_that_stays_away_ends_in_error(slow: Desk) -> None:
    _ready(slow)
    slow.becomes(changed(slow.hardware(), "10.2.1.1", answers=False))
    slow.do("create partition p --size 8")
    slow.clock.passes(SLOW.deadline - 0.5)
    assert slow.state("p") == "PS_PENDING"
    slow.clock.passes(0.5)
    assert slow.state("p") == "PS_ERROR"
    slow.becomes(changed(slow.hardware(), "10.2.1.1", answers=True))
    assert slow.state("p") == "PS_ERROR"


def test_a_link_that_is_down_hurts_those_across_it(slow: Desk) -> None:
    """A partition on one side of it goes on."""
    _ready(slow, 4)
    slow.do("create partition across --size 8")
    slow.do("create partition beside --size 4")
    slow.clock.passes(12)
    assert (slow.state("across"), slow.state("beside")) == ("PS_ACTIVE", "PS_ACTIVE")
    slow.becomes(link_cut(slow.hardware(), "10.2.1.2", "10.2.1.1"))
    assert slow.state("across") == "PS_ERROR"
    assert slow.state("beside") == "PS_ACTIVE"
    assert slow.do("get cluster c")["status"]["state"] == "DEGRADED"
    slow.becomes(link_mended(slow.hardware(), "10.2.1.1", "10.2.1.2"))
    assert slow.do("get cluster c")["status"]["state"] == "READY"


def test_another_board_in_the_same_place_is_noticed(slow: Desk) -> None:
    """Even if it was never seen to be away: position and agent stay, the serial is another one."""
    _active(slow)
    slow.becomes(board_replaced(slow.hardware(), "10.2.1.2"))
    assert slow.state("p") == "PS_ERROR"
    assert slow.do("get agent ag.01.02")["status"]["serial"] == "SIM-0102-1"
    assert {item["attributes"]["board serial number"] for item in slow.do("list ipu-attrs")} == {
        "SIM-0101-0",
        "SIM-0102-1",
    }


def test_whoever_runs_on_a_partition_loses_it(slow: Desk) -> None:
    """Neither reset nor removal is refused; clients print the text that public reports have."""
    _active(slow, "--size 8 --num-gcds 2")
    slow.do("occupy partition p --gcd 1")
    slow.do("reset partition p")
    slow.clock.passes(12)
    slow.do("occupy partition p --gcd 0")
    slow.do("remove partition p")
    killed = [event.what for event in slow.controller.storage.events() if "CONNECTION_KILL" in event.what]
    text = "Fabric error: connection not established: CONNECTION_KILL, device 0, IP 10.5.1.{}:50052"
    assert killed == [text.format(2), text.format(1)]


def test_versions_of_agents_are_shown_and_not_judged(slow: Desk) -> None:
    slow.becomes(changed(slow.hardware(), "10.2.1.2", version="1.17.0"))
    _ready(slow)
    assert [item["status"]["version"] for item in slow.do("list agents")] == ["1.18.0", "1.17.0"]


def test_a_restart_forgets_what_was_heard_of_agents(slow: Desk) -> None:
    """Partitions are as they were, and one that was being made goes on once its agents are heard."""
    _active(slow, "--size 4")
    slow.do("create partition q --size 4")
    slow.clock.passes(20)
    slow.restarted()
    assert {item["status"]["state"] for item in slow.do("list agents")} == {"UNKNOWN"}
    assert (slow.state("p"), slow.state("q")) == ("PS_ACTIVE", "PS_PENDING")
    slow.clock.passes(SLOW.contact)
    assert (slow.state("p"), slow.state("q")) == ("PS_ACTIVE", "PS_ACTIVE")


def test_what_happened_while_it_was_down_is_seen_afterwards(slow: Desk) -> None:
    _active(slow)
    slow.becomes(changed(slow.hardware(), "10.2.1.1", answers=False))
    slow.restarted()
    assert slow.state("p") == "PS_ACTIVE"
    slow.clock.passes(SLOW.contact)
    assert slow.state("p") == "PS_ERROR"


def test_foreign_agents_are_heard_where_the_back_end_is_shared(desk: Desk) -> None:
    """Discovery on a network that tenants share shows the other one's machines; on one of its own it does not."""
    for number in range(3, 17):
        desk.becomes(changed(desk.hardware(), f"10.2.1.{number}", interface="other"))
    desk.agents(range(1, 2))
    assert desk.do("discover agent") == []
    desk.controller.settings = replace(desk.controller.settings, interfaces=("bmc0",))
    assert [item["agent_auto_add_id"] for item in desk.do("discover agent")] == ["ag.01.02"]
    desk.controller.settings = ControllerSettings(interfaces=("bmc0", "other"))
    assert len(desk.do("discover agent")) == 15


def test_what_happened_is_in_the_log(slow: Desk) -> None:
    _active(slow)
    lines = [(event.about, event.what) for event in slow.controller.storage.events()]
    assert ("partition p", "create partition by anybody") in lines
    assert ("partition p", "PENDING -> ACTIVE") in lines
    assert ("agent ag.01.01", "UNKNOWN -> ONLINE") in lines
