"""Where jobs land on a real Slurm with the generated files, and that it is these files that decide it."""

from __future__ import annotations

import re

from interlock.planning.scheduler import Scheduler, files_of
from interlock.planning.scheduler.slurm import CGROUP_CONF

from .clusters import RunningCluster
from .hall import FORCED, forced


def test_every_node_has_its_gpus(on_fabric: RunningCluster) -> None:
    """Each slurmd counted the devices of gres.conf; with fewer than slurm.conf says the node would be `inval`."""
    told = on_fabric.head.say("scontrol", "--oneliner", "show", "nodes").splitlines()
    assert len(told) == len(on_fabric.layout.nodes)
    for node, line in zip(on_fabric.layout.nodes, told, strict=True):
        assert f"NodeName={node.name} " in line
        assert f"NodeAddr={node.address} " in line
        assert "Gres=gpu:h100:8 " in line
        assert f"ActiveFeatures=su{node.unit:02},rack-{node.rack} " in line
        assert not [line for line in on_fabric.hall.servers[node.name].log("slurmd").splitlines() if "nvidia" in line]


def test_slurm_has_the_units_as_switches(on_fabric: RunningCluster) -> None:
    told = on_fabric.head.say("scontrol", "show", "topology")
    found = dict(re.findall(r"SwitchName=(\w+) Level=0 LinkSpeed=1 Nodes=(\S+)", told))
    assert found == {"su01": "n[001,003,005,007,009]", "su02": "n[002,004,006,008,010]"}
    assert "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[001-010] Switches=su[01-02]" in told


def test_four_nodes_within_one_unit(on_fabric: RunningCluster) -> None:
    on_fabric.await_idle()
    landed = on_fabric.job("--nodes=4", "--switches=1")
    assert len(landed) == 4
    assert landed < on_fabric.unit(1) or landed < on_fabric.unit(2)


def test_the_next_four_within_the_other_unit(on_fabric: RunningCluster) -> None:
    """While four nodes of one unit are taken, its fifth and three of the other are free, and are not what is given."""
    on_fabric.await_idle()
    taken = on_fabric.head.say(
        "sbatch", "--parsable", "--nodes=4", "--switches=1", "--gres=gpu:8", "--output=/dev/null", "--wrap=sleep 60"
    ).strip()
    asked = ("squeue", "--noheader", f"--jobs={taken}", "--states=running", "--format=%N")
    on_fabric.hall.wait("the first job runs", lambda: bool(on_fabric.head.say(*asked).strip()))
    first = frozenset(on_fabric.head.say("scontrol", "show", "hostnames", on_fabric.head.say(*asked).strip()).split())
    try:
        second = on_fabric.job("--nodes=4", "--switches=1")
    finally:
        on_fabric.head.say("scancel", taken)
    assert len(first) == len(second) == 4
    assert {_units(on_fabric, first), _units(on_fabric, second)} == {(1,), (2,)}


def test_seven_nodes_over_two_units(on_fabric: RunningCluster) -> None:
    """More than a unit has: one whole, and as many of the other as are left to find."""
    on_fabric.await_idle()
    landed = on_fabric.job("--nodes=7")
    assert sorted([len(landed & on_fabric.unit(1)), len(landed & on_fabric.unit(2))]) == [2, 5]


def test_six_nodes_do_not_fit_behind_one_switch(on_fabric: RunningCluster) -> None:
    on_fabric.await_idle()
    options = ("--nodes=6", "--switches=1", "--immediate=3", "--gres=gpu:8")
    assert on_fabric.head.run("srun", *options, "hostname").returncode == 1
    on_fabric.await_idle()
    assert len(on_fabric.job("--nodes=6")) == 6


def test_nine_gpus_of_a_node_are_refused(on_fabric: RunningCluster) -> None:
    done = on_fabric.head.run("srun", "--nodes=1", "--gres=gpu:9", "hostname")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Requested node configuration is not available" in done.stderr


def test_a_job_sees_the_gpus_that_it_was_given(on_fabric: RunningCluster) -> None:
    on_fabric.await_idle()
    done = on_fabric.head.say("srun", "--nodes=1", "--gres=gpu:h100:3", "printenv", "CUDA_VISIBLE_DEVICES")
    assert done == "0,1,2\n"


def test_without_a_fabric_names_decide(without_any: RunningCluster) -> None:
    """The same nodes without topology.conf: the first four by name are two of each unit, as nobody asked otherwise."""
    assert not [path for path in files_of(Scheduler.SLURM, without_any.layout, "n001") if "topology" in path]
    landed = without_any.job("--nodes=4")
    assert landed == {"n001", "n002", "n003", "n004"}
    assert _units(without_any, landed) == (1, 2)


def test_the_controller_has_every_word(on_fabric: RunningCluster, without_any: RunningCluster) -> None:
    """Its files are as they were generated: options of cgroup.conf as well, with and without a stated size of nodes."""
    said = {cluster.layout.name: _config(cluster) for cluster in (on_fabric, without_any)}
    shared = {"ProctrackType": "proctrack/cgroup", "SlurmUser": "slurm(", "ConstrainDevices": "yes", "GresTypes": "gpu"}
    for words in said.values():
        assert all(words[key].startswith(value) for key, value in shared.items())
    confined = ("ConstrainCores", "ConstrainRAMSpace", "ConstrainSwapSpace")
    assert [said["train"][key] for key in confined] == ["no"] * 3
    assert [said["serve"][key] for key in confined] == ["yes"] * 3
    assert (said["train"]["TaskPlugin"], said["serve"]["TaskPlugin"]) == ("task/cgroup", "task/cgroup,task/affinity")
    size = without_any.layout.node_size
    assert size is not None
    assert (said["serve"]["JobDefaults"], said["train"]["JobDefaults"]) == (
        f"DefMemPerGPU={size.real_memory // 8}",
        "(null)",
    )
    assert CGROUP_CONF in files_of(Scheduler.SLURM, without_any.layout, "head")


def test_nodes_of_a_stated_size_have_it(without_any: RunningCluster) -> None:
    """As `slurmd -C` printed it on this machine; a node with less would be drained."""
    size = without_any.layout.node_size
    assert size is not None
    told = without_any.head.say("scontrol", "--oneliner", "show", "node", "n001")
    cpus = size.sockets * size.cores_per_socket * size.threads_per_core
    assert f" CPUTot={cpus} " in told
    assert f" RealMemory={size.real_memory} " in told


def test_all_that_is_forced_on_nodes(on_fabric: RunningCluster) -> None:
    """Two lines of slurm.conf; the controller noticed that its own are others, and nothing else differs."""
    planned = files_of(Scheduler.SLURM, on_fabric.layout, "n001")
    here = forced(planned)
    changed = {
        (before, after)
        for path in planned
        for before, after in zip(planned[path].splitlines(), here[path].splitlines(), strict=True)
        if before != after
    }
    assert len(changed) == 2
    assert changed <= set(FORCED.items())


def _units(cluster: RunningCluster, landed: frozenset[str]) -> tuple[int, ...]:
    return tuple(number for number in (1, 2) if landed & cluster.unit(number))


def _config(cluster: RunningCluster) -> dict[str, str]:
    lines = cluster.head.say("scontrol", "show", "config").splitlines()
    return {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
