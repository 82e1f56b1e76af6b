"""Facts about what V-IPU controllers are told, but for allocations and partitions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AgentFact:
    """The agent of an IPU-Machine at a controller, and the address at which the controller asks it."""

    name: str
    vpod: str | None
    controller: str
    machine: str
    serial: str
    host: str


@dataclass(frozen=True)
class AgentClusterFact:
    """A V-IPU cluster: the agents that one controller joins."""

    name: str
    vpod: str | None
    controller: str
    agents: tuple[str, ...]
    topology: str
    link_domains: int
    cluster_topology: str


@dataclass(frozen=True)
class VipuUserFact:
    """A user at a controller: whoever has its key has its allocations. `owner` is the tenant of the plan."""

    name: str
    owner: str
    vpod: str | None
    controller: str
    allocations: tuple[str, ...]


@dataclass(frozen=True)
class VipuFacts:
    """What the controllers of one plan are told, but for allocations and partitions."""

    agents: tuple[AgentFact, ...] = ()
    clusters: tuple[AgentClusterFact, ...] = ()
    users: tuple[VipuUserFact, ...] = ()


NO_VIPU = VipuFacts()
