"""What to say when machines do not fit: what is missing, what comes closest, what would free it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from interlock.model.site.inventory import Generation, Machine
from interlock.vocabulary import Claimant

from .allocation_state import AllocationState
from .blocks import WHOLE, WIDTH, run_mask
from .errors import AllocationError
from .layout import RackMachines
from .out_of_service import BRING_BACK, counted, said_of, state_of

Block = tuple[str, ...]


def no_room(allocated: AllocationState, vpod: str, count: int, generation: Generation | None) -> AllocationError:
    """The error of a vPOD for which no block and no run is free."""
    shelves = [shelf for shelf in allocated.layout.shelves if generation in (None, shelf.generation)]
    kind = f"{generation} " if generation else ""
    free = sum(allocated.free[shelf.index].bit_count() for shelf in shelves)
    if count > WIDTH:
        return _no_group(allocated, vpod, count, shelves, kind)
    path = ("vpods", vpod, "machines")
    what = f"vPOD {vpod} needs {count} neighbouring {kind}IPU-Machines in one logical rack; {free} are free"
    runs = [run for shelf in shelves for run in _runs(shelf, count)]
    if not runs:
        longest = max((shelf.present.bit_count() for shelf in shelves), default=0)
        most = f"the largest logical rack has {longest} machines"
        return AllocationError(what, most, "ask for fewer machines, or add a rack", path)
    best = min(runs, key=lambda run: _obstacles(allocated, run))
    return AllocationError(
        f"{what}, none of it in such a run{_idle(allocated, shelves)}",
        closest(allocated, best),
        freeing(allocated, best),
        path,
    )


def closest(allocated: AllocationState, block: Block, own: Claimant | None = None, *, why: bool = False) -> str:
    """The block that is nearly free, who holds what is not, and what of it is out of service, with reasons if asked."""
    told = [f"{name} is held by {holder}" for name, holder in in_the_way(allocated, block, own).items()]
    more = f" and {len(told) - 4} more are held" if len(told) > 4 else ""
    idle = [said_of(machine) if why else state_of(machine) for machine in out_of_service(allocated, block, own)]
    others = f" and {len(idle) - 4} more are out of service" if len(idle) > 4 else ""
    parts = [", ".join(told[:4]) + more, ", ".join(idle[:4]) + others]
    return f"closest is {block[0]} to {block[-1]}, where {', '.join(part for part in parts if part)}"


def freeing(allocated: AllocationState, block: Block, own: Claimant | None = None) -> str:
    """What would free a block: settling what is released, moving or ending what is in force, mending what failed."""
    holders = sorted(set(in_the_way(allocated, block, own).values()), key=str)
    released = sorted({holder.tenant for holder in holders if holder.released})
    held = [str(holder) for holder in holders if not holder.released]
    parts = []
    if held:
        parts.append(f"free these ({', '.join(held)}) or ask for fewer machines")
    if released:
        parts.append(f"settle what {', '.join(released)} released: it stays claimed until then")
    if out_of_service(allocated, block, own):
        parts.append(BRING_BACK)
    return "; ".join(parts)


def in_the_way(allocated: AllocationState, block: Sequence[str], own: Claimant | None = None) -> dict[str, Claimant]:
    """Machine -> holder for those in service that somebody else holds."""
    return {
        name: allocated.machines[name]
        for name in block
        if name in allocated.machines
        and allocated.site.machine[name].in_service
        and not (own and allocated.machines.is_held_by(name, own))
    }


def out_of_service(allocated: AllocationState, block: Sequence[str], own: Claimant | None = None) -> list[Machine]:
    """Those of a block that are given to nobody, whoever holds them; what is one's own is not in one's way."""
    machines = (allocated.site.machine[name] for name in block)
    return [
        machine
        for machine in machines
        if not machine.in_service and not (own and allocated.machines.is_held_by(machine.name, own))
    ]


def settling(allocated: AllocationState, field: str, network: str = "") -> str:
    """Whose released claims of this kind would make room; empty if there are none."""
    tenants = allocated.released.get((field, network), Counter[str]())
    named = ", ".join(f"{tenant} ({count})" for tenant, count in sorted(tenants.items()) if count > 0)
    return f"settle what is released: {named}" if named else ""


def _runs(shelf: RackMachines, count: int) -> list[Block]:
    return [
        shelf.names(first, count)
        for first in range(WIDTH - count + 1)
        if shelf.present & run_mask(first, count) == run_mask(first, count)
    ]


def _no_group(
    allocated: AllocationState, vpod: str, count: int, shelves: Sequence[RackMachines], kind: str
) -> AllocationError:
    racks, path = count // WIDTH, ("vpods", vpod, "machines")
    whole = sum(allocated.free[shelf.index] == WHOLE for shelf in shelves)
    what = f"vPOD {vpod} needs {racks} whole {kind}logical racks that GW-Links join; {whole} are wholly free"
    wanted = {shelf.index for shelf in shelves}
    groups = [group for _, group in allocated.layout.groups(racks) if wanted.issuperset(group)]
    blocks = [
        tuple(name for one in group for name in allocated.layout.shelves[one].names(0, WIDTH)) for group in groups
    ]
    if not blocks:
        longest = max((len(lane) for lane in allocated.layout.lanes), default=1)
        hint = "ask for fewer machines, or state the GW-Link cables of the racks in the site file"
        most = f"no more than {longest} racks of one kind are joined at all 16 positions"
        return AllocationError(what, most, hint, path)
    best = min(blocks, key=lambda block: _obstacles(allocated, block))
    what = f"{what}, none in such a group{_idle(allocated, shelves)}"
    return AllocationError(what, closest(allocated, best), freeing(allocated, best), path)


def _obstacles(allocated: AllocationState, block: Block) -> int:
    return len(in_the_way(allocated, block)) + len(out_of_service(allocated, block))


def _idle(allocated: AllocationState, shelves: Sequence[RackMachines]) -> str:
    """How many that nobody has are not given out, and why; empty if there are none."""
    names = (name for shelf in shelves for name in shelf.machines if name is not None)
    told = counted(allocated.site.machine[name] for name in names if name not in allocated.machines)
    return f"; {told}" if told else ""
