"""Where a vPOD's machines are: kept, pinned, grown around what it has, new, or, if that is allowed, moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .allocation_state import AllocationState
from .blocks import WIDTH, bits, is_run, maximal_blocks
from .errors import AllocationError, NeedsMove
from .gw_links import groups_of_racks
from .layout import Networks, SiteLayout
from .machines import Block, MachineNeed, MachinePlacement, blocks_around, choose_machines, part_kept, unreached
from .obstacles import closest
from .suitability import Wish, refusal


def settled_place(allocated: AllocationState, wish: Wish, *, may_move: bool = False) -> MachinePlacement | None:
    """Where a vPOD stays or is pinned to; None if it needs other machines, or more of them.

    One that a failed machine leaves in pieces stays too, unless it may move: the proof says that it is none (TOP-28).
    """
    machines = _kept(allocated, wish)
    if may_move and is_in_pieces(allocated, wish, machines):
        return None
    if len(machines) != wish.vpod.machines or _why_not_there(allocated, wish, machines):
        return None
    choices, current = list(allocated.layout.reach(machines).choices()), wish.networks_before
    if current and (current in choices or not wish.pins.machines):
        return MachinePlacement(machines, current)
    if not choices:
        raise unreached(allocated.layout, wish.vpod.name, machines)
    suitable = (found for found in choices if refusal(allocated, wish, found) is None)
    return MachinePlacement(machines, next(suitable, choices[0]))


def new_place(allocated: AllocationState, wish: Wish, *, may_move: bool) -> MachinePlacement:
    """Where a vPOD goes that has no settled place. Raises NeedsMove if only a move would do and none is allowed."""
    need = MachineNeed(wish.vpod.name, wish.vpod.machines, wish.vpod.generation)
    current = wish.networks_before
    if wish.before is None or current is None:
        closed = allocated.closed(wish.kind) if wish.is_plain else None
        return choose_machines(allocated, need, lambda found: refusal(allocated, wish, found), closed)
    kept = _kept(allocated, wish)
    why = _why_not_there(allocated, wish, kept)
    in_pieces = may_move and is_in_pieces(allocated, wish, kept)
    grown = None if why or in_pieces else _grown(allocated, wish, kept, current)
    if grown is not None:
        return MachinePlacement(grown, current)
    if not may_move:
        what, found = why or _cannot_grow(allocated, wish, kept)
        raise NeedsMove(wish.vpod.name, what, found, "", ("vpods", wish.vpod.name, "machines"))
    return _moved(allocated, wish, need, current)


def _kept(allocated: AllocationState, wish: Wish) -> Block:
    """Machines that are pinned, or that the vPOD has and still asks for."""
    if wish.pins.machines is not None:
        return wish.pins.machines
    before = wish.before.machines if wish.before else ()
    if len(before) <= wish.vpod.machines:
        return before
    return part_kept(allocated.layout, before, wish.vpod.machines)


def is_in_pieces(allocated: AllocationState, wish: Wish, machines: Block) -> bool:
    """True if machines that failed stand between others of the same rack. What is pinned stays where it is."""
    return wish.pins.machines is None and left_in_pieces(allocated.layout, machines)


def left_in_pieces(layout: SiteLayout, machines: Block) -> bool:
    """The same of machines alone, as TOP-28 has it: nothing is left, a rack is in pieces, or racks are apart.

    A cable that leads around one that failed joins those beside it.
    """
    left = _left(layout, machines)
    known = [name for name in machines if name in layout.spot]
    if known and not left:
        return True
    in_racks = any(
        not is_run(mask, joined_ends=layout.shelves[shelf].topology == "torus" and len(machines) >= WIDTH)
        and not layout.hangs_together(name for bit in bits(mask) if (name := layout.shelves[shelf].machines[bit]))
        for shelf, mask in left.items()
    )
    return in_racks or _are_apart(layout, known)


def _are_apart(layout: SiteLayout, machines: Sequence[str]) -> bool:
    """True if racks that GW-Links joined are joined no more by those that have not failed."""
    racks: dict[str, list[str]] = {}
    left: dict[str, list[str]] = {}
    for name in machines:
        machine = layout.site.machine[name]
        racks.setdefault(machine.logical_rack, []).append(name)
        if machine.state != "failed":
            left.setdefault(machine.logical_rack, []).append(name)
    if len(left) < 2:
        return False
    return len(groups_of_racks(layout.site, left)) > 1 and len(groups_of_racks(layout.site, racks)) == 1


def largest_left(layout: SiteLayout, machines: Block) -> int:
    """Size of the largest aligned block of those that have not failed; 0: all have."""
    blocks = (block for mask in _left(layout, machines).values() for block in maximal_blocks(mask))
    return max((size for _, size in blocks), default=0)


def _left(layout: SiteLayout, machines: Block) -> dict[int, int]:
    """Rack -> the positions of those that have not failed."""
    left: dict[int, int] = {}
    for name in machines:
        if name in layout.spot and layout.site.machine[name].state != "failed":
            shelf, bit = layout.spot[name]
            left[shelf] = left.get(shelf, 0) | 1 << bit
    return left


def _why_not_there(allocated: AllocationState, wish: Wish, kept: Block) -> tuple[str, str] | None:
    """Why a vPOD cannot stay on machines that it has: they are of another generation, or cabled elsewhere now."""
    if wish.pins.machines is not None or not kept:
        return None
    known = [allocated.site.machine[name] for name in kept if name in allocated.site.machine]
    other = next((item for item in known if wish.vpod.generation not in (None, item.generation)), None)
    if other is not None:
        what = f"vPOD {wish.vpod.name} asks for {wish.vpod.generation} machines and has others"
        return what, f"{other.name} is {other.generation}"
    choices, current = list(allocated.layout.reach(kept).choices()), wish.networks_before
    # Machines that reach no network at all any more are the gate's to judge: nothing is better elsewhere.
    if choices and current is not None and current not in choices:
        what = f"vPOD {wish.vpod.name} is on {current.ipu_data}, {current.storage} and {current.management}"
        return what, "the cables of its machines do not end at the switches of all of these any more"
    return None


def _grown(allocated: AllocationState, wish: Wish, kept: Block, current: Networks) -> Block | None:
    for block in blocks_around(allocated, kept, wish.vpod.machines, wish.holder):
        if current in allocated.layout.reach(block).choices():
            return block
    return None


def _moved(allocated: AllocationState, wish: Wish, need: MachineNeed, current: Networks) -> MachinePlacement:
    """Another block, in the same leaf group if there is one: then networks and servers stay as they are."""

    def stays(found: Networks) -> AllocationError | None:
        elsewhere = AllocationError("in another leaf group")
        return refusal(allocated, wish, found) if found == current else elsewhere

    try:
        return choose_machines(allocated, need, stays)
    except AllocationError:
        return choose_machines(allocated, need, lambda found: refusal(allocated, wish, found))


def _cannot_grow(allocated: AllocationState, wish: Wish, kept: Block) -> tuple[str, str]:
    what = (
        f"vPOD {wish.vpod.name} cannot grow to {wish.vpod.machines} IPU-Machines around those it has ({_listed(kept)})"
    )
    blocks = [block for block in _around(allocated, kept, wish.vpod.machines) if set(kept) <= set(block)]
    if not blocks:
        return what, "there is no block of that size around them"
    return what, closest(allocated, blocks[0], wish.holder, why=True)


def _around(allocated: AllocationState, kept: Block, count: int) -> Iterator[Block]:
    """Blocks and runs of the shelf, or groups of racks, where the kept machines are: free or not."""
    shelves = allocated.layout.shelves
    index = allocated.layout.spot.get(kept[0], (-1, 0))[0]
    if index < 0:
        return
    if count > WIDTH:
        for _, group in allocated.layout.groups(count // WIDTH):
            yield tuple(name for one in group for name in shelves[one].names(0, WIDTH))
        return
    for first in sorted(range(WIDTH - count + 1), key=lambda item: item % count != 0):
        names = shelves[index].names(first, count)
        if len(names) == count:
            yield names


def _listed(machines: Sequence[str]) -> str:
    return ", ".join(machines) if len(machines) <= WIDTH else f"{machines[0]} to {machines[-1]}"
