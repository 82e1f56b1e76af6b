"""Sizes that the chain of IPU-Links allows: powers of two, and whole logical racks above sixteen machines."""

from __future__ import annotations

from .facts import derived, primary

#: IPU-Machines in one logical rack, numbered from 1.
MACHINES_PER_LOGICAL_RACK = primary(16, "", "Graphcore, IPU-POD64 datasheet: 16 IPU-M2000")

#: IPUs that IPU-Links join: one IPU-Link domain.
IPUS_PER_LOGICAL_RACK = primary(64, "", "Graphcore, IPU-POD64 datasheet: 64 IPUs")

#: Most logical racks of one system. Racks, not machines: some descriptions print 1024 IPU-M2000.
MAX_LOGICAL_RACKS = primary(1024, "", "Graphcore, IPU-POD64 datasheet: up to 65,536 IPUs")

#: Sizes of a vPOD within one logical rack, in IPU-Machines.
SIZES_IN_ONE_RACK = derived(
    (1, 2, 4, 8, 16),
    "IPU-Machines",
    "Graphcore, OpenStack reference design, overview: 1, 2, 4, 8, 16 or more; above 16 whole logical racks",
)


def is_power_of_two(number: int) -> bool:
    """True for 1, 2, 4, 8 …; False for zero and below."""
    return number > 0 and number & (number - 1) == 0


def is_vpod_size(machines: int) -> bool:
    """True if so many IPU-Machines can make a vPOD: a power of two, up to the largest system."""
    return is_power_of_two(machines) and machines <= max_machines()


def max_machines() -> int:
    """IPU-Machines of the largest system that the maker names: 16,384."""
    return MAX_LOGICAL_RACKS.value * MACHINES_PER_LOGICAL_RACK.value
