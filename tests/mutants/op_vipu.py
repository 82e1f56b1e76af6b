"""Operators on what V-IPU controllers are told: agents, clusters, users, and who is handed a user's key."""

from __future__ import annotations

from random import Random

from interlock.resources import StoredCredential, SwitchPort, VipuAgent, VipuAllocation, VipuCluster, VipuUser
from tests.mutants.operator import Operator, strangers
from tests.mutants.workspaces import VPodOf, Workspace
from tests.policies.workspace import added


def _agent(pod: VPodOf, machine: str) -> str:
    return f"{pod.prefix}-agent-{machine}"


def _told(space: Workspace, pod: VPodOf, name: str, item: VipuAgent | VipuUser) -> Workspace:
    """One more object at the controller of a vPOD."""
    plan = space.plan(pod.tenant)
    return space.with_plan(pod.tenant, added(plan, name, f"{pod.prefix}-controller", item)).asking(pod.tenant)


def agent_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """A second controller has the machine of another tenant."""
    found = strangers(space, rng)
    if found is None:
        return None
    mine, theirs = found
    machine = theirs.claims.machines[0]
    agent = space.get(theirs.tenant, _agent(theirs, machine), VipuAgent)
    name = _agent(mine, machine)
    return _told(space, mine, name, agent.model_copy(update={"name": name, "controller": f"{mine.prefix}-controller"}))


def agent_elsewhere(space: Workspace, rng: Random) -> Workspace | None:
    """The name says its own machine, the address is that of another board."""
    pod = rng.choice(space.vpods)
    if len(pod.claims.machines) < 2:
        return None
    one, other = (_agent(pod, machine) for machine in pod.claims.machines[:2])
    host = space.get(pod.tenant, other, VipuAgent).host
    return space.edit(pod.tenant, one, host=host).asking(pod.tenant)


def agent_at_another_port(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return space.edit(pod.tenant, _agent(pod, pod.claims.machines[0]), port=8081).asking(pod.tenant)


def agent_at_a_bmc(space: Workspace, rng: Random) -> Workspace | None:
    """The right machine, and the wrong one of its two addresses: no agent answers there."""
    pod = rng.choice(space.vpods)
    machine = pod.claims.machines[0]
    ports = (item.resource for item in space.plan(pod.tenant).resources)
    bmc = next(
        port.addresses[0]
        for port in ports
        if isinstance(port, SwitchPort) and (port.device, port.interface) == (machine, "mgmt")
    )
    return space.edit(pod.tenant, _agent(pod, machine), host=bmc).asking(pod.tenant)


def ring_without_a_cable(space: Workspace, rng: Random) -> Workspace | None:
    """The cluster alone is called a torus: the allocation is what it was."""
    pod = rng.choice(space.vpods)
    name = f"{pod.prefix}-cluster"
    if space.get(pod.tenant, name, VipuCluster).topology == "torus":
        return None
    return space.edit(pod.tenant, name, topology="torus").asking(pod.tenant)


def _cluster(space: Workspace, rng: Random, *, twice: bool) -> Workspace | None:
    pod = rng.choice(space.vpods)
    name = f"{pod.prefix}-cluster"
    agents = space.get(pod.tenant, name, VipuCluster).agents
    if len(agents) < 2:
        return None
    # As a public set-up script has it: one agent twice, and so another not at all.
    changed = (*agents[:-1], agents[0]) if twice else tuple(reversed(agents))
    return space.edit(pod.tenant, name, agents=changed).asking(pod.tenant)


def agent_twice(space: Workspace, rng: Random) -> Workspace | None:
    return _cluster(space, rng, twice=True)


def agents_in_another_order(space: Workspace, rng: Random) -> Workspace | None:
    return _cluster(space, rng, twice=False)


def cluster_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """The allocation takes machines beyond the cluster that it is of."""
    pod = rng.choice(space.vpods)
    name = f"{pod.prefix}-cluster"
    agents = space.get(pod.tenant, name, VipuCluster).agents
    return None if len(agents) < 2 else space.edit(pod.tenant, name, agents=agents[:-1]).asking(pod.tenant)


def _user(space: Workspace, pod: VPodOf, of: VPodOf) -> Workspace:
    name = f"{pod.prefix}-more-vipu"
    allocation = space.get(of.tenant, f"{of.prefix}-allocation", VipuAllocation).name
    user = VipuUser(name="more", controller=f"{pod.prefix}-controller", allocations=(allocation,))
    return _told(space, pod, name, user)


def user_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    return None if found is None else _user(space, *found)


def user_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _user(space, pod, pod)


def _handed(space: Workspace, server: VPodOf, whose: VPodOf) -> Workspace:
    item = StoredCredential(
        project=f"{server.tenant}-project", credential=f"{whose.prefix}-poplar-0-vipu",
        place=f"{server.prefix}-poplar-0", item="vipu",
    )  # fmt: skip
    return space.add(server.tenant, f"{server.prefix}-more-key", item).asking(server.tenant)


def anothers_vipu_key(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    return None if found is None else _handed(space, *found)


def own_vipu_key(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _handed(space, pod, pod)


VIPU: tuple[Operator, ...] = (
    Operator(
        "agent-of-another", "an agent of another's machine",
        agent_of_another, agent_at_another_port, "TOP-06", ("TOP-10",),
    ),
    Operator(
        "agent-elsewhere", "an agent asked at another machine's address",
        agent_elsewhere, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "agent-twice", "a V-IPU cluster with an agent twice",
        agent_twice, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "allocation-beyond", "a V-IPU allocation beyond its cluster",
        cluster_of_another, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "agent-at-a-bmc", "an agent asked at the address of its machine's BMC",
        agent_at_a_bmc, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "agents-out-of-order", "a V-IPU cluster in another order than its cables",
        agents_in_another_order, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "cluster-ring-open", "a V-IPU cluster that is a torus without the cable back",
        ring_without_a_cable, agent_at_another_port, "TOP-10",
    ),
    Operator(
        "vipu-user-of-another", "a V-IPU user with another's allocation",
        user_of_another, user_of_ones_own, "TOP-10", ("AUTH-01", "FACT-01"),
    ),
    Operator(
        "vipu-key-of-another", "the key of another's V-IPU user handed to a server",
        anothers_vipu_key, own_vipu_key, "AUTH-01", ("FACT-01",),
    ),
)  # fmt: skip
