"""What joins the leaf groups of RoCE networks: nothing; or the routed design, a word that cannot be made yet."""

from __future__ import annotations

from typing import Literal

from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults

#: `routed`: each leaf routes, in a VRF of each tenant's own.
BetweenLeafGroups = Literal["none", "routed"]


def check_between(stated: BetweenLeafGroups, faults: Faults) -> None:
    """Adds a fault for what nothing here can make: who asks for it is told what it takes, and what works without."""
    if stated == "routed":
        message = (
            "RoCE routed between leaf groups takes routes and a VRF of each tenant on every leaf: not made here yet"
        )
        hint = (
            "write `none`: a cluster is as large as a leaf group; leaves that are bridged to each other are one, with "
            "one physical network that lists them all"
        )
        faults.add(Code.CONTRADICTION, ("pools", "roce", "between_leaf_groups"), message, hint)
