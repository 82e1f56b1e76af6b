"""Fat trees of switches with k ports: how many leaves, spines and cores, and which links between them.

With h = k / 2, a leaf has h ports down and h up. Up to k × k / 2 end ports two tiers are enough; above that, groups
of h leaves and h spines stand below cores. This reproduces every row that NVIDIA printed for its SuperPODs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FatTree:
    """Counts of one plane. `down` is what a leaf has for end ports, and as many links go up."""

    ports: int
    leaves: int
    spines: int
    cores: int
    down: int

    @property
    def leaf_spine_links(self) -> int:
        """Links from leaves to spines: one for each end port that a leaf has."""
        return self.leaves * self.down

    @property
    def spine_core_links(self) -> int:
        """Links from spines to cores; 0 with two tiers."""
        return self.ports if self.cores else 0

    @property
    def leaf_spine_bundle(self) -> int:
        """Links from each leaf to each spine that it reaches: with three tiers those of its group, or else all."""
        return 1 if self.cores else self.down // self.spines

    @property
    def spine_core_bundle(self) -> int:
        """Links from each spine to each core that it reaches. 0 with two tiers."""
        return self.down * self.down // self.cores if self.cores else 0


def fat_tree(ports: int, radix: int) -> FatTree:
    """The fat tree of one plane, for end ports in full leaves, of switches with `radix` ports of the speed used.

    ValueError where no such tree has equally many links between each two switches that it joins: that would be a tree
    in which some paths are narrower than others.
    """
    half = radix // 2
    if radix < 2 or radix % 2:
        raise ValueError(f"a switch of {radix} ports has no two equal halves")
    if ports < half or ports % half:
        raise ValueError(f"{ports} end ports do not fill leaves of {half}")
    leaves = ports // half
    if ports <= radix * half:
        spines = next(count for count in range(1, half + 1) if count * radix >= ports and half % count == 0)
        return FatTree(ports, leaves, spines, 0, half)
    if ports > radix * half * half:
        raise ValueError(f"{ports} end ports are more than three tiers of {radix} ports carry ({radix * half * half})")
    cores = ports // radix
    if leaves % half or cores % half or half % (cores // half):
        raise ValueError(f"{ports} end ports do not spread evenly over three tiers of {radix} ports")
    return FatTree(ports, leaves, leaves, cores, half)
