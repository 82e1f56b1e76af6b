"""Groups of GPUs that NVSwitches join: the partitions of Fabric Manager, as a fixed menu for each generation.

A group that is not on the menu cannot be isolated from its neighbours, as a chain of IPU-Machines cannot be cut
anywhere. GPUs are module ids from 1, which are not the order on PCI.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.hardware.facts import Fact, primary

#: Partition id -> module ids of its GPUs.
NvlinkMenu = dict[int, tuple[int, ...]]


@dataclass(frozen=True)
class NvlinkTable:
    """The default partitions of one generation of baseboards."""

    name: str
    partitions: Fact[NvlinkMenu]
    #: NVLinks of each GPU in a partition of several GPUs; in one of a single GPU there are none.
    links: Fact[int]
    #: GPUs that the table numbers: two baseboards have twice as many as a node.
    gpus: Fact[int]

    def partition_of(self, gpus: frozenset[int]) -> int | None:
        """The id of the partition of exactly these module ids; None where the menu has none."""
        return next((number for number, members in self.partitions.value.items() if frozenset(members) == gpus), None)

    def whole(self, gpus: int) -> int:
        """The id of the partition of a node with so many GPUs, all of them; of two boards that of the first."""
        found = self.partition_of(frozenset(range(1, gpus + 1)))
        if found is None:
            raise LookupError(f"{self.name} has no partition of all {gpus} GPUs")
        return found

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many GPUs a partition may have, from the smallest."""
        return tuple(sorted({len(members) for members in self.partitions.value.values()}))


_GUIDE = "NVIDIA, Fabric Manager user guide, GPU partitions"


def _run(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


def _singles(first_id: int, gpus: int) -> NvlinkMenu:
    return {first_id + number: (number + 1,) for number in range(gpus)}


HOPPER_NVLINK = NvlinkTable(
    name="hopper",
    partitions=primary(
        {0: _run(1, 8), 1: _run(1, 4), 2: _run(5, 8), 3: (1, 3), 4: (2, 4), 5: (5, 7), 6: (6, 8)} | _singles(7, 8),
        "",
        f"{_GUIDE}: HGX and DGX H100, H200",
    ),
    links=primary(18, "", _GUIDE),
    gpus=primary(8, "", _GUIDE),
)

BLACKWELL_NVLINK = NvlinkTable(
    name="blackwell",
    partitions=primary(
        {1: _run(1, 8), 2: _run(1, 4), 3: _run(5, 8), 4: (1, 2), 5: (3, 4), 6: (5, 6), 7: (7, 8)} | _singles(8, 8),
        "",
        f"{_GUIDE}: HGX and DGX B200, B300; ids begin with 1",
    ),
    links=primary(18, "", _GUIDE),
    gpus=primary(8, "", _GUIDE),
)

AMPERE_NVLINK = NvlinkTable(
    name="ampere",
    partitions=primary(
        {
            0: _run(1, 16),
            1: _run(1, 8),
            2: _run(9, 16),
            3: _run(1, 4) + _run(9, 12),
            4: _run(5, 8) + _run(13, 16),
            5: _run(1, 4) + _run(13, 16),
            6: _run(5, 8) + _run(9, 12),
        }
        | {7 + number: _run(4 * number + 1, 4 * number + 4) for number in range(4)}
        | {11 + number: (2 * number + 1, 2 * number + 2) for number in range(8)}
        | _singles(19, 16),
        "",
        f"{_GUIDE}: HGX and DGX A100, two baseboards; one board alone has GPUs 1 to 8 or 9 to 16, as it is strapped",
    ),
    links=primary(12, "", _GUIDE),
    gpus=primary(16, "", _GUIDE),
)

#: Every table, by generation.
NVLINK_TABLES = {table.name: table for table in (AMPERE_NVLINK, HOPPER_NVLINK, BLACKWELL_NVLINK)}
