"""Sizes a vPOD can have: 1, 2, 4, 8 or 16 IPU-Machines, or whole logical racks, a power of two of them."""

from __future__ import annotations

from interlock.hardware import IPU_M2000, is_power_of_two

IPUS = IPU_M2000.ipus.value


def sizes_around(machines: float) -> tuple[int, ...]:
    """The next smaller and the next larger size; only one where there is no smaller."""
    larger = 1
    while larger < machines:
        larger *= 2
    return (larger // 2, larger) if larger > 1 else (larger,)


def size_fault(count: int, *, ipus: bool) -> str | None:
    """What to say if `count` IPUs or IPU-Machines make no vPOD; None if they do."""
    each = IPUS if ipus else 1
    if count % each == 0 and is_power_of_two(count // each):
        return None
    what = "IPUs" if ipus else "IPU-Machines"
    wanted = " or ".join(str(size * each) for size in sizes_around(count / each))
    of = " of 4 IPUs" if ipus else ""
    return f"{count} {what}: a vPOD has 1, 2, 4, 8, 16 … IPU-Machines{of}; ask for {wanted}"
