"""Ports of the switches of one logical rack: who needs how many, and how much the uplinks carry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .facts import derived
from .switches import ARISTA_7010T, ARISTA_7060X, SwitchModel
from .verdicts import OK, PlacementVerdict, fault, warning

#: Most that the reference design's uplinks are oversubscribed.
DESIGN_OVERSUBSCRIPTION = derived(
    3, "south : north", "(16 machines + 8 server ports) × 100G over 8 uplinks × 100G (Graphcore, IPU-POD64 datasheet)"
)


@dataclass(frozen=True)
class PortBudget:
    """How many ports are taken of those at a switch's first speed."""

    used: int
    available: int

    @property
    def spare(self) -> int:
        """Ports left; below zero: that many are missing."""
        return self.available - self.used


def tor_budget(
    *, machines: int = 16, rnics: int = 1, servers: int = 4, server_ports: int = 2, uplinks: int = 8, storage: int = 0,
    switch: SwitchModel = ARISTA_7060X,
) -> PortBudget:  # fmt: skip
    """Ports of a ToR: `rnics` for each machine, `server_ports` for each server, uplinks, storage on the ToR."""
    return PortBudget(machines * rnics + servers * server_ports + uplinks + storage, _first_speed(switch))


def management_budget(
    *, machines: int = 16, machine_ports: int = 1, servers: int = 4, server_ports: int = 3, tors: int = 1,
    pdus: int = 2, switch: SwitchModel = ARISTA_7010T,
) -> PortBudget:  # fmt: skip
    """Ports of a management switch. A server takes three: two of 1G and its iDRAC."""
    return PortBudget(machines * machine_ports + servers * server_ports + tors + pdus, _first_speed(switch))


def tor_verdict(budget: PortBudget) -> PlacementVerdict:
    """A full ToR is how it is meant; one port too many is an error."""
    return OK if budget.spare >= 0 else _missing(budget)


def management_verdict(budget: PortBudget) -> PlacementVerdict:
    """An error if ports are missing, a warning from one spare port on: nothing can be added for a repair."""
    if budget.spare < 0:
        return _missing(budget)
    if budget.spare <= 1:
        return warning(f"{budget.used} of {budget.available} ports taken: {budget.spare} spare")
    return OK


def oversubscription(south_gbps: int, north_gbps: int) -> Fraction:
    """What comes from below over what goes up, both in Gb/s. ValueError without uplinks: no ratio says that."""
    if north_gbps <= 0:
        raise ValueError(f"{north_gbps} Gb/s of uplinks: a ratio needs at least one")
    return Fraction(south_gbps, north_gbps)


def _first_speed(switch: SwitchModel) -> int:
    return switch.port_groups.value[0][1]


def _missing(budget: PortBudget) -> PlacementVerdict:
    return fault(f"{budget.used} ports needed, {budget.available} there: {-budget.spare} are missing")
