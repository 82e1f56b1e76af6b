"""Agents, clusters, allocations and users of V-IPU, which administrators of a controller alone can write."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from interlock.provider.agent_order import other_order
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.vipu import asking
from interlock.provider.vipu_users import MADE
from interlock.resources import Resource, VipuAgent, VipuAllocation, VipuCluster, VipuUser
from interlock.vocabulary.pair_ids import VipuId

from .agent_addresses import clear_address, own_agents
from .base import Observed, Phase, Target
from .vipu import VipuActuator, controller_of, differences, names_in

if TYPE_CHECKING:
    from interlock.vipu.answers import SaidAgent, SaidAllocation, SaidCluster
    from interlock.vipu.client import ControllerClient
    from interlock.vipu.commands import Noun

_ANSWERS = frozenset({"ONLINE", "MAINTENANCE"})
_ON_ITS_WAY = frozenset({"CREATING", "REMOVING"})
_MAKING = threading.Lock()


class VipuAgentActuator(VipuActuator[VipuAgent]):
    """Agents. One that does not answer yet is waited for: its machine may still start."""

    KIND: ClassVar[type[Resource]] = VipuAgent
    NOUN: ClassVar[Noun] = "agent"
    PATIENCE: ClassVar[float] = 180.0

    def look(self, controller: ControllerClient, ident: VipuId, target: Target[VipuAgent] | None) -> Observed | None:
        found = controller.agents().get(ident.name)
        if found is None:
            return None
        phase = Phase.READY if found.state in _ANSWERS else Phase.PENDING
        reason = "" if phase is Phase.READY else _unheard(found, target)
        return Observed(str(ident), "", {"host": found.host, "port": found.port}, phase=phase, reason=reason)

    def other_content(self, controller: ControllerClient, target: Target[VipuAgent]) -> str:
        found, spec = controller.agents()[target.spec.name], target.spec
        return differences({"address": (f"{found.host}:{found.port}", f"{spec.host}:{spec.port}")})

    def in_the_way(self, controller: ControllerClient, target: Target[VipuAgent]) -> str:
        """Agents that somebody made under a name of their own. By the address they command the same machine."""
        own, spec = own_agents(target.spec), target.spec
        names = sorted(item.id for item in controller.agents().values() if item.host == spec.host)
        names = [name for name in names if not name.startswith(own)]
        return f"{spec.host}, the address of {spec.machine}, is that of agent {' and '.join(names)}" if names else ""

    def make(self, controller: ControllerClient, target: Target[VipuAgent]) -> None:
        # One at a time: what stood at an address goes, and is not an agent that was made elsewhere meanwhile.
        with _MAKING:
            clear_address(controller, target)
            controller.create_agent(target.spec.name, target.spec.host, target.spec.port)

    def users(self, controller: ControllerClient, ident: VipuId) -> Iterable[str]:
        return [f"cluster {item.id}" for item in controller.clusters().values() if ident.name in item.agents]


def _unheard(found: SaidAgent, target: Target[VipuAgent] | None) -> str:
    machine = "" if target is None else f" of machine {target.spec.machine} (serial {target.spec.serial})"
    return (
        f"agent {found.id}{machine} at {found.host}:{found.port} is {found.state}; see that the machine is up, that "
        "the port of its gateway is in the VLAN of the vPOD's management network (`interlock switches`), and that "
        "DHCP gave it this address"
    )


class VipuClusterActuator(VipuActuator[VipuCluster]):
    """Clusters. One with a machine that is down is DEGRADED, which no recreation mends: it counts as made."""

    KIND: ClassVar[type[Resource]] = VipuCluster
    NOUN: ClassVar[Noun] = "cluster"
    PATIENCE: ClassVar[float] = 600.0

    def look(self, controller: ControllerClient, ident: VipuId, target: Target[VipuCluster] | None) -> Observed | None:
        found = controller.clusters().get(ident.name)
        if found is None:
            return None
        fields = {
            "topology": found.topology, "cluster_topology": found.cluster_topology, "link_domains": found.link_domains,
        }  # fmt: skip
        references = {"agents": tuple(str(VipuId(ident.server, "agent", name)) for name in found.agents)}
        phase = Phase.PENDING if found.state in _ON_ITS_WAY else Phase.READY
        reason = _other_order(found, target) if phase is Phase.READY else ""
        phase = Phase.BROKEN if reason else phase
        return Observed(str(ident), "", fields, references, phase=phase, reason=reason or f"it is {found.state}")

    def other_content(self, controller: ControllerClient, target: Target[VipuCluster]) -> str:
        found, spec = controller.clusters()[target.spec.name], target.spec
        wanted = names_in(target.many("agents"))
        return differences({
            "agents": (found.agents, wanted) if other_order(found.agents, wanted) else _sets(found.agents, wanted),
            "topology": (found.topology, spec.topology),
            "cluster topology": (found.cluster_topology, spec.cluster_topology),
            "IPU-Link domains": (found.link_domains, spec.link_domains),
        })  # fmt: skip

    def make(self, controller: ControllerClient, target: Target[VipuCluster]) -> None:
        spec = target.spec
        controller.create_cluster(
            spec.name, names_in(target.many("agents")), spec.link_domains, spec.topology, spec.cluster_topology
        )

    def users(self, controller: ControllerClient, ident: VipuId) -> Iterable[str]:
        yield from (f"allocation {item.id}" for item in controller.allocations().values() if item.cluster == ident.name)
        yield from (f"partition {item.id}" for item in controller.partitions().values() if item.cluster == ident.name)


def _sets(there: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[object, object]:
    """Both without their order; as they are if one names an agent twice."""
    one, other = frozenset(there), frozenset(wanted)
    return (one, other) if len(one) == len(there) else (there, wanted)


def _other_order(found: SaidCluster, target: Target[VipuCluster] | None) -> str:
    """How the order of its agents is another than planned; empty if it is the same, or nobody can tell."""
    wanted = () if target is None else names_in(target.many("agents"))
    if not other_order(found.agents, wanted):
        return ""
    return f"its agents are in the order {', '.join(found.agents)}, and their cables in that of {', '.join(wanted)}"


class VipuAllocationActuator(VipuActuator[VipuAllocation]):
    """Allocations, of all agents of a cluster. What users made in one goes with it: a plan has told of that."""

    KIND: ClassVar[type[Resource]] = VipuAllocation
    NOUN: ClassVar[Noun] = "allocation"
    PATIENCE: ClassVar[float] = 180.0

    def look(
        self, controller: ControllerClient, ident: VipuId, target: Target[VipuAllocation] | None
    ) -> Observed | None:
        found = controller.allocations().get(ident.name)
        if found is None:
            return None
        # Releases may not say it.
        cluster = {} if found.cluster is None else {"cluster": str(VipuId(ident.server, "cluster", found.cluster))}
        fields = {} if target is None else {"machines": _machines(controller, found, target)}
        return Observed(str(ident), "", fields, references=cluster)

    def other_content(self, controller: ControllerClient, target: Target[VipuAllocation]) -> str:
        found = controller.allocations()[target.spec.name]
        cluster = VipuId.parse(target.one("cluster")).name
        planned = controller.clusters().get(cluster)
        return differences({
            "cluster": (found.cluster or cluster, cluster),
            "agents": (frozenset(found.agents), frozenset(() if planned is None else planned.agents)),
        })  # fmt: skip

    def make(self, controller: ControllerClient, target: Target[VipuAllocation]) -> None:
        controller.create_allocation(target.spec.name, VipuId.parse(target.one("cluster")).name)

    def let_go(self, controller: ControllerClient, ident: VipuId, target: Target[VipuAllocation]) -> None:
        for partition in controller.partitions_in(ident.name):
            # Planned ones went before; one that is on its way out is waited for, as `users` names it.
            if partition.state != "REMOVING":
                controller.remove("partition", partition.id)
        for user in controller.users().values():
            if ident.name not in (user.allocations or ()):
                continue
            left = tuple(name for name in user.allocations or () if name != ident.name)
            if not left:
                # An empty list might open all allocations to that user.
                what = f"{self.words(target)} is the only one of user {user.id}, whom no plan of this stack has"
                raise Failure(Trouble.IN_USE, what, "remove that user at the controller, then run the command again")
            controller.restrict_user(user.id, left)

    def users(self, controller: ControllerClient, ident: VipuId) -> Iterable[str]:
        return [f"partition {item.id}" for item in controller.partitions_in(ident.name)]


def _machines(controller: ControllerClient, found: SaidAllocation, target: Target[VipuAllocation]) -> list[str]:
    """The machines of an allocation; the id of an agent stands for one that is not planned. A cluster's agents are in
    the order of the planned machines.
    """
    cluster = controller.clusters().get(VipuId.parse(target.one("cluster")).name)
    machine = dict(zip(() if cluster is None else cluster.agents, target.spec.machines, strict=False))
    return [machine.get(agent, agent) for agent in found.agents]


class VipuUserActuator(VipuActuator[VipuUser]):
    """Users. The key that one is made with is forgotten: whoever hands one to a server asks for a new one."""

    KIND: ClassVar[type[Resource]] = VipuUser
    NOUN: ClassVar[Noun] = "user"
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        MADE: "another word for each making of a user of this id: a key with another one is dead"
    }

    def find(self, cloud: Cloud, target: Target[VipuUser]) -> Sequence[str]:
        found = super().find(cloud, target)
        for ident in found if target.folder is not None else ():
            cloud.controllers.users.taken_over(ident)
        return found

    def create(self, cloud: Cloud, target: Target[VipuUser]) -> str:
        # Before it is there: whoever looks at it says which making it is of.
        cloud.controllers.users.made(str(self.ident(target)))
        return super().create(cloud, target)

    def read(self, cloud: Cloud, ident: str, target: Target[VipuUser] | None = None) -> Observed | None:
        seen, word = super().read(cloud, ident, target), cloud.controllers.users.word(ident)
        # In a process that knows nothing of it, the state's word stays.
        return replace(seen, outputs={MADE: word}) if seen is not None and word else seen

    def look(self, controller: ControllerClient, ident: VipuId, target: Target[VipuUser] | None) -> Observed | None:
        found = controller.users().get(ident.name)
        if found is None:
            return None
        if found.admin and target is not None:
            what = f"{self.words(target)} is an administrator of the controller"
            raise refused(what, "somebody made it one: remove that user at the controller, then run the command again")
        # None: all of them are open to it, which is another list than any that is planned.
        names = ("*",) if found.allocations is None else found.allocations
        ids = tuple(str(VipuId(ident.server, "allocation", name)) for name in names)
        return Observed(str(ident), "", references={"allocations": ids})

    def other_content(self, controller: ControllerClient, target: Target[VipuUser]) -> str:
        found = controller.users()[target.spec.name]
        allocations = None if found.allocations is None else tuple(sorted(found.allocations))
        return differences({"allocations": (allocations, tuple(sorted(names_in(target.many("allocations")))))})

    def make(self, controller: ControllerClient, target: Target[VipuUser]) -> None:
        controller.create_user(target.spec.name, names_in(target.many("allocations")))

    def update(self, cloud: Cloud, target: Target[VipuUser], seen: Observed, changed: frozenset[str]) -> None:
        ident = VipuId.parse(seen.id)
        with asking():
            controller_of(cloud, ident, target).restrict_user(ident.name, names_in(target.many("allocations")))
