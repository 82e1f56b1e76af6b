"""Partitions: sizes, places, GCDs, replicas, routing, synchronisation, and what clients are told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox.vipu.racks import racks_of

from .desk import Desk


def _spec(made: Any) -> Any:
    return made["partition"]["spec"]


def _agents(made: Any) -> list[str]:
    return list(dict.fromkeys(place["agent"] for place in _spec(made)["ipus"]))


@pytest.fixture
def two_racks(tmp_path: Path) -> Desk:
    """An IPU-POD128: one cluster of two whole racks, a torus each, looped."""
    desk = Desk(tmp_path, racks_of(2))
    agents = f"{desk.agents(range(1, 17), 1)},{desk.agents(range(1, 17), 2)}"
    words = "--num-ipulinkdomains 2 --topology torus --cluster-topology looped"
    desk.do(f"create cluster pod128 {words} --agents {agents}")
    return desk


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_sizes_are_powers_of_two(desk: Desk, size: int) -> None:
    desk.cluster(4)
    assert len(_spec(desk.do(f"create partition p --size {size}"))["ipus"]) == size


@pytest.mark.parametrize("size", [0, 3, 6, 12])
def test_other_sizes_are_refused(desk: Desk, size: int) -> None:
    desk.cluster(4)
    assert desk.refused(f"create partition p --size {size}") == "size"


def test_a_size_is_asked_for(desk: Desk) -> None:
    desk.cluster(1)
    assert desk.refused("create partition p") == "missing"


def test_a_partition_lies_in_one_allocation(desk: Desk) -> None:
    """16 IPUs of two allocations are no partition of 16; one of 8 lies in the first that has room."""
    desk.cluster(4)
    desk.do("remove allocation al")
    desk.do("create allocation al1 --agents ag.01.01,ag.01.02")
    desk.do("create allocation al2 --agents ag.01.03,ag.01.04")
    assert desk.refused("create partition p --size 16") == "larger-than-allocation"
    assert _spec(desk.do("create partition p --size 8"))["allocation"] == "al1"
    assert _spec(desk.do("create partition q --size 8"))["allocation"] == "al2"
    assert desk.refused("create partition r --size 1") == "no-free-ipus"
    assert desk.refused("create partition r --size 1 --allocation al1 --cluster c") == "both"


def test_an_ipu_is_in_one_partition(desk: Desk) -> None:
    desk.cluster(2)
    desk.do("create partition a --size 4")
    desk.do("create partition b --size 2")
    assert desk.refused("create partition c --size 4") == "no-free-ipus"
    last = desk.do("create partition c --size 2")
    taken = [tuple(place.values()) for item in desk.do("list partitions") for place in _spec(item)["ipus"]]
    assert len(taken) == len(set(taken)) == 8
    assert _agents(last) == ["ag.01.02"]


def test_ipus_of_a_partition_are_next_to_one_another(desk: Desk) -> None:
    """Free IPUs on both sides of somebody else's are no block; nor are agents of an allocation with a gap."""
    desk.cluster(4)
    for name in ("a", "b", "c", "d"):
        desk.do(f"create partition {name} --size 4")
    desk.do("remove partition a")
    desk.do("remove partition c")
    assert desk.refused("create partition p --size 8") == "no-free-block"
    desk.do("remove partition d")
    assert _agents(desk.do("create partition p --size 8")) == ["ag.01.03", "ag.01.04"]
    desk.do("remove partition p")
    desk.do("create allocation gap --agents ag.01.01,ag.01.03")
    assert desk.refused("create partition p --size 8 --allocation gap") == "no-free-block"


def test_agents_in_maintenance_get_no_partition(desk: Desk) -> None:
    desk.cluster(2)
    assert desk.do("update agent ag.01.01 --maintenance on")["status"]["state"] == "MAINTENANCE"
    assert desk.refused("create partition p --size 8") == "no-free-ipus"
    assert _agents(desk.do("create partition p --size 4")) == ["ag.01.02"]
    assert desk.refused("update agent ag.01.01 --maintenance maybe") == "word"
    desk.do("remove partition p")
    desk.do("update agent ag.01.01 --maintenance off")
    assert desk.do("create partition p --size 8")


@pytest.mark.parametrize(("gcds", "replicas"), [(1, 1), (2, 4), (4, 4), (16, 16), (2, 16)])
def test_gcds_and_replicas_divide_a_partition(desk: Desk, gcds: int, replicas: int) -> None:
    desk.cluster(4)
    made = desk.do(f"create partition p --size 16 --num-gcds {gcds} --total-num-replicas {replicas}")
    assert (_spec(made)["num_gcds"], _spec(made)["num_replicas"]) == (gcds, replicas)


@pytest.mark.parametrize(
    ("flags", "condition"),
    [
        ("--num-gcds 3", "gcds"),
        ("--num-gcds 0", "gcds"),
        ("--num-gcds 32", "gcds"),
        ("--num-gcds 4 --total-num-replicas 6", "replicas"),
        ("--num-gcds 2 --gcd-sync-replicas 0", "replicas"),
        ("--gcd-sync-replicas 2 --total-num-replicas 2", "both"),
    ],
)
def test_others_do_not(desk: Desk, flags: str, condition: str) -> None:
    desk.cluster(4)
    assert desk.refused(f"create partition p --size 16 {flags}") == condition


def test_both_spellings_of_replicas_are_one(desk: Desk) -> None:
    desk.cluster(4)
    older = desk.do("create partition a --size 4 --num-gcds 2 --gcd-sync-replicas 4")
    newer = desk.do("create partition b --size 4 --num-gcds 2 --total-num-replicas 4")
    assert _spec(older)["num_replicas"] == _spec(newer)["num_replicas"] == 4
    assert _spec(desk.do("create partition c --size 4 --num-gcds 2"))["num_replicas"] == 2


def test_reconfigurable_means_c2_compatible(desk: Desk) -> None:
    desk.cluster(4)
    made = desk.do("create partition p --size 4 --reconfigurable")
    assert (_spec(made)["sync_type"], _spec(made)["reconfigurable"]) == ("c2-compatible", True)
    assert _spec(desk.do("create partition q --size 4"))["sync_type"] == "pod-native-default"
    line = "create partition r --size 4 --reconfigurable --sync-type pod-native-default"
    assert desk.refused(line) == "reconfigurable"
    with_index = desk.do(f"{line} --index 2")
    assert (_spec(with_index)["sync_type"], _spec(with_index)["reconfigurable"]) == ("pod-native-default", False)
    assert desk.refused("create partition s --size 4 --sync-type other") == "word"


def test_an_index_is_a_place(desk: Desk) -> None:
    desk.cluster(4)
    assert _agents(desk.do("create partition p --size 4 --index 2")) == ["ag.01.03"]
    assert desk.refused("create partition q --size 4 --index 2") == "index-taken"
    assert desk.refused("create partition q --size 4 --index 4") == "index"
    assert _spec(desk.do("get partition p"))["index"] == 2


def test_a_ring_needs_a_whole_torus(desk: Desk) -> None:
    desk.cluster(16, "--topology torus")
    assert desk.refused("create partition p --size 16 --routing ringswnc") == "ring"
    assert _spec(desk.do("create partition p --size 16"))["routing"] == "DEFAULT"
    desk.do("remove partition p")
    assert _spec(desk.do("create partition p --size 64"))["routing"] == "RINGSWNC"
    desk.do("remove partition p")
    assert desk.refused("create partition p --size 64 --routing star") == "word"
    assert _spec(desk.do("create partition p --size 64 --routing ring-swnc"))["routing"] == "RINGSWNC"


def test_a_mesh_has_no_ring(desk: Desk) -> None:
    desk.cluster(16)
    assert desk.refused("create partition p --size 64 --routing ringswnc") == "ring"


def test_the_partitions_of_public_scripts_are_made(two_racks: Desk) -> None:
    made = two_racks.do(
        "create partition gcl128 --size 128 --num-gcds 32 --gcd-sync-replicas 32 --routing ringswnc --cluster pod128"
    )
    assert _spec(made)["domains"] == 2
    two_racks.do("delete partition gcl128")
    flags = "--sync-type pod-native-default --routing ring-swnc --num-gcds 2 --total-num-replicas=16"
    assert two_racks.do(f"create partition gcl128-pod19 --size 128 {flags}")
    two_racks.do("delete partition gcl128-pod19")
    pod = two_racks.do("create partition gcl64-pod14 --cluster pod128 --size=64 --reconfigurable")
    assert _spec(pod)["domains"] == 1


def test_a_partition_of_two_domains_has_gcds_in_each(two_racks: Desk) -> None:
    line = "create partition p --size 128 --cluster pod128"
    assert two_racks.refused(line) == "gcds-of-domains"
    assert two_racks.refused(f"{line} --num-gcds 2 --reconfigurable") == "reconfigurable-domains"
    assert two_racks.do(f"{line} --num-gcds 2")


def test_ipus_of_two_domains_are_whole_domains(two_racks: Desk) -> None:
    """The last two machines of a rack and the first two of the next one stand in a row, and are no block."""
    two_racks.do("create allocation across --agents ag.01.15,ag.01.16,ag.02.01,ag.02.02")
    assert two_racks.refused("create partition p --size 16 --num-gcds 2") == "no-free-block"
    assert two_racks.do("create partition p --size 8")


def test_where_is_clear_or_asked_for(desk: Desk) -> None:
    """Without allocations, the only cluster; without either, nothing."""
    assert desk.refused("create partition p --size 1") == "where"
    desk.do(f"create cluster c --agents {desk.agents(range(1, 3))}")
    assert _spec(desk.do("create partition p --size 4"))["allocation"] is None
    desk.agents(range(3, 4))
    desk.do("create cluster d --agents ag.01.03")
    assert desk.refused("create partition q --size 4") == "where"
    assert _agents(desk.do("create partition q --size 4 --cluster d")) == ["ag.01.03"]


def test_clients_read_a_gcd(desk: Desk) -> None:
    """Devices of a machine in reverse order of its IPUs, at the address of its RNIC."""
    desk.cluster(2)
    desk.do("create partition p --size 8 --num-gcds 2")
    configs = desk.do("get partition p --gcd 1 --ipuof-configs")["ipuof_configs"]
    assert [config["gcd"] for config in configs] == [1]
    assert configs[0]["devices"] == [{"ip": "10.5.1.2", "port": 50052, "ipu": ipu} for ipu in (3, 2, 1, 0)]
    assert configs[0]["attributes"]["ipuLinkDomainSize"] == "8"
    assert len(desk.do("get partition p --ipuof-configs")["ipuof_configs"]) == 2
    assert desk.refused("get partition p --gcd 2 --ipuof-configs") == "no-gcd"


def test_attributes_are_those_of_the_guide(desk: Desk) -> None:
    desk.cluster(1)
    first, *others = desk.do("list ipu-attrs")
    assert len(others) == 3
    assert first["attributes"] == {
        "board ipu index": "0",
        "board serial number": "SIM-0101-0",
        "board type": "M2000",
        "clock": "1330MHz",
        "firmware major version": "2",
        "firmware minor version": "4",
        "firmware patch version": "4",
        "firmware version": "2.4.4",
    }


def test_a_workload_occupies_a_gcd(desk: Desk) -> None:
    desk.cluster(1)
    desk.do("create partition p --size 4 --num-gcds 2")
    desk.do("occupy partition p --gcd 1")
    assert desk.do("get partition p")["partition"]["status"]["occupied_gcds"] == [1]
    assert desk.refused("occupy partition p --gcd 1") == "gcd-occupied"
    assert desk.refused("occupy partition p --gcd 2") == "no-gcd"
    desk.do("vacate partition p --gcd 1")
    assert desk.do("get partition p")["partition"]["status"]["occupied_gcds"] == []
    assert not [event for event in desk.controller.storage.events() if "CONNECTION_KILL" in event.what]
