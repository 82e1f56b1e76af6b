"""The client on a served controller of the simulator, by real processes: each call, and each way it can break."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.retry import RetryPolicy
from interlock.vipu.client import ControllerClient
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vipu.transport import LocalRunner, VipuLimits

from .stand import PYTHON, Recording, Stand


def _partition(controller: ControllerClient, name: str = "p", ipus: int = 8) -> None:
    line = controller.lines.partition(
        name, allocation="train", ipus=ipus, gcds=1, replicas=1, reconfigurable=False, sync_type="c2-compatible",
        routing="default",
    )  # fmt: skip
    controller.create_partition(line)


def _cluster(controller: ControllerClient) -> None:
    for number in (1, 2):
        controller.create_agent(f"ag{number}", f"10.2.1.{number}", 8080)
    controller.create_cluster("train", ["ag1", "ag2"], 1, "mesh", "none")
    controller.create_allocation("train", "train")


def test_everything_is_made_read_and_removed(stand: Stand) -> None:
    controller = stand.controller()
    _cluster(controller)
    controller.create_user("node-0", ["train"])
    _partition(controller)
    assert [(item.host, item.port, item.state) for item in controller.agents().values()] == [
        ("10.2.1.1", 8080, "ONLINE"), ("10.2.1.2", 8080, "ONLINE"),
    ]  # fmt: skip
    cluster = controller.clusters()["train"]
    assert (cluster.agents, cluster.topology, cluster.cluster_topology, cluster.link_domains) == (
        ("ag1", "ag2"), "mesh", "none", 1,
    )  # fmt: skip
    assert controller.allocations()["train"].agents == ("ag1", "ag2")
    assert controller.users()["node-0"].allocations == ("train",)
    found = controller.partitions()["p"]
    assert (found.ipus, found.gcds, found.replicas, found.sync_type, found.state) == (
        8, 1, 1, "c2-compatible", "ACTIVE",
    )  # fmt: skip
    for noun, name in (("partition", "p"), ("user", "node-0"), ("allocation", "train"), ("cluster", "train")):
        controller.remove(noun, name)  # type: ignore[arg-type]
    controller.remove("agent", "ag1")
    assert list(controller.agents()) == ["ag2"]
    left = (controller.partitions, controller.users, controller.allocations, controller.clusters)
    assert [look() for look in left] == [{}, {}, {}, {}]


@pytest.mark.parametrize("kind", ["cut-before", "cut-after", "refused"])
def test_a_call_that_breaks_is_looked_after(stand: Stand, kind: str) -> None:
    """Whatever the command says, what is there decides: one of each object, and none left."""
    controller = stand.controller()
    for words in (
        "create agent",
        "create cluster",
        "create allocation",
        "create user",
        "create partition",
        "update user",
        "remove partition",
        "remove user",
        "remove allocation",
        "remove cluster",
    ):
        stand.fault(f"{words}={kind}")  # fmt: skip
    _cluster(controller)
    controller.create_user("node-0", ["train"])
    _partition(controller)
    controller.restrict_user("node-0", ["train"])
    assert list(controller.partitions()) == ["p"]
    assert list(controller.users()) == ["node-0"]
    for noun, name in (("partition", "p"), ("user", "node-0"), ("allocation", "train"), ("cluster", "train")):
        controller.remove(noun, name)  # type: ignore[arg-type]
    left = (controller.partitions, controller.users, controller.allocations, controller.clusters)
    assert [look() for look in left] == [{}, {}, {}, {}]
    assert stand.serving.faults.take("create agent") is None  # each of them did bite


def test_what_is_refused_for_good_says_what_the_controller_said(stand: Stand) -> None:
    controller = stand.controller()
    _cluster(controller)
    with pytest.raises(VipuError) as caught:
        _partition(controller, ipus=64)
    assert caught.value.trouble is VipuTrouble.SERVICE
    assert "acme-train-controller: `create partition p` ended with 1" in str(caught.value)
    assert "size 64: allocation 'train' has 8 IPUs" in str(caught.value)
    assert "flags:" in caught.value.hint


def test_a_key_is_told_and_shown_nowhere(stand: Stand, capfd: pytest.CaptureFixture[str]) -> None:
    """It goes to whoever masks secrets before it is returned; no command line, no error and no file holds it."""
    told = list[str]()
    _cluster(stand.controller())
    recorded = Recording(LocalRunner("c"), [])
    controller = ControllerClient("c", stand.access(), recorded, told.append)
    controller.create_user("node-0", ["train"])
    key = controller.new_key("node-0")
    assert told[-1] == key
    assert len(set(told)) == len(told)  # the key of the creation is known, too, and is another one
    for secret in told:
        assert not any(secret in word for line in recorded.lines for word in line)
        assert secret not in "".join(capfd.readouterr())
        files = [file for file in stand.folder.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]
        assert files == []
    stand.fault("update user=cut-after")
    assert controller.new_key("node-0") != key  # the one that nobody heard of is no longer good either
    stand.fault("update user=refused")
    stand.fault("update user=refused")
    with pytest.raises(VipuError) as caught:
        controller.new_key("node-0")
    assert "is not shown" in str(caught.value)


def test_slow_things_are_told_of_at_once(slow: Stand) -> None:
    """With a word for not waiting the commands come back before it is done."""
    controller = slow.controller()
    for number in (1, 2):
        controller.create_agent(f"ag{number}", f"10.2.1.{number}", 8080)
    assert {item.state for item in controller.agents().values()} == {"UNKNOWN"}
    slow.desk.clock.passes(3)
    controller.create_cluster("train", ["ag1", "ag2"], 1, "mesh", "none")
    assert controller.clusters()["train"].state == "CREATING"
    slow.desk.clock.passes(6)
    controller.create_allocation("train", "train")
    _partition(controller)
    assert controller.partitions()["p"].state == "PENDING"
    controller.remove("partition", "p")
    assert controller.partitions()["p"].state == "REMOVING"
    controller.remove("partition", "p")  # refused by the controller, and done all the same


def test_nobody_there_and_no_command(stand: Stand) -> None:
    controller = stand.controller()
    stand.serving.stop()
    with pytest.raises(VipuError) as caught:
        controller.agents()
    assert "`list agent` ended with 1" in caught.value.what
    runner = LocalRunner("c")
    with pytest.raises(VipuError) as caught:
        runner.run([str(stand.folder / "none")])
    assert caught.value.trouble is VipuTrouble.UNREACHABLE
    assert "vipu.yaml" in caught.value.hint


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """True unless it is gone, or dead and nobody's child."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_cancelled_run_and_a_hanging_command_end(tmp_path: Path) -> None:
    """Within a second, with what it started, and with nothing known of what came of it."""
    cancelled = threading.Event()
    hang = [
        PYTHON,
        "-c",
        f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)",
    ]
    runner = LocalRunner("c", RetryPolicy(cancelled=cancelled.is_set))
    threading.Timer(0.3, cancelled.set).start()
    with pytest.raises(VipuError, match="cancelled") as caught:
        runner.run(hang)
    assert caught.value.trouble is VipuTrouble.LOST_ANSWER
    _until(lambda: not _runs(int((tmp_path / "pid").read_text())))
    with pytest.raises(VipuError, match=r"no answer within 0\.1 s"):
        LocalRunner("c", limits=VipuLimits(command=0.1)).run(hang)


def test_a_command_that_outlives_its_provider_leaves_no_file(tmp_path: Path) -> None:
    """`vipu-admin` writes the key of a user whom it makes into its folder; nobody is there to take that away."""
    command = (
        'echo k > poplar-0.vipu-cli.hcl; pwd > "$0"; for i in $(seq 300); do [ -e "$0.go" ] && exit; sleep 0.1; done'
    )
    told = tmp_path / "folder"
    runs = (
        f"from interlock.vipu.transport import *; LocalRunner('c').run(['/bin/sh', '-c', {command!r}, {str(told)!r}])"
    )
    provider = subprocess.Popen([PYTHON, "-c", runs], env={**os.environ, "TMPDIR": str(tmp_path)})
    _until(lambda: told.exists() and told.read_text().endswith("\n"))
    folder = Path(told.read_text().strip())
    assert (folder / "poplar-0.vipu-cli.hcl").exists()
    provider.kill()
    provider.wait()
    assert folder.exists()
    told.with_suffix(".go").touch()
    _until(lambda: not folder.exists())


def test_a_command_runs_in_a_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    ran = LocalRunner("c").run([PYTHON, "-c", "import os; print(os.getcwd()); print(oct(os.stat('.').st_mode))"])
    folder, mode = ran.out.split()
    assert not Path(folder).exists()
    assert stat.S_IMODE(int(mode, 8)) == 0o700
    assert "out" not in repr(ran)
