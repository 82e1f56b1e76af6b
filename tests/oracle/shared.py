"""Devices of the operator on wires: one place that joins what it meets, or if it is declared a copy for each wire."""

from __future__ import annotations

from collections.abc import Iterable

from .readings import Declared
from .terrain import Door, Place, Terrain
from .world import OP


def put(
    terrain: Terrain, device: Place, declared: Declared | None, met: Iterable[tuple[Place, bool]], row: str
) -> None:
    """The device where it is met; `met` are places, and whether it is certain that it is there."""
    terrain.mark(device, OP)
    for place, certain in met:
        if declared is None:
            terrain.hop(device, place, row, certain)
        else:
            _split(terrain, device, declared, place, row, certain)


def _split(terrain: Terrain, device: Place, declared: Declared, place: Place, row: str, certain: bool) -> None:
    """What enters by one copy leaves by no other while all holds that the declaration rests on."""
    copy: Place = ("copy", *device, *place)
    terrain.hop(copy, place, row, certain)
    terrain.unless(declared.held, copy, device, "terminal")
    if "*" not in declared.audience:
        terrain.doors.append(Door(copy, declared.audience))
