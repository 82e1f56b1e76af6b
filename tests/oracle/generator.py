"""Random worlds, each from a number: a clean scene and up to three plots."""

from __future__ import annotations

from random import Random

from .drafting import Draft
from .passed_on import passed_on_nodes
from .plots_cloud import PLOTS as CLOUD
from .plots_cloud import control_of_servers, infiniband, nvlink
from .plots_data import PLOTS as DATA
from .plots_parts import share_of_parts
from .plots_unlisted import PLOTS as UNLISTED
from .plots_wire import PLOTS as WIRE
from .plots_wire import filled_trunks, whole_host
from .scene import scene
from .world import World

#: Each as often as it stands here; the last ones once more, for rows that decide hardly one world in a hundred else.
PLOTS = (*WIRE, *CLOUD, *UNLISTED, *DATA, whole_host, control_of_servers, infiniband, nvlink)

#: Of ten worlds in a row the one in which a driver fills trunks besides; the others are as they were without that plot.
FILLED = 4
#: And the one with GPU nodes on which Nova runs servers.
PASSED_ON = 7
#: Of twenty worlds the one in which two parts of a tenant mount one share besides.
SHARED = 8

#: Machines, hosts, servers, routers and other devices of a world, at most.
MOST = 12


def world(seed: int) -> World:
    """The world of this number; always the same one."""
    return told(seed)[1]


def told(seed: int) -> tuple[tuple[str, ...], World]:
    """The names of the plots of a world, and the world."""
    rng = Random(seed)
    while True:
        made = scene(rng)
        chosen = dict.fromkeys(rng.sample(PLOTS, rng.choice((0, 1, 1, 2, 2, 2, 3))))
        chosen |= {filled_trunks: None} if seed % 10 == FILLED else {}
        chosen |= {passed_on_nodes: None} if seed % 10 == PASSED_ON else {}
        chosen |= {share_of_parts: None} if seed % 20 == SHARED else {}
        for plot in chosen:
            plot(made)
        if endpoints(made.draft) <= MOST:
            return tuple(plot.__name__ for plot in chosen), made.draft.made()


def endpoints(draft: Draft) -> int:
    """How much there is that can send."""
    kinds = ("Server", "BareMetalServer", "Router")
    planned = sum(item.resource.KIND in kinds for plan in draft.resources.values() for item in plan)
    return planned + len(draft.hosts) + len(draft.machines) + len(draft.devices)
