"""What a new lock changes for a vPOD, claim by claim, and what of it on the cloud is recreated for that."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.lock.record import VPodAllocation
from interlock.vocabulary import Vlan

from .claims import NETWORK_OF

SERVERS = "the Poplar servers and their ports (volumes stay)"

#: Claim -> what a change of its value recreates. What is only added or given up recreates nothing.
RECREATES = {
    "machines": "the V-IPU allocation and its partitions",
    "hosts": SERVERS,
    "flavor": SERVERS,
    "controller_host": "the V-IPU controller",
    "ipu_data_vlan": f"the network ipu-data, {SERVERS}",
    "storage_vlan": f"the network storage, {SERVERS}",
    "management_vlan": "the network management and the V-IPU controller",
    "control_vni": f"the network control, {SERVERS} and the V-IPU controller",
    "control_vlan": f"the network control, {SERVERS} and the V-IPU controller",
    "storage_vip": "the mounts of its shares",
    "ipu_data_subnet": SERVERS,
    "storage_subnet": f"{SERVERS} and the mounts of its shares",
    "control_subnet": f"{SERVERS} and the V-IPU controller",
    "management_subnet": "the V-IPU controller",
}


@dataclass(frozen=True)
class ClaimChange:
    """One claim that differs: its values as text (`-` for none) and what is recreated; empty: nothing is."""

    claim: str
    before: str
    after: str
    recreated: str


def changes_of(old: VPodAllocation, new: VPodAllocation) -> tuple[ClaimChange, ...]:
    """What differs between two allocations of one vPOD, in the order of the fields."""
    found = []
    for claim in (name for name in VPodAllocation.model_fields if name not in NETWORK_OF.values()):
        before, after = _text(old, claim), _text(new, claim)
        if before != after:
            found.append(ClaimChange(claim, before, after, _recreated(old, new, claim)))
    return tuple(found)


def _recreated(old: VPodAllocation, new: VPodAllocation, claim: str) -> str:
    before, after = getattr(old, claim), getattr(new, claim)
    if claim == "machines":
        # The V-IPU allocation follows every change; ports of machines that stay are left alone.
        gone = [name for name in before if name not in after]
        return RECREATES[claim] + (f", the switch ports of {', '.join(gone)}" if gone else "")
    if claim == "hosts":
        moved = [str(index) for index, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]]
        return f"Poplar servers {', '.join(moved)} and their ports (volumes stay)" if moved else ""
    if claim == "storage_vip" and before is None:
        return ""
    if claim == "flavor" and before == "":
        return ""
    return RECREATES[claim]


def _text(vpod: VPodAllocation, claim: str) -> str:
    value = getattr(vpod, claim)
    if value is None or value in ("", ()):
        return "-"
    if claim in NETWORK_OF:
        return str(Vlan(getattr(vpod, NETWORK_OF[claim]), value))
    return ", ".join(value) if isinstance(value, tuple) else str(value)
