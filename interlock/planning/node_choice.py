"""Which nodes of one hall a cluster gets: in as few scalable units, and then in as few racks, as are possible.

Within a unit each rail is one leaf, so that GPUs of one rail are one switch apart; between units a spine is in the way.
A rack is where power and cooling fail. Pure: the same nodes for the same input, whatever its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: A rack of a unit. One that stands in two units counts in each.
Rack = tuple[int, str]


@dataclass(frozen=True)
class NodeSpot:
    """A node and where it stands in its hall; `order` is its place in the site."""

    name: str
    unit: int
    rack: str
    order: int

    @property
    def place(self) -> Rack:
        """Its unit and rack."""
        return self.unit, self.rack


@dataclass(frozen=True)
class _Unit:
    """A scalable unit: what is free in racks that the cluster is in already, and its other racks, the fullest first."""

    number: int
    #: True if the cluster is in the unit already.
    is_used: bool
    beside: tuple[NodeSpot, ...]
    racks: tuple[tuple[NodeSpot, ...], ...]

    @property
    def total(self) -> int:
        return len(self.beside) + sum(map(len, self.racks))

    def gains(self) -> Iterator[int]:
        """How many nodes it gives with 0, 1, 2 … more racks."""
        found = len(self.beside)
        yield found
        for rack in self.racks:
            found += len(rack)
            yield found


@dataclass(frozen=True)
class _State:
    """Some units, and how many more racks of each are taken: what they give in all."""

    total: int
    taken: tuple[tuple[_Unit, int], ...]


def spread(nodes: Iterable[NodeSpot]) -> tuple[int, int]:
    """(units, racks) that these nodes stand in."""
    spots = list(nodes)
    return len({spot.unit for spot in spots}), len({spot.place for spot in spots})


def choose_nodes(free: Iterable[NodeSpot], count: int, held: Iterable[NodeSpot] = ()) -> tuple[NodeSpot, ...] | None:
    """`count` of the `free` nodes of a hall, beside those that are `held`; None if there are not so many.

    The fewest units in all, then the fewest racks. Where one new unit is enough, of those that are equal the one with
    the least free nodes is taken, so that large units stay whole; and of racks the one that is filled best. Where
    several are needed, as many nodes as possible are where the cluster is already, and then in the largest.
    """
    units = _units(free, held)
    most = _more_units(units, count)
    if most is None:
        return None
    best = _tightest(units, count) if most == 1 and not any(unit.is_used for unit in units) else None
    best = best or _fewest_racks(units, count, most)
    return tuple(sorted(_cut(best, count), key=lambda spot: spot.order))


def _units(free: Iterable[NodeSpot], held: Iterable[NodeSpot]) -> tuple[_Unit, ...]:
    """Only those with something free: where the cluster is already first, then the largest."""
    places = {spot.place for spot in held}
    used = {unit for unit, _ in places}
    racks: dict[Rack, list[NodeSpot]] = {}
    for spot in sorted(free, key=lambda spot: spot.order):
        racks.setdefault(spot.place, []).append(spot)
    found = []
    for number in sorted({unit for unit, _ in racks}):
        here = {place: tuple(spots) for place, spots in racks.items() if place[0] == number}
        beside = sorted((spots for place, spots in here.items() if place in places), key=_smallest_first)
        others = sorted((spots for place, spots in here.items() if place not in places), key=_largest_first)
        found.append(_Unit(number, number in used, tuple(spot for rack in beside for spot in rack), tuple(others)))
    return tuple(sorted(found, key=lambda unit: (not unit.is_used, -unit.total, unit.number)))


def _smallest_first(rack: Sequence[NodeSpot]) -> tuple[int, int]:
    return len(rack), rack[0].order


def _largest_first(rack: Sequence[NodeSpot]) -> tuple[int, int]:
    return -len(rack), rack[0].order


def _more_units(units: Iterable[_Unit], count: int) -> int | None:
    """How many units the cluster needs that it is not in; None if all together have too few nodes."""
    left, more = count, 0
    ordered = sorted(units, key=lambda unit: (not unit.is_used, -unit.total))
    for unit in ordered:
        if left <= 0:
            break
        left -= unit.total
        more += not unit.is_used
    return more if left <= 0 else None


def _tightest(units: Iterable[_Unit], count: int) -> _State:
    """One unit, of those that need the fewest racks the one with the least free nodes."""
    fitting = []
    for unit in units:
        racks = next((number for number, gain in enumerate(unit.gains()) if gain >= count), None)
        if racks is not None:
            fitting.append((racks, unit.total, unit.number, unit))
    racks, _, _, unit = min(fitting, key=lambda item: item[:3])
    return _State(sum(map(len, unit.racks[:racks])), ((unit, racks),))


def _fewest_racks(units: Sequence[_Unit], count: int, most: int) -> _State:
    """The fewest racks with so many new units: what (new units, racks) give at most, unit by unit."""
    states: dict[tuple[int, int], _State] = {(0, 0): _State(0, ())}
    for index, unit in enumerate(units):
        # With fewer new units than this there is not enough, whatever comes after.
        least = most - sum(not later.is_used for later in units[index + 1 :])
        states = dict(_with(states, unit, least, most))
    enough = [(racks, state) for (_, racks), state in sorted(states.items(), key=_order) if state.total >= count]
    return min(enough, key=lambda item: item[0])[1]


def _order(item: tuple[tuple[int, int], _State]) -> tuple[int, int]:
    return item[0]


def _with(
    states: Mapping[tuple[int, int], _State], unit: _Unit, least: int, most: int
) -> Iterator[tuple[tuple[int, int], _State]]:
    """The states with this unit beside the others: of each number of units and racks the one that gives most."""
    found: dict[tuple[int, int], _State] = {}
    gains = list(enumerate(unit.gains()))
    for (used, racks), state in sorted(states.items(), key=_order):
        options = [*gains] if unit.is_used else [(0, 0), *gains[1:]]
        for more, gain in options:
            after = used + (bool(more) and not unit.is_used)
            if not least <= after <= most:
                continue
            total, key = state.total + gain, (after, racks + more)
            # Of equals the last: the one that takes more of the units before this one.
            if key not in found or found[key].total <= total:
                found[key] = _State(total, (*state.taken, (unit, more)) if gain else state.taken)
    yield from found.items()


def _cut(state: _State, count: int) -> Iterator[NodeSpot]:
    """The nodes: all of what the racks give but for what is too much, which is left in one rack."""
    surplus = state.total - count
    chosen: list[tuple[NodeSpot, ...]] = []
    for unit, racks in reversed(state.taken):
        taken = list(unit.racks[:racks])
        if taken:
            # A rack that is just large enough instead of the smallest that was taken.
            wanted = len(taken[-1]) - surplus
            fitting = [rack for rack in unit.racks[racks - 1 :] if len(rack) >= wanted]
            best = min(fitting, key=_smallest_first)
            surplus -= len(taken[-1]) - len(best)
            taken[-1] = best
            if surplus:
                taken[-1], surplus = best[: len(best) - surplus], 0
        chosen += taken
    beside = [spot for unit, _ in state.taken for spot in unit.beside]
    yield from beside[: len(beside) - surplus]
    yield from (spot for rack in chosen for spot in rack)
