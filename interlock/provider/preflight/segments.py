"""Are the planned VLANs and VNIs free, and does Neutron never hand them to anyone by itself?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.markers import owner_of, split
from interlock.resources import Admission, Network

from .faults import Fault, planned

_FIELDS = [
    "id", "name", "description", "project_id",
    "provider:network_type", "provider:physical_network", "provider:segmentation_id",
]  # fmt: skip

#: Of one without a marker: what the state holds is no obstacle to `pulumi up`.
_UNLESS_OURS = " unless this stack's state holds it (then `pulumi up` puts its marker back)"

#: (type, physical network, id): what two networks cannot both be.
Segment = tuple[str, str | None, int]


def reserved_segments(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Planned segments that lie in a range of the cloud."""
    wanted = dict(_segments(admission))
    if wanted:
        yield from _in_ranges(cloud, wanted)


def free_segments(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Planned segments that a network of someone else uses; one without a marker is nobody's."""
    wanted = dict(_segments(admission))
    if not wanted:
        return
    for raw in cloud.api("network").items("/networks", "networks", fields=_FIELDS):
        segment = (
            raw["provider:network_type"], raw["provider:physical_network"], raw["provider:segmentation_id"],
        )  # fmt: skip
        owner = owner_of(split(raw["description"])[1])
        if segment in wanted and owner != admission.owner:
            yield Fault(
                "segment",
                f"{_text(segment)} of {wanted[segment]} is used by network {raw['name'] or 'without a name'} "
                f"({raw['id']}) of project {raw['project_id']}",
                f"delete that network{'' if owner else _UNLESS_OURS}, or take the id out of the site's pools and lock "
                "again",
            )


def _segments(admission: Admission) -> Iterator[tuple[Segment, str]]:
    for name, network in planned(admission, Network):
        if network.segmentation_id is not None:
            yield (network.network_type, network.physical_network, network.segmentation_id), name


def _in_ranges(cloud: Cloud, wanted: dict[Segment, str]) -> Iterator[Fault]:
    fields = ["name", "network_type", "physical_network", "minimum", "maximum"]
    path, key = "/network_segment_ranges", "network_segment_ranges"
    for raw in cloud.api("network").items(path, key, fields=fields):
        inside = sorted(name for segment, name in wanted.items() if _covers(raw, segment))
        if inside:
            where = raw["physical_network"] or raw["network_type"]
            yield Fault(
                "range",
                f"Neutron hands out {where} {raw['minimum']}-{raw['maximum']} "
                f"(segment range {raw.get('name') or 'default'}), which holds the ids of {', '.join(inside)}",
                "shrink or delete that range, or narrow it in Neutron's configuration: it may hold no id of a pool",
            )


def _covers(raw: dict[str, Any], segment: Segment) -> bool:
    kind, physical, ident = segment
    same = raw["network_type"] == kind and (raw["physical_network"] or None) == physical
    return same and raw["minimum"] <= ident <= raw["maximum"]


def _text(segment: Segment) -> str:
    kind, physical, ident = segment
    return f"VNI {ident}" if kind == "vxlan" else f"VLAN {ident} on {physical}"
