"""Calls on agents and clusters, and what is cabled to what."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from .objects import MACHINES_OF_A_DOMAIN, Agent, Cluster, ClusterTopology, Topology
from .racks import IpuMachine
from .refusals import VipuRefused
from .scene import Call, Outcome, Scene, checked_list, checked_new, without
from .settling import settled
from .shown import agent_form, cluster_form

#: Direct GW-Links close a loop of so many logical racks at most.
MOST_LOOPED = 4


def create_agent(scene: Scene, call: Call) -> Outcome:
    """Tell the controller of an IPU-Machine. Whether it answers is known after the first contact."""
    state = scene.state
    name = checked_new(state.agents, "agent", call.id)
    host, port = str(call.required("host")), call.number("port") or 8080
    taken = next((item for item in state.agents.values() if (item.host, item.port) == (host, port)), None)
    if taken is not None:
        raise VipuRefused("address-taken", agent=taken.id, host=host, port=port)
    agent = Agent(name, host, port, contact_at=scene.now + scene.durations.contact)
    later = settled(replace(state, agents={**state.agents, name: agent}), scene.racks, scene.now).state
    return Outcome(later, agent_form(later.agents[name]))


def update_agent(scene: Scene, call: Call) -> Outcome:
    """Into maintenance, where no new partition gets its IPUs, and back."""
    agent = scene.agent(call.id)
    wanted = call.word("maintenance", ("on", "off"), "on" if agent.maintenance else "off") == "on"
    agents = {**scene.state.agents, agent.id: replace(agent, maintenance=wanted)}
    later = settled(replace(scene.state, agents=agents), scene.racks, scene.now).state
    return Outcome(later, agent_form(later.agents[agent.id]))


def remove_agent(scene: Scene, call: Call) -> Outcome:
    """Refused while a cluster has it."""
    agent = scene.agent(call.id)
    cluster = scene.state.cluster_of(agent.id)
    if cluster is not None:
        raise VipuRefused("agent-in-use", id=agent.id, by=f"cluster {cluster.id!r}")
    return Outcome(replace(scene.state, agents=without(scene.state.agents, agent.id)), {"id": agent.id})


def get_agent(scene: Scene, call: Call) -> Outcome:
    """One agent."""
    return Outcome(scene.state, agent_form(scene.agent(call.id)))


def list_agents(scene: Scene, _: Call) -> Outcome:
    """All of them."""
    return Outcome(scene.state, [agent_form(item) for item in scene.state.agents.values()])


def create_cluster(scene: Scene, call: Call) -> Outcome:
    """Make agents one group, in the order of their cables."""
    name = checked_new(scene.state.clusters, "cluster", call.id)
    agents = checked_list(tuple(call.required("agents")))
    domains = call.number("num-ipulinkdomains") or 1
    topology = call.word("topology", ("mesh", "torus"), "mesh")
    across = call.word("cluster-topology", ("none", "looped"), "none")
    found = [_usable(scene, item) for item in agents]
    machines = [_machine(scene, agent) for agent in found]
    _check_size(len(agents), domains)
    if across == "looped" and not 2 <= domains <= MOST_LOOPED:
        raise VipuRefused("looped-alone", domains=domains)
    length = len(agents) // domains
    runs = [machines[number * length : (number + 1) * length] for number in range(domains)]
    _check_cables(scene, agents, runs, ring=topology == "torus")
    _check_gateways(scene, runs, loop=across == "looped")
    cluster = Cluster(
        name, agents, _topology(topology), _across(across), domains, ready_at=scene.now + scene.durations.cluster
    )
    later = replace(scene.state, clusters={**scene.state.clusters, name: cluster})
    later = settled(later, scene.racks, scene.now).state
    return Outcome(later, cluster_form(later.clusters[name]))


def _topology(word: str) -> Topology:
    return "torus" if word == "torus" else "mesh"


def _across(word: str) -> ClusterTopology:
    return "looped" if word == "looped" else "none"


def _usable(scene: Scene, name: str) -> Agent:
    agent = scene.agent(name)
    cluster = scene.state.cluster_of(name)
    if cluster is not None:
        raise VipuRefused("agent-in-cluster", agent=name, cluster=cluster.id)
    if agent.state != "ONLINE":
        raise VipuRefused("agent-not-ready", agent=name, state=agent.state)
    return agent


def _machine(scene: Scene, agent: Agent) -> IpuMachine:
    found = scene.racks.at(agent.host, agent.port)
    if found is None:
        raise VipuRefused("agent-not-ready", agent=agent.id, state="OFFLINE")
    return found


def _check_size(count: int, domains: int) -> None:
    whole = domains > 1 and domains & (domains - 1) == 0 and count == domains * MACHINES_OF_A_DOMAIN
    single = domains == 1 and count in (1, 2, 4, 8, 16)
    if not (whole or single):
        raise VipuRefused("machines", count=count, domains=domains)


def _check_cables(scene: Scene, agents: tuple[str, ...], runs: list[list[IpuMachine]], *, ring: bool) -> None:
    length = len(runs[0])
    for number, run in enumerate(runs):
        names = agents[number * length : (number + 1) * length]
        for place in range(length - 1):
            if not scene.racks.adjacent(run[place], run[place + 1]):
                raise VipuRefused("not-adjacent", first=names[place], second=names[place + 1])
        if len(runs) > 1 and [item.position for item in run] != list(range(1, MACHINES_OF_A_DOMAIN + 1)):
            raise VipuRefused("not-whole", number=number)
        if ring and not scene.racks.closed(run[0], run[-1]):
            raise VipuRefused("not-closed", first=names[0], last=names[-1])


def _check_gateways(scene: Scene, runs: list[list[IpuMachine]], *, loop: bool) -> None:
    lracks = [run[0].lrack for run in runs]
    pairs = list(pairwise(lracks))
    if loop and len(lracks) > 2:
        pairs.append((lracks[-1], lracks[0]))
    for first, second in pairs:
        if not scene.racks.joins(first, second):
            raise VipuRefused("no-gateway-links", first=first, second=second)


def remove_cluster(scene: Scene, call: Call) -> Outcome:
    """Refused while an allocation or a partition is in it. Its agents are free when it is gone."""
    cluster = scene.cluster(call.id)
    users = [f"partition {item.id!r}" for item in scene.state.partitions.values() if item.cluster == cluster.id]
    users += [f"allocation {item.id!r}" for item in scene.state.allocations.values() if item.cluster == cluster.id]
    if users:
        raise VipuRefused("cluster-in-use", id=cluster.id, by=users[0])
    if cluster.gone_at is not None:
        raise VipuRefused("cluster-not-ready", id=cluster.id, state=cluster.state)
    leaving = replace(cluster, state="REMOVING", gone_at=scene.now + scene.durations.removal)
    later = replace(scene.state, clusters={**scene.state.clusters, cluster.id: leaving})
    return Outcome(later, cluster_form(leaving))


def get_cluster(scene: Scene, call: Call) -> Outcome:
    """One cluster."""
    return Outcome(scene.state, cluster_form(scene.cluster(call.id)))


def list_clusters(scene: Scene, _: Call) -> Outcome:
    """All of them; a user who is restricted sees those of its allocations."""
    state, caller = scene.state, scene.caller
    own = {item.cluster for item in state.allocations.values() if caller.sees(item.id)}
    shown = [item for item in state.clusters.values() if caller.allocations is None or item.id in own]
    return Outcome(state, [cluster_form(item) for item in shown])
