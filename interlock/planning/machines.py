"""Which IPU-Machines a vPOD gets: a run of neighbours in one logical rack, an aligned block if one is free.

Aligned (first position ≡ 1 mod n) because a rack then never ends in holes that no size fits: buddy blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interlock.model.site import Machine, Site

from .errors import AllocationError

#: Machines of one logical rack, by position.
Rack = Mapping[int, Machine]
Run = tuple[Machine, ...]


def choose_machines(site: Site, count: int, taken: Mapping[str, str], vpod: str) -> tuple[str, ...]:
    """The first free aligned block of `count` machines, else the first free run, in the site's order."""
    runs = list(all_runs(site, count))
    free = [run for run in runs if not holders(run, taken)]
    chosen = next((run for run in free if is_aligned(run)), free[0] if free else None)
    if chosen is None:
        raise _no_room(site, count, taken, vpod, runs)
    return names(chosen)


def grow_machines(
    site: Site, kept: Sequence[str], count: int, taken: Mapping[str, str], vpod: str
) -> tuple[str, ...]:
    """A free run of `count` machines around those that the vPOD has; it never moves a vPOD by itself.

    `taken` does not hold the kept machines themselves.
    """
    around = [run for run in all_runs(site, count) if set(kept) <= set(names(run))]
    free = [run for run in around if not holders(run, taken)]
    chosen = next((run for run in free if is_aligned(run)), free[0] if free else None)
    if chosen is None:
        raise AllocationError(
            f"vPOD {vpod} cannot grow to {count} IPU-Machines around those it has ({', '.join(kept)})",
            _closest(around, taken),
            "free these first, or move the vPOD by naming its machines under `pins:`",
        )
    return names(chosen)


def all_runs(site: Site, count: int) -> Iterator[Run]:
    """Every run of `count` neighbours of one generation in one rack, free or not, in the site's order."""
    for rack in racks(site):
        for first in sorted(rack):
            run = tuple(rack[position] for position in range(first, first + count) if position in rack)
            if len(run) == count and len({machine.generation for machine in run}) == 1:
                yield run


def racks(site: Site) -> list[Rack]:
    """Logical racks in the order in which the site first names them."""
    found: dict[str, dict[int, Machine]] = {}
    for machine in site.machines:
        found.setdefault(machine.logical_rack, {})[machine.position] = machine
    return list(found.values())


def is_aligned(run: Run) -> bool:
    """True if the run is a buddy block: its first position is ≡ 1 modulo its length."""
    return (run[0].position - 1) % len(run) == 0


def holders(run: Run, taken: Mapping[str, str]) -> dict[str, str]:
    """Machine -> holder for those of the run that are taken."""
    return {machine.name: taken[machine.name] for machine in run if machine.name in taken}


def names(run: Run) -> tuple[str, ...]:
    """The names of the machines of a run."""
    return tuple(machine.name for machine in run)


def _no_room(site: Site, count: int, taken: Mapping[str, str], vpod: str, runs: list[Run]) -> AllocationError:
    free = sum(machine.name not in taken for machine in site.machines)
    what = f"vPOD {vpod} needs {count} neighbouring IPU-Machines in one logical rack; {free} are free"
    if not runs:
        longest = max((len(rack) for rack in racks(site)), default=0)
        return AllocationError(
            what,
            f"the largest logical rack has {longest} machines",
            "ask for fewer machines: a vPOD over several logical racks is not placed by this version",
        )
    hint = "free these or ask for fewer machines; what is released stays taken until it is settled"
    return AllocationError(f"{what}, none of it in such a run", _closest(runs, taken), hint)


def _closest(runs: list[Run], taken: Mapping[str, str]) -> str:
    if not runs:
        return "its logical rack has no run of that length around them"
    best = min(runs, key=lambda run: len(holders(run, taken)))
    in_the_way = ", ".join(f"{name} is held by {holder}" for name, holder in holders(best, taken).items())
    return f"closest is {best[0].name} to {best[-1].name}, where {in_the_way}"
