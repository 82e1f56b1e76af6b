"""Agents, clusters of them, and the cables that clusters follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.vipu.racks import Racks, RingCable, rack_of, racks_of
from sandbox.vipu.refusals import VipuRefused
from sandbox.vipu.scene import Call

from .desk import Desk


def test_agents_come_and_go(desk: Desk) -> None:
    made = desk.do("create agent ag1 --host 10.2.1.1 --port 8080")
    assert made["spec"] == {"host": "10.2.1.1", "port": 8080, "maintenance": False}
    assert made["status"] == {"state": "ONLINE", "serial": "SIM-1-01-0".replace("1-01", "0101"), "version": "1.18.0"}
    assert desk.do("list agents") == [desk.do("get agent ag1")] == [made]
    desk.do("remove agent ag1")
    assert desk.do("list agents") == []
    assert desk.refused("get agent ag1") == "absent"


@pytest.mark.parametrize("name", ["", "-x", "a b", "ag/1", "a" * 64, "é"])
def test_ids_are_plain(desk: Desk, name: str) -> None:
    with pytest.raises(VipuRefused) as told:
        desk.controller.answer(Call("create", "agent", name, {"host": "10.2.1.1"}))
    assert told.value.condition == "bad-id"
    assert desk.do("list agents") == []


def test_ids_are_taken_once(desk: Desk) -> None:
    desk.cluster(2)
    desk.do("create user u")
    desk.do("create partition p --size 1")
    for line in (
        "create agent ag.01.01 --host 10.2.1.9",
        "create cluster c --agents ag.01.01",
        "create allocation al --cluster c",
        "create user u",
        "create partition p --size 1",
    ):
        assert desk.refused(line) == "exists"


def test_an_agent_has_an_address_of_its_own(desk: Desk) -> None:
    desk.do("create agent ag1 --host 10.2.1.1")
    assert desk.refused("create agent ag2 --host 10.2.1.1 --port 8080") == "address-taken"
    assert desk.refused("create agent ag2") == "missing"


def test_unknown_ids_are_told(desk: Desk) -> None:
    for noun in ("agent", "cluster", "allocation", "user", "partition"):
        assert desk.refused(f"get {noun} nobody") == "absent"
        assert desk.refused(f"remove {noun} nobody") == "absent"


@pytest.mark.parametrize("numbers", [range(1, 2), range(1, 3), range(5, 9), range(4, 6), range(9, 17), range(1, 17)])
def test_contiguous_runs_are_clusters(desk: Desk, numbers: range) -> None:
    made = desk.do(f"create cluster c --agents {desk.agents(numbers)}")
    assert len(made["spec"]["ipu_link_domains"]) == 1
    assert len(made["spec"]["ipu_link_domains"][0]["ipus"]) == 4 * len(numbers)
    assert made["status"]["state"] == "READY"


@pytest.mark.parametrize(
    ("listed", "condition"),
    [
        ("ag.01.01,ag.01.03", "not-adjacent"),
        ("ag.01.02,ag.01.01", "not-adjacent"),
        ("ag.01.01,ag.01.02,ag.01.03", "machines"),
        ("ag.01.01,ag.01.02,ag.01.02,ag.01.04", "listed-twice"),
        ("ag.01.01,ag.01.09", "absent"),
    ],
)
def test_other_runs_are_not(desk: Desk, listed: str, condition: str) -> None:
    desk.agents(range(1, 5))
    assert desk.refused(f"create cluster c --agents {listed}") == condition


def test_an_agent_belongs_to_one_cluster(desk: Desk) -> None:
    desk.cluster(2)
    desk.agents(range(3, 4))
    assert desk.refused("create cluster d --agents ag.01.02,ag.01.03") == "agent-in-cluster"
    assert desk.refused("remove agent ag.01.02") == "agent-in-use"


def test_two_controllers_do_not_know_of_each_other(desk: Desk, tmp_path: Path) -> None:
    """Of two tenants on one back-end: nothing refuses that both have the same IPU-Machine."""
    other = Desk(tmp_path / "other", desk.racks)
    desk.cluster(2)
    other.cluster(2)
    assert desk.do("list agents") == other.do("list agents")


def test_a_torus_is_closed_by_a_cable(desk: Desk) -> None:
    agents = desk.agents(range(1, 17))
    half = ",".join(agents.split(",")[:8])
    assert desk.refused(f"create cluster c --agents {half} --topology torus") == "not-closed"
    made = desk.do(f"create cluster c --agents {agents} --topology torus")
    assert made["spec"]["topology"] == "torus"


def test_a_cable_of_its_own_closes_a_part(tmp_path: Path) -> None:
    racks = rack_of(4)
    desk = Desk(tmp_path, Racks(racks.machines, (RingCable(1, 1, 4),)))
    assert desk.do(f"create cluster c --agents {desk.agents(range(1, 5))} --topology torus")


def test_words_of_topologies_are_few(desk: Desk) -> None:
    agents = desk.agents(range(1, 3))
    assert desk.refused(f"create cluster c --agents {agents} --topology ring") == "word"
    assert desk.refused(f"create cluster c --agents {agents} --cluster-topology star") == "word"


def test_two_racks_are_one_cluster_over_gateway_links(tmp_path: Path) -> None:
    """As the public script makes it of two IPU-POD64."""
    desk = Desk(tmp_path, racks_of(2))
    agents = f"{desk.agents(range(1, 17), 1)},{desk.agents(range(1, 17), 2)}"
    line = f"create cluster 2xPOD64 --num-ipulinkdomains 2 --topology torus --agents {agents}"
    made = desk.do(f"{line} --cluster-topology looped")
    assert [len(item["ipus"]) for item in made["spec"]["ipu_link_domains"]] == [64, 64]


def test_racks_without_gateway_links_are_not(tmp_path: Path) -> None:
    joined = racks_of(2)
    desk = Desk(tmp_path, Racks(joined.machines, joined.rings))
    agents = f"{desk.agents(range(1, 17), 1)},{desk.agents(range(1, 17), 2)}"
    assert desk.refused(f"create cluster c --num-ipulinkdomains 2 --agents {agents}") == "no-gateway-links"


def test_domains_are_whole_racks_in_order(tmp_path: Path) -> None:
    """Sixteen machines that hang together across two racks are no domain, nor are two halves."""
    desk = Desk(tmp_path, racks_of(2))
    one, two = desk.agents(range(1, 17), 1).split(","), desk.agents(range(1, 17), 2).split(",")
    few = ",".join([*one[:8], *two[:8]])
    assert desk.refused(f"create cluster c --num-ipulinkdomains 2 --agents {few}") == "machines"
    assert desk.refused(f"create cluster c --agents {','.join([*one, *two])}") == "machines"
    mixed = ",".join([*one[:15], two[15], *two[:15], one[15]])
    assert desk.refused(f"create cluster c --num-ipulinkdomains 2 --agents {mixed}") == "not-adjacent"


def test_a_domain_is_one_rack_also_where_more_machines_hang_together(tmp_path: Path) -> None:
    """Seventeen positions in a row are no rack that exists; the rule would hold there, too."""
    longer = rack_of(17)
    second = rack_of(16, lrack=2)
    desk = Desk(tmp_path, Racks((*longer.machines, *second.machines), gateway="switched"))
    agents = f"{desk.agents(range(2, 18), 1)},{desk.agents(range(1, 17), 2)}"
    assert desk.refused(f"create cluster c --num-ipulinkdomains 2 --agents {agents}") == "not-whole"


def test_a_loop_has_two_to_four_domains(tmp_path: Path) -> None:
    desk = Desk(tmp_path, racks_of(4, "switched"))
    one = desk.agents(range(1, 17), 1)
    assert desk.refused(f"create cluster c --cluster-topology looped --agents {one}") == "looped-alone"
    all_of_them = ",".join([one, *(desk.agents(range(1, 17), number) for number in (2, 3, 4))])
    assert desk.do(f"create cluster c --num-ipulinkdomains 4 --cluster-topology looped --agents {all_of_them}")


def test_a_loop_is_closed(tmp_path: Path) -> None:
    racks = racks_of(4)
    open_ended = Racks(racks.machines, racks.rings, "direct", racks.joined[:-1])
    desk = Desk(tmp_path, open_ended)
    agents = ",".join(desk.agents(range(1, 17), number) for number in (1, 2, 3, 4))
    line = f"create cluster c --num-ipulinkdomains 4 --agents {agents}"
    assert desk.refused(f"{line} --cluster-topology looped") == "no-gateway-links"
    assert desk.do(line)


def test_a_cluster_goes_when_nothing_is_in_it(desk: Desk) -> None:
    desk.cluster(2)
    desk.do("create partition p --size 4")
    assert desk.refused("remove cluster c") == "cluster-in-use"
    desk.do("remove partition p")
    assert desk.refused("remove cluster c") == "cluster-in-use"
    desk.do("remove allocation al")
    desk.do("remove cluster c")
    assert desk.do("list clusters") == []
    desk.do("remove agent ag.01.01")


def test_nothing_changes_a_size(desk: Desk) -> None:
    """V-IPU resizes nothing: no such command, and no such call behind it."""
    desk.cluster(2)
    for noun in ("cluster", "partition"):
        with pytest.raises(VipuRefused) as told:
            desk.controller.answer(Call("update", noun, "c", {"size": 8}))
        assert told.value.condition == "no-such-call"
    for line in ("update cluster c --agents ag.01.01", "update partition p --size 8"):
        with pytest.raises(Exception, match="unknown command"):
            desk.do(line)
