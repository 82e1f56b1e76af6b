"""What holds data and can only grow: volumes at Cinder, shares at Manila. Both are changed by the same requests."""

from __future__ import annotations

from interlock.provider.clouds import Cloud
from interlock.provider.errors import refused
from interlock.resources import Share, Volume

from .base import Observed, Target
from .compute import KEY


def rename_and_grow(
    cloud: Cloud,
    target: Target[Volume] | Target[Share],
    seen: Observed,
    changed: frozenset[str],
    *,
    service: str,
    name_key: str,
    extend: str,
) -> None:
    """Gives it the name, the marker and the size that are planned; a larger one comes last.

    `name_key`: what the service calls the name; `extend`: what it calls the action that makes one larger. Raises
    `Failure` (REFUSED, nothing was sent) if the planned size is less than it has.
    """
    what = target.spec.KIND.lower()
    api, path = cloud.api(service), f"/{what}s/{seen.id}"
    size, wanted = seen.fields["size_gib"], target.spec.size_gib
    if size > wanted:
        raise refused(
            f"{what} {target.name} has {size} GiB and cannot shrink to {wanted} GiB",
            f"ask for {size} GiB or more, or make another {what} and copy the data",
        )
    if "name" in changed:
        api.put(path, {what: {name_key: target.spec.name}})
    if "marker" in changed:
        api.post(f"{path}/metadata", {"metadata": {KEY: target.marker}}, idempotent=True)
    if size < wanted:
        api.post(f"{path}/action", {extend: {"new_size": wanted}})
