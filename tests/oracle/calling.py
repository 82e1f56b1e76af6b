"""V-IPU controllers as what they are called for: who meets one has the allocations on it."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import Server, VipuAllocation

from .authority import Meeting
from .readings import Facts
from .terrain import Place, Terrain, flood
from .world import FOREIGN, OP, World

#: Owner of the plan and plan name of a controller.
Controller = tuple[str, str]


def meetings_at_controllers(world: World, terrain: Terrain) -> Iterator[Meeting]:
    """Who calls a controller on which an allocation of somebody else stands; without keys everybody administers it.

    A controller with copies on two wires passes no packet on, and gives to both what stands on it.
    """
    secure = Facts(world).holds("A4", "secure_tls")
    for controller, owners in _allocations(world).items():
        for certain in (False, True):
            met = _callers(terrain, controller, certain) if controller[0] != FOREIGN else {FOREIGN}
            open_to_all = secure is False or (secure is None and not certain)
            for caller in met - {OP}:
                for owner in owners | ({OP} if open_to_all else set()):
                    if caller != owner:
                        how = f"{caller} calls {controller[1]}, which has what is {owner}'s"
                        yield frozenset((caller, owner)), certain, (how,)


def _allocations(world: World) -> dict[Controller, set[str]]:
    """Controller -> the owners of the allocations on it; one that no plan or more than one has is a stranger's."""
    found: dict[Controller, set[str]] = {}
    for stack in world.stacks:
        for _, item in stack.all(VipuAllocation):
            homes = [other.owner for other in world.stacks if item.controller in dict(other.all(Server))]
            home = stack.owner if stack.owner in homes else homes[0] if len(homes) == 1 else FOREIGN
            found.setdefault((home, item.controller), set()).add(stack.owner)
    return found


def _callers(terrain: Terrain, controller: Controller, certain: bool) -> set[str]:
    """The owners from whom something gets to one of its attachments."""
    guest: Place = ("server", *controller)
    attachments = [place for place in terrain.hops if place == guest or place[:4] == ("door", *guest)]
    reached = flood(terrain, attachments, certain)
    return {mark.owner for mark in terrain.marks if mark.place in reached and (mark.certain or not certain)}
