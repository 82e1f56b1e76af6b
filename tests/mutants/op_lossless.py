"""Operators on lossless Ethernet fabrics: cables that close a circle of buffers, and the same ones that close none."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from interlock.model.site.inventory import PhysicalNetwork
from tests.builders.lossless import PROFILE, cables_of, pairs, switch_of
from tests.mutants.operator import Operator
from tests.mutants.workspaces import OPERATOR, Workspace

_LEAVES = ("l1", "l2", "l3")
_CLOS = pairs(_LEAVES, ("s1", "s2"))


def _beside(space: Workspace, joined: Sequence[str]) -> Workspace:
    """The workspace with a fabric for RDMA of its own, as its operator's plan sees it."""
    site, names = space.site, sorted({name for text in joined for name in text.split()})
    return space.with_site(
        switches=(*site.switches, *map(switch_of, names)),
        physical_networks=(
            *site.physical_networks, PhysicalNetwork(name="rdma", switches=tuple(names), mtu=9000, profile="paused"),
        ),
        fabric_profiles=(*site.fabric_profiles, PROFILE),
        cables=(*site.cables, *cables_of(joined)),
    ).asking(OPERATOR)  # fmt: skip


def cable_between_leaves(space: Workspace, rng: Random) -> Workspace | None:
    a, b = sorted(rng.sample(_LEAVES, 2))
    return _beside(space, (*_CLOS, f"{a} {b}"))


def second_cable_to_a_spine(space: Workspace, rng: Random) -> Workspace | None:
    """One bundle has another cable: it goes up as the first does."""
    return _beside(space, (*_CLOS, rng.choice(_CLOS)))


def ring_of_leaves(space: Workspace, _: Random) -> Workspace | None:
    return _beside(space, ("l1 l2", "l2 l3", "l3 l1"))


def row_of_leaves(space: Workspace, _: Random) -> Workspace | None:
    """As many cables, and two of them between the same leaves."""
    return _beside(space, ("l1 l2", "l2 l3", "l2 l3"))


LOSSLESS = (
    Operator(
        "leaves-joined", "a cable between two leaves below one spine",
        cable_between_leaves, second_cable_to_a_spine, "TOP-22",
    ),
    Operator("leaves-in-a-ring", "three leaves cabled in a ring", ring_of_leaves, row_of_leaves, "TOP-22"),
)  # fmt: skip
