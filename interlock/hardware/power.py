"""Arithmetic of a rack: what it draws and weighs, and whether feeds, cooling, units and floor carry that.

A nameplate that nobody stated makes the answer `unknown`, unless what is known is too much already. Watts,
kilograms and rack units throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from .racks import COOLING_METHODS
from .verdicts import OK, PlacementVerdict, fault, unknown, warning

Watts = int | float


@dataclass(frozen=True)
class Load:
    """A sum of nameplates or weights, and the devices that stated none."""

    known: Fraction
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Feed:
    """A feed of a rack: what it can carry in W, and the share of that which may be drawn for long."""

    name: str
    capacity_w: int
    derate: float = 0.8

    @property
    def usable(self) -> Fraction:
        """What may be drawn from it, in W; exactly: 0.8 is four fifths."""
        return self.capacity_w * Fraction(str(self.derate))


def load_of(items: Iterable[tuple[str, Watts | Decimal | None]]) -> Load:
    """Sum of (device, figure); None: not stated. ValueError for a figure below zero."""
    known, silent = Fraction(0), []
    for device, figure in items:
        if figure is None:
            silent.append(device)
        elif figure < 0:
            raise ValueError(f"{device}: {figure} is below zero")
        else:
            known += Fraction(str(figure))
    return Load(known, tuple(silent))


def feed_verdict(load: Load, feeds: Sequence[Feed]) -> PlacementVerdict:
    """Whether the feeds carry a rack, also when one of them fails.

    With two feeds or more, each one alone must carry all of it at its derating: that is what the second is for.
    """
    if not feeds:
        return unknown("no feed of this rack is stated")
    weakest = min(feeds, key=lambda feed: (feed.usable, feed.name))
    alone = f", and must carry all of it when {_rest(feeds)} fails" if len(feeds) > 1 else ""
    what = f"feed {weakest.name} gives {_number(weakest.usable)} W ({weakest.capacity_w} × {weakest.derate}){alone}"
    found = _against(load, weakest.usable, "W", what)
    if found is OK and len(feeds) == 1:
        return warning(f"one feed only: when {weakest.name} fails, the rack is dark")
    return found


def cooling_verdict(load: Load, method: str | None, limit_w: int | None = None) -> PlacementVerdict:
    """Whether the cooling takes what the rack draws. `limit_w` is the room's own figure and goes first.

    Without it the rule of thumb for the method holds. Makers' own designs go beyond that, so a room that can
    do more must state its figure. ValueError for an unknown method.
    """
    if limit_w is not None:
        return _against(load, Fraction(limit_w), "W", f"the cooling of this rack takes {limit_w} W")
    if method is None:
        return unknown("neither the cooling method of this rack nor its limit is stated")
    if method not in COOLING_METHODS:
        raise ValueError(f"cooling method {method!r}: there are {', '.join(COOLING_METHODS)}")
    limit = COOLING_METHODS[method].limit
    what = f"{method} usually takes {limit.value} W; if this rack's takes more, state its limit"
    return _against(load, Fraction(limit.value), "W", what)


def room_verdict(load: Load, power_w: int | None) -> PlacementVerdict:
    """Whether a room gives what everything in it draws, in W."""
    if power_w is None:
        return unknown("what this room gives is not stated")
    return _against(load, Fraction(power_w), "W", f"the room gives {power_w} W")


def weight_verdict(load: Load, max_kg: float | None) -> PlacementVerdict:
    """Whether the rack carries what stands in it, in kg."""
    if max_kg is None:
        return unknown("what this rack carries is not stated")
    return _against(load, Fraction(str(max_kg)), "kg", f"the rack carries {max_kg:g} kg")


def floor_verdict(load: Load, area_m2: float | Decimal, floor_kg_m2: int | None) -> PlacementVerdict:
    """Whether the floor carries a rack of this weight (its own included) on this area. ValueError for no area."""
    if area_m2 <= 0:
        raise ValueError(f"{area_m2} m²: a rack stands on more than that")
    if floor_kg_m2 is None:
        return unknown("what the floor of this room carries is not stated")
    carried = floor_kg_m2 * Fraction(str(area_m2))
    return _against(load, carried, "kg", f"the floor carries {floor_kg_m2} kg/m² on {area_m2:g} m²")


@dataclass(frozen=True)
class UnitFault:
    """What cannot stand as stated, in words, and the devices that these name."""

    words: str
    devices: tuple[str, ...]

    def __str__(self) -> str:
        return self.words


def unit_faults(units: int, placed: Iterable[tuple[str, int, int]]) -> tuple[UnitFault, ...]:
    """What cannot stand as stated: (device, lowest unit from 1, height). Height 0 stands beside the units."""
    faults: list[UnitFault] = []
    taken: dict[int, str] = {}
    for device, lowest, height in sorted(placed, key=lambda item: (item[1], item[0])):
        own = range(lowest, lowest + height)
        if own and (lowest < 1 or own[-1] > units):
            words = f"{device} takes units {own[0]} to {own[-1]}: the rack has 1 to {units}"
            faults.append(UnitFault(words, (device,)))
        below = next((unit for unit in own if unit in taken), None)
        if below is not None:
            both = (device, taken[below])
            faults.append(UnitFault(f"{' and '.join(both)} both take unit {below}", both))
        taken |= {unit: device for unit in own if unit not in taken}
    return tuple(faults)


def _against(load: Load, limit: Fraction, unit: str, what: str) -> PlacementVerdict:
    if load.known > limit:
        more = f" and {len(load.silent)} more not stated" if load.silent else ""
        return fault(f"{_number(load.known)} {unit}{more}: {what}")
    if load.silent:
        return unknown(f"not stated for {', '.join(load.silent)}: {what}")
    return OK


def _rest(feeds: Sequence[Feed]) -> str:
    return "the other" if len(feeds) == 2 else "another"


def _number(value: Fraction) -> str:
    return f"{float(value):g}" if value.denominator > 1 else str(value.numerator)
