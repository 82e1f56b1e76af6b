"""How many VLANs a physical network has to give, and for how many vPODs they are enough."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import derived, primary

#: First and last id that a network may have: 0 and 4095 are reserved, 1 is what switches do by default.
USABLE_VLANS = primary((2, 4094), "", "IEEE 802.1Q: 0 and 4095 reserved, 1 the default VLAN")

#: Ids of VXLAN: 24 bits.
USABLE_VNIS = primary((1, 2**24 - 1), "", "RFC 7348: a VXLAN network identifier has 24 bits")

_DESIGN = "Graphcore, OpenStack reference design, 8.1: one VLAN for IPU data and one for storage in each vPOD"

#: VLANs that one vPOD takes, by how strictly it is kept apart.
VLANS_PER_VPOD = {
    "reference": derived(2, "VLANs", f"IPU data and storage ({_DESIGN})"),
    "own-back-end": derived(3, "VLANs", f"and a management VLAN of its own ({_DESIGN})"),
    "bare-metal-own-back-end": derived(4, "VLANs", f"and a control VLAN, for bare metal has no VXLAN ({_DESIGN})"),
}


def usable_vlans(reserved: Iterable[tuple[int, int]] = ()) -> int:
    """How many ids are left on one physical network without these inclusive ranges (they may overlap).

    ValueError for a range whose end is before its start.
    """
    first, last = USABLE_VLANS.value
    taken: set[int] = set()
    for start, end in reserved:
        if end < start:
            raise ValueError(f"range {start}-{end} ends before it starts")
        taken.update(range(max(start, first), min(end, last) + 1))
    return last - first + 1 - len(taken)


def vpods_that_fit(vlans: int, each: int) -> int:
    """For how many vPODs so many VLANs are enough. ValueError if a vPOD takes none."""
    if each < 1:
        raise ValueError(f"{each} VLANs for each vPOD: at least one")
    return vlans // each
