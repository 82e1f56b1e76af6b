"""vPODs that come back before anything of their release was applied: each has what it had, to the last claim.

A lock remembers what a vPOD had that it gave up whole (`former`). Nothing of that is a claim; the claims are among what
is released, and nobody else gets them before they are settled. So to take them back is to undo what was only written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.model.lock.record import DEVICES, Allocation, FormerVPod, Lock, Released, VPodAllocation
from interlock.model.tenant.request import VPod
from interlock.vocabulary import Vlan

from .allocation_state import AllocationState
from .claims import ROOM_CLAIMS, VLAN_CLAIMS, claimed_values

#: Claims that several vPODs may have on one host.
SHARED_CLAIMS = (*ROOM_CLAIMS, "controller_host")


@dataclass(frozen=True)
class VPodReturn:
    """A vPOD that returns, and whether it has again what it had; `why_not`: empty if it has."""

    vpod: str
    #: The machines that it had, and the serial of the lock that gave them up.
    machines: tuple[str, ...]
    serial: int
    why_not: str = ""

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {**vars(self), "machines": list(self.machines)}

    def __str__(self) -> str:
        if not self.why_not:
            return f"has again what it had: nothing of its release (lock serial {self.serial}) was applied"
        return f"does not get {', '.join(self.machines)} back: {self.why_not}"


@dataclass(frozen=True)
class WaitingMachines:
    """Machines that a vPOD had and that nobody gets, itself included, before they were seen clean."""

    vpod: str
    machines: tuple[str, ...]

    def told(self, tenant: str) -> str:
        """`gave up ipum-01, ipum-02: …`."""
        names = ", ".join(self.machines)
        return f"gave up {names}: nobody gets them, itself included, before `interlock settle {tenant}` saw them clean"


def returns_of(
    lock: Lock, wanted: Iterable[VPod], others: AllocationState, applied: Callable[[], int | None]
) -> tuple[VPodReturn, ...]:
    """Of each vPOD that is asked for again and that this lock gave up whole.

    `others`: what everybody else has. `applied`: the newest serial of this lock that was applied, or began to be; None
    if none ever was. It is asked for only where a vPOD returns.
    """
    known = {name: one for name, one in lock.former.items() if _is_released(name, one.claims, lock.released)}
    back = [vpod.name for vpod in wanted if vpod.name in known and vpod.name not in lock.allocation.vpods]
    if not back:
        return ()
    newest = applied()
    return tuple(_return(name, lock, others, newest) for name in back)


def _return(name: str, lock: Lock, others: AllocationState, newest: int | None) -> VPodReturn:
    former, why_not = lock.former[name], ""
    if newest is not None and newest >= former.serial:
        why_not = f"its release (lock serial {former.serial}) was applied, and nobody saw them clean since"
    elif taken := tuple(_taken(former.claims, lock, others)):
        why_not = f"by now {' and '.join(taken)}"
    return VPodReturn(name, former.claims.machines, former.serial, why_not)


def _taken(claims: VPodAllocation, lock: Lock, others: AllocationState) -> Iterator[str]:
    """What pins gave to somebody else meanwhile; nobody is given it otherwise."""
    for name in claims.machines:
        if name in others.machines:
            yield f"{others.machines[name].tenant} has {name}"
    for field, value in claimed_values(claims):
        if field in VLAN_CLAIMS:
            vlan = Vlan.parse(value)
            wires = [(switch, vlan.id) for switch in others.layout.switches(vlan.network)]
            holders = dict.fromkeys(others.vlans[wire].tenant for wire in wires if wire in others.vlans)
            yield from (f"{holder} has VLAN {value}" for holder in holders)
    mine = {item for item in claimed_values(claims) if item[0] not in SHARED_CLAIMS}
    for sibling, part in lock.allocation.parts.items():
        yield from (f"{sibling} has {value}" for item in claimed_values(part) if item in mine for value in item[1:])


def taken_back(lock: Lock, names: Iterable[str]) -> Lock:
    """The lock as if these vPODs had never been given up. Its footprint is still that of the file."""
    vpods, released, serials = dict(lock.allocation.vpods), list(lock.released), dict(lock.serials)
    for name in names:
        claims = lock.former[name].claims
        vpods[name] = claims
        for entry in _entries(name, claims, released):
            released.remove(entry)
            if entry.claim in DEVICES and entry.serial:
                serials[entry.value] = entry.serial
    allocation = lock.allocation.model_copy(update={"vpods": {name: vpods[name] for name in sorted(vpods)}})
    return lock.model_copy(update={"allocation": allocation, "released": tuple(released), "serials": serials})


def next_former(
    old: Lock | None, allocation: Allocation, released: Sequence[Released], serial: int
) -> dict[str, FormerVPod]:
    """What the next lock remembers: of each vPOD that it does not have, as long as all that it had is released.

    `serial`: of the next lock, where it is another than the old one.
    """
    if old is None:
        return {}
    known = {name: FormerVPod(serial=serial, claims=claims) for name, claims in old.allocation.vpods.items()}
    found = {**known, **old.former}
    return {
        name: found[name]
        for name in sorted(found.keys() - allocation.vpods.keys())
        if _is_released(name, found[name].claims, released)
    }


def waiting_machines(lock: Lock) -> tuple[WaitingMachines, ...]:
    """Of each vPOD that the lock has, the machines that it had before and that were not settled since."""
    return tuple(
        WaitingMachines(name, found)
        for name, part in lock.allocation.vpods.items()
        if (found := tuple(_waiting(lock, name, part)))
    )


def _waiting(lock: Lock, name: str, part: VPodAllocation) -> Iterator[str]:
    for entry in lock.released:
        if entry.vpod == name and entry.claim == "machines" and entry.value not in part.machines:
            yield entry.value


def _is_released(name: str, claims: VPodAllocation, released: Iterable[Released]) -> bool:
    """Each claim stands among what is released: whatever else is said of it, nobody else was given it."""
    return len(_entries(name, claims, released)) == sum(1 for _ in claimed_values(claims))


def _entries(name: str, claims: VPodAllocation, released: Iterable[Released]) -> list[Released]:
    """The entries that hold what a vPOD had, one for each claim of it."""
    wanted, found = Counter(claimed_values(claims)), []
    # Given up last comes first: of one claim an older entry may stand beside it, of a device that was there before.
    for entry in sorted(released, key=lambda one: one.since, reverse=True):
        if entry.vpod == name and wanted[entry.claim, entry.value]:
            wanted[entry.claim, entry.value] -= 1
            found.append(entry)
    return found
