"""What becomes of the nodes of GPU clusters, as text: who leaves and what is lost, and how far a roll is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from interlock.planning.cluster_life import NodeStep, Partitions, drained_first
from interlock.planning.rolling import RollNode, RollState
from interlock.planning.scheduler.slurm import STATE

#: What becomes of a node's ports, and when.
_PARTING: dict[Partitions, str] = {
    "none": "{ended}",
    "stay": "its ports out of the partition first, then {ended}",
    "go": "{ended}, then the partition goes",
}
#: Nodes of one cluster that are deployed anew at once, from which on a roll is named.
_AT_ONCE = 2


def node_lines(steps: Sequence[NodeStep]) -> Iterator[str]:
    """A line for each node, by cluster, and what to do first where something is lost."""
    for cluster in dict.fromkeys(step.cluster for step in steps):
        own = [step for step in steps if step.cluster == cluster]
        yield from (f"  {step.server} {_happens(step)}" for step in own)
        lost = [step for step in own if step.is_lost]
        if lost:
            has_slurm, has_controller = any(step.runs_slurm for step in lost), lost[0].is_controller
            told = drained_first([step.server for step in lost], runs_slurm=has_slurm, has_controller=has_controller)
            yield f"    {told}"
        again = sum(step.action == "redone" and not step.is_refused for step in own)
        if again >= _AT_ONCE:
            yield f"    {again} nodes of {cluster} are deployed anew at once; with `roll:` it is one after the other"


def _happens(step: NodeStep) -> str:
    lost = "what is on its own disks is lost"
    if step.action == "comes":
        first = "" if step.partitions == "none" else "its ports come into the partition first; "
        return f"comes, on {step.host} with {step.image}: {first}{'created' if step.is_virtual else 'deployed'}"
    if step.action == "redone":
        images = f"{step.image_before} → {step.image}"
        if step.is_refused:
            return (
                f"has another image on {step.host}, {images}: `pulumi up` refuses, since its devices are for one use; "
                "say `state: released`, settle it, then ask for it with the new image"
            )
        return f"is deployed anew on {step.host}, {images}: undeployed, cleaned, deployed; {lost}"
    ended = "deleted, its devices kept back" if step.is_virtual else "undeployed and cleaned"
    gone = f"{_PARTING[step.partitions].format(ended=ended)}; nobody's until it is settled; {lost}"
    if step.action == "leaves":
        return f"leaves {step.host_before}: {gone}"
    return f"moves to {step.host}, with its name and address; {step.host_before}: {gone}"


def roll_lines(rolls: Iterable[RollState]) -> Iterator[str]:
    """How far each roll is, what differs while it goes on, and the next step, command by command."""
    for item in rolls:
        count = len(item.done) + len(item.left)
        yield f"  {item.cluster}: {item.before} → {item.after}, {len(item.done)} of {count} nodes"
        if item.left:
            for name, before, after in item.differences if item.done else ():
                yield f"    beside each other: {name} {before} and {after}"
            if item.done and item.differences:
                yield "    keep jobs on nodes of one image: nothing here knows whether both fit one job"
            yield from _next(item, item.left[0])
        else:
            yield f"    all have it: say `image: {item.after}` and take `roll` out, which changes no node"


def _next(item: RollState, node: RollNode) -> Iterator[str]:
    order = ", ".join(f"{one.host} ({one.server})" for one in item.left)
    yield f"    left, in this order: {order}"
    is_slurm = item.scheduler == "slurm"
    if is_slurm:
        yield f"    1. `scontrol update NodeName={node.server} State=DRAIN Reason=image`"
        yield f"    2. wait until `sinfo -h -n {node.server} -o %T` says drained"
    else:
        yield f"    1. give {node.server} no new job"
        yield "    2. wait until nothing runs on it, and save what is on its own disks"
    if is_slurm and node.is_controller:
        yield f"       it is the controller: save {STATE}, and put it back before slurmctld starts"
    yield f"    3. add {node.host} to `clusters.{item.cluster}.roll.drained`; `interlock lock`, `pulumi up`"
    resumed = f"`scontrol update NodeName={node.server} State=RESUME`" if is_slurm else "give it jobs again"
    yield f"    4. {resumed}; then the next"
