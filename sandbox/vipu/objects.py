"""The objects of a controller, frozen: agents, clusters, allocations, users, partitions, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

IPUS_OF_A_MACHINE = 4
MACHINES_OF_A_DOMAIN = 16

#: Names other than ACTIVE are assumed; no source has them.
AgentState = Literal["UNKNOWN", "ONLINE", "OFFLINE", "MAINTENANCE"]
ClusterState = Literal["CREATING", "READY", "DEGRADED", "REMOVING"]
PartitionState = Literal["PENDING", "ACTIVE", "ERROR", "REMOVING"]
Topology = Literal["mesh", "torus"]
ClusterTopology = Literal["none", "looped"]


@dataclass(frozen=True)
class Agent:
    """What the controller knows of one IPU-Machine. Times are seconds of the controller's clock."""

    id: str
    host: str
    port: int
    #: From then on the controller knows whether it answers; UNKNOWN before, also after a restart.
    contact_at: float
    maintenance: bool = False
    state: AgentState = "UNKNOWN"
    serial: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Cluster:
    """Agents in the order in which they are cabled, in `domains` IPU-Link domains of equal length."""

    id: str
    agents: tuple[str, ...]
    topology: Topology
    cluster_topology: ClusterTopology
    domains: int
    ready_at: float
    gone_at: float | None = None
    state: ClusterState = "CREATING"

    def domain_of(self, agent: str) -> int:
        """The number of an agent's IPU-Link domain, from 0."""
        return self.agents.index(agent) // (len(self.agents) // self.domains)


@dataclass(frozen=True)
class Allocation:
    """Agents whose IPUs some users may have: the boundary of trust among users."""

    id: str
    agents: tuple[str, ...]
    cluster: str


@dataclass(frozen=True)
class VipuUser:
    """Somebody who may ask. The key itself is known to the user alone."""

    id: str
    admin: bool
    #: None: of all of them, since `--allocations` restricts.
    allocations: tuple[str, ...] | None
    salt: str
    key_digest: str


@dataclass(frozen=True)
class IpuPlace:
    """One IPU."""

    agent: str
    ipu: int


@dataclass(frozen=True)
class VipuPartition:
    """IPUs that reach one another and no others. Its size is the number of its IPUs and never changes."""

    id: str
    cluster: str
    allocation: str | None
    owner: str | None
    ipus: tuple[IpuPlace, ...]
    num_gcds: int
    num_replicas: int
    routing: str
    gateway_routing: str
    sync_type: str
    reconfigurable: bool
    index: int | None
    domains: int
    ready_at: float
    deadline: float
    state: PartitionState = "PENDING"
    gone_at: float | None = None
    #: Why it is in ERROR.
    reason: str | None = None
    #: GCDs on which a workload runs: all that the sandbox has of one.
    occupied: tuple[int, ...] = ()


@dataclass(frozen=True)
class ControllerState:
    """All that a controller keeps, as `vipu-server.json` has it."""

    agents: Mapping[str, Agent] = field(default_factory=dict)
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    allocations: Mapping[str, Allocation] = field(default_factory=dict)
    users: Mapping[str, VipuUser] = field(default_factory=dict)
    partitions: Mapping[str, VipuPartition] = field(default_factory=dict)

    def cluster_of(self, agent: str) -> Cluster | None:
        """The cluster that an agent belongs to; it is one at most."""
        return next((item for item in self.clusters.values() if agent in item.agents), None)

    def partitions_on(self, agents: tuple[str, ...]) -> tuple[VipuPartition, ...]:
        """Partitions with an IPU of one of these agents."""
        wanted = set(agents)
        return tuple(item for item in self.partitions.values() if any(place.agent in wanted for place in item.ipus))
