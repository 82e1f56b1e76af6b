"""Switches of the reference design: ports by speed, numbered from 1 in this order."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Fact, Provenance

_SWITCHES = "Graphcore, IPU-POD64 datasheet, product description"

#: (speed in Gb/s, number of ports).
PortGroups = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SwitchModel:
    """A switch as delivered."""

    name: str
    port_groups: Fact[PortGroups]

    @property
    def ports(self) -> int:
        """How many ports there are, of all speeds."""
        return sum(count for _, count in self.port_groups.value)


ARISTA_7060X = SwitchModel("arista-7060x", Fact(((100, 32), (10, 2)), "Gb/s", Provenance.PRIMARY, _SWITCHES))
ARISTA_7010T = SwitchModel("arista-7010t", Fact(((1, 48), (10, 4)), "Gb/s", Provenance.PRIMARY, _SWITCHES))
