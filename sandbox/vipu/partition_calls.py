"""Calls on partitions and on what is inside them: IPU attributes, configurations for clients, workloads."""

from __future__ import annotations

from dataclasses import replace

from .objects import IPUS_OF_A_MACHINE, VipuPartition
from .partition_places import Pool, block_of, domains_of
from .partition_shapes import PartitionShape, routing_in, shape_of
from .refusals import VipuRefused
from .scene import Call, Outcome, Scene, checked_new
from .shown import attributes_of, ipuof_config, partition_form


def create_partition(scene: Scene, call: Call) -> Outcome:
    """Give out IPUs. The answer comes at once; the partition is ACTIVE, or in ERROR, some time later."""
    name = checked_new(scene.state.partitions, "partition", call.id)
    shape = shape_of(call)
    refused: VipuRefused | None = None
    for pool in _pools(scene, call):
        try:
            made = _made(scene, name, shape, pool)
        except VipuRefused as error:
            refused = refused or error
            continue
        later = replace(scene.state, partitions={**scene.state.partitions, name: made})
        return Outcome(later, partition_form(made))
    raise refused or VipuRefused("where")


def _pools(scene: Scene, call: Call) -> list[Pool]:
    """Where the partition may lie: where the command says, or each allocation of the caller in turn."""
    allocation, cluster = call.text("allocation"), call.text("cluster")
    if allocation is not None and cluster is not None:
        raise VipuRefused("both", first="--allocation", second="--cluster")
    if cluster is not None:
        found = scene.cluster(cluster)
        if scene.caller.allocations is not None:
            raise VipuRefused("not-yours", user=scene.caller.user, noun="cluster", id=cluster)
        return [Pool(found, None, found.agents)]
    state = scene.state
    if allocation is not None:
        one = scene.allocation(allocation)
        return [Pool(state.clusters[one.cluster], one.id, one.agents)]
    own = [item for item in state.allocations.values() if scene.caller.sees(item.id)]
    if not own and not state.allocations and len(state.clusters) == 1 and scene.caller.allocations is None:
        # As with releases that had no allocations yet.
        only = next(iter(state.clusters.values()))
        return [Pool(only, None, only.agents)]
    return [Pool(state.clusters[item.cluster], item.id, item.agents) for item in own]


def _made(scene: Scene, name: str, shape: PartitionShape, pool: Pool) -> VipuPartition:
    cluster, durations = pool.cluster, scene.durations
    if cluster.state not in ("READY", "DEGRADED"):
        raise VipuRefused("cluster-not-ready", id=cluster.id, state=cluster.state)
    block = block_of(scene.state, pool, shape.size, shape.index)
    machines, domains = len({place.agent for place in block}), domains_of(cluster, block)
    return VipuPartition(
        id=name,
        cluster=cluster.id,
        allocation=pool.allocation,
        owner=scene.caller.user,
        ipus=block,
        num_gcds=shape.gcds,
        num_replicas=shape.replicas,
        routing=routing_in(shape, cluster, machines, domains),
        gateway_routing="DEFAULT",
        sync_type=shape.sync_type,
        reconfigurable=shape.reconfigurable,
        index=shape.index,
        domains=domains,
        ready_at=scene.now + durations.partition + machines * durations.partition_machine,
        deadline=scene.now + durations.deadline,
    )


def reset_partition(scene: Scene, call: Call) -> Outcome:
    """Set up again, also out of ERROR. Whatever runs on it ends."""
    partition = scene.partition(call.id)
    if partition.state not in ("ACTIVE", "ERROR"):
        raise VipuRefused("partition-not-active", id=partition.id, state=partition.state)
    machines = len({place.agent for place in partition.ipus})
    again = replace(
        partition,
        state="PENDING",
        reason=None,
        occupied=(),
        ready_at=scene.now + scene.durations.partition + machines * scene.durations.partition_machine,
        deadline=scene.now + scene.durations.deadline,
    )
    return _with(scene, again)


def remove_partition(scene: Scene, call: Call) -> Outcome:
    """Give its IPUs back. Whatever runs on it ends; no source says that it would be refused."""
    partition = scene.partition(call.id)
    if partition.state == "REMOVING":
        raise VipuRefused("partition-not-active", id=partition.id, state=partition.state)
    gone_at = scene.now + scene.durations.removal
    return _with(scene, replace(partition, state="REMOVING", gone_at=gone_at, occupied=()))


def _with(scene: Scene, partition: VipuPartition) -> Outcome:
    later = replace(scene.state, partitions={**scene.state.partitions, partition.id: partition})
    return Outcome(later, partition_form(partition))


def get_partition(scene: Scene, call: Call) -> Outcome:
    """One partition; with `--ipuof-configs` what clients of a GCD, or of all of them, read."""
    partition = scene.partition(call.id)
    if not call.given("ipuof-configs"):
        return Outcome(scene.state, partition_form(partition))
    _check_active(partition)
    asked = call.number("gcd")
    gcds = range(partition.num_gcds) if asked is None else (_gcd(partition, asked),)
    configs = [ipuof_config(scene.state, scene.racks, partition, gcd) for gcd in gcds]
    return Outcome(scene.state, {**partition_form(partition), "ipuof_configs": configs})


def list_partitions(scene: Scene, _: Call) -> Outcome:
    """Those in the caller's allocations, whoever made them."""
    shown = [item for item in scene.state.partitions.values() if scene.caller.sees(item.allocation)]
    return Outcome(scene.state, [partition_form(item) for item in shown])


def occupy_partition(scene: Scene, call: Call) -> Outcome:
    """A workload attaches to a GCD: the stand-in for everything that runs on IPUs."""
    partition = scene.partition(call.id)
    _check_active(partition)
    gcd = _gcd(partition, call.number("gcd") or 0)
    if gcd in partition.occupied:
        raise VipuRefused("gcd-occupied", id=partition.id, gcd=gcd)
    return _with(scene, replace(partition, occupied=tuple(sorted((*partition.occupied, gcd)))))


def vacate_partition(scene: Scene, call: Call) -> Outcome:
    """The workload ends by itself."""
    partition = scene.partition(call.id)
    gcd = _gcd(partition, call.number("gcd") or 0)
    return _with(scene, replace(partition, occupied=tuple(item for item in partition.occupied if item != gcd)))


def _check_active(partition: VipuPartition) -> None:
    if partition.state != "ACTIVE":
        raise VipuRefused("partition-not-active", id=partition.id, state=partition.state)


def _gcd(partition: VipuPartition, gcd: int) -> int:
    if not 0 <= gcd < partition.num_gcds:
        raise VipuRefused("no-gcd", id=partition.id, gcd=gcd)
    return gcd


def list_attributes(scene: Scene, _: Call) -> Outcome:
    """Attributes of each IPU of the caller's agents."""
    state, caller = scene.state, scene.caller
    own = {name for item in state.allocations.values() if caller.sees(item.id) for name in item.agents}
    shown = [
        {"agent": agent.id, "ipu": ipu, "attributes": attributes_of(agent, scene.racks.at(agent.host, agent.port), ipu)}
        for agent in state.agents.values()
        if caller.allocations is None or agent.id in own
        for ipu in range(IPUS_OF_A_MACHINE)
    ]
    return Outcome(state, shown)
