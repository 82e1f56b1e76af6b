"""Places where something sent can be, the hops it can take, and whose each place is.

A hop that needs a fact nobody knows is not certain: it counts where the question is what *may* happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

Place = tuple[str | int, ...]


class Hop(NamedTuple):
    """Where to, whether that is certain, and the row of the page that says so."""

    to: Place
    certain: bool
    row: str


class Mark(NamedTuple):
    """A place is this owner's; `row`: the one that says so, where it is one about holding something alone."""

    place: Place
    owner: str
    certain: bool
    row: str = ""


class Door(NamedTuple):
    """A place of a shared service that only some tenants may meet."""

    place: Place
    audience: tuple[str, ...]


@dataclass
class Terrain:
    """Everything that can be walked. `without`: rows whose hops are left out, to see what they decide."""

    without: frozenset[str] = frozenset()
    hops: dict[Place, list[Hop]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    doors: list[Door] = field(default_factory=list)
    #: Hops by which nothing comes back; none of them is certain.
    one_way: dict[Place, list[Hop]] = field(default_factory=dict)

    def way(self, a: Place, b: Place, row: str) -> None:
        """What is at `a` may get to `b`, and nothing back."""
        if row not in self.without:
            self.one_way.setdefault(a, []).append(Hop(b, False, row))

    def hop(self, a: Place, b: Place, row: str, certain: bool = True) -> None:
        """What is at `a` gets to `b`; back as well, for data flows both ways or is assumed to."""
        if row in self.without:
            return
        self.hops.setdefault(a, []).append(Hop(b, certain, row))
        self.hops.setdefault(b, []).append(Hop(a, certain, row))

    def unless(self, held: bool | None, a: Place, b: Place, row: str) -> None:
        """A hop that only something that holds keeps away."""
        if held is not True:
            self.hop(a, b, row, certain=held is False)

    def mark(self, place: Place, owner: str, certain: bool = True) -> None:
        """The place is this owner's."""
        self.marks.append(Mark(place, owner, certain))

    def alone(self, identity: Place, owner: str, row: str, certain: bool = True) -> None:
        """Only one owner may hold this: a place without hops."""
        if row not in self.without:
            self.marks.append(Mark(("only", *identity), owner, certain, row))

    def leaving_out(self, row: str) -> Terrain:
        """The same without one row: what a terrain made without it would be, where rows only put hops and marks."""
        hops = {place: [hop for hop in there if hop.row != row] for place, there in self.hops.items()}
        marks = [mark for mark in self.marks if mark.row != row]
        one_way = {place: [hop for hop in there if hop.row != row] for place, there in self.one_way.items()}
        return Terrain(
            self.without | {row}, hops, marks, self.doors, {a: found for a, found in one_way.items() if found}
        )


class Step(NamedTuple):
    """How a place was reached."""

    source: Place | None
    row: str


def flood(terrain: Terrain, seeds: Iterable[Place], must: bool, *, one_way: bool = False) -> dict[Place, Step]:
    """Every place that something from the seeds gets to, and how; `must`: by certain hops only.

    `one_way`: also by hops from which nothing comes back.
    """
    reached = {seed: Step(None, "") for seed in seeds}
    front = list(reached)
    while front:
        here = front.pop()
        for to, certain, row in (*terrain.hops.get(here, ()), *(terrain.one_way.get(here, ()) if one_way else ())):
            if to not in reached and (certain or not must):
                reached[to] = Step(here, row)
                front.append(to)
    return reached


def trace(reached: dict[Place, Step], place: Place) -> Iterator[str]:
    """The way to a place, backwards."""
    at: Place | None = place
    while at is not None:
        step = reached[at]
        yield ":".join(map(str, at)) + (f" ({step.row})" if step.row else "")
        at = step.source
