"""Files of a cluster's scheduler, word for word; that a real Slurm takes them is shown in `tests/slurm`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from interlock.hardware.gpu import OFFERED
from interlock.planning import PlanningError
from interlock.planning.scheduler import (
    ClusterLayout,
    ClusterNode,
    ClusterServer,
    NodeSize,
    Scheduler,
    SecondController,
    files_of,
    guest_files,
    scheduler_files,
)
from interlock.planning.scheduler.bare import HOSTFILE, HOSTS, NCCL_CONF
from interlock.planning.scheduler.hostlists import folded
from interlock.planning.scheduler.kubernetes import LABELS, VALUES
from interlock.planning.scheduler.slurm import (
    CGROUP_CONF,
    GRES_CONF,
    SLURM_CONF,
    SLURMDBD_CONF,
    SLURMDBD_PASSWORD,
    TOPOLOGY_CONF,
)

HEAD = ClusterServer("head", "10.0.0.5")
SPARE = ClusterServer("spare", "10.0.0.6")
#: Two in the first unit, in two racks, and two in the second, in one; not in order.
NODES = (
    ClusterNode("n10", "10.0.0.20", 2, "b1"),
    ClusterNode("n8", "10.0.0.18", 1, "a2"),
    ClusterNode("n9", "10.0.0.19", 2, "b1"),
    ClusterNode("n7", "10.0.0.17", 1, "a1"),
)
PLAIN = ClusterLayout("train", HEAD, NODES, "dgx-h100")
SIZE = NodeSize(sockets=2, cores_per_socket=56, threads_per_core=2, real_memory=2_063_000)
HCAS = tuple(f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11))

SLURM = """\
ClusterName=train
SlurmctldHost=head(10.0.0.5)
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ReturnToService=2
PropagateResourceLimitsExcept=MEMLOCK
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
GresTypes=gpu
# Sockets, cores and memory of a node are not stated, so Slurm counts one CPU and binds no job to cores:
# run slurmd -C on a node.
NodeName=n7 NodeAddr=10.0.0.17 Gres=gpu:h100:8 Feature=su01,rack-a1 State=UNKNOWN
NodeName=n8 NodeAddr=10.0.0.18 Gres=gpu:h100:8 Feature=su01,rack-a2 State=UNKNOWN
NodeName=n[9-10] NodeAddr=10.0.0.[19-20] Gres=gpu:h100:8 Feature=su02,rack-b1 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def slurm(layout: ClusterLayout) -> dict[str, str]:
    return scheduler_files(Scheduler.SLURM, layout)


def lines(text: str, key: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(key)]


def test_slurm_word_for_word() -> None:
    files = slurm(PLAIN)
    assert set(files) == {HOSTS, HOSTFILE, NCCL_CONF, SLURM_CONF, GRES_CONF, CGROUP_CONF, TOPOLOGY_CONF}
    assert files[SLURM_CONF] == SLURM
    assert files[GRES_CONF] == "AutoDetect=off\nNodeName=n[7-10] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"
    assert files[CGROUP_CONF] == (
        "ConstrainDevices=yes\nConstrainCores=no\nConstrainRAMSpace=no\nConstrainSwapSpace=no\n"
    )
    assert files[TOPOLOGY_CONF] == (
        "SwitchName=su01 Nodes=n[7-8]\nSwitchName=su02 Nodes=n[9-10]\nSwitchName=spine Switches=su[01-02]\n"
    )


def test_one_unit_has_one_switch() -> None:
    one = replace(PLAIN, nodes=tuple(node for node in NODES if node.unit == 1))
    assert slurm(one)[TOPOLOGY_CONF] == "SwitchName=su01 Nodes=n[7-8]\n"


def test_files_do_not_depend_on_the_order_of_nodes() -> None:
    everything = [scheduler_files(scheduler, PLAIN) for scheduler in Scheduler]
    turned = replace(PLAIN, nodes=NODES[::-1])
    assert [scheduler_files(scheduler, turned) for scheduler in Scheduler] == everything


def test_a_stated_size_is_all_that_changes_what_jobs_are_confined_to() -> None:
    files = slurm(replace(PLAIN, node_size=SIZE))
    node = lines(files[SLURM_CONF], "NodeName=")[0]
    assert " Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=2063000 " in node
    assert "TaskPlugin=task/cgroup,task/affinity\n" in files[SLURM_CONF]
    assert "SelectTypeParameters=CR_Core_Memory\nDefMemPerGPU=257875\n" in files[SLURM_CONF]
    assert "# " not in files[SLURM_CONF]
    assert "no" not in files[CGROUP_CONF]
    unsaid = slurm(PLAIN)[SLURM_CONF]
    assert not re.search("Sockets=|CPUs=|RealMemory|Mem", unsaid.replace("MEMLOCK", ""))


def test_a_type_without_a_fabric_has_no_topology() -> None:
    files = slurm(replace(PLAIN, node_type="gcore-l40s"))
    assert not {TOPOLOGY_CONF, NCCL_CONF} & set(files)
    assert "Topology" not in files[SLURM_CONF]
    assert "Gres=gpu:l40s:8 " in files[SLURM_CONF]


@pytest.mark.parametrize("name", OFFERED)
def test_every_offered_type_has_files(name: str) -> None:
    layout = replace(PLAIN, node_type=name)
    assert f"Gres=gpu:{layout.type.gpu.name}:{layout.gpus} " in slurm(layout)[SLURM_CONF]


def test_a_second_controller_shares_its_state() -> None:
    layout = replace(PLAIN, second=SecondController(SPARE, "/shared/slurm"))
    text = slurm(layout)[SLURM_CONF]
    assert lines(text, "SlurmctldHost") == ["SlurmctldHost=head(10.0.0.5)", "SlurmctldHost=spare(10.0.0.6)"]
    assert lines(text, "StateSave") == ["StateSaveLocation=/shared/slurm"]
    assert "10.0.0.6 spare\n" in slurm(layout)[HOSTS]


def test_accounting_is_on_one_server_and_without_its_password() -> None:
    layout = replace(PLAIN, accounting=SPARE)
    files = files_of(Scheduler.SLURM, layout, "spare")
    assert f"Include {SLURMDBD_PASSWORD}\n" in files[SLURMDBD_CONF]
    assert SLURMDBD_PASSWORD not in files
    assert "AccountingStorageHost=spare\n" in files[SLURM_CONF]
    for name in ("head", "n7"):
        others = files_of(Scheduler.SLURM, layout, name)
        assert others == {path: text for path, text in files.items() if path != SLURMDBD_CONF}
    with pytest.raises(ValueError, match=r"cluster train has no server n1$"):
        files_of(Scheduler.SLURM, layout, "n1")
    at_head = replace(PLAIN, accounting=HEAD)
    assert [server.name for server in at_head.servers] == ["head", "n7", "n8", "n9", "n10"]
    assert SLURMDBD_CONF in files_of(Scheduler.SLURM, at_head, "head")


def test_user_data_have_the_same_files() -> None:
    layout = replace(PLAIN, accounting=SPARE)
    found = {file.path: file for file in guest_files(Scheduler.SLURM, layout, "spare")}
    assert {path: file.content for path, file in found.items()} == files_of(Scheduler.SLURM, layout, "spare")
    dbd = found.pop(SLURMDBD_CONF)
    assert (dbd.mode, dbd.owner) == (0o600, "slurm:slurm")
    assert {(file.mode, file.owner) for file in found.values()} == {(0o644, "root:root")}


def test_no_file_has_a_key() -> None:
    """Neither munge's nor the database's, nor a place that would hold one in a file that all may read."""
    layout = replace(PLAIN, accounting=SPARE, second=SecondController(SPARE, "/shared/slurm"))
    for text in (text for scheduler in Scheduler for text in scheduler_files(scheduler, layout).values()):
        assert not re.search(r"(?i)pass=|secret|token|\bkey *=|munge\.key", text)


@pytest.mark.parametrize(("release", "asked"), [("22.05", "off"), ("24.05", "off"), ("24.11", "nvidia")])
def test_options_of_newer_releases_are_for_these_alone(release: str, asked: str) -> None:
    files = slurm(replace(PLAIN, release=release))
    assert files[GRES_CONF].startswith(f"AutoDetect={asked}\n")
    head = "" if release == "22.05" else f"# Slurm {release}: not tested. Tests of these files run 22.05.\n"
    assert files[SLURM_CONF] == head + SLURM


def test_hosts_and_hostfile() -> None:
    files = scheduler_files(Scheduler.NONE, PLAIN)
    assert set(files) == {HOSTS, HOSTFILE, NCCL_CONF}
    assert files[HOSTS] == (
        "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n10.0.0.5 head\n"
        "10.0.0.17 n7\n10.0.0.18 n8\n10.0.0.19 n9\n10.0.0.20 n10\n"
    )
    assert files[HOSTFILE] == "# su01\nn7 slots=8\nn8 slots=8\n# su02\nn9 slots=8\nn10 slots=8\n"


def nccl(text: str) -> dict[str, str]:
    """As NCCL reads it (`setEnvFile` of src/misc/param.cc): a comment begins a line, the first = ends the name."""
    told = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in told}


def test_nccl_takes_the_key_at_index_0_and_these_adapters_alone() -> None:
    assert nccl(scheduler_files(Scheduler.NONE, PLAIN)[NCCL_CONF]) == {"NCCL_IB_PKEY": "0"}
    named = scheduler_files(Scheduler.NONE, replace(PLAIN, compute_hcas=HCAS))[NCCL_CONF]
    wanted = "=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"
    assert nccl(named) == {"NCCL_IB_PKEY": "0", "NCCL_IB_HCA": wanted}
    # A name or value beyond that is cut off there.
    assert all(len(line) < 1023 for line in named.splitlines())


def test_kubernetes_values_are_those_of_the_chart() -> None:
    files = scheduler_files(Scheduler.KUBERNETES, PLAIN)
    values, labels = yaml.safe_load(files[VALUES]), yaml.safe_load(files[LABELS])
    schema = json.loads((Path(__file__).parent / "openstack_cluster.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(values, schema)
    tier = "fabric.topograph.run/tier-0"
    assert [(group["name"], group["machineCount"]) for group in values["nodeGroups"]] == [("su01", 2), ("su02", 2)]
    assert labels["n8"] == {tier: "su01", "rack": "a2"}
    assert list(labels) == ["n7", "n8", "n9", "n10"]
    for wrong in ({**values["nodeGroups"][0], "count": 2}, {"name": "su01"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"nodeGroups": [wrong]}, schema)
    without = scheduler_files(Scheduler.KUBERNETES, replace(PLAIN, node_type="gcore-a100"))
    assert tier not in without[VALUES] + without[LABELS]
    # None of them is a file of a server.
    assert files_of(Scheduler.KUBERNETES, PLAIN, "n7") == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "Train"}, "its name must be at most 40 of a-z, 0-9, _ and -"),
        ({"nodes": ()}, "it has no nodes"),
        ({"node_type": "dgx-h10"}, "node type 'dgx-h10' is not in the catalogue: did you mean dgx-h100?"),
        ({"node_type": "dgx-b300"}, "no cluster of dgx-b300: "),
        ({"nodes": (ClusterNode("n[1-3]", "10.0.0.1", 1, "a"),)}, "'n[1-3]' is no short host name"),
        ({"nodes": (ClusterNode("n" + "1" * 19, "10.0.0.1", 1, "a"),)}, "ends in more than 18 digits"),
        ({"nodes": (ClusterNode("n1", "fd00::1", 1, "a"),)}, "'fd00::1' of n1 is no IPv4 address"),
        ({"nodes": (ClusterNode("n1", "10.0.0.1", 0, "a"),)}, "node n1 is in unit 0; units count from 1"),
        ({"nodes": (ClusterNode("n1", "10.0.0.1", 1, "a b"),)}, "rack 'a b' of node n1 has a character"),
        ({"nodes": (*NODES, NODES[0])}, "two servers are called n10; two servers have 10.0.0.20"),
        ({"nodes": (ClusterNode("head", "10.0.0.1", 1, "a"),)}, "two servers are called head"),
        ({"accounting": ClusterServer("n7", "10.0.0.99")}, "two servers are called n7"),
        ({"second": SecondController(HEAD, "/shared")}, "two servers are called head"),
        ({"second": SecondController(SPARE, "shared")}, "'shared' is no absolute path for the state"),
        ({"release": "22.5"}, "release '22.5' is none of Slurm's: write it as 22.05"),
        ({"release": "２２.05"}, "release '２２.05' is none of Slurm's"),
        ({"release": "21.08"}, "Slurm 21.08 is older than 22.05"),
        ({"node_size": replace(SIZE, real_memory=0)}, "a node's sockets, cores, threads and memory are 1 at least"),
        ({"compute_hcas": HCAS[:7]}, "7 compute HCAs are named, and a dgx-h100 has 8"),
        ({"compute_hcas": (*HCAS[:7], "mlx5_0")}, "compute HCA mlx5_0 is named twice"),
        ({"compute_hcas": (*HCAS[:7], "a,b")}, "'a,b' is no name of an RDMA device"),
        ({"compute_hcas": HCAS, "node_type": "gcore-a100"}, "a gcore-a100 has no ports for a compute fabric"),
    ],
)
def test_what_no_scheduler_could_take_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(PlanningError) as told:
        replace(PLAIN, **wrong)  # type: ignore[arg-type]
    name = wrong.get("name", "train")
    assert str(told.value).startswith(f"cluster {name}: ")
    assert words in told.value.what
    assert told.value.hint


def unfolded(text: str) -> list[str]:
    """What a folded list stands for, by another way than the folding: `tests/slurm` asks Slurm itself."""
    found = []
    for head, inside, plain in re.findall(r"([^,\[]*)\[([^\]]*)\]|([^,]+)", text):
        if plain:
            found.append(plain)
            continue
        for part in inside.split(","):
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            found += [head + str(number).zfill(len(first)) for number in numbers]
    return found


_NAMES = st.builds(
    lambda head, number, width: f"{head}{str(number).zfill(width)}",
    st.sampled_from(["n", "su1-n", "10.0.0."]), st.integers(0, 120), st.integers(1, 4),
)  # fmt: skip


@given(st.lists(st.one_of(_NAMES, st.sampled_from(["head", "spare"])), min_size=1, max_size=60))
def test_folding_loses_nothing_and_keeps_the_order(names: list[str]) -> None:
    assert unfolded(folded(names)) == names


@given(st.sets(st.integers(0, 300), min_size=1))
def test_folding_is_as_short_as_it_can_be(numbers: set[int]) -> None:
    """As many parts as there are gaps, and one."""
    ordered = sorted(numbers)
    gaps = sum(later != earlier + 1 for earlier, later in pairwise(ordered))
    assert folded([f"n{number:03}" for number in ordered]).count(",") == gaps
