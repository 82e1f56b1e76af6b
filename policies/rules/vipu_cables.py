"""TOP-10, of a V-IPU cluster and the cables of its machines: their order, a torus, a loop of GW-Links.

A controller gives out IPUs as if the machines of a cluster were cabled in the order in which it was told of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from interlock.model.site.inventory import Machine
from policies.facts.kinds import VPodFact
from policies.facts.vipu import AgentClusterFact
from policies.graph.model import Model

from .racks import by_rack, machines_of

#: What of V-IPU, its plan name, why it is wrong, and the other resources that this names.
VipuFault = tuple[str, str, str, tuple[str, ...]]


def cable_faults(model: Model, vpod: VPodFact) -> Iterator[VipuFault]:
    """Of clusters of exactly the machines of their vPOD; of others it is said already that they are not."""
    machine_of = {item.name: item.machine for item in model.plan.vipu.agents if item.vpod == vpod.name}
    for item in model.plan.vipu.clusters:
        names = tuple(machine_of.get(name, "") for name in item.agents)
        machines = machines_of(model, names)
        if item.vpod == vpod.name and machines and sorted(names) == sorted(vpod.machines):
            yield from _of_cluster(model, item, machines)


def _of_cluster(model: Model, item: AgentClusterFact, machines: list[Machine]) -> Iterator[VipuFault]:
    wrong = _misplaced(model, machines)
    if wrong:
        why = f"has its agents in another order than their cables: after {wrong[0]} comes {wrong[1]}"
        yield "cluster", item.name, why, ()
    if item.topology == "torus" and (open_at := next(_open(model, machines), "")):
        yield "cluster", item.name, f"is a torus, and its ring is open: {open_at}", ()
    if item.cluster_topology == "looped" and (apart := next(_apart(model, machines), "")):
        yield "cluster", item.name, f"loops GW-Links, and there is none {apart}", ()


def _misplaced(model: Model, machines: list[Machine]) -> tuple[str, str] | None:
    """The first two neighbours of a list that do not stand so: by logical rack, and there by position."""
    rack = model.site.site.logical_rack

    def place(machine: Machine) -> tuple[int, str, int]:
        found = rack.get(machine.logical_rack)
        return (0 if found is None else found.number or 0), machine.logical_rack, machine.position

    return next(((one.name, other.name) for one, other in pairwise(machines) if place(one) > place(other)), None)


def _open(model: Model, machines: list[Machine]) -> Iterator[str]:
    """Where the ring of IPU-Links of a logical rack is open."""
    standing = by_rack(list(model.site.site.machines))
    for rack, found in by_rack(machines).items():
        if len(found) < len(standing[rack]):
            yield f"{len(found)} of {len(standing[rack])} machines of logical rack {rack}"
        for one, other in pairwise([*found, *found[:1]]):
            if not model.site.hall.ipu_links[frozenset((one.name, other.name))]:
                yield f"no IPU-Link cable {one.name} – {other.name}"


def _apart(model: Model, machines: list[Machine]) -> Iterator[str]:
    """Machines of one position in logical racks that follow each other around the loop, without a GW-Link."""
    racks = by_rack(machines)
    order = list(dict.fromkeys(machine.logical_rack for machine in machines))
    reached, switches = _gateways(model), {item.name for item in model.site.site.switches if item.role == "gw-link"}
    for here, there in pairwise([*order, *order[:1]] if len(order) > 1 else []):
        at = {machine.position: machine.name for machine in racks[there]}
        for machine in racks[here]:
            other, near = at.get(machine.position, ""), reached[machine.name]
            if other not in near and not near & reached[other] & switches:
                yield f"{machine.name} – {other or f'logical rack {there}'}"


def _gateways(model: Model) -> defaultdict[str, set[str]]:
    """Device -> the devices to which its GW-Links lead."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for cable in model.site.site.cables:
        if cable.kind == "gw-link":
            found[cable.a.device].add(cable.b.device)
            found[cable.b.device].add(cable.a.device)
    return found
