"""Which V-IPU partitions a tenant had asked for when a lock was written, also one that an earlier version wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.model.lock.record import Lock
from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.request import Tenant, VPod

from .request_hashes import request_hash

Partitions = Mapping[str, tuple[Partition, ...]]


def partitions_before(tenant: Tenant, lock: Lock) -> Partitions:
    """vPOD -> its partitions of then; none where nobody can tell.

    A lock of an earlier version notes none, and so does one of a request without any. The hash of its request tells
    them apart, where that differs from the one of now in sizes of vPODs, and in leave to recreate partitions, alone.
    """
    if lock.partitions or not any(vpod.partitions for vpod in tenant.vpods):
        return lock.partitions
    for vpods in _of_then(tenant, lock):
        if request_hash(tenant.model_copy(update={"vpods": vpods})) == lock.request:
            return {vpod.name: vpod.partitions for vpod in vpods if vpod.partitions}
    return lock.partitions


def _of_then(tenant: Tenant, lock: Lock) -> Iterator[tuple[VPod, ...]]:
    """The vPODs of the lock in the sizes that it has, with the partitions of now."""
    held = lock.allocation.vpods
    vpods = tuple(
        vpod.model_copy(
            update={
                "machines": len(held[vpod.name].machines),
                "poplar": vpod.poplar.model_copy(update={"servers": len(held[vpod.name].hosts)}),
            }
        )
        for vpod in tenant.vpods
        if vpod.name in held
    )
    yield vpods
    yield tuple(vpod.model_copy(update={"partitions": tuple(map(_without_leave, vpod.partitions))}) for vpod in vpods)


def _without_leave(partition: Partition) -> Partition:
    return partition.model_copy(update={"replaceable": False})
