"""What becomes of a controller's objects as time passes and machines fail: a function of state, hardware and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from .objects import Agent, AgentState, Cluster, ControllerState, VipuPartition
from .racks import IpuMachine, Racks
from .refusals import CONNECTION_KILLED


@dataclass(frozen=True)
class VipuEvent:
    """One line of the log."""

    at: float
    about: str
    what: str


@dataclass(frozen=True)
class Settled:
    """A state at a later time, and what happened until then."""

    state: ControllerState
    events: tuple[VipuEvent, ...]


def settled(state: ControllerState, racks: Racks, now: float) -> Settled:
    """The state as it is now. Nothing of it depends on how often this is asked, unless something failed in between."""
    agents = {name: _agent(item, racks.at(item.host, item.port), now) for name, item in state.agents.items()}
    clusters = {
        name: _cluster(item, agents, racks, now)
        for name, item in state.clusters.items()
        if item.gone_at is None or now < item.gone_at
    }
    replaced = {name for name, item in agents.items() if state.agents[name].serial not in (None, item.serial)}
    partitions = {
        name: _partition(item, state.clusters[item.cluster], agents, replaced, racks, now)
        for name, item in state.partitions.items()
        if item.gone_at is None or now < item.gone_at
    }
    later = replace(state, agents=agents, clusters=clusters, partitions=partitions)
    return Settled(later, _events(state, later, racks, now))


def _agent(agent: Agent, machine: IpuMachine | None, now: float) -> Agent:
    state: AgentState = "ONLINE" if machine is not None and machine.answers else "OFFLINE"
    if now < agent.contact_at:
        return replace(agent, state="UNKNOWN")
    if state == "ONLINE" and machine is not None:
        agent = replace(agent, serial=machine.serial, version=machine.version)
    return replace(agent, state="MAINTENANCE" if agent.maintenance else state)


def _cluster(cluster: Cluster, agents: Mapping[str, Agent], racks: Racks, now: float) -> Cluster:
    if cluster.gone_at is not None:
        return replace(cluster, state="REMOVING")
    if now < cluster.ready_at:
        return replace(cluster, state="CREATING")
    trouble = _trouble(cluster, cluster.agents, agents, racks)
    return replace(cluster, state="READY" if trouble is None else "DEGRADED")


def _trouble(cluster: Cluster, used: tuple[str, ...], agents: Mapping[str, Agent], racks: Racks) -> str | None:
    """Why a run of agents does not work: one is lost, or a link between two of them is down."""
    for name in used:
        if agents[name].state == "OFFLINE":
            return f"agent {name} does not answer"
    for one, other in pairwise(used):
        if cluster.domain_of(one) != cluster.domain_of(other):
            continue
        machines = [racks.at(agents[name].host, agents[name].port) for name in (one, other)]
        if machines[0] is not None and machines[1] is not None and not racks.up(machines[0], machines[1]):
            return f"IPU-Links between {one} and {other} are down"
    return None


def _partition(
    partition: VipuPartition,
    cluster: Cluster,
    agents: Mapping[str, Agent],
    replaced: set[str],
    racks: Racks,
    now: float,
) -> VipuPartition:
    if partition.gone_at is not None:
        return partition
    used = tuple(dict.fromkeys(place.agent for place in partition.ipus))
    trouble = _trouble(cluster, used, agents, racks)
    if trouble is None and partition.state == "ACTIVE" and (others := sorted(replaced & set(used))):
        trouble = f"another board answers as {others[0]}"
    if partition.state == "ACTIVE" and trouble is not None:
        return replace(partition, state="ERROR", reason=trouble, occupied=())
    if partition.state == "PENDING" and trouble is not None and now >= partition.deadline:
        return replace(partition, state="ERROR", reason=trouble)
    known = all(agents[name].state != "UNKNOWN" for name in used)
    if partition.state == "PENDING" and trouble is None and known and now >= partition.ready_at:
        return replace(partition, state="ACTIVE")
    return partition


def _events(before: ControllerState, after: ControllerState, racks: Racks, now: float) -> tuple[VipuEvent, ...]:
    found: list[VipuEvent] = []
    for noun in ("agents", "clusters", "partitions"):
        olds, news = getattr(before, noun), getattr(after, noun)
        for name, old in olds.items():
            about = f"{noun[:-1]} {name}"
            new = news.get(name)
            if new is None:
                found.append(VipuEvent(now, about, "gone"))
            elif new.state != old.state:
                found.append(VipuEvent(now, about, f"{old.state} -> {new.state}"))
    for name, agent in after.agents.items():
        if before.agents[name].serial not in (None, agent.serial):
            found.append(VipuEvent(now, f"agent {name}", f"another board: {agent.serial}"))
    found += [event for name in before.partitions for event in killed(before, after, racks, name, now)]
    return tuple(found)


def killed(
    before: ControllerState, after: ControllerState, racks: Racks, name: str, now: float
) -> tuple[VipuEvent, ...]:
    """What the clients of a partition's GCDs print that lost their devices between two states."""
    old, new = before.partitions[name], after.partitions.get(name)
    lost = old.occupied if new is None or new.state != "ACTIVE" else ()
    length = len(old.ipus) // old.num_gcds
    events = []
    for gcd in lost:
        agent = before.agents[old.ipus[gcd * length].agent]
        machine = racks.at(agent.host, agent.port)
        host = machine.ipuof_host if machine is not None else agent.host
        text = CONNECTION_KILLED.format(device=0, host=host, port=50052)
        events.append(VipuEvent(now, f"partition {name} GCD {gcd}", text))
    return tuple(events)
