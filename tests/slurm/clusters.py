"""Clusters that run: ten nodes whose numbers alternate between two scalable units: neighbours by name are far apart."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from interlock.planning.scheduler import (
    ClusterLayout,
    ClusterNode,
    ClusterServer,
    NodeSize,
    Scheduler,
    SecondController,
    files_of,
)

from .hall import SlurmHall, SlurmServer, forced, slurm_hall

#: Where a second controller finds the state of the first, in these tests.
STATE = "/mnt/state"

NODES = tuple(
    ClusterNode(f"n{number:03}", f"10.77.0.{10 + number}", unit=2 - number % 2, rack=f"r{2 - number % 2}")
    for number in range(1, 11)
)

#: On a fabric, with a second controller; what its nodes are made of is not stated.
WITH_FABRIC = ClusterLayout(
    name="train",
    head=ClusterServer("head", "10.77.0.5"),
    nodes=NODES,
    node_type="dgx-h100",
    second=SecondController(ClusterServer("spare", "10.77.0.6"), STATE),
)


def without_fabric(size: NodeSize) -> ClusterLayout:
    """The same nodes of a type that has no ports for compute, with a stated size."""
    return ClusterLayout(
        name="serve", head=ClusterServer("head", "10.77.0.5"), nodes=NODES, node_type="gcore-a100", node_size=size
    )


def size_of_this_machine(printed: str) -> NodeSize:
    """What `slurmd -C` prints, as a layout states it."""
    found = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)(?= |\n)", printed)}
    sockets = found["Boards"] * found["SocketsPerBoard"]
    return NodeSize(sockets, found["CoresPerSocket"], found["ThreadsPerCore"], found["RealMemory"])


@dataclass(frozen=True)
class RunningCluster:
    """A cluster all of whose nodes wait for jobs."""

    layout: ClusterLayout
    hall: SlurmHall

    @property
    def head(self) -> SlurmServer:
        return self.hall.servers[self.layout.head.name]

    def job(self, *options: str, program: str = "hostname") -> frozenset[str]:
        """Nodes on which a job with all their GPUs ran, at once."""
        return frozenset(self.head.say("srun", "--immediate=20", "--gres=gpu:8", *options, program).split())

    def unit(self, number: int) -> frozenset[str]:
        """Names of the nodes of a unit, as the layout has them."""
        return frozenset(node.name for node in self.layout.nodes if node.unit == number)

    def await_idle(self) -> None:
        """Wait until no node has a job."""
        asked = ("sinfo", "--noheader", "--states=idle", "--format=%D")
        self.hall.wait("all nodes idle", lambda: self.head.run(*asked).stdout.strip() == str(len(self.layout.nodes)))


@contextmanager
def running(folder: Path, layout: ClusterLayout) -> Iterator[RunningCluster]:
    """A cluster with its daemons, until the end of the block: one controller; the second one is left to tests."""
    nodes = {node.name for node in layout.nodes}
    planned = {server.name: files_of(Scheduler.SLURM, layout, server.name) for server in layout.servers}
    files = {name: forced(its) if name in nodes else its for name, its in planned.items()}
    with slurm_hall(folder, files, {server.name: server.address for server in layout.servers}) as hall:
        (folder / "shared" / Path(STATE).name).mkdir()
        shutil.chown(folder / "shared" / Path(STATE).name, "slurm")
        hall.servers[layout.head.name].start("slurmctld", "-D")
        for name in nodes:
            hall.servers[name].start("slurmd", "-D")
        cluster = RunningCluster(layout, hall)
        cluster.await_idle()
        yield cluster
