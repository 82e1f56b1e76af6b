"""Cables moved, adapters replaced, managers ended and started: the subnet as it is found afterwards."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.processes import SubnetFailed, is_running, wait_until
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import SubnetTopology, TopologyCable, TopologyHca, TopologySwitch, TopologyWrong, rails

from .conftest import ROOT, folder

NEW = 0xA088C20300AA0010


def one_tenant(subnet: LiveSubnet) -> ConfiguredPartition:
    """The first rail of two nodes."""
    return ConfiguredPartition(1, "t1", {subnet.topology.guid(n): "full" for n in ("n0-r0", "n1-r0")}, index0=True)


def test_two_swapped_cables_are_discovered(small: LiveSubnet) -> None:
    """Keys go with the adapter: after the sweep the table is that of the port where it is now."""
    small.apply([one_tenant(small)])
    guid = small.topology.guid
    small.swap_cables("n0-r0", "n3-r1")
    there = {link.here.guid: (link.there.description, link.there.port) for link in small.links()}
    assert there[guid("n0-r0")] == small.topology.leaf("n3-r1") == ("leaf-1", 4)
    assert there[guid("n3-r1")] == small.topology.leaf("n0-r0") == ("leaf-0", 1)
    assert small.leaf_table(guid("n0-r0")) == (0x8001, 0x7FFF)
    assert small.leaf_table(guid("n3-r1")) == (0x7FFF,)


def test_a_replaced_adapter_is_in_no_partition(small: LiveSubnet) -> None:
    """Nothing of the old one is left at its leaf's port, whose partition still names the old GUID."""
    small.apply([one_tenant(small)])
    small.replace_hca("n0-r0", NEW)
    tables = small.tables()
    assert small.topology.guid("n0-r0") not in tables
    assert (tables[NEW].host, tables[NEW].leaf) == ((0x7FFF,), (0x7FFF,))
    assert small.topology.guid("n0-r0") in small.partitions()[0].members, "stale"


def test_a_manager_that_is_gone_leaves_tables_and_comes_back(small: LiveSubnet) -> None:
    small.apply([one_tenant(small)])
    guid = small.topology.guid("n0-r0")
    small.stop_manager()
    assert small.host_table(guid) == (0x8001, 0x7FFF)
    with pytest.raises(SubnetFailed, match="no subnet manager runs"):
        small.apply([])
    assert small.partitions(), "what is refused is not written"
    small.start_manager()
    assert small.host_table(guid) == (0x8001, 0x7FFF)


def test_a_standby_takes_over_with_the_same_partitions(small: LiveSubnet) -> None:
    small.apply([one_tenant(small)])
    small.start_standby()
    small.stop_manager()
    small.wait_for_takeover()
    guid = small.topology.guid
    assert small.host_table(guid("n0-r0")) == (0x8001, 0x7FFF)
    assert small.paths(guid("n0-r0"), guid("n1-r0")) == (0x8001,)
    small.apply([])
    assert small.host_table(guid("n0-r0")) == (0x7FFF,), "it manages"


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "still-there"])
def test_the_processes_of_another_run_in_the_folder_end(killed: bool) -> None:
    """With a run that is killed ibsim and OpenSM end by themselves; those of one that goes on, by the next run."""
    place = folder("killed")
    program = (
        "import sys; from pathlib import Path; from sandbox.infiniband.subnet import LiveSubnet; "
        "from sandbox.infiniband.topology import rails; "
        "LiveSubnet(rails(2, 1), Path(sys.argv[1])).start(); print('up', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(place)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        left = [int(file.read_text().split()[0]) for file in place.glob("*.pid")]
        assert len(left) == 2
        assert all(is_running(pid) for pid in left)
        if killed:
            other.send_signal(signal.SIGKILL)
            wait_until(lambda: not any(is_running(pid) for pid in left), "ibsim and OpenSM end")
        with LiveSubnet(rails(2, 1), place).running():
            assert not any(is_running(pid) for pid in left)
        other.send_signal(signal.SIGKILL)
    assert not place.exists()


def test_nothing_runs_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left where the caller is: ibsim's library writes where a program runs."""
    monkeypatch.chdir(tmp_path)
    place = folder("ended")
    subnet = LiveSubnet(rails(2, 1), place)
    subnet.start()
    assert subnet.tables()
    pids = [int(file.read_text().split()[0]) for file in place.glob("*.pid")]
    subnet.stop()
    assert not any(is_running(pid) for pid in pids)
    subnet.stop()
    assert list(tmp_path.iterdir()) == []
    shutil.rmtree(place)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"manager": "n9"}, "no HCA is called n9"),
        (
            {"cables": (TopologyCable("leaf", 1, "a", 1), TopologyCable("leaf", 1, "b", 1))},
            r"port used twice: leaf\[1\]",
        ),
        ({"cables": (TopologyCable("leaf", 9, "a", 1),)}, r"ends at leaf\[9\], which is not there"),
        ({"cables": (TopologyCable("leaf", 1, "a", 2),)}, r"ends at a\[2\], which is not there"),
        ({"hcas": (TopologyHca("a", 16, ""), TopologyHca("b", 16, ""))}, "GUID used twice: 0000000000000010"),
        ({"hcas": (TopologyHca("a", 16, ""), TopologyHca("leaf", 32, ""))}, "name used twice: leaf"),
    ],
)
def test_what_cannot_be_a_subnet_is_refused(changed: dict[str, object], message: str) -> None:
    whole: dict[str, object] = {
        "switches": (TopologySwitch("leaf", 4, 1),),
        "hcas": (TopologyHca("a", 16, ""), TopologyHca("b", 32, "")),
        "cables": (TopologyCable("leaf", 1, "a", 1), TopologyCable("leaf", 2, "b", 1)),
        "manager": "a",
    }
    SubnetTopology(**whole)  # type: ignore[arg-type]
    with pytest.raises(TopologyWrong, match=message):
        SubnetTopology(**whole | changed)  # type: ignore[arg-type]


def test_a_command_that_ibsim_does_not_take_is_told(small: LiveSubnet) -> None:
    small.unplug("n0-r0")
    assert small.topology.guid("n0-r0") not in small.tables()
    with pytest.raises(SubnetFailed, match="ibsim refuses 'Unlink"):
        small.unplug("n0-r0")
