"""vPODs and GPU clusters that come back before anything of their release was applied: each has what it had.

A lock remembers what a part of a request had that it gave up whole (`former`). Nothing of that is a claim; the claims
are among what is released, and nobody else gets them before they are settled. So to take them back is to undo what was
only written. A cluster with `state: released` gives up nodes and heads, and keeps all else: that is still its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from interlock.model.lock.record import (
    DEVICES,
    Allocation,
    ClusterAllocation,
    FormerPart,
    Lock,
    Released,
    VPodAllocation,
)
from interlock.model.tenant.request import Cluster, VPod
from interlock.vocabulary import Vlan

from .allocation_state import AllocationState
from .claims import ROOM_CLAIMS, VLAN_CLAIMS, PartAllocation, claimed_values
from .returning_words import PartKind, PartReturn, WaitingDevices

#: Claims that several servers may have on one host.
_SHARED = (*ROOM_CLAIMS, "controller_host")


def returns_of(
    lock: Lock, wanted: Iterable[VPod | Cluster], others: AllocationState, applied: Callable[[], int | None]
) -> tuple[PartReturn, ...]:
    """Of each vPOD and cluster that is asked for again and that this lock gave up whole.

    `others`: what everybody else has. `applied`: the newest serial of this lock that was applied, or began to be; None
    if none ever was. It is asked for only where one returns.
    """
    back = [part for part in wanted if _is_back(lock, part)]
    if not back:
        return ()
    newest = applied()
    return tuple(_return(part, lock, others, newest) for part in back)


def _is_back(lock: Lock, part: VPod | Cluster) -> bool:
    former, has = lock.former.get(part.name), lock.allocation.parts.get(part.name)
    if former is None or isinstance(part, Cluster) != isinstance(former.claims, ClusterAllocation):
        return False
    if has is not None and _is_released_cluster(part):
        # It is released, and stays so.
        return False
    return bool(_entries(part.name, former.claims, has, lock.released))


def _is_released_cluster(part: VPod | Cluster) -> bool:
    return isinstance(part, Cluster) and part.state == "released"


def _return(part: VPod | Cluster, lock: Lock, others: AllocationState, newest: int | None) -> PartReturn:
    former, why_not = lock.former[part.name], ""
    if newest is not None and newest >= former.serial:
        why_not = f"its release (lock serial {former.serial}) was applied, and nobody saw them clean since"
    elif taken := tuple(_taken(part.name, former.claims, lock, others)):
        why_not = f"by now {' and '.join(taken)}"
    devices = () if _is_released_cluster(part) else _devices(former.claims)
    kind: PartKind = "cluster" if isinstance(part, Cluster) else "vpod"
    return PartReturn(kind, part.name, devices, former.serial, why_not)


def _devices(claims: PartAllocation) -> tuple[str, ...]:
    return claims.machines if isinstance(claims, VPodAllocation) else claims.hosts


def _taken(name: str, claims: PartAllocation, lock: Lock, others: AllocationState) -> Iterator[str]:
    """What pins, or other units under these names, gave to somebody else meanwhile; nobody is given it otherwise."""
    is_cluster = isinstance(claims, ClusterAllocation)
    for device in _devices(claims):
        if not is_cluster and device in others.machines:
            yield f"{others.machines[device].tenant} has {device}"
        elif is_cluster and (held := others.hosts.servers.get(device)):
            yield f"{min(claim.holder.tenant for claim in held)} has {device}"
    for field, value in claimed_values(claims):
        if field in VLAN_CLAIMS:
            vlan = Vlan.parse(value)
            wires = [(switch, vlan.id) for switch in others.layout.switches(vlan.network)]
            holders = dict.fromkeys(others.vlans[wire].tenant for wire in wires if wire in others.vlans)
            yield from (f"{holder} has VLAN {value}" for holder in holders)
    # The nodes of a cluster are whole hosts.
    shared = {*_SHARED} - ({"hosts"} if is_cluster else set())
    mine = {item for item in claimed_values(claims) if item[0] not in shared}
    for sibling, part in lock.allocation.parts.items():
        if sibling != name:
            yield from (f"{sibling} has {value}" for claim, value in claimed_values(part) if (claim, value) in mine)


def taken_back(lock: Lock, names: Iterable[str]) -> Lock:
    """The lock as if these parts had never been given up. Its footprint is still that of the file."""
    vpods, clusters = dict(lock.allocation.vpods), dict(lock.allocation.clusters)
    released, serials = list(lock.released), dict(lock.serials)
    for name in names:
        claims = lock.former[name].claims
        for entry in _entries(name, claims, lock.allocation.parts.get(name), released):
            released.remove(entry)
            if entry.claim in DEVICES and entry.serial:
                serials[entry.value] = entry.serial
        if isinstance(claims, VPodAllocation):
            vpods[name] = claims
        else:
            clusters[name] = claims
    allocation = Allocation(vpods=dict(sorted(vpods.items())), clusters=dict(sorted(clusters.items())))
    return lock.model_copy(update={"allocation": allocation, "released": tuple(released), "serials": serials})


def next_former(
    old: Lock | None, allocation: Allocation, released: Sequence[Released], serial: int
) -> dict[str, FormerPart]:
    """What the next lock remembers: of each part that it does not have whole, as long as all else of it is released.

    `serial`: of the next lock, where it is another than the old one.
    """
    if old is None:
        return {}
    found = {}
    for name in sorted({*old.former, *old.allocation.parts}):
        known = [old.former[name]] if name in old.former else []
        if name in old.allocation.parts:
            known.append(FormerPart(serial=serial, claims=old.allocation.parts[name]))
        has = allocation.parts.get(name)
        # What was remembered first: a cluster that was released, and then taken out, had its nodes before.
        first = next((former for former in known if _entries(name, former.claims, has, released)), None)
        if first is not None:
            found[name] = first
    return found


def waiting_devices(lock: Lock) -> tuple[WaitingDevices, ...]:
    """Of each part that the lock has, the machines or nodes that it had before and that were not settled since."""
    return tuple(
        WaitingDevices("vpod" if isinstance(part, VPodAllocation) else "cluster", name, found)
        for name, part in lock.allocation.parts.items()
        if (found := tuple(_waiting(lock, name, part)))
    )


def _waiting(lock: Lock, name: str, part: PartAllocation) -> Iterator[str]:
    claim, has = "machines" if isinstance(part, VPodAllocation) else "hosts", _devices(part)
    for entry in lock.released if has else ():
        if entry.vpod == name and entry.claim == claim and entry.value not in has:
            yield entry.value


def _entries(
    name: str, former: PartAllocation, has: PartAllocation | None, released: Iterable[Released]
) -> list[Released]:
    """The entries that hold what a part had and has no more, one for each claim of it.

    Empty where one is missing, for then somebody else may have it; and where the part is whole.
    """
    wanted, found = _given_up(former, has), []
    # Given up last comes first: of one claim an older entry may stand beside it, of a device that was there before.
    for entry in sorted(released, key=lambda one: one.since, reverse=True):
        if entry.vpod == name and wanted[entry.claim, entry.value]:
            wanted[entry.claim, entry.value] -= 1
            found.append(entry)
    return [] if wanted.total() else found


def _given_up(former: PartAllocation, has: PartAllocation | None) -> Counter[tuple[str, str]]:
    """All claims of a part that is gone; of a cluster that is released those that it does not keep."""
    if has is None:
        return Counter(claimed_values(former))
    if isinstance(former, VPodAllocation) or isinstance(has, VPodAllocation) or has.hosts:
        return Counter()
    return Counter(claimed_values(former)) - Counter(claimed_values(has))
