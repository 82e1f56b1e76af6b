"""Which IPUs a partition gets: a block of adjacent ones in one pool, the first that is free, or the one of an index."""

from __future__ import annotations

from dataclasses import dataclass

from .objects import IPUS_OF_A_MACHINE, Cluster, ControllerState, IpuPlace
from .refusals import VipuRefused


@dataclass(frozen=True)
class Pool:
    """Where IPUs may come from: an allocation, or with older releases a whole cluster."""

    cluster: Cluster
    allocation: str | None
    agents: tuple[str, ...]

    def __str__(self) -> str:
        name = self.allocation
        return f"cluster {self.cluster.id!r}" if name is None else f"allocation {name!r}"


def block_of(state: ControllerState, pool: Pool, size: int, index: int | None) -> tuple[IpuPlace, ...]:
    """The IPUs of a new partition. Raises VipuRefused.

    They are adjacent in the cluster, and in one IPU-Link domain, or in whole ones. Places of a size are counted from
    the pool's first IPU; IPUs of agents in maintenance are not free, those of an agent that does not
    answer are.
    """
    ipus = _ipus(pool)
    if size > len(ipus):
        raise VipuRefused("larger-than-allocation", size=size, where=pool, count=len(ipus))
    taken = {place for item in state.partitions.values() for place in item.ipus}
    free = [item for item in ipus if item not in taken and state.agents[item.agent].state != "MAINTENANCE"]
    blocks = [tuple(ipus[start : start + size]) for start in range(0, len(ipus) - size + 1, size)]
    if index is not None:
        return _indexed(blocks, set(free), pool, size, index)
    if size > len(free):
        raise VipuRefused("no-free-ipus", size=size, where=pool, count=len(free))
    available = set(free)
    for block in blocks:
        if available.issuperset(block) and _adjacent(pool.cluster, block):
            return block
    raise VipuRefused("no-free-block", size=size, where=pool)


def _indexed(
    blocks: list[tuple[IpuPlace, ...]], free: set[IpuPlace], pool: Pool, size: int, index: int
) -> tuple[IpuPlace, ...]:
    if not 0 <= index < len(blocks):
        raise VipuRefused("index", index=index, where=pool, count=len(blocks), size=size)
    block = blocks[index]
    if not free.issuperset(block):
        raise VipuRefused("index-taken", index=index)
    if not _adjacent(pool.cluster, block):
        raise VipuRefused("no-free-block", size=size, where=pool)
    return block


def _ipus(pool: Pool) -> list[IpuPlace]:
    """IPUs of a pool in the order of the cluster's cables, whatever the order of its list."""
    ordered = sorted(pool.agents, key=pool.cluster.agents.index)
    return [IpuPlace(agent, ipu) for agent in ordered for ipu in range(IPUS_OF_A_MACHINE)]


def _adjacent(cluster: Cluster, block: tuple[IpuPlace, ...]) -> bool:
    agents = list(dict.fromkeys(place.agent for place in block))
    numbers = [cluster.agents.index(name) for name in agents]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    length = len(cluster.agents) // cluster.domains
    within = numbers[0] // length == numbers[-1] // length
    whole = numbers[0] % length == 0 and len(numbers) % length == 0
    return within or whole


def domains_of(cluster: Cluster, block: tuple[IpuPlace, ...]) -> int:
    """How many IPU-Link domains a block lies in."""
    return len({cluster.domain_of(place.agent) for place in block})
