"""A GPU hall in the short form, expanded and put beside what a site has: two nodes, compute and storage on InfiniBand.

pod, h100-superpod of one unit: pod-su01-n01 and pod-su01-n02, 8 leaves, 4 spines, 8 cables from each leaf to each spine.
"""

from __future__ import annotations

from typing import Any

from interlock.model.hall.expansion import expand_halls
from interlock.model.hall.file import HallFile
from interlock.model.site.inventory import Cable, Endpoint, InfinibandSubnet, Site

#: Sections of a site that a hall has a part of.
PARTS = ("hosts", "gpu_nodes", "fabric_switches", "devices", "physical_racks", "placements", "cables")
SUBNETS = (
    InfinibandSubnet(name="ib-compute", prefix="fe80000000000001"),
    InfinibandSubnet(name="ib-storage", prefix="fe80000000000002"),
)


def hall_file(nodes: int = 2, **fields: Any) -> HallFile:
    """A hall with nodes at its first places; `fields` replace keys of it, as YAML would have them."""
    standing = {
        f"su01-n{number:02}": {
            "serial": f"DGX-{number}",
            "guids": {f"compute{rail}": f"0002c9{number:08x}{rail:02x}" for rail in range(1, 9)}
            | {f"storage{rail}": f"0002ca{number:08x}{rail:02x}" for rail in (1, 2)},
        }
        for number in range(1, nodes + 1)
    }
    stated = {
        "design": "h100-superpod", "units": 1, "compute": "ib-compute", "storage": "ib-storage",
        "out_of_band": {"interface": "bmc"}, "nodes": standing,
    }  # fmt: skip
    return HallFile.model_validate(stated | fields)


def hall_parts(site: Site, hall: HallFile | None = None) -> dict[str, object]:
    """The fields of the site with the hall `pod` in them."""
    (expanded,) = expand_halls({"pod": hall or hall_file()})
    parts: dict[str, object] = {name: (*getattr(site, name), *getattr(expanded, name)) for name in PARTS}
    known = {item.name for item in site.infiniband}
    return parts | {"infiniband": (*site.infiniband, *(item for item in SUBNETS if item.name not in known))}


def plug(text: str) -> Endpoint:
    """`pod-su01-n01:compute1`."""
    device, _, interface = text.partition(":")
    return Endpoint(device=device, interface=interface)


def swapped(cables: tuple[Cable, ...], one: str, other: str) -> tuple[Cable, ...]:
    """Two cables change places at these ends."""
    to = {plug(one): plug(other), plug(other): plug(one)}
    return tuple(Cable(a=to.get(item.a, item.a), b=to.get(item.b, item.b), kind=item.kind) for item in cables)


def without(cables: tuple[Cable, ...], *ends: str) -> tuple[Cable, ...]:
    """The cables but for those with one of these ends."""
    gone = {plug(end) for end in ends}
    return tuple(item for item in cables if not {item.a, item.b} & gone)
