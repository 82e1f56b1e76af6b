"""Operators on InfiniBand and NVLink partitions, V-IPU allocations and machines."""

from __future__ import annotations

from random import Random

from interlock.planning.plan import Plan
from interlock.resources import NvlinkPartition, PartitionKey, VipuAllocation, VipuPartition
from tests.mutants.operator import Operator, strangers
from tests.mutants.sites import RESERVED_KEY, guid, key
from tests.mutants.workspaces import VPodOf, Workspace

# InfiniBand.


def _keyed(space: Workspace, rng: Random, number: int, item: PartitionKey) -> Workspace | None:
    """One more key of the tenant with this number."""
    if not space.site.infiniband or number > len(space.tenants):
        return None
    tenant = space.tenants[number - 1]
    assert rng is not None
    return space.add(tenant, f"{tenant}-pkey-2", item).asking(tenant)


def key_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """The other's 15 bits; the upper bit is none of the key."""
    return _keyed(space, rng, 1, key(0x8002, **{guid(1): "limited"}))


def key_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(0x8042, **{guid(1): "limited"}))


def key_outside_the_pool(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(0x0300, **{guid(1): "full"}))


def port_of_another(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(0x0042, **{guid(2): "full"}))


def full_by_default(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(0x7FFF, **{guid(1): "full"}))


def limited_by_default(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(0x7FFF, **{guid(1): "limited"}))


def full_in_a_shared_key(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(RESERVED_KEY, **{guid(1): "full"}))


def limited_in_a_shared_key(space: Workspace, rng: Random) -> Workspace | None:
    return _keyed(space, rng, 1, key(RESERVED_KEY, **{guid(1): "limited"}))


# NVLink.


def _grouped(space: Workspace, number: int, *gpus: str) -> Workspace | None:
    tenant = space.tenants[0]
    if f"{tenant}-gpus" not in space.plan(tenant).by_name:
        return None
    item = NvlinkPartition(name="more", domain="nvl-1", partition=number, gpus=gpus)
    return space.add(tenant, f"{tenant}-gpus-2", item).asking(tenant)


def group_of_another(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 2, "gpu-1-9")


def gpu_of_another(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 42, "gpu-2-1")


def group_of_ones_own(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 42, "gpu-1-9")


# V-IPU and machines.


def _machines(space: Workspace, rng: Random, taken: str) -> Workspace | None:
    """An allocation with one more machine."""
    found = strangers(space, rng)
    if found is None:
        return None
    mine, theirs = found
    name = f"{mine.prefix}-allocation"
    old = space.get(mine.tenant, name, VipuAllocation).machines
    more = theirs.claims.machines[0] if taken == "theirs" else old[0]
    return space.edit(mine.tenant, name, machines=(*old, more)).asking(mine.tenant)


def allocation_of_two(space: Workspace, rng: Random) -> Workspace | None:
    return _machines(space, rng, "theirs")


def _partition(space: Workspace, pod: VPodOf, name: str) -> Workspace:
    item = VipuPartition(
        name=name, controller=f"{pod.prefix}-controller", allocation=f"{pod.prefix}-allocation", ipus=1,
        sync_type="c2-compatible",
    )  # fmt: skip
    return space.add(pod.tenant, name, item).asking(pod.tenant)


def partition_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    return _partition(space, rng.choice(space.vpods), "more")


def partition_with_a_bad_name(space: Workspace, rng: Random) -> Workspace | None:
    return _partition(space, rng.choice(space.vpods), "p-$(reboot)")


def machine_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """The lock of another has it as well: both plans set its switch ports."""
    found = strangers(space, rng)
    if found is None:
        return None
    mine, theirs = found
    plan = space.plan(mine.tenant)
    for kind in ("rnic", "mgmt"):
        wanted = f"{theirs.prefix}-{kind}-{theirs.claims.machines[0]}"
        item = space.plan(theirs.tenant).by_name[wanted]
        own = f"{mine.prefix}-{kind}-{mine.claims.machines[0]}"
        vlan = getattr(plan.by_name[own].resource, "vlan", 0)
        stolen = item.model_copy(
            update={
                "name": f"{mine.prefix}-{kind}-{theirs.claims.machines[0]}",
                "component": plan.by_name[own].component,
                "vpod": plan.by_name[own].vpod,
                "resource": item.resource.model_copy(update={"vlan": vlan}),
            }
        )
        fields = {name: getattr(plan, name) for name in Plan.model_fields}
        plan = Plan(**(fields | {"resources": (*plan.resources, stolen)}))
    return space.with_plan(mine.tenant, plan).asking(mine.tenant)


FABRICS = (
    Operator(
        "pkey-reuse", "another's P_Key",
        key_of_another, key_of_ones_own, "ISO-20", ("TOP-06",),
    ),
    Operator(
        "pkey-pool", "a P_Key of no pool",
        key_outside_the_pool, key_of_ones_own, "ISO-20",
    ),
    Operator(
        "pkey-port", "another's InfiniBand port",
        port_of_another, key_of_ones_own, "ISO-20", ("TOP-06",),
    ),
    Operator(
        "pkey-default", "full membership of the default P_Key",
        full_by_default, limited_by_default, "ISO-19",
    ),
    Operator(
        "pkey-shared", "full membership of a shared P_Key",
        full_in_a_shared_key, limited_in_a_shared_key, "ISO-21",
    ),
    Operator(
        "nvlink-group", "another's NVLink partition",
        group_of_another, group_of_ones_own, "ISO-22", ("TOP-06",),
    ),
    Operator(
        "nvlink-gpu", "another's GPU",
        gpu_of_another, group_of_ones_own, "ISO-22", ("TOP-06",),
    ),
    Operator(
        "allocation-shared", "a V-IPU allocation with another's machine",
        allocation_of_two, partition_of_ones_own, "TOP-06", ("TOP-10",),
    ),
    Operator(
        "machine-of-two", "a machine in two locks",
        machine_of_another, partition_of_ones_own, "TOP-06", ("TOP-02", "TOP-03", "TOP-10", "TOP-13"),
    ),
    Operator(
        "shell-name", "a name that a shell reads",
        partition_with_a_bad_name, partition_of_ones_own, "L3-15",
    ),
)  # fmt: skip
