"""A GPU cluster as its scheduler sees it: servers with addresses, and nodes with their place in the hall."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from itertools import groupby

from interlock.hardware.gpu import NODE_TYPES, NodeType, PortRole, cluster_verdict
from interlock.planning.errors import PlanningError

#: The release that the tests run, Debian 12's: what is asked for without a word about it.
TESTED = (22, 5)

#: A host name as `hostname -s` prints it. Slurm finds its own line of slurm.conf by it; brackets would be a hostlist.
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
#: Slurm counts with 64 bits, also where a name stands alone.
_LONG_NUMBER = re.compile(r"[0-9]{19}$")
_CLUSTER = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
#: What Slurm takes as a feature and Kubernetes as the value of a label.
_RACK = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,56}[A-Za-z0-9])?")
_RELEASE = re.compile(r"([0-9][0-9])\.([0-9][0-9])")
_DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_PATH = re.compile(r"(/[A-Za-z0-9_.-]+)+")


@dataclass(frozen=True)
class ClusterServer:
    """A server of the cluster: its short host name, and its IPv4 address in the network that all of them share."""

    name: str
    address: str


@dataclass(frozen=True)
class ClusterNode:
    """A worker, its scalable unit (from 1) and its rack."""

    name: str
    address: str
    unit: int
    rack: str


@dataclass(frozen=True)
class SecondController:
    """A second slurmctld, and the folder that it shares with the first: on a file system that both mount."""

    server: ClusterServer
    shared_state: str


@dataclass(frozen=True)
class NodeSize:
    """Processors and memory (MiB) of a node, as `slurmd -C` prints them there."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    real_memory: int


@dataclass(frozen=True)
class ClusterLayout:
    """One cluster. PlanningError, with all that is wrong, where no scheduler could take it.

    `node_type` is a name of `interlock.hardware.gpu.NODE_TYPES`, whose GPUs are taken from there. The catalogue does
    not know cores, nor which part of the memory an operating system shows: that is `node_size`, or stays unsaid.
    """

    name: str
    head: ClusterServer
    nodes: tuple[ClusterNode, ...]
    node_type: str
    second: SecondController | None = None
    #: Servers where people log in and no daemon of the scheduler runs.
    logins: tuple[ClusterServer, ...] = ()
    #: Where slurmdbd runs, which may be the head; None: no accounting.
    accounting: ClusterServer | None = None
    #: Release of Slurm, `YY.MM`. Options of newer ones than `TESTED` are written for these alone.
    release: str = "22.05"
    node_size: NodeSize | None = None
    #: RDMA devices of a node's compute fabric, as `ibv_devices` names them there; empty: unknown.
    compute_hcas: tuple[str, ...] = ()
    #: Behind which all nodes are, with RoCE; None: each scalable unit has leaves of its own.
    leaf_group: str | None = None

    def __post_init__(self) -> None:
        faults = list(_faults(self))
        if faults:
            raise PlanningError(f"cluster {self.name}: {'; '.join(faults)}", "correct the cluster's layout")

    @property
    def type(self) -> NodeType:
        """The node type."""
        return NODE_TYPES[self.node_type]

    @property
    def gpus(self) -> int:
        """GPUs of one node."""
        assert self.type.gpus is not None  # _faults
        return self.type.gpus.value

    @property
    def version(self) -> tuple[int, int]:
        """The release as numbers."""
        year, month = self.release.split(".")
        return int(year), int(month)

    @property
    def controllers(self) -> tuple[ClusterServer, ...]:
        """Servers with a slurmctld, the first one first."""
        return (self.head,) if self.second is None else (self.head, self.second.server)

    @property
    def servers(self) -> tuple[ClusterServer, ...]:
        """All of them, each once: controllers, accounting, logins, nodes."""
        workers = (ClusterServer(node.name, node.address) for node in self.placed)
        others = () if self.accounting is None else (self.accounting,)
        return tuple(dict.fromkeys((*self.controllers, *others, *self.logins, *workers)))

    @property
    def placed(self) -> tuple[ClusterNode, ...]:
        """Nodes by unit, then by name, numbers by value: whoever takes them in this order stays in a unit longest."""
        return tuple(sorted(self.nodes, key=lambda node: (node.unit, natural(node.name))))

    @property
    def units(self) -> tuple[tuple[str, tuple[ClusterNode, ...]], ...]:
        """(name, nodes) that are one switch apart: of each scalable unit, named as in a hall; or of a leaf group."""
        if self.leaf_group is not None:
            return ((self.leaf_group, self.placed),)
        return tuple((unit_name(unit), tuple(nodes)) for unit, nodes in groupby(self.placed, lambda node: node.unit))


def unit_name(unit: int) -> str:
    """`su01`, as `interlock.hardware.gpu` names units of a hall."""
    return f"su{unit:02}"


def natural(name: str) -> tuple[str, int, str]:
    """A key that sorts `n9` before `n10`."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or -1), name


def _faults(layout: ClusterLayout) -> Iterator[str]:
    yield from _node_type(layout)
    if not _CLUSTER.fullmatch(layout.name):
        yield "its name must be at most 40 of a-z, 0-9, _ and -, as Slurm keeps names of clusters"
    if not layout.nodes:
        yield "it has no nodes"
    yield from _places(layout.nodes)
    yield from _addressed(layout)
    if not _RELEASE.fullmatch(layout.release):
        yield f"release {layout.release!r} is none of Slurm's: write it as 22.05"
    elif layout.version < TESTED:
        yield f"Slurm {layout.release} is older than 22.05, the oldest that these files are for"
    if layout.second is not None and not _PATH.fullmatch(layout.second.shared_state):
        yield f"{layout.second.shared_state!r} is no absolute path for the state that two controllers share"


def _node_type(layout: ClusterLayout) -> Iterator[str]:
    verdict = cluster_verdict(layout.node_type)
    if not verdict.passes:
        yield verdict.reason
        return
    node = layout.type
    if node.gpus is None:
        yield f"how many GPUs a {node.name} has is unknown"
    size = layout.node_size
    if size is not None and min(size.sockets, size.cores_per_socket, size.threads_per_core, size.real_memory) < 1:
        yield "a node's sockets, cores, threads and memory are 1 at least"
    yield from _devices(layout.compute_hcas, node)


def _devices(names: tuple[str, ...], node: NodeType) -> Iterator[str]:
    if not names:
        return
    ports = node.ports_for(PortRole.COMPUTE)
    if ports is None:
        yield f"compute HCAs are named, and a {node.name} has no ports for a compute fabric"
    elif ports.count is not None and len(names) != ports.count.value:
        yield f"{len(names)} compute HCAs are named, and a {node.name} has {ports.count.value}"
    yield from (f"{name!r} is no name of an RDMA device" for name in names if not _DEVICE.fullmatch(name))
    yield from (f"compute HCA {name} is named twice" for name in _twice(names))


def _places(nodes: tuple[ClusterNode, ...]) -> Iterator[str]:
    for node in nodes:
        if node.unit < 1:
            yield f"node {node.name} is in unit {node.unit}; units count from 1"
        if not _RACK.fullmatch(node.rack):
            yield f"rack {node.rack!r} of node {node.name} has a character that Slurm or Kubernetes does not take"


def _addressed(layout: ClusterLayout) -> Iterator[str]:
    workers = (ClusterServer(node.name, node.address) for node in layout.nodes)
    # A node may be a controller as well.
    nodes = tuple(server for server in workers if server not in layout.controllers)
    # Accounting may be at a controller; anything else there twice is a mistake.
    apart = () if layout.accounting in (None, *layout.controllers) else (layout.accounting,)
    servers = (*layout.controllers, *apart, *layout.logins, *nodes)
    for server in servers:
        if not _HOST.fullmatch(server.name):
            yield f"{server.name!r} is no short host name: a-z, 0-9 and -, at most 63"
        if _LONG_NUMBER.search(server.name):
            yield f"{server.name} ends in more than 18 digits, which Slurm reads as another number"
        try:
            IPv4Address(server.address)
        except AddressValueError:
            yield f"{server.address!r} of {server.name} is no IPv4 address"
    yield from (f"two servers are called {name}" for name in _twice(server.name for server in servers))
    yield from (f"two servers have {address}" for address in _twice(server.address for server in servers))


def _twice(items: Iterable[str]) -> list[str]:
    return [item for item, count in Counter(items).items() if count > 1]
