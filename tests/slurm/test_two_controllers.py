"""A second controller with the shared state: it takes over with what runs, and the first one takes it back."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from .clusters import RunningCluster
from .hall import SlurmServer

#: Seconds after which a controller has written down what became of a job: one that is killed sooner loses it.
SAVED = 6


@pytest.fixture
def spare(on_fabric: RunningCluster) -> Iterator[SlurmServer]:
    """The second controller, as long as the test takes; afterwards the first one is in charge again."""
    server = on_fabric.hall.servers["spare"]
    server.start("slurmctld", "-D")
    on_fabric.hall.wait("the second controller stands by", lambda: _up(on_fabric.head) == ["head", "spare"])
    yield server
    if "slurmctld" not in on_fabric.head.daemons:
        on_fabric.head.start("slurmctld", "-D")
    on_fabric.hall.wait("the first controller is back", lambda: "head" in _up(server))
    server.kill("slurmctld")
    on_fabric.await_idle()


def test_the_second_takes_over_with_the_job_that_runs(on_fabric: RunningCluster, spare: SlurmServer) -> None:
    on_fabric.await_idle()
    wanted = ("--parsable", "--nodes=4", "--switches=1", "--gres=gpu:8", "--output=/dev/null", "--wrap=sleep 120")
    job = on_fabric.head.say("sbatch", *wanted).strip()
    on_fabric.hall.wait("the job runs", lambda: bool(_nodes(on_fabric.head, job)))
    before = _nodes(on_fabric.head, job)
    time.sleep(SAVED)
    on_fabric.head.kill("slurmctld")
    spare.say("scontrol", "takeover")
    on_fabric.hall.wait("the second controller has the job", lambda: _nodes(spare, job) == before)
    assert _up(spare) == ["spare"]
    # A job with GPUs that comes sooner fails, and its nodes have none to give afterwards.
    on_fabric.hall.wait("all nodes registered", lambda: _registered(spare) == len(on_fabric.layout.nodes))
    options = ("--immediate=20", "--nodes=4", "--switches=1", "--gres=gpu:8")
    landed = frozenset(spare.say("srun", *options, "hostname").split())
    spare.say("scancel", job)
    other = on_fabric.unit(2 if before[0] in on_fabric.unit(1) else 1)
    assert len(landed) == 4
    assert landed < other


def _nodes(server: SlurmServer, job: str) -> list[str]:
    """Nodes of a job that runs; none if nobody says so at once: what comes too early is kept waiting half a minute."""
    asked = ("timeout", "1", "squeue", "--noheader", f"--jobs={job}", "--states=running", "--format=%N")
    found = server.run(*asked).stdout.strip()
    return server.say("scontrol", "show", "hostnames", found).split() if found else []


def _registered(server: SlurmServer) -> int:
    """How many nodes have told this controller what they have."""
    return server.run("timeout", "1", "scontrol", "--oneliner", "show", "nodes").stdout.count(" Version=")


def _up(server: SlurmServer) -> list[str]:
    """Names of controllers that answer."""
    told = server.run("scontrol", "ping").stdout.splitlines()
    return [line.split(" at ")[1].split()[0] for line in told if line.endswith(" is UP")]
