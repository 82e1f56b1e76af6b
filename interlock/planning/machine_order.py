"""The order of a vPOD's machines, and the number by which each has its addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.hardware import MACHINES_PER_LOGICAL_RACK
from interlock.model.site.inventory import Site


def in_order(site: Site, machines: tuple[str, ...]) -> tuple[str, ...]:
    """Machines by logical rack (those without a number first, by name), then position; unknown ones come last."""

    def place(name: str) -> tuple[int, int, str, int]:
        machine = site.machine.get(name)
        if machine is None:
            return (1, 0, name, 0)
        rack = site.logical_rack.get(machine.logical_rack)
        return (0, (rack.number or 0) if rack else 0, machine.logical_rack, machine.position)

    return tuple(sorted(machines, key=place))


def machine_numbers(site: Site, machines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(number, machine) in the order given: sixteen numbers for each logical rack, there by position, from 0.

    A machine that the site does not know has the number 0: no cable leads to it, so it gets no address.
    """
    known = [site.machine[name] for name in in_order(site, tuple(machines)) if name in site.machine]
    racks = list(dict.fromkeys(machine.logical_rack for machine in known))
    for name in machines:
        machine = site.machine.get(name)
        first = 0 if machine is None else racks.index(machine.logical_rack) * MACHINES_PER_LOGICAL_RACK.value
        yield (0 if machine is None else first + machine.position - 1), name
