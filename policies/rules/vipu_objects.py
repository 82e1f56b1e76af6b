"""TOP-10, of what stands at a V-IPU controller beside the allocation: agents, clusters, users, partitions.

No source says that V-IPU refuses any of this: a controller believes what it is told of a machine's address, and takes a
machine that another controller has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from policies.facts.fabric import AllocationFact
from policies.facts.kinds import PlanFacts, VPodFact
from policies.facts.vipu import AgentClusterFact, AgentFact, VipuUserFact
from policies.graph.model import Model

from .vipu_cables import VipuFault, cable_faults


def faults_of(model: Model) -> Iterator[VipuFault]:
    """Everything wrong of a plan's objects at controllers, but for what its allocations say by themselves."""
    plan = model.plan
    yield from _twice(plan)
    for vpod in plan.vpods:
        yield from _agents(model, vpod)
        yield from _clusters(plan, vpod)
        yield from _domains(model, vpod)
        yield from cable_faults(model, vpod)
    known = {vpod.name for vpod in plan.vpods}
    for what, items in _objects(plan):
        for item in items:
            if item.vpod not in known:
                yield what, item.name, "stands in no vPOD", ()
            else:
                yield from _at_its_controller(plan, what, item)
    yield from _allocations(plan)
    yield from _users(plan)


def _objects(plan: PlanFacts) -> Iterable[tuple[str, Iterable[AgentFact | AgentClusterFact | VipuUserFact]]]:
    return (("agent", plan.vipu.agents), ("cluster", plan.vipu.clusters), ("user", plan.vipu.users))


def _at_its_controller(
    plan: PlanFacts, what: str, item: AgentFact | AgentClusterFact | VipuUserFact
) -> Iterator[VipuFault]:
    controller = plan.server.get(item.controller)
    if controller is None or not controller.is_controller or controller.vpod != item.vpod:
        why = f"stands on {item.controller}, not the controller of vPOD {item.vpod}"
        yield what, item.name, why, (item.controller,)


def _twice(plan: PlanFacts) -> Iterator[VipuFault]:
    """Two agents of one machine: at one controller it counts twice, at two both command it."""
    by_machine: defaultdict[str, list[str]] = defaultdict(list)
    for item in plan.vipu.agents:
        by_machine[item.machine].append(item.name)
    for machine, names in sorted(by_machine.items()):
        if len(names) > 1:
            yield "agent", names[0], f"is of {machine}, and so is {' and '.join(names[1:])}", tuple(names[1:])


def _agents(model: Model, vpod: VPodFact) -> Iterator[VipuFault]:
    known = model.site.site.machine
    own = [item for item in model.plan.vipu.agents if item.vpod == vpod.name]
    missing = sorted(set(vpod.machines) & known.keys() - {item.machine for item in own})
    if missing:
        yield "vPOD", vpod.name, f"has no agent of {', '.join(missing)}", ()
    addresses = _management_addresses(model.plan)
    for item in own:
        if item.machine not in vpod.machines:
            yield "agent", item.name, f"is of {item.machine}, not of vPOD {vpod.name}", ()
            continue
        if item.machine in known and item.serial != known[item.machine].serial:
            why = f"is of the board {item.serial}, and {item.machine} is {known[item.machine].serial}"
            yield "agent", item.name, why, ()
        # The name is the plan's word; whom the controller asks is decided by the address.
        bmc, gateway = addresses.get(item.machine, (None, None))
        if item.host == bmc != gateway:
            yield "agent", item.name, f"is asked at {item.host}, where the BMC of {item.machine} is", ()
        elif item.host != gateway:
            yield "agent", item.name, f"is asked at {item.host}, where {item.machine} is not", ()


def _management_addresses(plan: PlanFacts) -> Mapping[str, tuple[str, str]]:
    """Machine -> the addresses of its BMC and of its gateway, which stand in this order behind its management port."""
    ports = (item for item in plan.switch_ports if item.interface == "mgmt" and item.addresses)
    return {item.device: (item.addresses[0], item.addresses[-1]) for item in ports}


def _clusters(plan: PlanFacts, vpod: VPodFact) -> Iterator[VipuFault]:
    found = [item for item in plan.vipu.clusters if item.vpod == vpod.name]
    if len(found) != 1:
        names = tuple(item.name for item in found)
        yield "vPOD", vpod.name, f"has {len(found)} V-IPU clusters, and a vPOD is one", names
    own = {item.name for item in plan.vipu.agents if item.vpod == vpod.name}
    for item in found:
        twice = [name for name, times in Counter(item.agents).items() if times > 1]
        if twice:
            yield "cluster", item.name, f"names {', '.join(twice)} twice", tuple(twice)
        if strange := sorted({*item.agents} - own):
            yield "cluster", item.name, f"has {', '.join(strange)}, not of vPOD {vpod.name}", tuple(strange)
        if missing := sorted(own - {*item.agents}):
            yield "cluster", item.name, f"lacks {', '.join(missing)} of vPOD {vpod.name}", tuple(missing)


def _domains(model: Model, vpod: VPodFact) -> Iterator[VipuFault]:
    """Logical racks are IPU-Link domains, and a loop of GW-Links joins two or more of them."""
    known = model.site.site.machine
    racks = len({known[name].logical_rack for name in vpod.machines if name in known})
    for item in model.plan.vipu.clusters:
        if item.vpod == vpod.name and item.link_domains != max(1, racks):
            why = f"has {item.link_domains} IPU-Link domains, and its machines stand in {racks} logical racks"
            yield "cluster", item.name, why, ()
        if item.vpod == vpod.name and item.cluster_topology == "looped" and item.link_domains == 1:
            yield "cluster", item.name, "loops GW-Links of one IPU-Link domain", ()


def _allocations(plan: PlanFacts) -> Iterator[VipuFault]:
    """Each is of the one cluster of its vPOD, and takes no machine beyond it; so do partitions with allocations."""
    clusters = {item.name: item for item in plan.vipu.clusters}
    machine_of = {item.name: item.machine for item in plan.vipu.agents}
    for item in plan.allocations:
        cluster = clusters.get(item.cluster)
        if cluster is None or cluster.vpod != item.vpod:
            yield "allocation", item.name, f"is of {item.cluster or 'no cluster'}, no cluster of its vPOD", ()
            continue
        beyond = sorted({*item.machines} - {machine_of[name] for name in cluster.agents if name in machine_of})
        if beyond:
            why = f"takes {', '.join(beyond)}, of which cluster {cluster.name} has no agent"
            yield "allocation", item.name, why, (cluster.name,)
    for part in plan.partitions:
        allocation = plan.allocation.get(part.allocation)
        if allocation is not None and part.controller != allocation.controller:
            why = f"stands on {part.controller}, and its allocation on {allocation.controller}"
            yield "partition", part.name, why, (part.controller, allocation.controller)


def _users(plan: PlanFacts) -> Iterator[VipuFault]:
    for item in plan.vipu.users:
        if not item.allocations:
            # No source says what such a user may do: nothing, or everything.
            yield "user", item.name, "has no allocation, which may open all of them to it", ()
        for name in item.allocations:
            if not _is_own(plan.allocation.get(name), item):
                yield "user", item.name, f"has {name}, no allocation of vPOD {item.vpod}", (name,)


def _is_own(allocation: AllocationFact | None, user: VipuUserFact) -> bool:
    return allocation is not None and (allocation.vpod, allocation.controller) == (user.vpod, user.controller)
