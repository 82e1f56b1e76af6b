"""Operators on the InfiniBand fabrics of a GPU hall: what is cabled otherwise than its design has it."""

from __future__ import annotations

from random import Random

from interlock.model.site.inventory import Cable
from tests.builders.halls import hall_parts, swapped, without
from tests.mutants.operator import Operator
from tests.mutants.workspaces import OPERATOR, Workspace

#: Two of a leaf's four bundles are ports 33 to 40 and 41 to 48, to the first spine and the second.
_UP = range(33, 65)


def _with_hall(space: Workspace) -> Workspace:
    return space.with_site(**hall_parts(space.site)).asking(OPERATOR)


def _cabled(space: Workspace, cables: tuple[Cable, ...]) -> Workspace:
    return space.with_site(cables=cables)


def thin_bundle(space: Workspace, _: Random) -> Workspace | None:
    """A leaf with two nodes has lost one of its 32 cables upwards."""
    hall = _with_hall(space)
    return _cabled(hall, without(hall.site.cables, "pod-compute-su01-leaf8:33"))


def other_plugs_of_a_bundle(space: Workspace, _: Random) -> Workspace | None:
    """Two cables of one bundle change places: it has as many as before."""
    hall = _with_hall(space)
    return _cabled(hall, swapped(hall.site.cables, "pod-compute-su01-leaf8:33", "pod-compute-su01-leaf8:34"))


def crossed_rails(space: Workspace, rng: Random) -> Workspace | None:
    hall, node = _with_hall(space), rng.choice(("pod-su01-n01", "pod-su01-n02"))
    return _cabled(hall, swapped(hall.site.cables, f"{node}:compute3", f"{node}:compute4"))


def crossed_ports_of_a_rail(space: Workspace, _: Random) -> Workspace | None:
    """Two nodes change places at one leaf, which serves the rail of both."""
    hall = _with_hall(space)
    return _cabled(hall, swapped(hall.site.cables, "pod-su01-n01:compute3", "pod-su01-n02:compute3"))


def leaf_with_one_link_up(space: Workspace, _: Random) -> Workspace | None:
    """Two nodes and the subnet manager on one leaf, and one link to the spines."""
    hall = _with_hall(space)
    gone = (f"pod-compute-su01-leaf1:{port}" for port in _UP[1:])
    return _cabled(hall, without(hall.site.cables, *gone))


def leaf_with_one_node(space: Workspace, _: Random) -> Workspace | None:
    """A hall of fewer nodes has as many links up as before."""
    hall = space.with_site(**hall_parts(space.site)).asking(OPERATOR)
    name = "pod-su01-n02"
    return hall.with_site(
        hosts=tuple(item for item in hall.site.hosts if item.name != name),
        gpu_nodes=tuple(item for item in hall.site.gpu_nodes if item.name != name),
        cables=tuple(item for item in hall.site.cables if name not in (item.a.device, item.b.device)),
    )


HALLS = (
    Operator(
        "bundle-thin", "a leaf with one cable less to a spine than to the others",
        thin_bundle, other_plugs_of_a_bundle, "TOP-17",
    ),
    Operator(
        "rails-crossed", "two compute ports of a node on each other's leaf",
        crossed_rails, crossed_ports_of_a_rail, "TOP-18",
    ),
    Operator(
        "leaf-blocks", "a leaf with more links down than up",
        leaf_with_one_link_up, leaf_with_one_node, "TOP-19", then=("TOP-17",),
    ),
)  # fmt: skip
