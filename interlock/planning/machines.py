"""Which IPU-Machines a vPOD gets: a block of one logical rack, or whole racks that GW-Links join.

The block comes from the smallest free block that holds it, first in the site's order: the largest stay whole.
Only where no block is free is a run of neighbours taken that is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from interlock.model.site.inventory import Generation
from interlock.vocabulary import Claimant

from .allocation_state import AllocationState
from .blocks import WHOLE, WIDTH, aligned_runs, bits, loose_runs, maximal_blocks, run_mask
from .errors import AllocationError
from .layout import Networks, SiteLayout
from .obstacles import no_room

#: Says why machines on these networks will not do, or None if they will.
Judge = Callable[[Networks], AllocationError | None]
Block = tuple[str, ...]


@dataclass(frozen=True)
class MachineNeed:
    """What a vPOD asks for; `generation` None: any, but one."""

    vpod: str
    count: int
    generation: Generation | None = None


@dataclass(frozen=True)
class MachinePlacement:
    """Machines and the networks that they and all else of the vPOD share."""

    machines: Block
    networks: Networks


def choose_machines(
    allocated: AllocationState, need: MachineNeed, judge: Judge, closed: set[int] | None = None
) -> MachinePlacement:
    """The place for a vPOD. Raises AllocationError with the nearest to one, and what is in the way.

    `closed` are shelves where `judge` is known to refuse; those found on the way are added. A set kept from one
    tenant to the next saves asking again at every full rack.
    """
    if closed:
        place, _ = _search(allocated, need, judge, closed)
        if place:
            return place
        closed = None
    place, reasons = _search(allocated, need, judge, set() if closed is None else closed)
    if place:
        return place
    raise reasons or no_room(allocated, need.vpod, need.count, need.generation)


def _search(
    allocated: AllocationState, need: MachineNeed, judge: Judge, closed: set[int]
) -> tuple[MachinePlacement | None, AllocationError | None]:
    """The first free block whose networks will do; else why the first did not."""
    refusals: dict[Networks, AllocationError] = {}
    stranded: Block | None = None
    for shelf, block in _free_blocks(allocated, need, closed):
        found = list(allocated.layout.reach(block).choices())
        stranded = stranded or (None if found else block)
        for networks in found:
            if networks not in refusals:
                refusal = judge(networks)
                if refusal is None:
                    return MachinePlacement(block, networks), None
                refusals[networks] = refusal
        if found and allocated.layout.is_uniform(shelf) and need.count <= WIDTH:
            closed.add(shelf)
    if refusals:
        return None, _all_refused(list(refusals.values()))
    return None, unreached(allocated.layout, need.vpod, stranded) if stranded else None


def blocks_around(allocated: AllocationState, kept: Block, count: int, own: Claimant) -> Iterator[Block]:
    """Blocks, then runs, of `count` machines around those that a vPOD has, where nobody but `own` holds any."""
    spots = [allocated.layout.spot[name] for name in kept if name in allocated.layout.spot]
    shelves = sorted({shelf for shelf, _ in spots})
    if not spots or len(spots) < len(kept):
        return
    mine = {shelf: _own_mask(allocated, shelf, own) for shelf in shelves}
    if count > WIDTH:
        for _, group in allocated.layout.groups(count // WIDTH):
            if set(shelves) <= set(group) and all(allocated.free[one] | mine.get(one, 0) == WHOLE for one in group):
                yield _names(allocated.layout, group)
    elif len(shelves) == 1:
        (shelf,) = shelves
        free, held = allocated.free[shelf] | mine[shelf], sum(1 << bit for _, bit in spots)
        for first in (*aligned_runs(free, count), *loose_runs(free, count)):
            if held & ~run_mask(first, count) == 0:
                yield allocated.layout.shelves[shelf].names(first, count)


def part_kept(layout: SiteLayout, machines: Block, count: int) -> Block:
    """What a vPOD keeps when it shrinks: its first aligned block of that size in service, else its first machines."""
    by_shelf: dict[int, int] = {}
    for name in machines:
        shelf, bit = layout.spot.get(name, (-1, 0))
        by_shelf[shelf] = by_shelf.get(shelf, 0) | 1 << bit
    if count > WIDTH:
        for _, group in layout.groups(count // WIDTH):
            if all(by_shelf.get(shelf) == WHOLE for shelf in group):
                return _names(layout, group)
        return machines[:count]
    for shelf, mask in by_shelf.items():
        runs = [*aligned_runs(mask, count), *loose_runs(mask, count)] if shelf >= 0 else []
        blocks = [layout.shelves[shelf].names(first, count) for first in runs]
        if blocks:
            # The first of those with most machines in service: what is given up should be what is of no use.
            return max(blocks, key=lambda block: sum(layout.site.machine[name].in_service for name in block))
    return machines[:count]


def unreached(layout: SiteLayout, vpod: str, machines: Sequence[str]) -> AllocationError:
    """The error of machines that share no network of the pools."""
    reach = layout.reach(machines)
    missing = [
        pool
        for pool, found in (
            ("ipu_data", reach.ipu_data), ("storage", reach.storage), ("management", reach.management)
        )
        if not found
    ]  # fmt: skip
    where = f"{machines[0]} to {machines[-1]}" if len(machines) > 1 else machines[0]
    return AllocationError(
        f"vPOD {vpod}: no physical network of pool {' and '.join(missing)} covers the switches that the cables of "
        f"{where} end at",
        hint="add the switches to a physical network of the pool, or the missing cables, in the site file",
        path=("vpods", vpod, "machines"),
    )


def _free_blocks(allocated: AllocationState, need: MachineNeed, closed: set[int]) -> Iterator[tuple[int, Block]]:
    """(shelf, block), best first; of several racks the shelf is the first."""
    if need.count > WIDTH:
        return _free_groups(allocated, need)
    return _free_runs(allocated, need, closed)


def _free_runs(allocated: AllocationState, need: MachineNeed, closed: set[int]) -> Iterator[tuple[int, Block]]:
    """Blocks, then other runs. Shelves that are closed, also meanwhile, are left out."""
    shelves = allocated.layout.shelves
    for size in allocated.sizes():
        for index in tuple(allocated.shelves_with(size)) if size >= need.count else ():
            shelf = shelves[index]
            if index not in closed and need.generation in (None, shelf.generation):
                for first in _parts(allocated.free[index], size, need.count):
                    if index not in closed:
                        yield index, shelf.names(first, need.count)
    for shelf in shelves:
        if need.generation in (None, shelf.generation) and shelf.index not in closed:
            for first in loose_runs(allocated.free[shelf.index], need.count):
                yield shelf.index, shelf.names(first, need.count)


def _parts(free: int, size: int, count: int) -> Iterable[int]:
    """First bits of the blocks of `count` in the free blocks of `size`."""
    for first, found in maximal_blocks(free):
        if found == min(size, WIDTH):
            yield from range(first, first + found, count)


def _free_groups(allocated: AllocationState, need: MachineNeed) -> Iterator[tuple[int, Block]]:
    """Free groups of racks: a torus first, then aligned ones, then those inside the smallest free group."""
    layout, count = allocated.layout, need.count // WIDTH
    ranked = []
    for number, (aligned, group) in enumerate(layout.groups(count)):
        first = layout.shelves[group[0]]
        if need.generation in (None, first.generation) and all(allocated.free[one] == WHOLE for one in group):
            rank = (first.topology != "torus", not aligned, _size_around(allocated, group[0]), number)
            ranked.append((rank, group))
    return ((group[0], _names(layout, group)) for _, group in sorted(ranked))


def _size_around(allocated: AllocationState, shelf: int) -> int:
    groups = allocated.layout.aligned_groups.get(shelf, ())
    return max((len(group) for group in groups if all(allocated.free[one] == WHOLE for one in group)), default=1)


def _names(layout: SiteLayout, group: Iterable[int]) -> Block:
    return tuple(name for shelf in sorted(group) for name in layout.shelves[shelf].names(0, WIDTH))


def _own_mask(allocated: AllocationState, shelf: int, own: Claimant) -> int:
    """Machines of a shelf that this vPOD holds, and it alone."""
    names = allocated.layout.shelves[shelf].machines
    return sum(
        1 << bit
        for bit in bits(allocated.layout.shelves[shelf].present)
        if (name := names[bit]) is not None and allocated.machines.is_held_by(name, own)
    )


def _all_refused(refusals: Sequence[AllocationError]) -> AllocationError:
    """The first refusal; how many other leaf groups with free machines said no as well."""
    first = refusals[0]
    if len(refusals) == 1:
        return first
    more = f"{len(refusals) - 1} more leaf groups with free machines have no room for it either"
    return AllocationError(first.what, more, first.hint, first.path)
