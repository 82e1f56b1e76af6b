"""V-IPU: TOP-10 what stands at a controller is its vPOD's, TOP-11 partitions are such as V-IPU makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from interlock.hardware import MACHINES, partition_faults
from policies.about import components, resources
from policies.facts.fabric import AllocationFact, PartitionFact
from policies.facts.kinds import VPodFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import machines_of
from .rule import Cause, Of, Polarity, Rule, RuleAnswer
from .vipu_objects import faults_of


def _covered(model: Model, _: Names) -> RuleAnswer:
    causes = [cause for vpod in model.plan.vpods for cause in _of_vpod(model, vpod)]
    known = {vpod.name for vpod in model.plan.vpods}
    outside = [_cause(item.name, "stands in no vPOD", ()) for item in model.plan.allocations if item.vpod not in known]
    beside = [_cause(name, why, (), *named, what=what) for what, name, why, named in faults_of(model)]
    return RuleAnswer(len(model.plan.vpods), violated=(*causes, *outside, *beside))


def _of_vpod(model: Model, vpod: VPodFact) -> Iterator[Cause]:
    found = [item for item in model.plan.allocations if item.vpod == vpod.name]
    if len(found) != 1:
        names = tuple(item.name for item in found)
        yield _cause(vpod.name, f"has {len(found)} V-IPU allocations, and a vPOD is one", names, *names, what="vPOD")
    for item in found:
        yield from _of_allocation(model, vpod, item)


def _of_allocation(model: Model, vpod: VPodFact, item: AllocationFact) -> Iterator[Cause]:
    twice = [name for name, times in Counter(item.machines).items() if times > 1]
    if twice:
        yield _cause(item.name, f"names {', '.join(twice)} twice", item.machines)
    missing, strange = set(vpod.machines) - set(item.machines), set(item.machines) - set(vpod.machines)
    if missing:
        yield _cause(item.name, f"lacks {', '.join(sorted(missing))} of vPOD {vpod.name}", tuple(sorted(missing)))
    if strange:
        yield _cause(item.name, f"takes {', '.join(sorted(strange))}, not of vPOD {vpod.name}", tuple(sorted(strange)))
    controller = model.plan.server.get(item.controller)
    if controller is None or not controller.is_controller or controller.vpod != vpod.name:
        why = f"stands on {item.controller}, not the controller of vPOD {vpod.name}"
        yield _cause(item.name, why, (), item.controller)


def _cause(name: str, why: str, witness: tuple[str, ...], *named: str, what: str = "allocation") -> Cause:
    """`named`: the resources that reason and witness name."""
    return Cause(
        key=(name, why),
        message=f"{what} {name} {why}",
        witness=(f"{what} {name}", *witness),
        hint="one cluster and one allocation for each vPOD, on its own controller, with each of its machines once, and "
        "users of that allocation alone",
        specificity=78,
        about=(*resources(name, *named), *components(name)),
    )


def _possible(model: Model, _: Names) -> RuleAnswer:
    causes = [cause for item in model.plan.partitions for cause in _of_partition(model, item)]
    return RuleAnswer(len(model.plan.partitions), violated=(*causes, *_too_many(model)))


def _of_partition(model: Model, item: PartitionFact) -> Iterator[Cause]:
    allocation = model.plan.allocation.get(item.allocation)
    if allocation is None:
        yield _partition_cause(item.name, f"{item.allocation} is no allocation of this plan", item.allocation)
        return
    faults = partition_faults(
        item.ipus, item.gcds, item.replicas, allocation_ipus=_ipus(model, allocation),
        reconfigurable=item.reconfigurable, sync_type=item.sync_type, routing=item.routing,
        torus=allocation.topology == "torus",
    )  # fmt: skip
    yield from (_partition_cause(item.name, fault) for fault in faults)


def _ipus(model: Model, allocation: AllocationFact) -> int:
    return sum(MACHINES[machine.generation].ipus.value for machine in machines_of(model, allocation.machines))


def _too_many(model: Model) -> Iterator[Cause]:
    """Partitions share no IPU, so those of one allocation fit into it together."""
    for allocation in model.plan.allocations:
        asked = [item for item in model.plan.partitions if item.allocation == allocation.name]
        total, there = sum(item.ipus for item in asked), _ipus(model, allocation)
        if len(asked) > 1 and total > there:
            names = ", ".join(f"{item.name} {item.ipus}" for item in asked)
            why = f"{total} IPUs in partitions ({names}) of {there} there are"
            yield _partition_cause(allocation.name, why, *(item.name for item in asked))


def _partition_cause(name: str, why: str, *named: str) -> Cause:
    """`named`: the resources that the reason names."""
    return Cause(
        key=(name, why),
        message=f"{name}: {why}",
        witness=(name, why),
        hint="correct `partitions:` of the vPOD",
        specificity=77,
        about=resources(name, *named),
    )


TOP_10 = Rule(
    id="TOP-10",
    title="what a V-IPU controller is told is of its own vPOD, each machine once",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="users of one allocation reach everything in it, and a list with one machine twice lacks another",
    source="Graphcore, V-IPU administrator guide, users and allocations; a public set-up script with an agent twice",
    needs=(
        "agents",
        "V-IPU clusters",
        "allocations",
        "V-IPU users",
        "machines of vPODs",
        "controllers",
        "machines",
        "IPU-Link cables",
        "GW-Link cables",
    ),
    ask=_covered,
    of=Of.TENANT,
)
TOP_11 = Rule(
    id="TOP-11",
    title="partitions have a form that V-IPU can create",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="V-IPU would refuse them when everything else stands already",
    source="Graphcore, V-IPU user guide, partitions",
    needs=("partitions", "allocations"),
    ask=_possible,
    of=Of.TENANT,
)
